// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of shadow stacks.
 *
 * A task gets its stack in whatever context its first hooked call is made: in
 * NMI, with interrupts off, inside the allocator. So each CPU keeps chunks
 * ready, which any context takes with one exchange. An irq_work refills them:
 * it runs as soon as interrupts are on. A miss takes more tasks, or deeper
 * recursion, than the reserve has chunks while interrupts are off - or an
 * allocator that is out of memory.
 */
#include <linux/cpu.h>
#include <linux/fgraph_task.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fgraph_reserve.h"
#include "fgraph_stack.h"
#include "fgraph_users.h"

/*
 * 16 chunks are a recursion of 1,000 calls, more than fit on a kernel stack, or
 * 16 tasks that are scheduled between two moments with interrupts on.
 */
#define FGRAPH_RESERVE_CHUNKS		16
/* Only kept once a user has data that needs them: one for each call. */
#define FGRAPH_RESERVE_BIG_CHUNKS	16

/* Data that may not fit in a chunk of the usual size. */
#define FGRAPH_USUAL_DATA	(FGRAPH_CHUNK_SIZE - 3 * FGRAPH_SLOT)

/* What a CPU has ready, and what makes it complete again. */
struct fgraph_reserve {
	void			*usual[FGRAPH_RESERVE_CHUNKS];
	void			*big[FGRAPH_RESERVE_BIG_CHUNKS];
	struct irq_work		refill;
	bool			queueing;
};

static void fgraph_refill(struct irq_work *work);

static DEFINE_PER_CPU(struct fgraph_reserve, fgraph_reserve) = {
	.refill = IRQ_WORK_INIT(fgraph_refill),
};

/* For how many users chunks are kept ready; and for how many of them big ones. */
static atomic_t fgraph_reserve_users;
static atomic_t fgraph_reserve_big_users;

static atomic_long_t fgraph_stacks;
static atomic_long_t fgraph_chunks;
static atomic_long_t fgraph_bytes;

static void *take_from(void **place, unsigned int nr)
{
	unsigned int i;
	void *chunk;

	for (i = 0; i < nr; i++) {
		/* Only an exchange that will get something is worth its lock. */
		if (!READ_ONCE(place[i]))
			continue;
		chunk = xchg(&place[i], NULL);
		if (chunk)
			return chunk;
	}
	return NULL;
}
NOKPROBE_SYMBOL(take_from);

static void *take_on(int cpu, size_t size)
{
	struct fgraph_reserve *r = per_cpu_ptr(&fgraph_reserve, cpu);

	if (size == FGRAPH_BIG_CHUNK_SIZE)
		return take_from(r->big, ARRAY_SIZE(r->big));
	return take_from(r->usual, ARRAY_SIZE(r->usual));
}
NOKPROBE_SYMBOL(take_on);

/*
 * A CPU that comes up or goes down may lose the interrupt that irq_work raises,
 * and wait for it for ever. Whoever takes the next chunk queues it again.
 */
static void queue_irq_work(struct irq_work *work)
{
	if (cpu_online(smp_processor_id()))
		irq_work_queue(work);
}
NOKPROBE_SYMBOL(queue_irq_work);

/**
 * fgraph_chunk_take() - take a chunk from the reserve
 * @size:	FGRAPH_CHUNK_SIZE or FGRAPH_BIG_CHUNK_SIZE
 *
 * Context: any, preemption disabled.
 *
 * Return: memory of that size, aligned to it, all zero; or NULL if no CPU has
 * any left.
 */
void *fgraph_chunk_take(size_t size)
{
	int this = smp_processor_id(), cpu;
	void *chunk = take_on(this, size);

	/*
	 * A CPU that just came up has none yet; others may have. What
	 * for_each_possible_cpu() calls may be probed.
	 */
	for (cpu = 0; !chunk && cpu < nr_cpu_ids; cpu++) {
		if (cpu_possible(cpu))
			chunk = take_on(cpu, size);
	}
	if (chunk) {
		atomic_long_inc(&fgraph_chunks);
		atomic_long_add(size, &fgraph_bytes);
	}
	return chunk;
}
NOKPROBE_SYMBOL(fgraph_chunk_take);

/**
 * fgraph_chunk_refill() - have the reserve completed
 *
 * To be called when the chunk that was taken is in place: the interrupt that
 * this raises comes at once, and may be hooked and need a chunk, too. So may what
 * a kprobe does on the way; then it is this call that queues.
 *
 * Context: any, preemption disabled.
 */
void fgraph_chunk_refill(void)
{
	struct fgraph_reserve *r = this_cpu_ptr(&fgraph_reserve);

	if (READ_ONCE(r->queueing))
		return;
	WRITE_ONCE(r->queueing, true);
	barrier();
	queue_irq_work(&r->refill);
	barrier();
	WRITE_ONCE(r->queueing, false);
}
NOKPROBE_SYMBOL(fgraph_chunk_refill);

/**
 * fgraph_chunk_give() - free a chunk
 * @chunk:	what fgraph_chunk_take() gave
 * @size:	its size
 *
 * Context: where kfree() may be called.
 */
void fgraph_chunk_give(void *chunk, size_t size)
{
	atomic_long_dec(&fgraph_chunks);
	atomic_long_sub(size, &fgraph_bytes);
	kfree(chunk);
}

/* Fill the free places of a CPU's reserve, while there are @users who need it. */
static int fill(void **place, unsigned int nr, size_t size, atomic_t *users, gfp_t gfp)
{
	unsigned int i;

	for (i = 0; i < nr && atomic_read(users); i++) {
		void *chunk;

		if (READ_ONCE(place[i]))
			continue;
		/* kmalloc() aligns powers of two to themselves. */
		chunk = kzalloc(size, gfp);
		if (!chunk)
			return -ENOMEM;
		if (cmpxchg(&place[i], NULL, chunk)) {
			kfree(chunk);
			continue;
		}
		/*
		 * Pairs with atomic_dec_and_test() in fgraph_reserve_put(): either
		 * that finds the chunk, or this finds that the last user has gone.
		 */
		if (!atomic_read(users))
			kfree(xchg(&place[i], NULL));
	}
	return 0;
}

static int fill_cpu(int cpu, gfp_t gfp)
{
	struct fgraph_reserve *r = per_cpu_ptr(&fgraph_reserve, cpu);

	return fill(r->usual, ARRAY_SIZE(r->usual), FGRAPH_CHUNK_SIZE,
		    &fgraph_reserve_users, gfp) ?:
	       fill(r->big, ARRAY_SIZE(r->big), FGRAPH_BIG_CHUNK_SIZE,
		    &fgraph_reserve_big_users, gfp);
}

/* A CPU that comes up later takes from others once, and is refilled. */
static int fill_all(void)
{
	int cpu, ret = 0;

	for_each_online_cpu(cpu)
		ret = ret ?: fill_cpu(cpu, GFP_KERNEL);
	return ret;
}

static void fgraph_refill_slow(struct work_struct *work)
{
	fill_all();
}

static DECLARE_WORK(fgraph_refill_work, fgraph_refill_slow);

static void fgraph_refill(struct irq_work *work)
{
	/* No free page at once: have one made free. */
	if (fill_cpu(smp_processor_id(), GFP_NOWAIT | __GFP_NOWARN))
		schedule_work(&fgraph_refill_work);
}

static void drain(size_t size)
{
	void *chunk;
	int cpu;

	for_each_possible_cpu(cpu) {
		while ((chunk = take_on(cpu, size)))
			kfree(chunk);
	}
}

static void fgraph_trim(void);

/**
 * fgraph_reserve_get() - have memory ready for a user
 * @data_size:	the user's private data, bytes
 *
 * Context: process. May sleep.
 *
 * Return: 0, or -ENOMEM.
 */
int fgraph_reserve_get(size_t data_size)
{
	int ret;

	atomic_inc(&fgraph_reserve_users);
	if (data_size > FGRAPH_USUAL_DATA)
		atomic_inc(&fgraph_reserve_big_users);
	ret = fill_all();
	if (ret)
		fgraph_reserve_put(data_size);
	return ret;
}

/**
 * fgraph_reserve_put() - a user has gone, and may have been the last one
 * @data_size:	as for fgraph_reserve_get()
 *
 * Context: process. May sleep. After fgraph_synchronize().
 */
void fgraph_reserve_put(size_t data_size)
{
	if (data_size > FGRAPH_USUAL_DATA && atomic_dec_and_test(&fgraph_reserve_big_users))
		drain(FGRAPH_BIG_CHUNK_SIZE);
	if (atomic_dec_and_test(&fgraph_reserve_users)) {
		drain(FGRAPH_CHUNK_SIZE);
		fgraph_trim();
	}
}

/* Take the stack from a task that has no frame on it. */
static void detach_stack(struct task_struct *t, struct fgraph_stack **list)
{
	struct fgraph_stack *st = READ_ONCE(t->fgraph_stack);

	/* Nobody can push any more: what is empty stays empty. */
	if (!st || !fgraph_stack_empty(st) || cmpxchg(&t->fgraph_stack, st, NULL) != st)
		return;
	st->list = *list;
	*list = st;
}

static void free_stack(struct fgraph_stack *st)
{
	atomic_long_dec(&fgraph_stacks);
	fgraph_stack_free(st);
}

/*
 * Under fgraph_mutex and without users, no frame is pushed. What is empty now has
 * no use for who comes later, and may be taken away. Frames that are still there
 * make their task keep its stack; their returns call fgraph_trim_unused().
 */
static struct fgraph_stack *fgraph_detach_stacks(void)
{
	struct fgraph_stack *list = NULL;
	struct task_struct *g, *t;
	int cpu;

	/* Pairs with the one in fgraph_trim_unused(). */
	smp_mb();
	rcu_read_lock();
	for_each_process_thread(g, t)
		detach_stack(t, &list);
	rcu_read_unlock();
	for_each_possible_cpu(cpu) {
		if (idle_task(cpu))
			detach_stack(idle_task(cpu), &list);
	}
	return list;
}

/* Give back the stacks of tasks that are in no hooked call, if there are no users. */
static void fgraph_trim(void)
{
	struct fgraph_stack *list = NULL, *st;

	mutex_lock(&fgraph_mutex);
	if (!fgraph_nr_users)
		list = fgraph_detach_stacks();
	mutex_unlock(&fgraph_mutex);

	if (!list)
		return;
	/* For returns that are about to be over, and for unwinders. */
	fgraph_synchronize();
	while ((st = list)) {
		list = st->list;
		free_stack(st);
	}
}

static void fgraph_trim_slow(struct work_struct *work)
{
	fgraph_trim();
}

static DECLARE_WORK(fgraph_trim_work, fgraph_trim_slow);

static void fgraph_trim_irq(struct irq_work *work)
{
	schedule_work(&fgraph_trim_work);
}

static DEFINE_IRQ_WORK(fgraph_trim_irq_work, fgraph_trim_irq);

/**
 * fgraph_trim_unused() - give back the memory if nobody uses it
 *
 * To be called when a return is over that found a user gone, or when calls were
 * dropped: it may have been the last one that kept a stack.
 *
 * Context: any.
 */
void fgraph_trim_unused(void)
{
	/* Either the trim sees the stack empty, or we see no users. */
	smp_mb();
	if (!READ_ONCE(fgraph_nr_users))
		queue_irq_work(&fgraph_trim_irq_work);
}
NOKPROBE_SYMBOL(fgraph_trim_unused);

/**
 * fgraph_stack_make() - give the current task its stack
 *
 * Context: any, preemption disabled.
 *
 * Return: the stack, or NULL if there is no memory.
 */
struct fgraph_stack *fgraph_stack_make(void)
{
	void *memory = fgraph_chunk_take(FGRAPH_CHUNK_SIZE);
	struct fgraph_stack *st, *other;

	if (!memory) {
		fgraph_chunk_refill();
		return NULL;
	}
	st = fgraph_stack_init(memory);
	other = cmpxchg(&current->fgraph_stack, NULL, st);
	if (other) {
		/* An interrupt was faster: then its stack has a spare chunk. */
		memset(memory, 0, 2 * FGRAPH_SLOT);
		fgraph_stack_add(other, memory, FGRAPH_CHUNK_SIZE);
		st = other;
	} else {
		atomic_long_inc(&fgraph_stacks);
	}
	fgraph_chunk_refill();
	return st;
}
NOKPROBE_SYMBOL(fgraph_stack_make);

/**
 * fgraph_free_task() - a task is gone, and what it never returned from
 * @task:	the task, which nobody can reach any more
 *
 * Context: where kfree() may be called.
 */
void fgraph_free_task(struct task_struct *task)
{
	struct fgraph_stack *st = xchg(&task->fgraph_stack, NULL);

	if (st)
		free_stack(st);
}

/**
 * fgraph_reset_task() - the machine stack of a task starts anew
 * @task:	the task: current
 *
 * Nothing that was hooked on it returns.
 *
 * Context: the idle task of a CPU that comes up.
 */
void fgraph_reset_task(struct task_struct *task)
{
	struct fgraph_stack *st = task->fgraph_stack;

	preempt_disable_notrace();
	if (st) {
		fgraph_stack_pop_above(st, st->first);
		fgraph_trim_unused();
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(fgraph_reset_task);

static unsigned long count_in(void **place, unsigned int nr)
{
	unsigned long count = 0;

	while (nr--)
		count += !!READ_ONCE(place[nr]);
	return count;
}

/**
 * fgraph_usage() - how much memory there is
 * @usage:	to be filled in; its parts may be of slightly different moments
 */
void fgraph_usage(struct fgraph_usage *usage)
{
	unsigned long usual = 0, big = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct fgraph_reserve *r = per_cpu_ptr(&fgraph_reserve, cpu);

		usual += count_in(r->usual, ARRAY_SIZE(r->usual));
		big += count_in(r->big, ARRAY_SIZE(r->big));
	}
	usage->stacks = atomic_long_read(&fgraph_stacks);
	usage->chunks = atomic_long_read(&fgraph_chunks);
	usage->bytes = atomic_long_read(&fgraph_bytes);
	usage->reserve_chunks = usual + big;
	usage->reserve_bytes = usual * FGRAPH_CHUNK_SIZE + big * FGRAPH_BIG_CHUNK_SIZE;
}
