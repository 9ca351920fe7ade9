// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of shadow stacks.
 *
 * A task gets its stack in whatever context its first hooked call is made: in an NMI, with
 * interrupts disabled, inside the allocator. So each CPU keeps chunks ready, and any context
 * takes one with a single exchange. An irq_work refills them as soon as interrupts are
 * enabled, on PREEMPT_RT as soon as its thread runs, as no interrupt may allocate there. Calls
 * are only missed if the allocator is out of memory, or if more chunks are needed until then
 * than the reserves of all CPUs have.
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
 * 16 chunks suffice for 1,000 nested calls, more than fit on a kernel stack, or for 16 tasks
 * that make their first hooked call before interrupts are enabled.
 */
#define FGRAPH_RESERVE_CHUNKS		16
/* These are only kept while a user has data that needs a big chunk for each call. */
#define FGRAPH_RESERVE_BIG_CHUNKS	16

/* Larger data, in bytes, may not fit into a chunk of the usual size. */
#define FGRAPH_USUAL_DATA	(FGRAPH_CHUNK_SIZE - 3 * FGRAPH_SLOT)

/**
 * struct fgraph_reserve - the chunks that a CPU keeps ready
 * @usual:	chunks of FGRAPH_CHUNK_SIZE bytes, or NULL
 * @big:	chunks of FGRAPH_BIG_CHUNK_SIZE bytes, or NULL
 * @refill:	fills the elements that are NULL
 * @queueing:	this CPU is in the middle of queueing @refill, which has not run yet
 */
struct fgraph_reserve {
	void			*usual[FGRAPH_RESERVE_CHUNKS];
	void			*big[FGRAPH_RESERVE_BIG_CHUNKS];
	struct irq_work		refill;
	bool			queueing;
};

static void fgraph_refill(struct irq_work *work);
static void fgraph_refill_slow(struct work_struct *work);

static DECLARE_WORK(fgraph_refill_work, fgraph_refill_slow);

static DEFINE_PER_CPU(struct fgraph_reserve, fgraph_reserve) = {
	.refill = IRQ_WORK_INIT(fgraph_refill),
};

/*
 * Held while users come or go, so that the reserve of a user that comes is not freed for the
 * last one that goes, and while stacks are taken from tasks. A refill does not take it and may
 * take one chunk out for a moment, see fill().
 */
static DEFINE_MUTEX(fgraph_reserve_mutex);

/* The number of users, and of users with data that need big chunks. */
static atomic_t fgraph_reserve_users;
static atomic_t fgraph_reserve_big_users;

/* Memory in use, for fgraph_usage(). */
static atomic_long_t fgraph_stacks;
static atomic_long_t fgraph_chunks;
static atomic_long_t fgraph_bytes;

static void *take_from(void **place, unsigned int nr)
{
	unsigned int i;
	void *chunk;

	for (i = 0; i < nr; i++) {
		/* Look first: the exchange is a locked instruction. */
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
 * A CPU that goes down has run its last works when it is offline. A work that it queues then
 * would be pending until it comes up again, or for ever. So it queues none:
 * fgraph_chunk_refill() is called again when the next chunk is taken. If a suspend makes a CPU
 * lose the interrupt, irq_work_resume() raises it again.
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
 * Return: zeroed memory of @size bytes, aligned to @size; NULL if no CPU has any left.
 */
void *fgraph_chunk_take(size_t size)
{
	int this = smp_processor_id(), cpu;
	void *chunk = take_on(this, size);

	/*
	 * A CPU that just came up has no chunks yet, but others may have. This does not use
	 * for_each_possible_cpu(), which calls a function that may be probed.
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
 * fgraph_chunk_refill() - have the reserve of this CPU refilled soon
 *
 * To be called when the chunk that was taken is part of a stack: the interrupt that this
 * raises comes at once if interrupts are enabled, and the functions it calls may be hooked
 * and need a chunk, too. Functions that queue the work may be hooked as well; @queueing keeps
 * them from queueing it again. fgraph_refill() clears it, so that a chunk that is taken in the
 * rest of its interrupt is replaced by another one.
 *
 * If there was no free page, fgraph_refill_slow() refills all reserves when it gets pages. Until
 * it runs, no interrupt would find any, but the functions that one calls would be missed, too,
 * and ask for the next.
 *
 * Context: any, preemption disabled.
 */
void fgraph_chunk_refill(void)
{
	struct fgraph_reserve *r = this_cpu_ptr(&fgraph_reserve);

	if (READ_ONCE(r->queueing) || work_pending(&fgraph_refill_work))
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
 * @chunk:	the memory that fgraph_chunk_take() returned
 * @size:	its size in bytes
 *
 * Context: where kfree() may be called.
 */
void fgraph_chunk_give(void *chunk, size_t size)
{
	atomic_long_dec(&fgraph_chunks);
	atomic_long_sub(size, &fgraph_bytes);
	kfree(chunk);
}

/*
 * Fill the elements that are NULL, as long as there are @users. Returns 0 or -ENOMEM. This
 * stays at an element until it has seen a chunk there.
 */
static int fill(void **place, unsigned int nr, size_t size, atomic_t *users, gfp_t gfp)
{
	unsigned int i = 0;

	while (i < nr && atomic_read(users)) {
		void *chunk;

		if (READ_ONCE(place[i])) {
			i++;
			continue;
		}
		/* kmalloc() aligns powers of two to themselves. */
		chunk = kzalloc(size, gfp);
		if (!chunk)
			return -ENOMEM;
		if (cmpxchg(&place[i], NULL, chunk)) {
			kfree(chunk);
			continue;
		}
		/*
		 * Pairs with atomic_dec_and_test() in fgraph_reserve_put(): either drain()
		 * finds the chunk, or this finds that the last user has gone. Another user
		 * may come before the exchange, and rely on the chunk that is there then.
		 * The loop finds that user and fills the element again: the exchange pairs
		 * with smp_mb__after_atomic() in fgraph_reserve_get().
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

/* A CPU that comes up later takes its first chunk from another CPU, then refills its own. */
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

static void fgraph_refill(struct irq_work *work)
{
	WRITE_ONCE(this_cpu_ptr(&fgraph_reserve)->queueing, false);
	/* If there is no free page right now, a work may wait until one is reclaimed. */
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
 * fgraph_reserve_get() - fill the reserve for a user that is being registered
 * @data_size:	size of the user's private data for each call, in bytes
 *
 * Context: process. May sleep.
 *
 * Return: 0, or -ENOMEM.
 */
int fgraph_reserve_get(size_t data_size)
{
	int ret;

	mutex_lock(&fgraph_reserve_mutex);
	atomic_inc(&fgraph_reserve_users);
	if (data_size > FGRAPH_USUAL_DATA)
		atomic_inc(&fgraph_reserve_big_users);
	/* Pairs with xchg() in fill(). */
	smp_mb__after_atomic();
	ret = fill_all();
	mutex_unlock(&fgraph_reserve_mutex);
	if (ret)
		fgraph_reserve_put(data_size);
	return ret;
}

/**
 * fgraph_reserve_put() - free the reserve and unused stacks if the last user has gone
 * @data_size:	the size that was passed to fgraph_reserve_get(), in bytes
 *
 * Context: process. May sleep. After fgraph_synchronize().
 */
void fgraph_reserve_put(size_t data_size)
{
	bool last;

	mutex_lock(&fgraph_reserve_mutex);
	if (data_size > FGRAPH_USUAL_DATA && atomic_dec_and_test(&fgraph_reserve_big_users))
		drain(FGRAPH_BIG_CHUNK_SIZE);
	last = atomic_dec_and_test(&fgraph_reserve_users);
	if (last)
		drain(FGRAPH_CHUNK_SIZE);
	mutex_unlock(&fgraph_reserve_mutex);
	if (last)
		fgraph_trim();
}

/* Take the stack from a task that has no frame on it, and put it on @list. */
static void detach_stack(struct task_struct *t, struct fgraph_stack **list)
{
	struct fgraph_stack *st = READ_ONCE(t->fgraph_stack);

	/* There are no users that could push a frame, so an empty stack stays empty. */
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
 * Take the stacks from all tasks that have no frame. fgraph_reserve_mutex is held and there are no
 * users, so no frame is being pushed. A task that still has frames keeps its stack; when the
 * last of them has returned, fgraph_trim_unused() is called.
 */
static struct fgraph_stack *fgraph_detach_stacks(void)
{
	struct fgraph_stack *list = NULL;
	struct task_struct *g, *t;
	int cpu;

	/* Pairs with smp_mb() in fgraph_trim_unused(). */
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

	mutex_lock(&fgraph_reserve_mutex);
	if (!atomic_read(&fgraph_reserve_users))
		list = fgraph_detach_stacks();
	/*
	 * Returns and unwinders may be using the stacks until preemption is enabled there. Users
	 * that come wait for that in fgraph_reserve_get(): a CPU that sees one of them, and then
	 * reads the pointer to its stack, may have read the pointer before, as loads may be done
	 * early, and would push a frame that the return does not find.
	 */
	if (list)
		fgraph_synchronize();
	mutex_unlock(&fgraph_reserve_mutex);

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

/*
 * All CPUs share it, so it must not stay queued on one that goes down. A CPU runs hard irq_works
 * last thing before that; on PREEMPT_RT others wait until it is back, as its thread is parked
 * earlier. queue_irq_work() queues none after that.
 */
static struct irq_work fgraph_trim_irq_work = IRQ_WORK_INIT_HARD(fgraph_trim_irq);

/**
 * fgraph_trim_unused() - free stacks soon if there are no users any more
 *
 * To be called after a return that found a user gone, or when frames of abandoned calls were
 * dropped: their task may have kept its stack only for them.
 *
 * Context: any.
 */
void fgraph_trim_unused(void)
{
	/*
	 * Pairs with smp_mb() in fgraph_detach_stacks(): either that sees the stack empty, or
	 * this sees that there are no users.
	 */
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
		/* An interrupt has made the stack meanwhile: add the memory as a spare chunk. */
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
 * fgraph_free_task() - free the stack of a task that has died
 * @task:	the task, which is about to be freed and is in no list any more
 *
 * Frames of calls from which the task never returned are freed with it.
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
 * fgraph_reset_task() - drop all frames of a task whose machine stack is reset
 * @task:	current
 *
 * The calls that were on the machine stack will never return.
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
 * fgraph_usage() - report the memory that is in use and in reserve
 * @usage:	to be filled in; its members may be of slightly different moments
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
