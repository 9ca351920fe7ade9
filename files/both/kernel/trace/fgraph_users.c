// SPDX-License-Identifier: GPL-2.0
/*
 * The table of fgraph's users. A frame names a user by its tag; the table has the user for
 * that tag as long as the user is registered.
 *
 * A user is removed in three steps: fgraph_user_retire(), fgraph_synchronize() and
 * fgraph_user_remove(). So one wait can serve many users, and no lock is held meanwhile.
 */
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/idr.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fgraph_port.h"
#include "fgraph_reserve.h"
#include "fgraph_stack.h"
#include "fgraph_users.h"

/* Protects the table. It is held for short: no wait and no allocation happens under it. */
DEFINE_MUTEX(fgraph_mutex);

struct fgraph_row *fgraph_table[FGRAPH_PAGES];
unsigned int fgraph_nr_users;

static DEFINE_IDA(fgraph_ids);
static u64 fgraph_generation;

/*
 * The row of a user, or NULL if it has none. A user that was never registered may have
 * any value in its tag, so the row must point back to the user.
 */
static struct fgraph_row *fgraph_find_row(const struct fgraph_ops *gops)
{
	unsigned long id = gops->user.tag & FGRAPH_ID_MASK;

	lockdep_assert_held(&fgraph_mutex);

	if (!gops->user.tag || !READ_ONCE(fgraph_table[id >> FGRAPH_PAGE_BITS]) ||
	    fgraph_row(id)->gops != gops)
		return NULL;
	return fgraph_row(id);
}

/*
 * Make sure that there is memory for the row of an id. Pages are never freed, as
 * entries of calls that are asleep point into them.
 */
static int fgraph_make_page(unsigned long id)
{
	struct fgraph_row *page;

	if (READ_ONCE(fgraph_table[id >> FGRAPH_PAGE_BITS]))
		return 0;
	page = kcalloc(FGRAPH_PAGE_USERS, sizeof(*page), GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	if (cmpxchg(&fgraph_table[id >> FGRAPH_PAGE_BITS], NULL, page))
		kfree(page);
	return 0;
}

static u64 fgraph_new_tag(unsigned long id)
{
	u64 tag;

	lockdep_assert_held(&fgraph_mutex);

	do {
		tag = ++fgraph_generation << FGRAPH_ID_BITS | id;
	} while (BITS_PER_LONG == 32 && !(u32)tag);	/* see fgraph_row_tag() */
	return tag;
}

static int fgraph_take_row(struct fgraph_ops *gops, unsigned long id)
{
	struct fgraph_row *row = fgraph_row(id);
	int ret = -EBUSY;

	mutex_lock(&fgraph_mutex);
	if (!fgraph_find_row(gops)) {
		gops->user.tag = fgraph_new_tag(id);
		gops->user.row = row;
		row->gops = gops;
		fgraph_row_set_tag(row, gops->user.tag);
		WRITE_ONCE(fgraph_nr_users, fgraph_nr_users + 1);
		ret = 0;
	}
	mutex_unlock(&fgraph_mutex);
	return ret;
}

static bool fgraph_is_registered(const struct fgraph_ops *gops)
{
	bool registered;

	mutex_lock(&fgraph_mutex);
	registered = fgraph_find_row(gops);
	mutex_unlock(&fgraph_mutex);
	return registered;
}

static int fgraph_give_id(struct fgraph_ops *gops)
{
	int id, ret;

	id = ida_alloc_max(&fgraph_ids, FGRAPH_MAX_USERS - 1, GFP_KERNEL);
	if (id < 0)
		return id;
	ret = fgraph_make_page(id) ?: fgraph_take_row(gops, id);
	if (ret)
		ida_free(&fgraph_ids, id);
	return ret;
}

/**
 * fgraph_user_add() - enter a user into the table
 * @gops:	the user
 *
 * When this returns, calls may be hooked for the user. It is not called yet: the caller must
 * have ftrace call it (fgraph_ftrace.c) or call fgraph_hook().
 *
 * Context: process. May sleep.
 *
 * Return: 0; -EINVAL if the user has no callback, -E2BIG if it wants more than
 * FGRAPH_MAX_DATA_SIZE bytes of private data, -EBUSY if it is registered already, -ENOSPC
 * if there are FGRAPH_MAX_USERS users, -ENOMEM.
 */
int fgraph_user_add(struct fgraph_ops *gops)
{
	unsigned int i;
	int ret;

	if (!gops->entryfunc && !gops->retfunc)
		return -EINVAL;
	if (gops->data_size > FGRAPH_MAX_DATA_SIZE)
		return -E2BIG;
	/* Checked before @gops->user is written to, which would break a registered user. */
	if (fgraph_is_registered(gops))
		return -EBUSY;

	ret = fgraph_reserve_get(gops->data_size);
	if (ret)
		return ret;
	gops->user.slots = fgraph_slots_for(gops->data_size);
	for (i = 0; i < FGRAPH_NR_MISSES; i++)
		atomic_long_set(&gops->user.missed[i], 0);
	ret = fgraph_give_id(gops);
	if (ret)
		fgraph_reserve_put(gops->data_size);
	return ret;
}

/**
 * fgraph_user_retire() - make a user's tag invalid, so that returns skip the user
 * @gops:	the user; the caller must not hook further calls for it
 *
 * Until fgraph_synchronize() has returned, calls that are being hooked may still get a frame
 * for the user, and its callbacks may still be running.
 *
 * Context: process. May sleep.
 *
 * Return: 0, or -ENOENT if it is not registered.
 */
int fgraph_user_retire(struct fgraph_ops *gops)
{
	struct fgraph_row *row;
	int ret = -ENOENT;

	mutex_lock(&fgraph_mutex);
	row = fgraph_find_row(gops);
	if (row && fgraph_row_is_valid(row)) {
		fgraph_row_set_tag(row, 0);
		ret = 0;
	}
	mutex_unlock(&fgraph_mutex);
	return ret;
}

/**
 * fgraph_user_remove() - remove a user from the table
 * @gops:	the user, after fgraph_user_retire() and fgraph_synchronize(); nothing
 *		happens if it was not retired
 *
 * Context: process. May sleep.
 */
void fgraph_user_remove(struct fgraph_ops *gops)
{
	struct fgraph_row *row;
	bool removed = false;

	mutex_lock(&fgraph_mutex);
	row = fgraph_find_row(gops);
	if (row && !fgraph_row_is_valid(row)) {
		row->gops = NULL;
		ida_free(&fgraph_ids, gops->user.tag & FGRAPH_ID_MASK);
		gops->user.tag = 0;
		WRITE_ONCE(fgraph_nr_users, fgraph_nr_users - 1);
		removed = true;
	}
	mutex_unlock(&fgraph_mutex);
	if (removed)
		fgraph_reserve_put(gops->data_size);
}

static DEFINE_PER_CPU(struct work_struct, fgraph_sync_work);
/* Held during a wait. Callers that arrive during a wait share the next one. */
static DEFINE_MUTEX(fgraph_sync_mutex);
/* The number of waits that were begun. */
static unsigned long fgraph_sync_begun;

static void fgraph_nop(struct work_struct *work)
{
}

/*
 * Is the CPU in user space, where it calls nothing? This is only known of CPUs whose user space is
 * tracked (nohz_full), and RCU takes it from the same word. The CPU changes it with a full barrier:
 * what it did before is over, and when it is back, it sees what the caller has written before a
 * full barrier of its own. Nothing can be hooked between user space and that change, as the code
 * there is noinstr on the architectures that select ARCH_WANTS_NO_INSTR. Others may have functions
 * there that can be traced, so their CPUs are waited for.
 */
static bool fgraph_cpu_in_user(int cpu)
{
#if defined(CONFIG_CONTEXT_TRACKING_USER) && defined(CONFIG_CONTEXT_TRACKING_IDLE) && \
	defined(CONFIG_ARCH_WANTS_NO_INSTR)
	int state = atomic_read_acquire(&per_cpu_ptr(&context_tracking, cpu)->state);

	return (state & CT_STATE_MASK) == CT_STATE_USER && !(state & CT_RCU_WATCHING);
#else
	return false;
#endif
}

/* Wait until each CPU has passed through the scheduler, or is in user space. */
static void fgraph_wait_for_cpus(void)
{
	int cpu;

	/*
	 * A CPU that comes up after this loop sees all that the caller wrote before, and one
	 * that goes down meanwhile passes through the scheduler.
	 */
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct work_struct *work = per_cpu_ptr(&fgraph_sync_work, cpu);

		/* Do not disturb it. The smp_mb() of fgraph_synchronize() is before this. */
		if (fgraph_cpu_in_user(cpu))
			continue;
		INIT_WORK(work, fgraph_nop);
		schedule_work_on(cpu, work);
	}
	cpus_read_unlock();

	for_each_possible_cpu(cpu) {
		struct work_struct *work = per_cpu_ptr(&fgraph_sync_work, cpu);

		if (work->func)
			flush_work(work);
	}
}

/**
 * fgraph_synchronize() - wait for all callbacks that may be running
 *
 * Callbacks run with preemption disabled, also where RCU does not watch: in idle, in NMI, in
 * the entry code. So this waits until each CPU has passed through the scheduler. A CPU that is
 * known to be in user space (nohz_full) when the wait begins is left alone; a task of a real-time
 * policy that keeps any other CPU to itself also keeps this waiting, like flush_work(). It waits
 * for memory if a workqueue has to create a thread, so callers should not hold locks that others
 * need.
 *
 * synchronize_rcu_tasks_rude() does not suffice. In Linux 7.3 it does nothing on architectures
 * with ARCH_WANTS_NO_INSTR, such as x86 and arm64, although functions that RCU does not watch may
 * be traced there. Where it waits, it may wait 0.1 s for its grace period to begin, and it needs
 * CPUs in user space to be interrupted, too. It does not exist with KPROBES alone.
 *
 * Context: process. May sleep.
 */
void fgraph_synchronize(void)
{
	unsigned long begun;

	/* Before the scheduler runs, only the caller does, and it is not in a callback. */
	if (system_state < SYSTEM_SCHEDULING)
		return;

	/*
	 * Pairs with smp_mb() below: a wait that begins after this CPU has read the count
	 * covers all that the caller wrote before.
	 */
	smp_mb();
	begun = READ_ONCE(fgraph_sync_begun);
	mutex_lock(&fgraph_sync_mutex);
	/* Otherwise a wait has begun since the count was read, and it is over. */
	if (fgraph_sync_begun == begun) {
		WRITE_ONCE(fgraph_sync_begun, begun + 1);
		/* Pairs with smp_mb() above, in callers that share this wait. */
		smp_mb();
		fgraph_wait_for_cpus();
	}
	mutex_unlock(&fgraph_sync_mutex);
}

/**
 * fgraph_user_drop() - remove a user in one step
 * @gops:	the user; nothing hooks calls for it any more
 *
 * Context: process. May sleep.
 */
void fgraph_user_drop(struct fgraph_ops *gops)
{
	fgraph_user_retire(gops);
	fgraph_synchronize();
	fgraph_user_remove(gops);
}
