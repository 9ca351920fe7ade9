// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: what others ask of a shadow stack: unwinders the real return address, users
 * their own data further down and who else is there, code that does not return the
 * usual way to forget calls.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "fgraph_internal.h"

/**
 * fgraph_reap() - drop frames on top that were abandoned
 * @st:		the stack of the current task
 * @dead_below:	the lowest place of a return address on the current machine stack that
 *		may be alive
 *
 * Only those of calls on the task's own machine stack. Those of other ones are dropped
 * when the task returns on its own one.
 *
 * Context: any, preemption disabled.
 */
void fgraph_reap(struct fgraph_stack *st, void *dead_below)
{
	void *low = task_stack_page(current);

	if (dead_below >= low && dead_below <= low + THREAD_SIZE)
		fgraph_stack_reap(st, low, dead_below);
}
NOKPROBE_SYMBOL(fgraph_reap);

/**
 * fgraph_abandon_calls() - what was called from here will never return
 * @dead_below:	the lowest place of a return address on the machine stack of the
 *		current task that is alive
 *
 * For code that comes back in another way, time and again: nobody else sees to
 * each of these calls, if they are hooked.
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

/**
 * fgraph_depth() - how many hooked calls are around the one that returns?
 *
 * Those of code that was interrupted included.
 *
 * Context: return callbacks.
 *
 * Return: the number, 0 for the outermost call.
 */
unsigned int fgraph_depth(void)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned int frames = 0;
	void *rec;

	for (rec = st ? READ_ONCE(st->top) : NULL; rec; rec = fgraph_below(rec))
		frames += fgraph_kind(fgraph_head(rec)) == FGRAPH_FRAME;
	return frames ? frames - 1 : 0;
}
NOKPROBE_SYMBOL(fgraph_depth);

/**
 * fgraph_ret_addr() - which real return address stands behind this one?
 * @task:	the task whose stack is walked; if it runs elsewhere meanwhile,
 *		the answer may be wrong
 * @cursor:	0 before the first step of a walk, then kept for the next
 * @addr:	what was found where a return address is
 * @lowest:	the lowest and
 * @highest:	the highest address that may be &fgraph_frame.retp of that call
 *
 * Context: any.
 *
 * Return: @addr if it is none of ours, else what it stands for; 0 if that is
 * not known, so that nobody takes the trampoline for a caller.
 */
unsigned long fgraph_ret_addr(struct task_struct *task, unsigned long *cursor,
			      unsigned long addr, unsigned long *lowest,
			      unsigned long *highest)
{
	struct fgraph_stack *st;

	if (likely(!fgraph_is_trampoline(addr)))
		return addr;

	/* Keeps the stack's memory, see fgraph_trim(). */
	preempt_disable_notrace();
	st = READ_ONCE(task->fgraph_stack);
	addr = st ? fgraph_stack_find(st, cursor, lowest, highest) : 0;
	preempt_enable_notrace();
	return addr;
}
NOKPROBE_SYMBOL(fgraph_ret_addr);

/**
 * fgraph_parent_data() - private data of a user's nearest frame below
 * @gops:	the user
 * @frame:	the frame that the user's callback was called with
 *
 * Context: callbacks of @gops.
 *
 * Return: the data of the innermost call that surrounds this one and whose
 * return this user wants; NULL if there is none.
 */
void *fgraph_parent_data(struct fgraph_ops *gops, const struct fgraph_frame *frame)
{
	unsigned long tag = gops->user.tag, head = fgraph_head(frame);
	const void *rec = frame;

	for (;;) {
		rec -= fgraph_size(head);
again:
		head = fgraph_head(rec);
		if (likely(fgraph_kind(head) == FGRAPH_FRAME)) {
			if (likely(((struct fgraph_frame *)rec)->tag == tag))
				return fgraph_data(rec, head);
		} else if (fgraph_kind(head) == FGRAPH_ENTRY) {
			if (((struct fgraph_entry *)rec)->tag == tag)
				return fgraph_data(rec, head);
		} else if (fgraph_kind(head) == FGRAPH_CHUNK) {
			rec = READ_ONCE(((struct fgraph_chunk *)rec)->below);
			if (!rec)
				return NULL;
			goto again;
		}
	}
}
EXPORT_SYMBOL_GPL(fgraph_parent_data);
NOKPROBE_SYMBOL(fgraph_parent_data);

/**
 * fgraph_frame_users() - who has joined a frame
 * @frame:	the frame that a return callback was called with
 * @users:	to be filled in, the newest first
 * @max:	how many @users has room for
 *
 * Context: return callbacks. The users stay until the callback is over.
 *
 * Return: how many users have an entry in the frame and are still registered,
 * those without room included.
 */
int fgraph_frame_users(const struct fgraph_frame *frame, struct fgraph_ops **users, int max)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	int nr = 0;
	void *rec;

	for (rec = READ_ONCE(st->top); rec; rec = fgraph_below(rec)) {
		/* A frame has its tag where an entry has it. */
		unsigned long tag = ((struct fgraph_entry *)rec)->tag;
		struct fgraph_row *row;

		if (!fgraph_is_entry_of(rec, frame))
			continue;
		row = fgraph_row(tag & FGRAPH_ID_MASK);
		if (READ_ONCE(row->tag) == tag && nr++ < max)
			users[nr - 1] = row->gops;
		if (rec == frame)
			break;
	}
	return nr;
}
EXPORT_SYMBOL_GPL(fgraph_frame_users);
NOKPROBE_SYMBOL(fgraph_frame_users);
