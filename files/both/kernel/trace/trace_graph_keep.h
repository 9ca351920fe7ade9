/* SPDX-License-Identifier: GPL-2.0 */
/* graph_keep: trees of calls that are written when their outermost call has returned. */
#ifndef _TRACE_GRAPH_KEEP_H
#define _TRACE_GRAPH_KEEP_H

#include <linux/types.h>

struct dentry;
struct ftrace_regs;
struct trace_array;
struct trace_keep;

/* What &ftrace_graph_kept_entry.kind says: which line of the graph the event is. */
enum trace_kept_kind {
	TRACE_KEPT_ENTRY,
	TRACE_KEPT_RETURN,
	TRACE_KEPT_LEAF,
};

/**
 * struct trace_keep_call - the private data of a call in a tree, in its frame
 * @where:	the record of the call. After the call's return, that of the call around it
 * @tree:	the block with which the tree begins, if it has any
 * @gen:	which of the trees that began there it is
 * @outermost:	the call around it is not in a tree
 * @no_sleep:	the time that the task is scheduled out does not count
 * @sleeptime:	with @no_sleep, the task's ftrace_sleeptime at the entry
 */
struct trace_keep_call {
	u32	where;
	u32	tree;
	u32	gen;
	bool	outermost;
	bool	no_sleep;
	u64	sleeptime;
};

/**
 * struct trace_keep_entry - what is known at the entry of a call
 * @func:	the function
 * @fregs:	its registers, or NULL
 * @trace_ctx:	the context of the call, see tracing_gen_ctx()
 * @nr_args:	how many words the caller will write to &trace_keep_record.args
 * @no_sleep:	the time that the task is scheduled out does not count
 */
struct trace_keep_entry {
	unsigned long		func;
	struct ftrace_regs	*fregs;
	unsigned int		trace_ctx;
	unsigned int		nr_args;
	bool			no_sleep;
};

/**
 * struct trace_keep_record - a call in a tree
 * @func:	the function
 * @retaddr:	the caller's address, if that is wanted
 * @retval:	the return value
 * @retval_high: its second word, if it may have two
 * @calltime:	the time of the entry
 * @rettime:	the time of the return; 0 until then
 * @slept:	how long the task has slept in between if that does not count, else 0
 * @parent:	the record of the call around it
 * @trace_ctx:	see &trace_keep_entry.trace_ctx
 * @depth:	0 for the outermost call
 * @cpu:	where the call began
 * @nr_args:	how many @args there are
 * @hidden:	the call took less than tracing_thresh
 * @args:	what funcgraph-args records
 */
struct trace_keep_record {
	unsigned long	func;
	unsigned long	retaddr;
	unsigned long	retval;
	unsigned long	retval_high;
	u64		calltime;
	u64		rettime;
	u64		slept;
	u32		parent;
	u32		trace_ctx;
	u16		depth;
	u16		cpu;
	u8		nr_args;
	bool		hidden;
	unsigned long	args[];
};

#if defined(CONFIG_FGRAPH) && defined(CONFIG_FUNCTION_GRAPH_TRACER)
struct trace_keep_record *
trace_keep_enter(struct trace_keep *keep, struct trace_keep_call *call,
		 const struct trace_keep_call *parent, const struct trace_keep_entry *entry);
void trace_keep_leave(struct trace_keep *keep, struct trace_keep_call *call,
		      unsigned long retval, unsigned long retval_high, u64 rettime);
void trace_keep_reset(struct trace_keep *keep);
void trace_keep_create_files(struct trace_array *tr, struct dentry *parent);
void trace_keep_free(struct trace_array *tr);
void trace_graph_get_args(unsigned long *args, unsigned int nr, struct ftrace_regs *fregs);
int trace_graph_set_keep(struct trace_array *tr, struct trace_keep *keep);
#else
static inline struct trace_keep_record *
trace_keep_enter(struct trace_keep *keep, struct trace_keep_call *call,
		 const struct trace_keep_call *parent, const struct trace_keep_entry *entry)
{
	return NULL;
}

static inline void trace_keep_leave(struct trace_keep *keep, struct trace_keep_call *call,
				    unsigned long retval, unsigned long retval_high,
				    u64 rettime) { }
static inline void trace_keep_reset(struct trace_keep *keep) { }
static inline void trace_keep_create_files(struct trace_array *tr, struct dentry *parent) { }
static inline void trace_keep_free(struct trace_array *tr) { }
#endif

#endif /* _TRACE_GRAPH_KEEP_H */
