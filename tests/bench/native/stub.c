// SPDX-License-Identifier: GPL-2.0
/*
 * The stub of a function, a prototype: hook the return of a call without replacing its return
 * address.
 *
 * The pad of the function has a JMP to its stub, see sites.S. The stub CALLs stub_enter, CALLs the
 * function's body behind the pad, and JMPs to stub_leave, which returns to the real caller. So a
 * frame only has the data of the users; &fgraph_frame.retp is the place of the real return address,
 * above that of the body, and stays as it is.
 *
 * This file uses the core's functions: it is compiled together with fgraph.c, which does not know
 * of stubs. What the core would have to tell apart is marked by "Core:".
 */
#include "fgraph.c"

/*
 * In a frame: a stub has hooked the call. Core: FGRAPH_LINKED is the same bit, in entries. An
 * unwinder that looks for the frame of a trampoline must skip these.
 */
#define FGRAPH_STUB	BIT(6)

/* The registers at entry lie below the two return addresses of stub_enter and of the caller. */
static __always_inline unsigned long *stub_retp(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1) + 1;
}

/* Is this the return address of a function that a stub has called? */
static __always_inline bool stub_is_return(unsigned long addr)
{
	return addr - (unsigned long)stubs_start < stubs_end - stubs_start;
}

/* What an entry callback may ask for, and stub_enter has not stored. */
static __always_inline void stub_complete_regs(struct pt_regs *regs, unsigned long func)
{
	regs->sp = (unsigned long)stub_retp(regs);
	regs->ip = func + 5;
	regs->cs = 0;
}

/*
 * The real return address, for a call whose return address is a trampoline or a stub: it was made
 * by a tail call of a hooked function. The body of that was called by a stub from right below the
 * place of its return address.
 */
static unsigned long stub_real_ret(struct fgraph_stack *st, unsigned long *retp)
{
	struct fgraph_frame *frame = NULL;

	if (st && fgraph_is_trampoline(*retp))
		frame = fgraph_frame_at(st, retp);
	else if (st && stub_is_return(*retp))
		frame = fgraph_frame_at(st, retp + 1);
	/* If the function's own return was not wanted, the stub has jumped to the body. */
	return frame ? frame->ret : *retp;
}

/*
 * The general path. Core: fgraph_set_trampoline() would see that a stub has hooked the call; here
 * the return address is put back behind it.
 */
static noinline bool stub_hook_each(struct fgraph_ops **users, unsigned int nr,
				    unsigned long func, struct pt_regs *regs)
{
	unsigned long *place = stub_retp(regs), ret = *place;
	struct fgraph_call call;

	fgraph_begin_call(&call, users, nr, func, fgraph_entry_place(regs), fgraph_retp(regs),
			  regs);
	call.kind = FGRAPH_FRAME | FGRAPH_STUB;
	call.ret = stub_real_ret(call.st, place);
	while (nr)
		fgraph_hook_user(&call, READ_ONCE(users[--nr]));
	WRITE_ONCE(*place, ret);
	return call.frame;
}

/* What the fast path for one user has found out. */
struct stub_call {
	struct fgraph_stack	*st;
	void			*top;
	unsigned long		ret;
	u32			calls;
};

/*
 * May the fast path be taken: the call was not made by a tail call of a hooked function, and no
 * callback runs on the stack, where @users records fit into the chunk?
 */
static __always_inline bool stub_is_simple(struct stub_call *call, struct pt_regs *regs,
					   unsigned long users)
{
	unsigned long head;

	call->st = READ_ONCE(current->fgraph_stack);
	call->ret = READ_ONCE(*stub_retp(regs));
	if (unlikely(!call->st || fgraph_is_hooked(call->ret) || stub_is_return(call->ret)))
		return false;
	call->top = READ_ONCE(call->st->top);
	head = fgraph_head(call->top);
	call->calls = (head & FGRAPH_CALLS_MASK) + FGRAPH_CALL;
	return likely(fgraph_is_quiet(head) &&
		      fgraph_stack_fits(call->top, users << FGRAPH_SLOT_SHIFT));
}

/*
 * Like fgraph_hook_first(), for a user with an entry callback. Returns true if the return is
 * wanted. Enables preemption.
 *
 * noinline: keeps stub_entered() from saving registers which a user without a callback does not
 * need.
 */
static noinline bool stub_hook_asking(struct fgraph_site *site, struct fgraph_ops *gops,
				      unsigned long func, struct pt_regs *regs)
{
	struct fgraph_frame *frame;
	struct stub_call call;
	bool wanted;

	stub_complete_regs(regs, func);
	if (unlikely((gops->user.admit && !fgraph_admits_all()) ||
		     !stub_is_simple(&call, regs, 1))) {
		wanted = stub_hook_each(site->users, 1, func, regs);
		preempt_enable_notrace();
		return wanted;
	}
	frame = fgraph_stack_grow(call.st, call.top, FGRAPH_SLOT);
	fgraph_set_head(frame, fgraph_context() + FGRAPH_RESERVED + call.calls);
	fgraph_fill_frame(frame, gops->user.tag, func, call.ret, stub_retp(regs));
	wanted = gops->entryfunc(gops, frame, frame->data, (struct ftrace_regs *)regs);
	fgraph_stack_settle(call.st, frame);
	if (wanted)
		fgraph_stack_commit(frame, FGRAPH_FRAME | FGRAPH_STUB | call.calls);
	else
		fgraph_stack_drop_header(call.st, frame, (void *)frame - FGRAPH_SLOT);
	preempt_enable_notrace();
	return wanted;
}

/* Like fgraph_hook_batch(), for as many users as fit into the chunk. */
static __always_inline bool stub_hook_batch(struct stub_call *call, struct fgraph_ops **users,
					    unsigned int nr, unsigned long func,
					    struct pt_regs *regs)
{
	struct fgraph_stack *st = call->st;
	void *top = call->top;
	void *cover = fgraph_cover(st, top, nr, call->calls);
	struct fgraph_entry *entry = cover - ((unsigned long)nr << FGRAPH_SLOT_SHIFT);
	struct fgraph_frame *frame = NULL;

	/* The first user that wants the return opens the frame, and the others join it. */
	while (nr && !frame) {
		struct fgraph_ops *gops = READ_ONCE(users[--nr]);

		fgraph_fill_frame((void *)entry, gops->user.tag, func, call->ret, stub_retp(regs));
		if (!fgraph_batch_wants(gops, entry, (void *)entry, regs))
			continue;
		fgraph_stack_commit(entry, FGRAPH_FRAME | FGRAPH_STUB | call->calls);
		top = entry++;
		frame = top;
	}
	while (nr) {
		struct fgraph_ops *gops = READ_ONCE(users[--nr]);

		fgraph_fill_entry(entry, gops, frame);
		if (!fgraph_batch_wants(gops, entry, frame, regs))
			continue;
		WRITE_ONCE(entry->older, top);
		fgraph_stack_commit(entry, FGRAPH_ENTRY | FGRAPH_LINKED | call->calls);
		top = entry++;
	}
	fgraph_stack_settle(st, cover);
	fgraph_stack_drop_header(st, cover, top);
	return frame;
}

/* Hook a call for a site of several users. Enables preemption. */
static noinline bool stub_hook_site(struct fgraph_site *site, unsigned long func,
				    struct pt_regs *regs)
{
	/* As in fgraph_hook_site(). */
	unsigned int nr = smp_load_acquire(&site->nr);
	struct stub_call call;
	bool wanted;

	stub_complete_regs(regs, func);
	if (likely(READ_ONCE(site->simple) && fgraph_admits_all() &&
		   stub_is_simple(&call, regs, nr + 1UL)))
		wanted = stub_hook_batch(&call, site->users, nr, func, regs);
	else
		wanted = stub_hook_each(site->users, nr, func, regs);
	preempt_enable_notrace();
	return wanted;
}

/* The general path for one user. Enables preemption. */
static noinline bool stub_hook_checked(struct fgraph_site *site, unsigned long func,
				       struct pt_regs *regs)
{
	bool wanted;

	stub_complete_regs(regs, func);
	wanted = stub_hook_each(site->users, 1, func, regs);
	preempt_enable_notrace();
	return wanted;
}

/*
 * A stub begins: stub_enter calls this with the registers that it has saved, and its own return
 * address @at, which tells the stub. Returns true if the return is wanted.
 *
 * A user without an entry callback is served here.
 */
__visible bool stub_entered(struct pt_regs *regs, unsigned long at)
{
	struct stub_record *rec = *(struct stub_record **)(at & -STUB_PAGE) +
				  ((at & (STUB_PAGE - 1)) >> STUB_SHIFT);
	struct fgraph_frame *frame;
	struct fgraph_site *site;
	struct stub_call call;
	struct fgraph_ops *only;

	if (unlikely(!fgraph_retp_valid(stub_retp(regs))))
		return false;
	preempt_disable_notrace();
	site = READ_ONCE(rec->site);
	only = READ_ONCE(site->only);
	if (!only)
		return stub_hook_site(site, rec->ip, regs);
	if (only->entryfunc)
		return stub_hook_asking(site, only, rec->ip, regs);
	if (unlikely((only->user.admit && !fgraph_admits_all()) ||
		     !stub_is_simple(&call, regs, 1)))
		return stub_hook_checked(site, rec->ip, regs);
	frame = fgraph_stack_grow(call.st, call.top, FGRAPH_SLOT);
	fgraph_fill_frame(frame, only->user.tag, rec->ip, call.ret, stub_retp(regs));
	fgraph_stack_commit(frame, FGRAPH_FRAME | FGRAPH_STUB | call.calls);
	preempt_enable_notrace();
	return true;
}

/* Like fgraph_return_fast(), without the return address. Enables preemption. */
static __always_inline void stub_return_fast(struct fgraph_stack *st, void *top,
					     unsigned long head, struct fgraph_frame *frame,
					     struct fgraph_regs *regs, struct fgraph_ops *only)
{
	bool gone;

	fgraph_complete_regs(regs, READ_ONCE(frame->ret));
	fgraph_set_head(top, head + fgraph_context());
	barrier();
	gone = fgraph_call_users(top, frame, regs, true, only);
	fgraph_stack_settle(st, top);
	fgraph_stack_drop_linked(st, top, frame);
	if (unlikely(gone))
		fgraph_trim_unused();
	preempt_enable_notrace();
}

/* Like fgraph_return_several(). */
static noinline void stub_return_several(struct fgraph_stack *st, unsigned long *retp,
					 struct fgraph_regs *regs)
{
	unsigned long head;
	void *top = READ_ONCE(st->top);
	struct fgraph_frame *frame = fgraph_read(top, offsetof(struct fgraph_entry, frame),
						 &head);

	if ((u16)head == (FGRAPH_ENTRY | FGRAPH_LINKED) &&
	    (u16)fgraph_head(frame) == (FGRAPH_FRAME | FGRAPH_STUB) && frame->retp == retp) {
		stub_return_fast(st, top, head, frame, regs, NULL);
		return;
	}
	/* Core: this writes the return address, which is *@retp already unless a tail call. */
	head = *retp;
	fgraph_return_slow(st, retp, regs);
	WRITE_ONCE(*retp, head);
	preempt_enable_notrace();
}

/* Like fgraph_return(). */
static __always_inline void stub_left(unsigned long *retp, struct fgraph_regs *regs)
{
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	struct fgraph_ops *gops;
	unsigned long head;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	frame = READ_ONCE(st->top);
	if (likely(fgraph_read(frame, offsetof(struct fgraph_frame, retp), &head) == retp &&
		   (u16)head == (FGRAPH_FRAME | FGRAPH_STUB))) {
		gops = fgraph_frame_user(frame);
		if (likely(gops)) {
			stub_return_fast(st, frame, head, frame, regs, gops);
			return;
		}
	}
	stub_return_several(st, retp, regs);
}

/* The body has returned to a stub: stub_leave calls this, with the return registers. */
__visible void stub_left_light(unsigned long *retp, struct fgraph_regs *regs)
{
	stub_left(retp, regs);
}

/* stub_leave_full calls this, with all registers. */
__visible void stub_left_full(struct pt_regs *regs)
{
	stub_left(fgraph_full_retp(regs), FGRAPH_REGS_OF_FULL(regs));
}
