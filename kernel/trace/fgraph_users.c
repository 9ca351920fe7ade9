// SPDX-License-Identifier: GPL-2.0
/*
 * The table of fgraph's users: from what a frame knows, id and generation, to
 * the user while it is registered.
 */
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/idr.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fgraph_internal.h"

/* Also held while the memory of stacks is given back. */
DEFINE_MUTEX(fgraph_mutex);

struct fgraph_slot *fgraph_table[FGRAPH_PAGES];
unsigned int fgraph_nr_users;

static DEFINE_IDA(fgraph_ids);
static unsigned long fgraph_generation;

/* Does not believe what a structure says that was never registered. */
bool fgraph_user_registered(struct fgraph_ops *gops)
{
	lockdep_assert_held(&fgraph_mutex);

	return gops->id < FGRAPH_MAX_USERS && fgraph_table[gops->id >> FGRAPH_PAGE_BITS] &&
	       fgraph_slot(gops->id)->gops == gops;
}

/*
 * Enters a user into the table. Pages are never freed: a frame of a user that
 * went long ago may look there.
 */
int fgraph_user_add(struct fgraph_ops *gops)
{
	struct fgraph_slot **page, *slot;
	unsigned long tag;
	bool in_slot;
	int id;

	lockdep_assert_held(&fgraph_mutex);

	id = ida_alloc_max(&fgraph_ids, FGRAPH_MAX_USERS - 1, GFP_KERNEL);
	if (id < 0)
		return id;

	page = &fgraph_table[id >> FGRAPH_PAGE_BITS];
	if (!*page) {
		*page = kcalloc(FGRAPH_PAGE_USERS, sizeof(**page), GFP_KERNEL);
		if (!*page) {
			ida_free(&fgraph_ids, id);
			return -ENOMEM;
		}
	}

	tag = ++fgraph_generation << FGRAPH_ID_BITS | id;
	slot = fgraph_slot(id);
	slot->gops = gops;
	/* Whoever sees the tag in the table sees the user there. */
	smp_store_release(&slot->tag, tag);
	gops->id = id;
	gops->slot = slot;
	atomic_long_set(&gops->missed, 0);
	/* And whoever sees it in the user may push frames with it. */
	smp_store_release(&gops->tag, tag);
	in_slot = gops->retfunc && gops->frame.size == FGRAPH_SLOT;
	/* So may who sees this one, */
	smp_store_release(&gops->slot_tag, in_slot ? tag : 0);
	/* or this. */
	smp_store_release(&gops->simple_tag, in_slot && !gops->entryfunc ? tag : 0);
	WRITE_ONCE(fgraph_nr_users, fgraph_nr_users + 1);
	return 0;
}

/*
 * From now on no frame finds the user, and it pushes none; but callbacks may
 * still run, and frames be pushed, until fgraph_synchronize().
 */
int fgraph_user_retire(struct fgraph_ops *gops)
{
	lockdep_assert_held(&fgraph_mutex);

	if (!fgraph_user_registered(gops) || !gops->tag)
		return -ENOENT;
	WRITE_ONCE(fgraph_slot(gops->id)->tag, 0);
	WRITE_ONCE(gops->tag, 0);
	WRITE_ONCE(gops->slot_tag, 0);
	WRITE_ONCE(gops->simple_tag, 0);
	return 0;
}

/* Is this a user between retire and remove? */
bool fgraph_user_retired(struct fgraph_ops *gops)
{
	return fgraph_user_registered(gops) && !gops->tag;
}

/* After a grace period: the id may be used again. */
void fgraph_user_remove(struct fgraph_ops *gops)
{
	lockdep_assert_held(&fgraph_mutex);

	fgraph_slot(gops->id)->gops = NULL;
	ida_free(&fgraph_ids, gops->id);
	gops->id = 0;
	WRITE_ONCE(fgraph_nr_users, fgraph_nr_users - 1);
}

static DEFINE_PER_CPU(struct work_struct, fgraph_sync_work);
static DEFINE_MUTEX(fgraph_sync_mutex);

static void fgraph_nop(struct work_struct *work)
{
}

/**
 * fgraph_synchronize() - wait for all callbacks that may be running
 *
 * Callbacks run with preemption disabled, in contexts where RCU does not look:
 * idle, NMI, the entry code. So wait until each CPU has passed through the
 * scheduler, as rude RCU tasks does, but without waiting for its turn. That
 * takes no memory, and cannot fail.
 *
 * Context: process. May sleep.
 */
void fgraph_synchronize(void)
{
	int cpu;

	/* Nothing else runs yet. */
	if (system_state < SYSTEM_SCHEDULING)
		return;

	mutex_lock(&fgraph_sync_mutex);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct work_struct *work = per_cpu_ptr(&fgraph_sync_work, cpu);

		INIT_WORK(work, fgraph_nop);
		schedule_work_on(cpu, work);
	}
	for_each_online_cpu(cpu)
		flush_work(per_cpu_ptr(&fgraph_sync_work, cpu));
	cpus_read_unlock();
	mutex_unlock(&fgraph_sync_mutex);
}
EXPORT_SYMBOL_GPL(fgraph_synchronize);
