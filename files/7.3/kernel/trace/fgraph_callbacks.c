// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: what the callbacks entryfunc() and retfunc() of a user ask for.
 *
 * These callbacks are not told where their private data are. While one runs, the newest record
 * of the task's shadow stack leads to the record of its user, and so to what it asks for.
 *
 * What a user that is &fgraph_ops.task_var keeps for a task, fgraph_get_task_var(), is a word
 * that it sets at the entry of a function, for the calls that the function makes, and clears at
 * the return. So the word is part of the private data of each call, and a call inherits that
 * of the innermost call around it that the user has hooked.
 */
#include <linux/fgraph.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

#include "fgraph_internal.h"

/* The record for whose user a callback runs, which may have no header yet. NULL if none runs. */
static void *fgraph_running(void)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned long head;
	void *rec;

	if (!st)
		return NULL;
	rec = fgraph_newest(READ_ONCE(st->top), &head);
	if (!(head & FGRAPH_INSIDE))
		return NULL;
	return head & FGRAPH_ELSEWHERE ? READ_ONCE(st->running) : rec;
}

/*
 * Find the private data of the user with this index, if its callback runs. Only callbacks ask, so
 * the task has a stack.
 */
static __always_inline bool fgraph_running_state(int idx, struct fgraph_state **state)
{
	struct fgraph_entry *rec = READ_ONCE(current->fgraph_stack->top);
	unsigned long head = fgraph_head(rec);

	*state = (void *)rec->data;
	/* One comparison tells the common case: one user, whose data are in the header. */
	if (unlikely((head & (FGRAPH_INSIDE | FGRAPH_ELSEWHERE | FGRAPH_SLOTS_MASK)) !=
		     FGRAPH_INSIDE)) {
		rec = fgraph_running();
		if (!rec)
			return false;
		*state = fgraph_data(rec, fgraph_head(rec));
	}
	/* struct fgraph_frame has @tag at the same place. */
	return likely(!((rec->tag ^ idx) & FGRAPH_ID_MASK));
}

/* The frame of the call for which a callback runs, which may not be complete; or NULL. */
static const struct fgraph_frame *fgraph_running_frame(void)
{
	struct fgraph_entry *rec = fgraph_running();
	enum fgraph_kind kind;

	if (!rec)
		return NULL;
	kind = fgraph_kind(fgraph_head(rec));
	if (kind == FGRAPH_FRAME || kind == FGRAPH_ENTRY)
		return fgraph_frame_of(rec);
	/* It is not complete. Where a frame has the return address, an entry has its user's row. */
	static_assert(offsetof(struct fgraph_entry, row) == offsetof(struct fgraph_frame, ret));
	return rec->row == fgraph_row(rec->tag & FGRAPH_ID_MASK) ? rec->frame : (void *)rec;
}

/* The depth of a call whose entry callbacks run. */
static unsigned int fgraph_entry_depth(const struct fgraph_frame *frame)
{
	unsigned long head = fgraph_head(frame);

	if (head)
		return fgraph_depth_of(head);
	/* In a batch, a frame that is being opened has no header yet. */
	fgraph_newest(frame, &head);
	return fgraph_calls(head);
}

/**
 * fgraph_call_entry() - the &fgraph_ops.on_entry of users with entryfunc()
 * @gops:	the user
 * @frame:	as for fgraph_entry_t
 * @data:	as for fgraph_entry_t
 * @fregs:	as for fgraph_entry_t
 *
 * fgraph_ask() does the same in place of calling it.
 *
 * Context: any, preemption disabled.
 *
 * Return: 0 if the return is not wanted.
 */
int fgraph_call_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		      struct ftrace_regs *fregs)
{
	struct fgraph_told told __uninitialized;

	fgraph_know_entry(&told, frame->func, fgraph_entry_depth(frame));
	return fgraph_call_entryfunc(gops, data, fregs, &told.ent);
}
NOKPROBE_SYMBOL(fgraph_call_entry);

/**
 * fgraph_call_entry_var() - the &fgraph_ops.on_entry of users that are &fgraph_ops.task_var
 * @gops:	the user
 * @frame:	as for fgraph_entry_t
 * @data:	as for fgraph_entry_t
 * @fregs:	as for fgraph_entry_t
 *
 * If entryfunc() refuses a call but has changed the word, as the tracers do at a function in
 * set_graph_function, the calls that the function makes need the word. So the return is
 * wanted nevertheless, without what entryfunc() may have reserved.
 *
 * A call for which nothing is reserved is one that the user does not show, so it does not count in
 * the depth of calls within it.
 *
 * Context: any, preemption disabled.
 *
 * Return: 0 if the return is not wanted.
 */
int fgraph_call_entry_var(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			  struct ftrace_regs *fregs)
{
	struct fgraph_state *state = data;
	struct fgraph_state *parent;
	struct ftrace_graph_ent ent __uninitialized;
	u64 word = 0;
	int wanted;

	if (fgraph_graph_is_off())
		return 0;
	parent = fgraph_find_parent_data(gops, frame);
	if (parent) {
		word = parent->word & ~FGRAPH_SIZE_MASK;
		if (parent->word & FGRAPH_SIZE_MASK)
			word += BIT_ULL(FGRAPH_DEPTH_SHIFT);
	}
	state->word = word;
	ent.func = frame->func;
	ent.depth = fgraph_state_depth(word);
	wanted = gops->entryfunc(&ent, gops, fregs);
	if (wanted)
		return wanted;
	state->word &= ~FGRAPH_SIZE_MASK;
	return state->word != word;
}
NOKPROBE_SYMBOL(fgraph_call_entry_var);

/**
 * fgraph_call_return() - the &fgraph_ops.on_return of users with retfunc()
 * @gops:	the user
 * @frame:	as for fgraph_return_t
 * @data:	as for fgraph_return_t
 * @regs:	as for fgraph_return_t
 *
 * It marks these users: fgraph_tell() does the same in place of calling it.
 *
 * Context: any, preemption disabled.
 */
void fgraph_call_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			struct fgraph_regs *regs)
{
	struct ftrace_graph_ret ret __uninitialized;

	ret.func = READ_ONCE(frame->func);
	fgraph_call_retfunc(gops, frame, data, regs, NULL, &ret);
}
NOKPROBE_SYMBOL(fgraph_call_return);

/* Set &fgraph_ops.idx of a user that has got its row in the table. */
void fgraph_set_idx(struct fgraph_ops *gops)
{
	gops->idx = (gops->user.tag & FGRAPH_ID_MASK) |
		    (gops->stateless ? FGRAPH_IDX_STATELESS : 0);
}

static struct fgraph_ops *fgraph_user_of(int idx)
{
	return fgraph_row(idx & FGRAPH_ID_MASK)->gops;
}

/* Are these more data than a user has for each call? Up to FGRAPH_HEADER_DATA they never are. */
static __always_inline bool fgraph_too_large(int idx, unsigned long size)
{
	return unlikely(size > FGRAPH_HEADER_DATA) &&
	       WARN_ON_ONCE(size > fgraph_user_of(idx)->data_size);
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
	struct fgraph_state *state;
	unsigned long size = size_bytes;

	if (!fgraph_running_state(idx, &state))
		return NULL;
	if (idx & FGRAPH_IDX_STATELESS)
		return fgraph_too_large(idx, size) ? NULL : state;
	if (fgraph_too_large(idx, size + sizeof(*state)) || state->word >> FGRAPH_SIZE_SHIFT)
		return NULL;
	state->word |= (u64)size << FGRAPH_SIZE_SHIFT;
	return state->data;
}

static void *fgraph_reserved(struct fgraph_state *state, int idx, int *size_bytes)
{
	unsigned long size;
	void *data = state;

	if (idx & FGRAPH_IDX_STATELESS) {
		size = fgraph_user_of(idx)->data_size;
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
	struct fgraph_state *state;

	return fgraph_running_state(idx, &state) ? fgraph_reserved(state, idx, size_bytes) : NULL;
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
	struct fgraph_state *state;
	const void *rec;

	if (depth <= 0)
		return fgraph_retrieve_data(idx, size_bytes);
	if (!fgraph_running_state(idx, &state))
		return NULL;
	for (rec = fgraph_running_frame(); rec && depth > 0; depth--)
		rec = fgraph_find_parent(fgraph_user_of(idx), rec);
	return rec ? fgraph_reserved(fgraph_data(rec, fgraph_head(rec)), idx, size_bytes) : NULL;
}

/**
 * fgraph_get_task_var() - find a user's word for the current task
 * @gops:	the user, which is &fgraph_ops.task_var
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
	static unsigned long unused[FGRAPH_VAR_DATA / sizeof(long)];
	struct fgraph_entry *rec = READ_ONCE(current->fgraph_stack->top);
	unsigned long head = fgraph_head(rec);
	struct fgraph_state *state = (void *)rec->data;

	/* As in fgraph_running_state(). */
	if (unlikely((head & (FGRAPH_INSIDE | FGRAPH_ELSEWHERE | FGRAPH_SLOTS_MASK)) !=
		     FGRAPH_INSIDE)) {
		rec = fgraph_running();
		if (WARN_ON_ONCE(!rec))
			return unused;
		state = fgraph_data(rec, fgraph_head(rec));
	}
	return fgraph_state_var(state);
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
	const struct fgraph_frame *frame = fgraph_running_frame();

	return frame ? frame->ret : 0;
}
