// SPDX-License-Identifier: GPL-2.0
/* The parts of the kernel that fgraph's core uses, see fake.h. */
#include "fake.h"

int fake_preempt_count;
int fake_context;
const int fake_context_count[4] = { 0, 0x100, 0x10000, 0x100000 };
struct task_struct *fake_current;
unsigned long fake_stack_pointer;
struct task_struct *fake_tasks;
int fake_cpu;
bool fake_online[FAKE_CPUS];
long fake_cpu_offset[FAKE_CPUS];
int fake_memory_left = -1;
unsigned int fake_lowest_id;
unsigned long fake_store_epoch;
long fake_allocs;
struct fake_chunk fake_chunk[4096];
unsigned long fake_chunk_changes;

static struct irq_work *irq_works;
static struct work_struct *works;

/* The trampolines never run; only their addresses are used. */
__aligned(64) void fgraph_trampoline_light(void)
{
	abort();
}

__aligned(64) void fgraph_trampoline_full(void)
{
	abort();
}

/*
 * The free chunks of a size, all from one piece of memory. With FAKE_MALLOC chunks come from
 * malloc() instead, for which a sanitizer notices accesses after a free.
 */
struct pool {
	size_t			size;
	void			*start;
	void			*free;
};

static struct pool pools[] = { { 4096 }, { 8192 } };

/* The link is at the end of a free chunk, so that its first word is no valid pointer. */
static void **next_free(struct pool *pool, void *p)
{
	return p + pool->size - sizeof(p);
}

static void *pool_get(struct pool *pool)
{
	void *p = pool->free;
	int i;

#ifdef FAKE_MALLOC
	return aligned_alloc(pool->size, pool->size);
#endif
	if (!pool->start) {
		pool->start = aligned_alloc(pool->size, pool->size * 256);
		for (i = 0; i < 256; i++) {
			void *chunk = pool->start + i * pool->size;

			*next_free(pool, chunk) = p;
			p = chunk;
		}
	}
	expect(p);
	pool->free = *next_free(pool, p);
	return p;
}

static void pool_put(struct pool *pool, void *p)
{
#ifdef FAKE_MALLOC
	free(p);
	return;
#endif
	/* Poison the chunk, so that a later use of it is noticed. */
	memset(p, 0xa5, pool->size);
	*next_free(pool, p) = pool->free;
	pool->free = p;
}

/* Like kmalloc(), this aligns a size that is a power of two to itself. */
void *kzalloc(size_t size, int gfp)
{
	void *p;

	if (!fake_memory_left)
		return NULL;
	if (fake_memory_left > 0)
		fake_memory_left--;
	p = pool_get(&pools[size > 4096]);
	memset(p, 0, size);
	expect(fake_allocs < ARRAY_SIZE(fake_chunk));
	fake_chunk[fake_allocs++] = (struct fake_chunk) { p, size, ++fake_chunk_changes };
	return p;
}

/* Only the table of users calls this, and never frees the memory. */
void *kcalloc(size_t nr, size_t size, int gfp)
{
	if (!fake_memory_left)
		return NULL;
	if (fake_memory_left > 0)
		fake_memory_left--;
	return calloc(nr, size);
}

void kfree(void *p)
{
	long i = fake_allocs;

	if (!p)
		return;
	while (fake_chunk[--i].start != p)
		expect(i);
	fake_chunk[i] = fake_chunk[--fake_allocs];
	fake_chunk_changes++;
	pool_put(&pools[(unsigned long)(p - pools[1].start) < 8192 * 256], p);
}

void irq_work_queue(struct irq_work *work)
{
	if (work->pending)
		return;
	work->pending = true;
	work->cpu = fake_cpu;
	work->next = irq_works;
	irq_works = work;
}

static void run_irq_work(struct irq_work *work)
{
	int cpu = fake_cpu, context = fake_context;

	work->pending = false;
	fake_cpu = work->cpu;
	if (fake_context < 2)
		fake_context = 2;
	fake_preempt_count++;
	work->func(work);
	fake_preempt_count--;
	fake_context = context;
	fake_cpu = cpu;
}

void fake_run_irq_works(void)
{
	struct irq_work *work, *next = irq_works;

	/* Works that are queued meanwhile wait for the next call. */
	irq_works = NULL;
	while ((work = next)) {
		next = work->next;
		if (fake_online[work->cpu]) {
			run_irq_work(work);
			continue;
		}
		work->next = irq_works;
		irq_works = work;
	}
}

void fake_set_online(int cpu, bool online)
{
	struct irq_work *work, **link = &irq_works;

	fake_online[cpu] = online;
	while (!online && (work = *link)) {
		if (work->cpu != cpu || !work->hard) {
			link = &work->next;
			continue;
		}
		*link = work->next;
		run_irq_work(work);
	}
}

void irq_work_sync(struct irq_work *work)
{
	struct irq_work **link;

	for (link = &irq_works; *link; link = &(*link)->next) {
		if (*link == work) {
			*link = work->next;
			run_irq_work(work);
			return;
		}
	}
}

void schedule_work(struct work_struct *work)
{
	if (work->pending)
		return;
	work->pending = true;
	work->next = works;
	works = work;
}

void flush_work(struct work_struct *work)
{
	struct work_struct **link;

	for (link = &works; *link; link = &(*link)->next) {
		if (*link == work) {
			*link = work->next;
			work->pending = false;
			work->func(work);
			return;
		}
	}
}

void fake_run_works(void)
{
	while (works)
		flush_work(works);
}

int ida_alloc_max(struct ida *ida, unsigned int max, int gfp)
{
	unsigned int i;

	if (!fake_memory_left)
		return -ENOMEM;
	for (i = fake_lowest_id; i <= max && i < sizeof(ida->used); i++) {
		if (!ida->used[i]) {
			ida->used[i] = 1;
			return i;
		}
	}
	return -ENOSPC;
}

void ida_free(struct ida *ida, unsigned int id)
{
	expect(ida->used[id]);
	ida->used[id] = 0;
}

/* Make copies of CPU 0's per-CPU data for the other CPUs. */
void fake_init(void)
{
	size_t size = __stop_fake_percpu - __start_fake_percpu;
	int cpu;

	for (cpu = 1; cpu < FAKE_CPUS; cpu++) {
		char *copy = aligned_alloc(64, (size + 63) & ~63UL);

		memcpy(copy, __start_fake_percpu, size);
		asm volatile("" : "+r" (copy) : : "memory");
		fake_cpu_offset[cpu] = copy - __start_fake_percpu;
	}
	fake_online[0] = true;
}
