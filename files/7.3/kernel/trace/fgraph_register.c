// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: register users that ftrace calls for the functions of their filter.
 */
#include <linux/export.h>
#include <linux/fgraph.h>
#include <linux/fgraph_task.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include <trace/events/sched.h>

#include "fgraph_ftrace.h"
#include "fgraph_internal.h"
#include "ftrace_internal.h"
#include "trace.h"

DEFINE_STATIC_KEY_FALSE(kill_ftrace_graph);
/* The number of users. */
int ftrace_graph_active;

/**
 * ftrace_graph_stop() - stop the graph tracers for good
 *
 * To be called when function tracing has found that it is broken. Calls that are hooked
 * still return.
 */
void ftrace_graph_stop(void)
{
	static_branch_enable(&kill_ftrace_graph);
}

/**
 * fgraph_init_ops() - initialise the filter of a user
 * @dst_ops:	&fgraph_ops.ops
 * @src_ops:	ops whose filter the user is to share, or NULL
 *
 * Context: process.
 */
void fgraph_init_ops(struct ftrace_ops *dst_ops, struct ftrace_ops *src_ops)
{
	dst_ops->flags = FTRACE_OPS_FL_PID;
#ifdef CONFIG_DYNAMIC_FTRACE
	if (src_ops) {
		dst_ops->func_hash = &src_ops->local_hash;
		mutex_init(&dst_ops->local_hash.regex_lock);
		INIT_LIST_HEAD(&dst_ops->subop_list);
		dst_ops->flags |= FTRACE_OPS_FL_INITIALIZED;
		dst_ops->private = src_ops->private;
	}
#endif
}

/* Count how long tasks are asleep, for users that do not want that in the time of a call. */
static void fgraph_sched_switch(void *ignore, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	unsigned long long now;

	if (!fgraph_no_sleep_time)
		return;

	now = trace_clock_local();
	prev->ftrace_timestamp = now;
	/*
	 * The timestamp may be from before the present users came, or the parent's, copied by fork.
	 * Then this counts more sleep than there was. It does no harm: the task is in no hooked
	 * call yet, and users only take the difference of two readings.
	 */
	if (next->ftrace_timestamp)
		next->ftrace_sleeptime += now - next->ftrace_timestamp;
}

static DEFINE_MUTEX(fgraph_register_mutex);
static unsigned int fgraph_sleep_users;

/* Count a user. Returns 0, or the error of registering the probe. */
static int fgraph_count_user(struct fgraph_ops *gops)
{
	int ret;

	guard(mutex)(&fgraph_register_mutex);
	if (gops->flags & FGRAPH_SLEEP_TIME && !fgraph_sleep_users++) {
		ret = register_trace_sched_switch(fgraph_sched_switch, NULL);
		if (ret) {
			fgraph_sleep_users--;
			return ret;
		}
	}
	ftrace_graph_active++;
	return 0;
}

static void fgraph_discount_user(struct fgraph_ops *gops)
{
	guard(mutex)(&fgraph_register_mutex);
	ftrace_graph_active--;
	if (gops->flags & FGRAPH_SLEEP_TIME && !--fgraph_sleep_users)
		unregister_trace_sched_switch(fgraph_sched_switch, NULL);
}

static int fgraph_register(struct fgraph_ops *gops)
{
	int ret;

	ftrace_ops_init(&gops->ops);
	ret = fgraph_count_user(gops);
	if (ret)
		return ret;
	/* The filter must not be freed from now on. */
	gops->ops.flags |= FTRACE_OPS_FL_GRAPH;
	ret = fgraph_add_filter(gops);
	if (ret) {
		gops->ops.flags &= ~FTRACE_OPS_FL_GRAPH;
		fgraph_discount_user(gops);
	}
	return ret;
}

/**
 * register_ftrace_graph() - register a user
 * @gops:	the user; &fgraph_ops.ops has the filter that says on which functions its
 *		callbacks are called
 *
 * Context: process. May sleep.
 *
 * Return: 0; -EOPNOTSUPP if the user has FGRAPH_FULL_REGS and the architecture has no trampolines
 * of its own for fgraph; the errors of fgraph_user_add() and of register_ftrace_function().
 */
int register_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	/* There, kretprobes alone return to a trampoline that saves all registers. */
	if (!IS_ENABLED(CONFIG_HAVE_FGRAPH) && (gops->flags & FGRAPH_FULL_REGS))
		return -EOPNOTSUPP;
	ret = fgraph_user_add(gops);
	if (ret)
		return ret;
	ret = fgraph_register(gops);
	if (ret)
		fgraph_user_drop(gops);
	return ret;
}
EXPORT_SYMBOL_FOR_MODULES(register_ftrace_graph, "test_fgraph,fgraph_torture");

/* The end of unregistering a user: fgraph_synchronize() has returned since its filter went. */
void fgraph_unregistered(struct fgraph_ops *gops)
{
	fgraph_discount_user(gops);
	fgraph_user_remove(gops);
	gops->ops.flags &= ~FTRACE_OPS_FL_GRAPH;
}

/**
 * unregister_ftrace_graph() - unregister a user
 * @gops:	the user
 *
 * When this returns, no callback runs any more, and the user, its data and its module may be
 * freed. Calls that are hooked for the user return without calling it.
 *
 * Context: process. May sleep.
 *
 * Return: 0, or -ENOENT if it is not registered.
 */
int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	ret = fgraph_user_retire(gops);
	if (ret)
		return ret;

	fgraph_remove_filter(gops);
	fgraph_synchronize();
	fgraph_unregistered(gops);
	return 0;
}
EXPORT_SYMBOL_FOR_MODULES(unregister_ftrace_graph, "test_fgraph,fgraph_torture");
