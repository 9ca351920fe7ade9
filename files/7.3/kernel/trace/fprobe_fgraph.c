// SPDX-License-Identifier: GPL-2.0
/*
 * fprobes with an exit handler, as users of fgraph.
 *
 * An fprobe may be freed a grace period of RCU after unregister_fprobe_async(), which does
 * not wait. fgraph needs the user for longer: until it has waited for callbacks where RCU
 * does not watch. So the user is a structure of its own, and its callbacks look at the fprobe
 * only where RCU watches.
 */
#include <linux/fgraph.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fgraph_ftrace.h"
#include "fgraph_internal.h"
#include "fprobe_fgraph.h"

/**
 * struct fprobe_user - the user that hooks returns for an fprobe
 * @gops:	the user, with the filter of the fprobe
 * @fp:		the fprobe, or NULL after it was unregistered
 * @list:	links users that are to be freed
 */
struct fprobe_user {
	struct fgraph_ops	gops;
	struct fprobe		*fp;
	struct llist_node	list;
};

/* The users that fprobe_free_users() will free. */
static LLIST_HEAD(fprobe_old_users);

/*
 * The fprobe of a user, if it may be called: preemption is disabled and RCU watches, so it
 * stays until the callback is over. NULL if it was unregistered or is disabled.
 */
static __always_inline struct fprobe *fprobe_of(struct fgraph_ops *gops)
{
	struct fprobe *fp = READ_ONCE(container_of(gops, struct fprobe_user, gops)->fp);

	return fp && !fprobe_disabled(fp) ? fp : NULL;
}

static int fprobe_hook_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			     void *data, struct ftrace_regs *fregs)
{
	struct fprobe *fp = fprobe_of(gops);
	bool shared;
	int ret;

	if (!fp)
		return 0;
	shared = fprobe_shared_with_kprobes(fp);
	/* fprobe_hook_admit() has made sure that no kprobe runs. */
	if (shared)
		kprobe_busy_begin();
	ret = fp->entry_handler(fp, frame->func, frame->ret, fregs,
				fp->entry_data_size ? data : NULL);
	if (shared)
		kprobe_busy_end();
	return !ret;
}
NOKPROBE_SYMBOL(fprobe_hook_entry);

static void fprobe_hook_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			       void *data, struct fgraph_regs *regs)
{
	struct fprobe *fp;

	if (!fgraph_rcu_is_watching()) {
		fgraph_miss(gops, FGRAPH_MISS_NESTED);
		return;
	}
	fp = fprobe_of(gops);
	if (fp)
		fp->exit_handler(fp, frame->func, frame->ret, fgraph_as_ftrace_regs(regs),
				 fp->entry_data_size ? data : NULL);
}
NOKPROBE_SYMBOL(fprobe_hook_return);

/* Handlers, above all BPF programs, may rely on RCU. Counts a miss if it does not watch. */
static bool fprobe_hook_admit(struct fgraph_ops *gops)
{
	struct fprobe *fp;

	if (fgraph_rcu_is_watching()) {
		fp = fprobe_of(gops);
		if (!fp)
			return false;
		if (!fprobe_shared_with_kprobes(fp) || !kprobe_running())
			return true;
	}
	fgraph_miss(gops, FGRAPH_MISS_NESTED);
	return false;
}
NOKPROBE_SYMBOL(fprobe_hook_admit);

static void fprobe_hook_miss(struct fgraph_ops *gops)
{
	struct fprobe *fp = fgraph_rcu_is_watching() ? fprobe_of(gops) : NULL;

	if (fp)
		fp->nmissed++;
}
NOKPROBE_SYMBOL(fprobe_hook_miss);

/* One wait for all: a process may exit that has thousands of fprobes. */
static void fprobe_free_users(struct work_struct *work)
{
	struct llist_node *old = llist_del_all(&fprobe_old_users);
	struct fprobe_user *user, *next;

	fgraph_synchronize();
	llist_for_each_entry_safe(user, next, old, list) {
		fgraph_user_remove(&user->gops);
		user->gops.ops.flags &= ~FTRACE_OPS_FL_GRAPH;
		ftrace_free_filter(&user->gops.ops);
		kfree(user);
	}
}

static DECLARE_WORK(fprobe_free_work, fprobe_free_users);

/**
 * fprobe_hook_add() - hook the returns of functions for an fprobe
 * @fp:		the fprobe, which has an exit handler
 * @addrs:	the addresses of the functions' calls to ftrace
 * @num:	how many there are
 *
 * Context: process. May sleep.
 *
 * Return: 0, -ENOMEM, or the errors of ftrace_set_filter_ips() and register_ftrace_graph().
 */
int fprobe_hook_add(struct fprobe *fp, unsigned long *addrs, int num)
{
	struct fprobe_user *user;
	int ret;

	user = kzalloc_obj(*user);
	if (!user)
		return -ENOMEM;
	user->fp = fp;
	user->gops.on_entry = fp->entry_handler ? fprobe_hook_entry : NULL;
	user->gops.on_return = fprobe_hook_return;
	user->gops.data_size = fp->entry_data_size;
	user->gops.name = fp->name;
	user->gops.user.kind = "fprobe";
	user->gops.user.admit = fprobe_hook_admit;
	user->gops.user.note_miss = fprobe_hook_miss;
	fp->user = user;
	ret = ftrace_set_filter_ips(&user->gops.ops, addrs, num, 0, 0);
	if (!ret)
		ret = register_ftrace_graph(&user->gops);
	if (ret) {
		fp->user = NULL;
		ftrace_free_filter(&user->gops.ops);
		kfree(user);
	}
	return ret;
}

/**
 * fprobe_hook_remove() - undo fprobe_hook_add()
 * @fp:	the fprobe; its handlers may still be called for a grace period of RCU
 *
 * Context: process. May sleep.
 */
void fprobe_hook_remove(struct fprobe *fp)
{
	struct fprobe_user *user = fp->user;

	WRITE_ONCE(fp->user, NULL);	/* read in fprobe_count_bpf_miss() */
	WRITE_ONCE(user->fp, NULL);
	fgraph_user_retire(&user->gops);
	fgraph_remove_filter(&user->gops);
	llist_add(&user->list, &fprobe_old_users);
	schedule_work(&fprobe_free_work);
}

/**
 * fprobe_count_bpf_miss() - count that a BPF program was skipped, see FGRAPH_MISS_BPF
 * @fp:	the fprobe, for whose handler the program is; nothing is counted if it has no exit
 *	handler
 *
 * Context: handlers of @fp.
 */
void fprobe_count_bpf_miss(struct fprobe *fp)
{
	struct fprobe_user *user = READ_ONCE(fp->user);

	/* fprobe_free_users() waits for the handler. */
	if (user)
		fgraph_miss(&user->gops, FGRAPH_MISS_BPF);
}
NOKPROBE_SYMBOL(fprobe_count_bpf_miss);
