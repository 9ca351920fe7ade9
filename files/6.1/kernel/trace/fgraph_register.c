// SPDX-License-Identifier: GPL-2.0
/* fgraph: register users that ftrace calls for the functions of their filter. */
#include <linux/export.h>
#include <linux/fgraph.h>
#include <linux/ftrace.h>

#include "fgraph_ftrace.h"
#include "fgraph_users.h"
#include "ftrace_internal.h"

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
DEFINE_STATIC_KEY_FALSE(kill_ftrace_graph);
/* The number of users. Protected by ftrace_lock. */
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
#endif

static void fgraph_count_active(int change)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	mutex_lock(&ftrace_lock);
	ftrace_graph_active += change;
	mutex_unlock(&ftrace_lock);
#endif
}

/**
 * register_ftrace_graph() - register a user
 * @gops:	the user; &fgraph_ops.filter says on which functions its callbacks are called
 *
 * Context: process. May sleep.
 *
 * Return: 0; -EOPNOTSUPP if the user has flags and the architecture has no trampolines of its own
 * for fgraph; the errors of fgraph_user_add() and of register_ftrace_function().
 */
int register_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	/* There, function_graph_enter() passes no registers, and return_to_handler none either. */
	if (!IS_ENABLED(CONFIG_HAVE_FGRAPH) && gops->flags)
		return -EOPNOTSUPP;
	ret = fgraph_user_add(gops);
	if (ret)
		return ret;
	if (gops->filter)
		ftrace_ops_init(gops->filter);
	fgraph_count_active(1);
	ret = fgraph_add_filter(gops);
	if (ret) {
		fgraph_count_active(-1);
		fgraph_user_drop(gops);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_graph);

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
	fgraph_count_active(-1);
	fgraph_synchronize();
	fgraph_user_remove(gops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_graph);
