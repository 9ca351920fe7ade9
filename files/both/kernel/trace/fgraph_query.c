// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: questions about a shadow stack. Unwinders ask for a real return address, users
 * for their data further down and for the users of a frame. Code that leaves functions
 * without returning from them has their frames dropped.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "fgraph_internal.h"

/**
 * fgraph_reap() - drop frames of abandoned calls from the top of a stack
 * @st:		the stack of the current task
 * @dead_below:	the lowest place on the current machine stack where the return address
 *		of a live call may be
 *
 * The bounds of an interrupt's stack are not known here. There, only frames of calls between
 * the stack pointer and @dead_below are dropped.
 *
 * Context: any, preemption disabled.
 */
void fgraph_reap(struct fgraph_stack *st, void *dead_below)
{
	void *low = task_stack_page(current);

	if (dead_below < low || dead_below > low + THREAD_SIZE)
		low = fgraph_stack_pointer();
	if (dead_below >= low && dead_below <= low + THREAD_SIZE)
		fgraph_stack_reap(st, low, dead_below);
}
NOKPROBE_SYMBOL(fgraph_reap);

/**
 * fgraph_abandon_calls() - drop the frames of calls that will never return
 * @dead_below:	the lowest place on the current machine stack, which may be that of an
 *		interrupt, where the return address of a live call may be
 *
 * For code that leaves functions by resetting the stack pointer, and does so repeatedly: the
 * frames of these calls would accumulate. Must be called deeper on the stack than all of them.
 *
 * Context: any, also where RCU does not watch.
 */
void fgraph_abandon_calls(void *dead_below)
{
	struct fgraph_stack *st;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (st) {
		fgraph_reap(st, dead_below);
		fgraph_trim_unused();
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(fgraph_abandon_calls);

/* The rare path of fgraph_ret_addr(); noinline: keeps it from saving registers for a call. */
static noinline unsigned long search_ret_addr(struct task_struct *task, unsigned long *cursor,
					      unsigned long *lowest, unsigned long *highest)
{
	struct fgraph_stack *st;
	unsigned long ret = 0;

	/* fgraph_trim() does not free the stack while preemption is disabled here. */
	preempt_disable_notrace();
	st = READ_ONCE(task->fgraph_stack);
	if (st && task == current)
		ret = fgraph_stack_find_own(st, cursor, lowest, highest);
	else if (st)
		ret = fgraph_stack_find(st, cursor, lowest, highest);
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(search_ret_addr);

/**
 * fgraph_ret_addr() - find the real return address of a call for an unwinder
 * @task:	the task whose stack is walked; if it runs on another CPU meanwhile,
 *		the answer may be wrong
 * @cursor:	where the search ended in the last step of this walk; set to 0 before
 *		the first step and then passed on unchanged. A walk asks once for each place, or
 *		sets it to 0 to ask again
 * @addr:	the return address as it was found on the machine stack
 * @lowest:	lowest value that &fgraph_frame.retp of the call may have
 * @highest:	highest value that &fgraph_frame.retp of the call may have
 *
 * Context: any.
 *
 * Return: @addr if it is not a trampoline, else the address that it has replaced: the real return
 * address, or after a tail call one for which fgraph_stub_is_return() is true; 0 if that is not
 * known, so that the trampoline is not taken for a caller.
 */
unsigned long fgraph_ret_addr(struct task_struct *task, unsigned long *cursor,
			      unsigned long addr, unsigned long *lowest,
			      unsigned long *highest)
{
	const struct fgraph_frame *frame;

	if (likely(!fgraph_is_trampoline(addr)))
		return addr;

	/*
	 * The next call of the walk is nearly always the one at @cursor. The stack is not freed
	 * before the call that the last step has found returns, hence not during the walk.
	 */
	if (task == current) {
		frame = fgraph_stack_find_from((void *)*cursor, cursor, lowest, highest);
		if (likely(frame))
			return fgraph_replaced(frame, fgraph_head(frame));
	}
	return search_ret_addr(task, cursor, lowest, highest);
}
NOKPROBE_SYMBOL(fgraph_ret_addr);

/**
 * fgraph_parent_data() - find a user's private data of the nearest surrounding call
 * @gops:	the user
 * @frame:	the frame that was passed to the user's callback
 *
 * Context: callbacks of @gops.
 *
 * Return: the data of the innermost call that surrounds the one of @frame and whose return
 * this user wants; NULL if there is none.
 */
void *fgraph_parent_data(struct fgraph_ops *gops, const struct fgraph_frame *frame)
{
	return fgraph_find_parent_data(gops, frame);
}
NOKPROBE_SYMBOL(fgraph_parent_data);

/**
 * fgraph_frame_users() - list the users of a frame
 * @frame:	the frame that was passed to a return callback
 * @users:	array to be filled in, with the newest user first
 * @max:	number of elements in @users
 *
 * Context: return callbacks. The users stay valid until the callback is over.
 *
 * Return: the number of users of the frame that are still registered, which may be more
 * than @max.
 */
int fgraph_frame_users(const struct fgraph_frame *frame, struct fgraph_ops **users, int max)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	int nr = 0;
	void *rec;

	for (rec = READ_ONCE(st->top); rec; rec = fgraph_older(rec)) {
		/* struct fgraph_frame has @tag at the same place, so this also reads a frame's. */
		u64 tag = ((struct fgraph_entry *)rec)->tag;
		struct fgraph_row *row;

		if (!fgraph_is_entry_of(rec, frame))
			continue;
		row = fgraph_row(tag & FGRAPH_ID_MASK);
		if (fgraph_row_tag(row) == tag && nr++ < max)
			users[nr - 1] = row->gops;
		if (rec == frame)
			break;
	}
	return nr;
}
EXPORT_SYMBOL_GPL(fgraph_frame_users);
NOKPROBE_SYMBOL(fgraph_frame_users);
