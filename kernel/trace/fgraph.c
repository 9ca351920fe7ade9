// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: hook the return of a call once, for all users who want it.
 *
 * When a function is entered, fgraph_ftrace.c or the handler of a kprobe calls one of
 * fgraph_hook*() for the users that want the function. When it returns, it returns to a
 * trampoline, which calls fgraph_return_light() or fgraph_return_full().
 *
 * Entry and return each have a fast path and a general path. The fast path is for users
 * whose data fit into one slot, on a stack where no callback runs. The general path works
 * for any user in any state of the stack.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "fgraph_internal.h"

/**
 * struct fgraph_call - a call while it is being hooked for a user
 * @func:	the function
 * @regs:	registers at entry
 * @st:		the stack of the current task
 * @top:	the newest header before the user's record; if an interrupt has dropped abandoned
 *		calls since it was read, a free slot with only free slots down to that header
 * @kind:	header of the user's record, without size: FGRAPH_FRAME to open the frame of a
 *		call that is not hooked yet, with FGRAPH_TAIL if it is a tail call of a hooked
 *		function; FGRAPH_ENTRY to join @frame
 * @frame:	the frame to join, or NULL
 * @ret:	the real return address, to open a frame
 */
struct fgraph_call {
	unsigned long		func;
	struct pt_regs		*regs;
	struct fgraph_stack	*st;
	void			*top;
	unsigned long		kind;
	struct fgraph_frame	*frame;
	unsigned long		ret;
};

/**
 * fgraph_miss() - count a call that a user was not told of
 * @gops:	the user
 * @why:	the cause
 *
 * Context: any, preemption disabled.
 */
noinline void fgraph_miss(struct fgraph_ops *gops, enum fgraph_miss why)
{
	atomic_long_inc(&gops->user.missed[why]);
	if (gops->user.note_miss && why != FGRAPH_MISS_BPF)
		gops->user.note_miss(gops);
}
NOKPROBE_SYMBOL(fgraph_miss);

/*
 * Is a call hooked whose return address is @ret at entry? It is then the first address of a
 * trampoline, so the range that fgraph_is_trampoline() accepts is not needed.
 */
static __always_inline bool fgraph_is_hooked(unsigned long ret)
{
	return ret == (unsigned long)fgraph_trampoline_light ||
	       ret == (unsigned long)fgraph_trampoline_full;
}

/*
 * Make the call return to a trampoline that suits users with @flags. The frame must have
 * been committed: an unwinder that finds the trampoline looks for it. A full trampoline
 * is not replaced by a light one, as an earlier user of the call (@hooked) may need it.
 */
static __always_inline void fgraph_set_trampoline(struct pt_regs *regs, unsigned int flags,
						  bool hooked)
{
	unsigned long *place = fgraph_entry_place(regs);

	if (flags & FGRAPH_FULL_REGS)
		WRITE_ONCE(*place, (unsigned long)fgraph_trampoline_full);
	else if (!hooked)
		WRITE_ONCE(*place, (unsigned long)fgraph_trampoline_light);
}

/*
 * The stores must not move: an interrupt uses the same slot if it comes before the top has
 * moved to this frame, or after it has moved back.
 */
static __always_inline void fgraph_fill_frame(struct fgraph_frame *frame, unsigned long tag,
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
 * Call the user's entry callback. Returns true if the user wants the return, as one without
 * the callback always does.
 */
static __always_inline bool fgraph_ask(struct fgraph_ops *gops, struct fgraph_frame *frame,
				       void *data, struct pt_regs *regs)
{
	fgraph_entry_t entryfunc = fgraph_entryfunc(gops);

	return !entryfunc || entryfunc(gops, frame, data, (struct ftrace_regs *)regs);
}

/*
 * Write a user's record and call its entry callback. If the user wants the return, the record
 * is committed and the call hooked, else the record is dropped. @rec was reserved with room for
 * data of @slots slots. @above has the bits of FGRAPH_CONTEXT of the record below: the new header
 * must keep them, as callbacks further down still run.
 */
static __always_inline void fgraph_add_record(struct fgraph_call *call, struct fgraph_ops *gops,
					      void *rec, unsigned long slots,
					      unsigned long above)
{
	struct fgraph_stack *st = call->st;
	struct fgraph_frame *frame = call->frame ?: rec;
	bool wanted = true;

	if (call->frame)
		fgraph_fill_entry(rec, gops, frame);
	else
		fgraph_fill_frame(rec, gops->user.tag, call->func, call->ret,
				  fgraph_retp(call->regs));
	if (fgraph_entryfunc(gops)) {
		wanted = fgraph_ask(gops, frame, fgraph_data_in(rec, slots), call->regs);
		fgraph_stack_settle(st, rec);
	}
	if (!wanted || !fgraph_retfunc(gops)) {
		if (unlikely(slots))
			fgraph_stack_clean(rec, slots);
		fgraph_stack_drop_header(st, rec, call->top);
		return;
	}
	fgraph_stack_commit(rec, call->kind | slots << FGRAPH_SLOTS_SHIFT | above);
	fgraph_set_trampoline(call->regs, gops->flags, call->kind != FGRAPH_FRAME);
}

/*
 * The fast path for one simple user: the call is not hooked yet and no callback runs on the
 * stack. Returns false, and has done nothing, if that does not hold or the chunk is full.
 */
static __always_inline bool fgraph_hook_first(struct fgraph_ops *gops, unsigned long func,
					      struct pt_regs *regs)
{
	struct fgraph_call call = {
		.func = func,
		.regs = regs,
		/* fgraph_trim() does not free the stack while preemption is disabled here. */
		.st = READ_ONCE(current->fgraph_stack),
		.kind = FGRAPH_FRAME,
		.ret = READ_ONCE(*fgraph_entry_place(regs)),
	};
	void *rec;

	if (unlikely(!call.st || fgraph_is_hooked(call.ret)))
		return false;
	call.top = READ_ONCE(call.st->top);
	if (unlikely((fgraph_head(call.top) & FGRAPH_INSIDE) ||
		     !fgraph_stack_fits(call.top, FGRAPH_SLOT)))
		return false;
	rec = fgraph_stack_grow(call.st, call.top, FGRAPH_SLOT);
	/* Only an entry callback can find the header before the record is complete. */
	if (fgraph_entryfunc(gops))
		fgraph_set_head(rec, FGRAPH_RESERVED | fgraph_context());
	fgraph_add_record(&call, gops, rec, 0, 0);
	return true;
}

/* The newest frame of the return address at @retp. The top record is usually part of it. */
static struct fgraph_frame *fgraph_frame_at(struct fgraph_stack *st, unsigned long *retp)
{
	struct fgraph_frame *frame = fgraph_frame_of(READ_ONCE(st->top));

	return frame && frame->retp == retp ? frame : fgraph_stack_search(st, retp);
}
NOKPROBE_SYMBOL(fgraph_frame_at);

/* Does this user have an entry in the frame? */
static bool fgraph_frame_has(struct fgraph_stack *st, struct fgraph_frame *frame,
			     unsigned long tag)
{
	void *rec;

	for (rec = READ_ONCE(st->top); rec != frame; rec = fgraph_older(rec)) {
		if (fgraph_is_entry_of(rec, frame) && ((struct fgraph_entry *)rec)->tag == tag)
			return true;
	}
	return frame->tag == tag;
}
NOKPROBE_SYMBOL(fgraph_frame_has);

/*
 * Find out how the call is hooked for a user. If the return address is a trampoline, the newest
 * frame of that place says which call has been hooked: this one, or one of a function that ended
 * in a tail call of this function. In the second case both calls return at once, and the users of
 * the newer frame are told first. Returns false if the call must not be hooked.
 */
static bool fgraph_join_or_open(struct fgraph_call *call, struct fgraph_ops *gops)
{
	struct fgraph_frame *frame;

	call->kind = FGRAPH_FRAME;
	call->ret = READ_ONCE(*fgraph_entry_place(call->regs));
	if (!fgraph_is_trampoline(call->ret))
		return true;
	frame = fgraph_frame_at(call->st, fgraph_retp(call->regs));
	/* Without a frame the real return address is not known. */
	if (WARN_ON_ONCE(!frame))
		return false;
	if (frame->func == call->func && !fgraph_frame_has(call->st, frame, gops->user.tag)) {
		call->kind = FGRAPH_ENTRY;
		call->frame = frame;
		return true;
	}
	call->kind = FGRAPH_FRAME | FGRAPH_TAIL;
	call->ret = frame->ret;
	/*
	 * A breakpoint at the head of a loop is hit in each turn of it. Here that looks like
	 * a tail call of the function to itself.
	 */
	return frame->func != call->func || !gops->user.once;
}
NOKPROBE_SYMBOL(fgraph_join_or_open);

/*
 * The general path: any user, in any state of the shadow stack, which is made if need be. If the
 * chunk is full, frames of abandoned calls are dropped first: those whose return address lies
 * below @dead_below on the current machine stack.
 */
static noinline void fgraph_hook_slow(struct fgraph_ops *gops, unsigned long func,
				      struct pt_regs *regs, void *dead_below)
{
	struct fgraph_call call = {
		.func = func,
		.regs = regs,
		.st = READ_ONCE(current->fgraph_stack) ?: fgraph_stack_make(),
	};
	unsigned long slots = gops->user.slots, head;
	void *rec = NULL;

	if (call.st) {
		if (!fgraph_join_or_open(&call, gops))
			return;
		if (unlikely(!fgraph_stack_fits(READ_ONCE(call.st->top),
						(slots + 1) << FGRAPH_SLOT_SHIFT)))
			fgraph_reap(call.st, dead_below);
		call.top = fgraph_stack_top(call.st, &head);
		head &= FGRAPH_CONTEXT;
		rec = fgraph_stack_reserve(call.st, call.top, slots, fgraph_context_within(head));
	}
	if (rec)
		fgraph_add_record(&call, gops, rec, slots, head);
	else
		fgraph_miss(gops, FGRAPH_MISS_MEMORY);
}
NOKPROBE_SYMBOL(fgraph_hook_slow);

/*
 * The lowest place on this machine stack where the return address of a live call may be,
 * when a function is entered. Places below the function's own are dead. A frame of its own
 * place is left over from an abandoned call, unless the return address is a trampoline.
 */
static void *fgraph_dead_below(struct pt_regs *regs)
{
	return fgraph_retp(regs) + !fgraph_is_trampoline(*fgraph_entry_place(regs));
}
NOKPROBE_SYMBOL(fgraph_dead_below);

/**
 * fgraph_hook() - hook the return of a call for one user, without ftrace
 * @gops:	the user, registered
 * @func:	the function that is being entered: the address of its call to ftrace, or
 *		where the kprobe is if ftrace cannot call it
 * @regs:	registers at entry, passed on to the user's entry callback
 *
 * Calls the entry callback. If that wants the return, the user joins the frame
 * that others have opened for this call, or opens one and replaces the return
 * address. If there is no memory for that, the user misses the call.
 *
 * Context: any, preemption disabled; before the function has changed its stack. Must not be
 * called in an entry callback of the same call. Callbacks may call functions that are hooked
 * in turn; the caller must keep that from recursing without end.
 */
void fgraph_hook(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs)
{
	void *dead_below;

	if (likely(fgraph_is_simple(gops)) && fgraph_hook_first(gops, func, regs))
		return;
	/*
	 * The functions that led here from the kprobe may be hooked by ftrace. Their calls
	 * are alive, so only what is below this stack frame is dead.
	 */
	if (IS_ENABLED(CONFIG_FUNCTION_TRACER))
		dead_below = __builtin_frame_address(0);
	else
		dead_below = fgraph_dead_below(regs);
	fgraph_hook_slow(gops, func, regs, dead_below);
}
EXPORT_SYMBOL_GPL(fgraph_hook);
NOKPROBE_SYMBOL(fgraph_hook);

#ifdef CONFIG_FGRAPH_FTRACE
/* Returns true if all users may be called here, so that &fgraph_user.admit need not be. */
static __always_inline bool fgraph_admits_all(void)
{
	/* data_race(): a kprobe in an interrupt restores the value before it returns. */
	return !data_race(kprobe_running()) && fgraph_rcu_is_watching();
}

/*
 * Hook a call for one user where the fast path does not apply: the user may have data that
 * exceed a slot or may not be called here, the call may be hooked, or a callback may run.
 */
static noinline void fgraph_hook_checked(struct fgraph_ops *gops, unsigned long func,
					 struct pt_regs *regs)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);

	if (gops->user.admit && !fgraph_admits_all() && !gops->user.admit(gops))
		return;
	if (st && fgraph_recursion(st))
		fgraph_miss(gops, FGRAPH_MISS_NESTED);
	else
		fgraph_hook_slow(gops, func, regs, fgraph_dead_below(regs));
}
NOKPROBE_SYMBOL(fgraph_hook_checked);

/* Hook a call for several users where the batch does not apply, one after the other. */
static noinline void fgraph_hook_each(struct fgraph_ops **users, unsigned int nr,
				      unsigned long func, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		fgraph_hook_checked(READ_ONCE(users[i]), func, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_each);

/* How many users are hooked in one batch: the slots of a chunk without its header and the cover. */
#define FGRAPH_BATCH	(FGRAPH_CHUNK_SIZE / FGRAPH_SLOT - 2)

/*
 * Take slots for the records of @nr users. They lie below a header, the cover, which says that
 * callbacks run (INSIDE). Until its record is complete, the first word of each slot is 0 and
 * readers skip it (ZERO). Returns the cover, or NULL if there is no memory.
 */
static __always_inline void *fgraph_cover(struct fgraph_stack *st, void *top, unsigned long nr)
{
	void *cover = fgraph_stack_grow(st, top, (nr + 1) << FGRAPH_SLOT_SHIFT);

	if (likely(cover))
		fgraph_set_head(cover, FGRAPH_RESERVED | fgraph_context());
	barrier();
	return cover;
}

/*
 * The fast path for several simple users: the call is not hooked yet and no callback runs on
 * the stack. The first user that wants the return opens the frame, the others join it.
 */
static void fgraph_hook_batch(struct fgraph_stack *st, struct fgraph_ops **users,
			      unsigned int nr, unsigned long func, struct pt_regs *regs)
{
	struct fgraph_ops **user = users, **end, **all = users + nr;
	struct fgraph_frame *frame = NULL;
	void *top = READ_ONCE(st->top);
	struct fgraph_entry *entry;
	unsigned int flags = 0;

	do {
		unsigned long some = min((unsigned long)(all - user), FGRAPH_BATCH);
		void *cover = fgraph_cover(st, top, some);

		if (unlikely(!cover))
			break;
		entry = cover - (some << FGRAPH_SLOT_SHIFT);
		end = user + some;
		for (; !frame && user < end; user++) {
			struct fgraph_ops *gops = READ_ONCE(*user);

			fgraph_fill_frame((void *)entry, gops->user.tag, func,
					  *fgraph_entry_place(regs), fgraph_retp(regs));
			if (!fgraph_ask(gops, (void *)entry, entry->data, regs))
				continue;
			fgraph_stack_commit(entry, FGRAPH_FRAME);
			flags = gops->flags;
			frame = (void *)entry++;
			top = frame;
		}
		for (; user < end; user++) {
			struct fgraph_ops *gops = READ_ONCE(*user);

			fgraph_fill_entry(entry, gops, frame);
			if (!fgraph_ask(gops, frame, entry->data, regs))
				continue;
			WRITE_ONCE(entry->older, top);
			fgraph_stack_commit(entry, FGRAPH_ENTRY | FGRAPH_LINKED);
			flags |= gops->flags;
			top = entry++;
		}
		fgraph_stack_settle(st, cover);
		fgraph_stack_drop_header(st, cover, top);
	} while (unlikely(user < all));
	if (likely(frame))
		fgraph_set_trampoline(regs, flags, false);
	/* There was no memory for a batch of the others, but there may be for some of them. */
	if (unlikely(user < all))
		fgraph_hook_each(user, all - user, func, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_batch);

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
void fgraph_hook_one(struct fgraph_ops *gops, unsigned long func, struct ftrace_regs *fregs)
{
	if (unlikely((gops->user.admit && !fgraph_admits_all()) ||
		     !fgraph_hook_first(gops, func, fgraph_entry_regs(fregs))))
		fgraph_hook_checked(gops, func, fgraph_entry_regs(fregs));
}
NOKPROBE_SYMBOL(fgraph_hook_one);

/**
 * fgraph_hook_several() - hook the return of a call for several users
 * @users:	the users
 * @nr:		number of users
 * @simple:	fgraph_is_simple() is true for all of them
 * @func:	address of the function's call to ftrace
 * @fregs:	registers at entry as ftrace passes them; fgraph_retp_valid() is true for
 *		them
 *
 * Does what fgraph_hook_one() does, for each user in turn.
 *
 * Context: any, preemption disabled.
 */
void fgraph_hook_several(struct fgraph_ops **users, unsigned int nr, bool simple,
			 unsigned long func, struct ftrace_regs *fregs)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	struct pt_regs *regs = fgraph_entry_regs(fregs);

	if (likely(simple && st && fgraph_admits_all() &&
		   !fgraph_is_hooked(READ_ONCE(*fgraph_entry_place(regs))) &&
		   !(fgraph_head(READ_ONCE(st->top)) & FGRAPH_INSIDE)))
		fgraph_hook_batch(st, users, nr, func, regs);
	else
		fgraph_hook_each(users, nr, func, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_several);
#endif /* CONFIG_FGRAPH_FTRACE */

/*
 * Tell a user that a call returns, unless the user was unregistered since. If the row has
 * the tag, the user stays until preemption is enabled: fgraph_synchronize() waits for that.
 * No barrier is needed before @row->gops: a record has got the tag from the user, after
 * fgraph_take_row() had written the row. Returns true if the user has gone.
 */
static __always_inline bool fgraph_tell(struct fgraph_row *row, unsigned long tag,
					struct fgraph_frame *frame, void *data,
					struct fgraph_regs *regs)
{
	struct fgraph_ops *gops;

	if (unlikely(READ_ONCE(row->tag) != tag))
		return true;
	gops = row->gops;
	fgraph_retfunc(gops)(gops, frame, data, regs);
	return false;
}

static __always_inline bool fgraph_tell_frame(struct fgraph_frame *frame, void *data,
					      struct fgraph_regs *regs)
{
	unsigned long tag = READ_ONCE(frame->tag);

	return fgraph_tell(fgraph_row(tag & FGRAPH_ID_MASK), tag, frame, data, regs);
}

static __always_inline bool fgraph_tell_entry(struct fgraph_entry *entry, void *data,
					      struct fgraph_regs *regs)
{
	return fgraph_tell(READ_ONCE(entry->row), READ_ONCE(entry->tag), READ_ONCE(entry->frame),
			   data, regs);
}

/* Without a frame there is no address to return to. */
static noinline void __noreturn fgraph_no_frame(void)
{
	panic("fgraph: a function returned that has no frame");
}
NOKPROBE_SYMBOL(fgraph_no_frame);

/*
 * Tell all users of a frame, the newest first. Their records are between @top and the frame; if
 * they are not @linked, records of other calls may be in between. Returns true if one of the users
 * has gone.
 */
static __always_inline bool fgraph_tell_all(void *top, struct fgraph_frame *frame,
					    struct fgraph_regs *regs, bool linked)
{
	unsigned long slots = linked ? 0 : fgraph_slots(fgraph_head(frame));
	struct fgraph_entry *entry;
	bool gone = false;

	for (entry = top; (void *)entry != frame;
	     entry = linked ? READ_ONCE(entry->older) : fgraph_older(entry)) {
		/* Skip headers of chunks, and calls further out that were hooked late. */
		if (linked || fgraph_is_entry_of(entry, frame))
			gone |= fgraph_tell_entry(entry, linked ? entry->data :
						  fgraph_data(entry, fgraph_head(entry)), regs);
	}
	return gone | fgraph_tell_frame(frame, fgraph_data_in(frame, slots), regs);
}

/*
 * The steps of a return up to where the frame can be dropped: tell its users and restore the
 * return address. @top is the newest record, of this frame or of a live call further out;
 * @head is what its header says meanwhile. Returns true if one of the users has gone.
 *
 * READ_ONCE() is for KCSAN: it takes plain reads to be done after the frame has been dropped,
 * and so as a race with the next call's writes, although one CPU sees its own in order.
 */
static __always_inline bool fgraph_return_steps(struct fgraph_stack *st, void *top,
						unsigned long head, struct fgraph_frame *frame,
						struct fgraph_regs *regs, bool linked)
{
	bool gone, tail = !linked && (fgraph_head(frame) & FGRAPH_TAIL);

	fgraph_complete_regs(regs, READ_ONCE(frame->ret));
	fgraph_set_head(top, head);
	barrier();
	gone = fgraph_tell_all(top, frame, regs, linked);
	/*
	 * Before the frame is dropped, as an unwinder that finds the trampoline needs a frame.
	 * After a tail call it finds that of the older call of this place.
	 */
	if (!tail)
		WRITE_ONCE(*fgraph_record_place(READ_ONCE(frame->retp)), READ_ONCE(frame->ret));
	barrier();
	fgraph_stack_settle(st, top);
	return gone;
}

/*
 * Complete the newest call whose return address is at @retp. Returns the real return
 * address. @tail is set to true if it was a tail call: then the call of the function that
 * made the tail call must be completed, too.
 */
static unsigned long fgraph_return_one(struct fgraph_stack *st, unsigned long *retp,
				       struct fgraph_regs *regs, bool *tail)
{
	struct fgraph_frame *frame = fgraph_frame_at(st, retp);
	unsigned long ret, head;
	bool exposed, gone;
	void *top;

	if (unlikely(!frame))
		fgraph_no_frame();
	exposed = fgraph_stack_expose(st, frame);
	*tail = fgraph_head(frame) & FGRAPH_TAIL;
	ret = READ_ONCE(frame->ret);
	/* The return of a hooked call is always reported, even if a callback is running. */
	top = READ_ONCE(st->top);
	head = fgraph_head(top);
	gone = fgraph_return_steps(st, top, (head & ~FGRAPH_CONTEXT) |
				   fgraph_context_within(head & FGRAPH_CONTEXT),
				   frame, regs, false);
	if (likely(exposed)) {
		fgraph_stack_pop(st, frame);
		fgraph_stack_drop_done(st);
	} else {
		fgraph_set_head(top, head);
		fgraph_stack_done(st, frame);
	}
	if (unlikely(gone))
		fgraph_trim_unused();
	return ret;
}
NOKPROBE_SYMBOL(fgraph_return_one);

/* The general path: any frame in any state of the shadow stack. */
static noinline unsigned long fgraph_return_slow(struct fgraph_stack *st, unsigned long *retp,
						 struct fgraph_regs *regs)
{
	unsigned long ret;
	bool tail;

	do {
		ret = fgraph_return_one(st, retp, regs, &tail);
	} while (tail);
	return ret;
}
NOKPROBE_SYMBOL(fgraph_return_slow);

/*
 * The fast path: the records of @frame take one slot each and are the newest ones of the
 * stack, and no callback runs. @top is the newest record, with header @head. Enables
 * preemption, which fgraph_return() has disabled.
 */
static __always_inline unsigned long
fgraph_return_fast(struct fgraph_stack *st, void *top, unsigned long head,
		   struct fgraph_frame *frame, struct fgraph_regs *regs)
{
	bool gone = fgraph_return_steps(st, top, head | fgraph_context(), frame, regs, true);
	unsigned long ret = READ_ONCE(frame->ret);

	fgraph_stack_drop_linked(st, top, frame);
	if (unlikely(gone))
		fgraph_trim_unused();
	preempt_enable_notrace();
	return ret;
}

/* A call returns whose frame is not on top: it has several users, or calls are above it. */
static noinline unsigned long fgraph_return_several(struct fgraph_stack *st, unsigned long *retp,
						    struct fgraph_regs *regs)
{
	unsigned long head, ret;
	void *top = READ_ONCE(st->top);
	struct fgraph_frame *frame = fgraph_read(top, offsetof(struct fgraph_entry, frame),
						 &head);

	/* The lower half suffices: bits of FGRAPH_CONTEXT are only set with FGRAPH_INSIDE. */
	if ((u32)head == (FGRAPH_ENTRY | FGRAPH_LINKED) &&
	    (u32)fgraph_head(frame) == FGRAPH_FRAME && frame->retp == retp)
		return fgraph_return_fast(st, top, head, frame, regs);
	ret = fgraph_return_slow(st, retp, regs);
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(fgraph_return_several);

/*
 * A hooked function returned to a trampoline. Tell the users of its frame, the newest first,
 * and return the real return address.
 */
static __always_inline unsigned long fgraph_return(unsigned long *retp,
						   struct fgraph_regs *regs)
{
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	unsigned long head;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (unlikely(!st))
		fgraph_no_frame();
	frame = READ_ONCE(st->top);
	if (likely(fgraph_read(frame, offsetof(struct fgraph_frame, retp), &head) == retp &&
		   (u32)head == FGRAPH_FRAME))
		return fgraph_return_fast(st, frame, head, frame, regs);
	return fgraph_return_several(st, retp, regs);
}

/* Called by the light trampoline, with the return registers in @regs. */
__visible unsigned long fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs)
{
	return fgraph_return(retp, regs);
}
NOKPROBE_SYMBOL(fgraph_return_light);

/* Called by the full trampoline, with all registers. */
__visible unsigned long fgraph_return_full(struct pt_regs *regs)
{
	return fgraph_return(fgraph_full_retp(regs), FGRAPH_REGS_OF_FULL(regs));
}
NOKPROBE_SYMBOL(fgraph_return_full);
