// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: register users that ftrace calls for the functions of their filter.
 *
 * Most users have &fgraph_ops.entryfunc and &fgraph_ops.retfunc. These are not told where
 * their private data are and how deep a call is nested, they ask. So fgraph_call_entry() and
 * fgraph_call_return(), which the core calls for them, note on the machine stack which call
 * it is, and current->fgraph_running leads there. Interrupts leave that as they found it.
 *
 * What such a user keeps for a task, fgraph_get_task_var(), is a word that it sets at the
 * entry of a function, for the calls that the function makes, and clears at the return. So
 * the word is part of the private data of each call, and a call inherits that of the
 * innermost call around it that the user has hooked.
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
/* The number of users with entryfunc. */
int ftrace_graph_active;

/*
 * Bits of &fgraph_state.word. Bits 0 to 31 belong to the user: fgraph_get_task_var(). A depth of
 * more than 65535 calls starts at 0 again.
 */
#define FGRAPH_DEPTH_SHIFT	32
#define FGRAPH_SIZE_SHIFT	48
#define FGRAPH_SIZE_MASK	GENMASK(63, FGRAPH_SIZE_SHIFT)

/* The private data that fit into the header of a record, in bytes. */
#define FGRAPH_HEADER_DATA	sizeof_field(struct fgraph_frame, data)

/**
 * struct fgraph_state - private data of a call, unless the user is &fgraph_ops.stateless
 * @word:	from bit 0, what fgraph_get_task_var() gives; from bit 32, how many calls around
 *		this one the user has hooked; from bit 48, the size in bytes that the user has
 *		reserved of @data
 * @data:	what fgraph_reserve_data() gives
 */
struct fgraph_state {
	unsigned long	word;
	unsigned long	data[];
};

/**
 * struct fgraph_running - a call, while the callback of a user runs for it
 * @outer:	the one that was interrupted, or whose callback has made the call
 * @gops:	the user
 * @frame:	the call's frame
 * @data:	the user's private data for the call
 * @inherited:	&fgraph_state.word before entryfunc() is called; not set for retfunc(), nor for
 *		a user that is &fgraph_ops.stateless
 */
struct fgraph_running {
	struct fgraph_running	*outer;
	struct fgraph_ops	*gops;
	const struct fgraph_frame *frame;
	void			*data;
	unsigned long		inherited;
};

static __always_inline void fgraph_begin(struct fgraph_running *run)
{
	run->outer = current->fgraph_running;
	barrier();	/* An interrupt finds a complete @run. */
	WRITE_ONCE(current->fgraph_running, run);
	barrier();
}

static __always_inline void fgraph_end(struct fgraph_running *run)
{
	barrier();
	WRITE_ONCE(current->fgraph_running, run->outer);
}

/* The call for which a callback of the user with this index runs. */
static struct fgraph_running *fgraph_running(int idx)
{
	struct fgraph_running *run = current->fgraph_running;

	return likely(run && run->gops->idx == idx) ? run : NULL;
}

static __always_inline unsigned int fgraph_state_depth(unsigned long word)
{
	return (u16)(word >> FGRAPH_DEPTH_SHIFT);
}

/*
 * The initial &fgraph_state.word of a call: that of the innermost call around it which the user
 * has hooked, one call deeper, and with nothing reserved.
 */
static __always_inline unsigned long fgraph_inherit(struct fgraph_ops *gops,
						    const struct fgraph_frame *frame)
{
	struct fgraph_state *parent = fgraph_find_parent_data(gops, frame);

	return parent ? (parent->word + BIT(FGRAPH_DEPTH_SHIFT)) & ~FGRAPH_SIZE_MASK : 0;
}

/*
 * entryfunc() has refused a call. If it has changed the user's word, as the tracers do at a
 * function in set_graph_function, the calls that the function makes need the word. So the
 * return is wanted nevertheless. What entryfunc() may have reserved is not valid then.
 */
static noinline int fgraph_refused(struct fgraph_running *run)
{
	struct fgraph_state *state = run->data;

	if (run->gops->stateless)
		return 0;
	state->word &= ~FGRAPH_SIZE_MASK;
	return state->word != run->inherited;
}
NOKPROBE_SYMBOL(fgraph_refused);

static int fgraph_call_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			     void *data, struct ftrace_regs *fregs)
{
	struct fgraph_running run = { .gops = gops, .frame = frame, .data = data };
	struct ftrace_graph_ent ent = { .func = frame->func };
	int ret;

	if (ftrace_graph_is_dead() || unlikely(atomic_read(&current->tracing_graph_pause)))
		return 0;
	if (!gops->stateless) {
		run.inherited = fgraph_inherit(gops, frame);
		((struct fgraph_state *)data)->word = run.inherited;
		ent.depth = fgraph_state_depth(run.inherited);
	}
	fgraph_begin(&run);
	ret = gops->entryfunc(&ent, gops, fregs);
	fgraph_end(&run);
	return ret ?: fgraph_refused(&run);
}
NOKPROBE_SYMBOL(fgraph_call_entry);

static void fgraph_call_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			       void *data, struct fgraph_regs *regs)
{
	struct fgraph_running run = { .gops = gops, .frame = frame, .data = data };
	struct ftrace_graph_ret ret = {
		.func = frame->func,
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
		.retval = fgraph_return_value(regs),
#endif
		.overrun = fgraph_missed(gops, FGRAPH_MISS_MEMORY),
	};

	if (!gops->stateless)
		ret.depth = fgraph_state_depth(((struct fgraph_state *)data)->word);
	fgraph_begin(&run);
	gops->retfunc(&ret, gops, (struct ftrace_regs *)regs);
	fgraph_end(&run);
}
NOKPROBE_SYMBOL(fgraph_call_return);

/* Like fgraph_call_entry(), for a user that has the pids of a trace_array. */
static int fgraph_call_entry_pid(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				 void *data, struct ftrace_regs *fregs)
{
	struct trace_array *tr = gops->ops.private;

	if (tr && ftrace_pids_enabled(&gops->ops)) {
		int pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);

		if (pid == FTRACE_PID_IGNORE ||
		    (pid != FTRACE_PID_TRACE && pid != current->pid))
			return 0;
	}
	return fgraph_call_entry(gops, frame, data, fregs);
}
NOKPROBE_SYMBOL(fgraph_call_entry_pid);

static void fgraph_choose_entry(struct fgraph_ops *gops)
{
	if (gops->entryfunc)
		WRITE_ONCE(gops->on_entry, ftrace_pids_enabled(&gops->ops) ?
			   fgraph_call_entry_pid : fgraph_call_entry);
}

/**
 * fgraph_update_pid_func() - adapt to a change of the pids of a trace_array
 *
 * Context: process, ftrace_lock held.
 */
void fgraph_update_pid_func(void)
{
	struct fgraph_ops *gops;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(gops, &fgraph_filter_users, user.list)
		fgraph_choose_entry(gops);
}

/**
 * fgraph_reserve_data() - get private data for a call
 * @idx:	the user, &fgraph_ops.idx
 * @size_bytes:	how many bytes, at most 16, or 24 for a user that is &fgraph_ops.stateless;
 *		more if &fgraph_ops.data_size says so
 *
 * Context: entryfunc() of that user.
 *
 * Return: the data, not initialised, which retfunc() gets by fgraph_retrieve_data(); NULL if
 * @size_bytes is too large or data were reserved before.
 */
void *fgraph_reserve_data(int idx, int size_bytes)
{
	struct fgraph_running *run = fgraph_running(idx);
	struct fgraph_state *state;
	unsigned long size = size_bytes;

	if (!run)
		return NULL;
	if (run->gops->stateless)
		return WARN_ON_ONCE(size > run->gops->data_size) ? NULL : run->data;
	state = run->data;
	if (WARN_ON_ONCE(size > run->gops->data_size - sizeof(*state)) ||
	    state->word >> FGRAPH_SIZE_SHIFT)
		return NULL;
	state->word |= size << FGRAPH_SIZE_SHIFT;
	return state->data;
}

static void *fgraph_reserved(struct fgraph_ops *gops, void *data, int *size_bytes)
{
	struct fgraph_state *state = data;
	unsigned long size;

	if (gops->stateless) {
		size = gops->data_size;
	} else {
		size = state->word >> FGRAPH_SIZE_SHIFT;
		if (!size)
			return NULL;
		data = state->data;
	}
	if (size_bytes)
		*size_bytes = size;
	return data;
}

/**
 * fgraph_retrieve_data() - find the private data of a call
 * @idx:	the user, &fgraph_ops.idx
 * @size_bytes:	set to the size of the data, if not NULL
 *
 * Context: retfunc() of that user.
 *
 * Return: what entryfunc() got from fgraph_reserve_data(), or NULL if it did not call that.
 */
void *fgraph_retrieve_data(int idx, int *size_bytes)
{
	struct fgraph_running *run = fgraph_running(idx);

	return run ? fgraph_reserved(run->gops, run->data, size_bytes) : NULL;
}

/**
 * fgraph_retrieve_parent_data() - find the private data of a call around the current one
 * @idx:	the user, &fgraph_ops.idx
 * @size_bytes:	set to the size of the data, if not NULL
 * @depth:	how far out: 0 is the call itself, 1 the innermost call around it whose return
 *		this user wants, and so on
 *
 * Context: callbacks of that user.
 *
 * Return: the data that the user reserved for that call; NULL if there are none, or no such
 * call.
 */
void *fgraph_retrieve_parent_data(int idx, int *size_bytes, int depth)
{
	struct fgraph_running *run = fgraph_running(idx);
	const void *rec;

	if (!run || depth <= 0)
		return fgraph_retrieve_data(idx, size_bytes);
	rec = run->frame;
	while (rec && depth--)
		rec = fgraph_find_parent(run->gops, rec);
	if (!rec)
		return NULL;
	return fgraph_reserved(run->gops, fgraph_data(rec, fgraph_head(rec)), size_bytes);
}

/**
 * fgraph_get_task_var() - find a user's word for the current task
 * @gops:	the user, which must not be &fgraph_ops.stateless: that is not checked
 *
 * The word is 0 in calls that are not in another call of this user. What entryfunc() writes
 * holds for the calls that the function makes, until it returns. If entryfunc() changes the
 * word and refuses the call, retfunc() is called nevertheless. Only bits 0 to 31 may be changed.
 *
 * Context: callbacks of that user.
 *
 * Return: the word.
 */
unsigned long *fgraph_get_task_var(struct fgraph_ops *gops)
{
	static unsigned long unused;
	struct fgraph_running *run = current->fgraph_running;

	if (WARN_ON_ONCE(!run || run->gops != gops))
		return &unused;
	return &((struct fgraph_state *)run->data)->word;
}

/**
 * ftrace_graph_top_ret_addr() - find the caller of a function
 * @task:	the current task
 *
 * Context: entryfunc() and retfunc().
 *
 * Return: the real return address of the call for which the callback runs.
 */
unsigned long ftrace_graph_top_ret_addr(struct task_struct *task)
{
	struct fgraph_running *run = task->fgraph_running;

	return run ? run->frame->ret : 0;
}

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
	if (src_ops) {
		dst_ops->func_hash = &src_ops->local_hash;
		mutex_init(&dst_ops->local_hash.regex_lock);
		INIT_LIST_HEAD(&dst_ops->subop_list);
		dst_ops->flags |= FTRACE_OPS_FL_INITIALIZED;
		dst_ops->private = src_ops->private;
	}
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
	/* 0 if the task has not been switched out since. */
	if (next->ftrace_timestamp)
		next->ftrace_sleeptime += now - next->ftrace_timestamp;
}

static DEFINE_MUTEX(fgraph_register_mutex);

static int fgraph_get_sched_switch(struct fgraph_ops *gops)
{
	int ret = 0;

	if (!gops->entryfunc)
		return 0;
	guard(mutex)(&fgraph_register_mutex);
	if (!ftrace_graph_active)
		ret = register_trace_sched_switch(fgraph_sched_switch, NULL);
	if (!ret)
		ftrace_graph_active++;
	return ret;
}

static void fgraph_put_sched_switch(struct fgraph_ops *gops)
{
	if (!gops->entryfunc)
		return;
	guard(mutex)(&fgraph_register_mutex);
	if (!--ftrace_graph_active)
		unregister_trace_sched_switch(fgraph_sched_switch, NULL);
}

/* Have the core call entryfunc() and retfunc(). */
static void fgraph_adapt_callbacks(struct fgraph_ops *gops)
{
	/* What may be reserved without saying so fits into the header of a record. */
	gops->data_size = max(gops->data_size, FGRAPH_HEADER_DATA);
	/* It looks whether there are pids. */
	gops->on_entry = fgraph_call_entry_pid;
	gops->on_return = gops->retfunc ? fgraph_call_return : NULL;
	/* For the fgraph_users file. */
	gops->user.kind = "tracer";
	if (gops->ops.private)
		gops->name = ((struct trace_array *)gops->ops.private)->name;
}

static int fgraph_register(struct fgraph_ops *gops)
{
	int ret;

	gops->idx = gops->user.tag & FGRAPH_ID_MASK;
	ftrace_ops_init(&gops->ops);
	ret = fgraph_get_sched_switch(gops);
	if (ret)
		return ret;
	/* The filter must not be freed from now on. */
	gops->ops.flags |= FTRACE_OPS_FL_GRAPH;
	ret = fgraph_add_filter(gops);
	if (ret) {
		gops->ops.flags &= ~FTRACE_OPS_FL_GRAPH;
		fgraph_put_sched_switch(gops);
		return ret;
	}
	guard(mutex)(&ftrace_lock);
	fgraph_choose_entry(gops);
	return 0;
}

/**
 * register_ftrace_graph() - register a user
 * @gops:	the user; &fgraph_ops.ops has the filter that says on which functions its
 *		callbacks are called
 *
 * Context: process. May sleep.
 *
 * Return: 0; the errors of fgraph_user_add() and of register_ftrace_function().
 */
int register_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	if (gops->entryfunc)
		fgraph_adapt_callbacks(gops);
	ret = fgraph_user_add(gops);
	if (ret)
		return ret;
	ret = fgraph_register(gops);
	if (ret)
		fgraph_user_drop(gops);
	return ret;
}
EXPORT_SYMBOL_FOR_MODULES(register_ftrace_graph, "test_fgraph,fgraph_torture");

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
	fgraph_put_sched_switch(gops);
	fgraph_user_remove(gops);
	gops->ops.flags &= ~FTRACE_OPS_FL_GRAPH;
	return 0;
}
EXPORT_SYMBOL_FOR_MODULES(unregister_ftrace_graph, "test_fgraph,fgraph_torture");
