/* SPDX-License-Identifier: GPL-2.0 */
/* The graph tracers: their part of a call at its entry and at its return. */
#ifndef _TRACE_GRAPH_CALL_H
#define _TRACE_GRAPH_CALL_H

#include <linux/fgraph.h>
#include <linux/ftrace.h>

#include "fgraph_internal.h"
#include "trace.h"

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Does the instance not want the current task? */
static __always_inline bool graph_ignores_pid(struct fgraph_ops *gops)
{
	struct trace_array *tr = gops->ops.private;
	int pid;

	if (likely(!tr || (!rcu_access_pointer(tr->function_pids) &&
			   !rcu_access_pointer(tr->function_no_pids))))
		return false;
	pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);
	return pid == FTRACE_PID_IGNORE || (pid != FTRACE_PID_TRACE && pid != current->pid);
}

/* Are calls not to be traced now: for good, by pause_graph_tracing(), or by the task's pid? */
static __always_inline bool graph_is_off(struct fgraph_ops *gops)
{
	return ftrace_graph_is_dead() || unlikely(atomic_read(&current->tracing_graph_pause)) ||
	       graph_ignores_pid(gops);
}

/**
 * typedef graph_show_t - decides whether a graph tracer shows a call, and traces its entry
 * @gops:	the tracer
 * @frame:	the call
 * @call:	the tracer's data for the call; the function sets &graph_call.calltime
 * @trace:	the function and the depth
 * @fregs:	the registers at entry
 *
 * May change &graph_call.task_var, for this call and the calls within it.
 *
 * Return: true if the call is shown.
 */
typedef bool (*graph_show_t)(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			     struct graph_call *call, struct ftrace_graph_ent *trace,
			     struct ftrace_regs *fregs);

/**
 * graph_call_enter() - the &fgraph_ops.entryfunc of graph tracers
 * @gops:	the tracer
 * @frame:	the call
 * @data:	the tracer's data for the call, which begin with a struct graph_call
 * @fregs:	the registers at entry
 * @show:	decides whether the call is shown
 *
 * A call inherits flags and depth from the innermost call around it whose return this tracer
 * wants. If @show refuses a call but changes a flag, as at a function of set_graph_function that
 * is too deep, the calls that the function makes need that flag. So the return is wanted, too.
 *
 * Context: any, preemption disabled.
 *
 * Return: nonzero if the return is wanted.
 */
static __always_inline int graph_call_enter(struct fgraph_ops *gops,
					    const struct fgraph_frame *frame, void *data,
					    struct ftrace_regs *fregs, graph_show_t show)
{
	const struct graph_call *parent;
	struct graph_call *call = data;
	struct ftrace_graph_ent trace;
	unsigned long inherited = 0;

	if (graph_is_off(gops))
		return 0;
	call->depth = 0;
	call->shown = false;
	parent = fgraph_find_parent_data(gops, frame);
	if (parent) {
		inherited = parent->task_var;
		call->depth = parent->depth + parent->shown;
	}
	call->task_var = inherited;
	trace.func = frame->func;
	trace.depth = call->depth;
	call->shown = show(gops, frame, call, &trace, fregs);
	return call->shown || call->task_var != inherited;
}

/**
 * graph_call_leave() - begin the &fgraph_ops.retfunc of graph tracers
 * @gops:	the tracer
 * @frame:	the call
 * @call:	the tracer's data for the call
 * @regs:	the registers at return
 * @trace:	is filled in
 *
 * Context: any, preemption disabled.
 *
 * Return: true if the call is shown.
 */
static __always_inline bool graph_call_leave(struct fgraph_ops *gops,
					     const struct fgraph_frame *frame,
					     struct graph_call *call, struct fgraph_regs *regs,
					     struct ftrace_graph_ret *trace)
{
	trace->func = frame->func;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	trace->retval = fgraph_return_value(regs);
#endif
	trace->depth = call->depth;
	trace->overrun = fgraph_missed(gops, FGRAPH_MISS_MEMORY);

	ftrace_graph_addr_finish(&call->task_var, trace);
	if (call->task_var & TRACE_GRAPH_NOTRACE) {
		call->task_var &= ~TRACE_GRAPH_NOTRACE;
		return false;
	}
	return call->shown;
}

/* The time of the entry, plus the time that the task has slept since if that does not count. */
static __always_inline u64 graph_call_began(const struct graph_call *call)
{
	return call->calltime + (unlikely(call->no_sleep) ? current->ftrace_sleeptime : 0);
}

/* Set the time of the entry. If @no_sleep, less what the task has slept so far. */
static __always_inline void graph_call_begin(struct graph_call *call, bool no_sleep)
{
	call->no_sleep = no_sleep;
	call->calltime = trace_clock_local() - (unlikely(no_sleep) ? current->ftrace_sleeptime : 0);
}
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#endif /* _TRACE_GRAPH_CALL_H */
