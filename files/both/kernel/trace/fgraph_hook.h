/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: hook a call for one user. The fast path is inlined where ftrace calls; fgraph.c has the
 * general path.
 */
#ifndef _FGRAPH_HOOK_H
#define _FGRAPH_HOOK_H

#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "fgraph_internal.h"

/**
 * struct fgraph_call - a call while it is being hooked for its users, one after the other
 * @func:	the function
 * @place:	where the return address is and is to be replaced
 * @retp:	identifies the call, see &fgraph_frame.retp
 * @regs:	registers at entry, for the users
 * @users:	the users that are called at this entry, oldest first, less those that have been
 *		hooked in a batch
 * @nr:		number of @users
 * @st:		the stack of the current task, or NULL if it had none
 * @top:	the newest header before the user's record; if an interrupt has dropped abandoned
 *		calls since it was read, a free slot with only free slots down to that header
 * @kind:	header of the user's record, without size: FGRAPH_FRAME to open the frame of a
 *		call that is not hooked yet, with FGRAPH_TAIL if it is a tail call of a hooked
 *		function, with FGRAPH_STUB if a stub calls the function, with
 *		FGRAPH_AFTER_STUB if it is a tail call of a function that a stub has called;
 *		FGRAPH_ENTRY to join @frame; 0 if that was not found out yet
 * @frame:	the frame to join, or NULL
 * @calls:	the bits FGRAPH_CALLS_MASK of the record below, to be counted one more for a frame
 * @ret:	the real return address, to open a frame
 * @entryfunc:	the user's entry callback, or NULL
 * @wanted:	the user has a return callback
 */
struct fgraph_call {
	unsigned long		func;
	unsigned long		*place;
	unsigned long		*retp;
	struct pt_regs		*regs;
	struct fgraph_ops	**users;
	unsigned int		nr;
	struct fgraph_stack	*st;
	void			*top;
	unsigned long		kind;
	struct fgraph_frame	*frame;
	unsigned long		calls;
	unsigned long		ret;
	fgraph_entry_t		entryfunc;
	bool			wanted;
};

/* Begin to hook a call, for @users. fgraph_hook_slow() sets the other members for each of them. */
static __always_inline void fgraph_begin_call(struct fgraph_call *call, struct fgraph_ops **users,
					      unsigned int nr, unsigned long func,
					      unsigned long *place, unsigned long *retp,
					      struct pt_regs *regs)
{
	call->func = func;
	call->place = place;
	call->retp = retp;
	call->regs = regs;
	call->users = users;
	call->nr = nr;
	/* fgraph_trim() does not free the stack while preemption is disabled here. */
	call->st = READ_ONCE(current->fgraph_stack);
	call->kind = 0;
	call->frame = NULL;
}

/*
 * Is a call hooked whose return address is @ret at entry, or may it be a tail call of a function
 * that a stub has called? The general path finds out. If the call is hooked, @ret is the first
 * address of a trampoline, so the range that fgraph_is_trampoline() accepts is not needed.
 */
static __always_inline bool fgraph_is_hooked(unsigned long ret)
{
	return ret == FGRAPH_ADDRESS(fgraph_trampoline_light) ||
	       ret == FGRAPH_ADDRESS(fgraph_trampoline_full) || fgraph_may_be_after_stub(ret);
}

/*
 * Make the call return to a trampoline that suits users with @flags. The frame must have
 * been committed: an unwinder that finds the trampoline looks for it. A full trampoline
 * is not replaced by a light one, as an earlier user of the call (@hooked) may need it.
 */
static __always_inline void fgraph_set_trampoline(unsigned long *place, unsigned int flags,
						  bool hooked)
{
	if (flags & FGRAPH_FULL_REGS)
		WRITE_ONCE(*place, FGRAPH_ADDRESS(fgraph_trampoline_full));
	else if (!hooked)
		WRITE_ONCE(*place, FGRAPH_ADDRESS(fgraph_trampoline_light));
}

/*
 * The stores must not move: an interrupt uses the same slot if it comes before the top has
 * moved to this frame, or after it has moved back.
 */
static __always_inline void fgraph_fill_frame(struct fgraph_frame *frame, u64 tag,
					      unsigned long func, unsigned long ret,
					      unsigned long *retp)
{
	WRITE_ONCE(frame->tag, tag);
	WRITE_ONCE(frame->func, func);
	WRITE_ONCE(frame->ret, ret);
	WRITE_ONCE(frame->retp, retp);
}

static __always_inline void fgraph_fill_entry(struct fgraph_entry *entry,
					      struct fgraph_ops *gops,
					      struct fgraph_frame *frame)
{
	WRITE_ONCE(entry->tag, gops->user.tag);
	WRITE_ONCE(entry->row, gops->user.row);
	WRITE_ONCE(entry->frame, frame);
}

/*
 * Write a user's record and call its entry callback. If the user wants the return, the record
 * is committed and the call hooked, else the record is dropped. @rec was reserved with room for
 * data of @slots slots. @above has the bits of FGRAPH_CONTEXT of the record below: the new header
 * must keep them, as callbacks further down still run. Returns true if the user wants the return.
 */
static __always_inline bool fgraph_add_record(struct fgraph_call *call, struct fgraph_ops *gops,
					      void *rec, unsigned long slots,
					      unsigned long above)
{
	struct fgraph_stack *st = call->st;
	struct fgraph_frame *frame = call->frame ?: rec;
	bool wanted = call->wanted;

	if (call->frame)
		fgraph_fill_entry(rec, gops, frame);
	else
		fgraph_fill_frame(rec, gops->user.tag, call->func, call->ret,
				  call->retp);
	if (call->entryfunc) {
		if (!call->entryfunc(gops, frame, fgraph_data_in(rec, slots),
				     (struct ftrace_regs *)call->regs))
			wanted = false;
		fgraph_stack_settle(st, rec);
	}
	if (!wanted) {
		if (unlikely(slots))
			fgraph_stack_clean(rec, slots);
		fgraph_stack_drop_header(st, rec, call->top);
		return false;
	}
	fgraph_stack_commit(rec, call->kind | slots << FGRAPH_SLOTS_SHIFT | above |
			    (call->frame ? call->calls : fgraph_one_more_call(call->calls)));
	/* A stub has no trampoline. After one, the return address is not a trampoline yet. */
	if (call->kind != (FGRAPH_FRAME | FGRAPH_STUB))
		fgraph_set_trampoline(call->place, gops->flags,
				      (call->kind & ~FGRAPH_AFTER_STUB) != FGRAPH_FRAME);
	return true;
}

/* What fgraph_hook_first() has done. */
enum fgraph_hooked {
	FGRAPH_HOOK_NOTHING,	/* the conditions of the fast path do not hold */
	FGRAPH_HOOK_REFUSED,	/* the user does not want the return */
	FGRAPH_HOOK_WANTED,	/* the user wants the return, the frame is open */
};

/*
 * The fast path for one simple user: the call is not hooked yet and no callback runs on the
 * stack. Does nothing if that does not hold or the chunk is full. @kind is FGRAPH_FRAME to replace
 * the return address, and has FGRAPH_STUB if a stub is to call the function.
 */
static __always_inline enum fgraph_hooked
fgraph_hook_first(struct fgraph_ops *gops, unsigned long func, unsigned long *place,
		  unsigned long *retp, struct pt_regs *regs, unsigned long kind)
{
	struct fgraph_call call = {
		.func = func,
		.place = place,
		.retp = retp,
		.regs = regs,
		/* fgraph_trim() does not free the stack while preemption is disabled here. */
		.st = READ_ONCE(current->fgraph_stack),
		.kind = kind,
		.ret = READ_ONCE(*place),
		.entryfunc = gops->entryfunc,
		.wanted = true,
	};
	unsigned long head;
	void *rec;

	if (unlikely(!call.st || fgraph_is_hooked(call.ret)))
		return FGRAPH_HOOK_NOTHING;
	call.top = READ_ONCE(call.st->top);
	head = fgraph_head(call.top);
	if (unlikely(!fgraph_is_quiet(head) || !fgraph_stack_fits(call.top, FGRAPH_SLOT)))
		return FGRAPH_HOOK_NOTHING;
	call.calls = head & FGRAPH_CALLS_MASK;
	rec = fgraph_stack_grow(call.st, call.top, FGRAPH_SLOT);
	call.top = rec - FGRAPH_SLOT;
	/* Only an entry callback needs a header before the record is complete. */
	if (call.entryfunc)
		fgraph_set_head(rec, fgraph_context() + FGRAPH_RESERVED +
				fgraph_one_more_call(call.calls));
	return fgraph_add_record(&call, gops, rec, 0, 0) ? FGRAPH_HOOK_WANTED : FGRAPH_HOOK_REFUSED;
}

#ifdef CONFIG_FGRAPH_CALLED_BY_FTRACE
/* fgraph.c */
void fgraph_hook_next(struct fgraph_call *call, struct fgraph_ops *gops);

/* Returns true if all users may be called here, so that &fgraph_user.admit need not be. */
static __always_inline bool fgraph_admits_all(void)
{
	/* data_race(): a kprobe in an interrupt restores the value before it returns. */
	return !data_race(kprobe_running()) && fgraph_rcu_is_watching();
}

#ifdef CONFIG_HAVE_FGRAPH
void fgraph_hook_checked(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs);

/**
 * fgraph_hook_one() - hook the return of a call for the only user that wants it
 * @gops:	the user; fgraph_is_simple() is true for it
 * @func:	address of the function's call to ftrace
 * @fregs:	registers at entry as ftrace passes them; fgraph_retp_valid() is true for
 *		them
 *
 * Like fgraph_hook(), but limits recursion: a call that a callback makes is hooked, a call
 * made by a callback of that one is only counted as FGRAPH_MISS_NESTED.
 *
 * Context: any, preemption disabled.
 */
static __always_inline void fgraph_hook_one(struct fgraph_ops *gops, unsigned long func,
					    struct ftrace_regs *fregs)
{
	struct pt_regs *regs = fgraph_entry_regs(fregs);

	if (unlikely((gops->user.admit && !fgraph_admits_all()) ||
		     !fgraph_hook_first(gops, func, fgraph_entry_place(regs), fgraph_retp(regs),
					regs, FGRAPH_FRAME)))
		fgraph_hook_checked(gops, func, regs);
}
#endif /* CONFIG_HAVE_FGRAPH */
#endif /* CONFIG_FGRAPH_CALLED_BY_FTRACE */

#endif /* _FGRAPH_HOOK_H */
