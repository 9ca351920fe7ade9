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

#include "fgraph_hook.h"
#ifdef CONFIG_FGRAPH_STUBS
#include "fgraph_stubs.h"
#endif

/**
 * fgraph_miss() - count a call that a user misses
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

/* The newest frame of the return address at @retp. The top record is usually part of it. */
static struct fgraph_frame *fgraph_frame_at(struct fgraph_stack *st, unsigned long *retp)
{
	struct fgraph_frame *frame = fgraph_frame_of(READ_ONCE(st->top));

	return frame && frame->retp == retp ? frame : fgraph_stack_search(st, retp);
}
NOKPROBE_SYMBOL(fgraph_frame_at);

/*
 * Does one of the users of a call have a record in the frame? The users are sorted by age, and so
 * are the records of users that were called one after the other: the newest user was called first,
 * so its record is the lowest one. So both lists are walked together, from the oldest user on, and
 * the time does not depend on the product of their lengths.
 */
static bool fgraph_frame_has_any(const struct fgraph_call *call, struct fgraph_frame *frame)
{
	struct fgraph_entry *rec = READ_ONCE(call->st->top);
	unsigned int i = 0;
	u64 tag, last = 0;

	for (;; rec = fgraph_older(rec)) {
		if (!fgraph_is_entry_of(rec, frame))
			continue;
		/* struct fgraph_frame has @tag at the same place. */
		tag = rec->tag;
		/* Users that another dispatcher or a kprobe has called before begin here. */
		if (tag < last)
			i = 0;
		last = tag;
		while (i < call->nr && READ_ONCE(call->users[i])->user.tag < tag)
			i++;
		if (i < call->nr && READ_ONCE(call->users[i])->user.tag == tag)
			return true;
		if ((void *)rec == frame)
			return false;
	}
}
NOKPROBE_SYMBOL(fgraph_frame_has_any);

/*
 * Find out how the call is hooked for its users. If the return address is a trampoline, the newest
 * frame of that place says which call has been hooked: this one, or one of a function that ended
 * in a tail call of this function. In the second case both calls return at once, and the users of
 * the newer frame are called first. If the function is the same and the frame has one of the users,
 * it is the second case, as each user is called once at an entry. Returns false if the call must
 * not be hooked.
 */
static bool fgraph_join_or_open(struct fgraph_call *call, struct fgraph_ops *gops)
{
	struct fgraph_frame *frame;

	call->ret = READ_ONCE(*call->place);
	if (unlikely(fgraph_is_after_stub(call->ret))) {
		/* A stub has called the function that made this tail call. */
		call->ret = READ_ONCE(call->place[1]);
		call->kind = FGRAPH_FRAME | FGRAPH_AFTER_STUB;
		return true;
	}
	if (!fgraph_is_trampoline(call->ret)) {
		call->kind = FGRAPH_FRAME;
		return true;
	}
	frame = fgraph_frame_at(call->st, call->retp);
	/* Without a frame the real return address is not known. */
	if (WARN_ON_ONCE(!frame))
		return false;
	if (frame->func == call->func && !fgraph_frame_has_any(call, frame)) {
		call->kind = FGRAPH_ENTRY;
		call->frame = frame;
		return true;
	}
	call->kind = FGRAPH_FRAME | FGRAPH_TAIL | (fgraph_head(frame) & FGRAPH_AFTER_STUB);
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
 *
 * How the call is hooked is found out for its first user, and stays in @call for the others. It
 * cannot change meanwhile: callbacks, and interrupts, hook and drop other calls only, and the
 * frame of a call that is being entered is never taken for an abandoned one.
 */
static noinline void fgraph_hook_slow(struct fgraph_call *call, struct fgraph_ops *gops,
				      void *dead_below)
{
	unsigned long slots = gops->user.slots, head;
	void *rec = NULL;
	struct fgraph_stack *st = call->st;

	if (!st) {
		st = READ_ONCE(current->fgraph_stack) ?: fgraph_stack_make();
		call->st = st;
	}
	if (st) {
		if (!call->kind && !fgraph_join_or_open(call, gops))
			return;
		if (unlikely(!fgraph_stack_fits(READ_ONCE(st->top),
						(slots + 1) << FGRAPH_SLOT_SHIFT)))
			fgraph_reap(st, dead_below);
		call->top = READ_ONCE(st->top);
		fgraph_newest(call->top, &head);
		/* This counts abandoned calls that an interrupt drops before the push, too. */
		call->calls = head & FGRAPH_CALLS_MASK;
		head &= FGRAPH_CONTEXT;
		rec = fgraph_stack_reserve(st, call->top, slots, fgraph_context_within(head) |
					   (call->frame ? call->calls :
					    fgraph_one_more_call(call->calls)));
	}
	if (unlikely(!rec)) {
		fgraph_miss(gops, FGRAPH_MISS_MEMORY);
		return;
	}
	call->entryfunc = gops->entryfunc;
	call->wanted = gops->retfunc;
	if (fgraph_add_record(call, gops, rec, slots, head) && !call->frame) {
		/* The other users of the call join this frame. */
		call->kind = FGRAPH_ENTRY;
		call->frame = rec;
	}
}
NOKPROBE_SYMBOL(fgraph_hook_slow);

/*
 * The lowest place on this machine stack where the return address of a live call may be,
 * when a function is entered. Places below the function's own are dead. A frame of its own
 * place is left over from an abandoned call, unless the return address is a trampoline.
 */
static void *fgraph_dead_below(const struct fgraph_call *call)
{
	return call->retp + !fgraph_is_trampoline(*call->place);
}
NOKPROBE_SYMBOL(fgraph_dead_below);

#ifdef CONFIG_KRETPROBE_ON_FGRAPH
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
	struct fgraph_call call;
	void *dead_below;

	if (likely(fgraph_is_simple(gops)) &&
	    fgraph_hook_first(gops, func, fgraph_entry_place(regs), fgraph_retp(regs), regs,
			      FGRAPH_FRAME))
		return;
	fgraph_begin_call(&call, &gops, 1, func, fgraph_entry_place(regs), fgraph_retp(regs), regs);
	/*
	 * The functions that led here from the kprobe may be hooked by ftrace. Their calls
	 * are alive, so only what is below this stack frame is dead.
	 */
	if (IS_ENABLED(CONFIG_FUNCTION_TRACER))
		dead_below = __builtin_frame_address(0);
	else
		dead_below = fgraph_dead_below(&call);
	fgraph_hook_slow(&call, gops, dead_below);
}
NOKPROBE_SYMBOL(fgraph_hook);
#endif

#ifdef CONFIG_FGRAPH_CALLED_BY_FTRACE
/*
 * Hook a call for one of its users where the fast path does not apply: the user may have data that
 * exceed a slot or may not be called here, the call may be hooked, or a callback may run.
 */
static __always_inline void fgraph_hook_user(struct fgraph_call *call, struct fgraph_ops *gops)
{
	if (gops->user.admit && !fgraph_admits_all() && !gops->user.admit(gops))
		return;
	if (call->st && fgraph_recursion(call->st))
		fgraph_miss(gops, FGRAPH_MISS_NESTED);
	else
		fgraph_hook_slow(call, gops, fgraph_dead_below(call));
}

/* Hook a call for one of its users. For fgraph_ftrace.c, which chooses the users. */
void fgraph_hook_next(struct fgraph_call *call, struct fgraph_ops *gops)
{
	fgraph_hook_user(call, gops);
}
NOKPROBE_SYMBOL(fgraph_hook_next);

#ifdef CONFIG_HAVE_FGRAPH
/* Hook a call that has one user, where the fast path does not apply. */
void fgraph_hook_checked(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs)
{
	struct fgraph_call call;

	fgraph_begin_call(&call, &gops, 1, func, fgraph_entry_place(regs), fgraph_retp(regs), regs);
	fgraph_hook_user(&call, gops);
}
NOKPROBE_SYMBOL(fgraph_hook_checked);

/* Hook a call for several users where the batch does not apply, one after the other. */
static noinline void fgraph_hook_each(struct fgraph_ops **users, unsigned int nr,
				      unsigned long func, struct pt_regs *regs)
{
	struct fgraph_call call;

	fgraph_begin_call(&call, users, nr, func, fgraph_entry_place(regs), fgraph_retp(regs),
			  regs);
	while (nr)
		fgraph_hook_user(&call, READ_ONCE(users[--nr]));
}
NOKPROBE_SYMBOL(fgraph_hook_each);

/* How many users are hooked in one batch: the slots of a chunk without its header and the cover. */
#define FGRAPH_BATCH	(FGRAPH_CHUNK_SIZE / FGRAPH_SLOT - 2)

/*
 * How many of @nr users to hook in the next batch. If there is no room for all of them in the chunk
 * of @top, this is what fills it, so that no slots are left unused.
 */
static __always_inline unsigned int fgraph_batch_size(void *top, unsigned int nr)
{
	unsigned long free;

	if (likely(fgraph_stack_fits(top, (nr + 1UL) << FGRAPH_SLOT_SHIFT)))
		return nr;
	/* The slots up to the end of the chunk, or to the middle of a big one. */
	free = (-((unsigned long)top + FGRAPH_SLOT) & (FGRAPH_CHUNK_SIZE - 1)) >> FGRAPH_SLOT_SHIFT;
	return free > 1 ? min_t(unsigned int, nr, free - 1) : min_t(unsigned int, nr, FGRAPH_BATCH);
}

/*
 * Take slots for the records of @nr users. They lie below a header, the cover, which says that
 * callbacks run (INSIDE). Until its record is complete, the first word of each slot is 0 and
 * readers skip it (ZERO). Returns the cover, or NULL if there is no memory.
 */
static __always_inline void *fgraph_cover(struct fgraph_stack *st, void *top, unsigned long nr,
					  u32 calls)
{
	void *cover = fgraph_stack_grow(st, top, (nr + 1) << FGRAPH_SLOT_SHIFT);

	if (likely(cover))
		fgraph_set_head(cover, FGRAPH_RESERVED | calls | fgraph_context());
	barrier();
	return cover;
}

/*
 * Call the entry callback of a user in a batch, where @rec is its record and @frame the call's.
 * Returns true if the user wants the return.
 */
static __always_inline bool fgraph_batch_wants(struct fgraph_ops *gops, struct fgraph_entry *rec,
					       struct fgraph_frame *frame, struct pt_regs *regs)
{
	return !gops->entryfunc ||
	       gops->entryfunc(gops, frame, rec->data, (struct ftrace_regs *)regs);
}

/*
 * The fast path for several simple users: the call is not hooked yet and no callback runs on
 * the stack, whose newest header is @top, which says @head. The first user that wants the return
 * opens the frame, the others join it. @kind is as for fgraph_hook_first().
 *
 * Returns the sum of 1 and the flags of the users that want the return, 0 if none does.
 */
static __always_inline unsigned int fgraph_hook_batch(struct fgraph_stack *st, void *top,
						      unsigned long head, struct fgraph_ops **users,
						      unsigned int nr, unsigned long func,
						      struct pt_regs *regs, unsigned long kind)
{
	u32 calls = fgraph_one_more_call(head & FGRAPH_CALLS_MASK);
	struct fgraph_frame *frame = NULL;
	struct fgraph_entry *entry;
	struct fgraph_ops *gops;
	unsigned int flags = 0;

	do {
		unsigned int some = fgraph_batch_size(top, nr), end = nr - some;
		void *cover = fgraph_cover(st, top, some, calls);

		if (unlikely(!cover))
			break;
		entry = cover - ((unsigned long)some << FGRAPH_SLOT_SHIFT);
		if (!frame) {
			gops = READ_ONCE(users[--nr]);
			fgraph_fill_frame((void *)entry, gops->user.tag, func,
					  *fgraph_entry_place(regs), fgraph_retp(regs));
			if (!fgraph_batch_wants(gops, entry, (void *)entry, regs)) {
				/* Let the next one open the frame. */
				fgraph_stack_settle(st, cover);
				fgraph_stack_drop_header(st, cover, top);
				continue;
			}
			fgraph_stack_commit(entry, kind | calls);
			flags = gops->flags;
			top = entry++;
			frame = top;
		}
		while (nr > end) {
			gops = READ_ONCE(users[--nr]);
			fgraph_fill_entry(entry, gops, frame);
			if (!fgraph_batch_wants(gops, entry, frame, regs))
				continue;
			/* @top may be in an older chunk. */
			WRITE_ONCE(entry->older, top);
			fgraph_stack_commit(entry, FGRAPH_ENTRY | FGRAPH_LINKED | calls);
			flags |= gops->flags;
			top = entry++;
		}
		fgraph_stack_settle(st, cover);
		fgraph_stack_drop_header(st, cover, top);
	} while (unlikely(nr));
	if (likely(frame) && kind == FGRAPH_FRAME)
		fgraph_set_trampoline(fgraph_entry_place(regs), flags, false);
	if (unlikely(nr)) {
		/* The general path would open a frame of its own beside that of a stub. */
		while (kind != FGRAPH_FRAME && frame && nr)
			fgraph_miss(READ_ONCE(users[--nr]), FGRAPH_MISS_MEMORY);
		/* There was no memory for a batch of the others, but may be for some of them. */
		if (nr)
			fgraph_hook_each(users, nr, func, regs);
	}
	return frame ? flags + 1 : 0;
}

/**
 * fgraph_hook_several() - hook the return of a call for several users
 * @users:	the users, oldest first
 * @nr:		number of users
 * @simple:	fgraph_is_simple() is true for all of them
 * @func:	address of the function's call to ftrace
 * @fregs:	registers at entry as ftrace passes them; fgraph_retp_valid() is true for
 *		them
 *
 * Does what fgraph_hook_one() does, for each user in turn, the last one first.
 *
 * Context: any, preemption disabled.
 */
void fgraph_hook_several(struct fgraph_ops **users, unsigned int nr, bool simple,
			 unsigned long func, struct ftrace_regs *fregs)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	struct pt_regs *regs = fgraph_entry_regs(fregs);

	if (likely(simple && st && fgraph_admits_all() &&
		   !fgraph_is_hooked(READ_ONCE(*fgraph_entry_place(regs))))) {
		void *top = READ_ONCE(st->top);
		unsigned long head = fgraph_head(top);

		if (likely(fgraph_is_quiet(head))) {
			fgraph_hook_batch(st, top, head, users, nr, func, regs, FGRAPH_FRAME);
			return;
		}
	}
	fgraph_hook_each(users, nr, func, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_several);

#ifdef CONFIG_FGRAPH_STUBS
/**
 * fgraph_stub_hook_several() - hook a call that a stub is about to make, for several users
 * @users:	the users, oldest first
 * @nr:		number of users
 * @simple:	fgraph_is_simple() is true for all of them
 * @func:	address of the function's call to ftrace
 * @regs:	registers at entry; fgraph_retp_valid() is true for them
 *
 * Like fgraph_hook_several(). The return address is replaced only if the call cannot be hooked in
 * one batch.
 *
 * Context: any, preemption disabled.
 *
 * Return: what the stub is to do, see fgraph_stub_entered().
 */
int fgraph_stub_hook_several(struct fgraph_ops **users, unsigned int nr, bool simple,
			     unsigned long func, struct pt_regs *regs)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned int wanted;

	if (likely(simple && st && nr && fgraph_admits_all() &&
		   !fgraph_is_hooked(READ_ONCE(*fgraph_entry_place(regs))))) {
		void *top = READ_ONCE(st->top);
		unsigned long head = fgraph_head(top);

		if (likely(fgraph_is_quiet(head))) {
			wanted = fgraph_hook_batch(st, top, head, users, nr, func, regs,
						   FGRAPH_FRAME | FGRAPH_STUB);
			return fgraph_stub_exit(wanted, wanted - 1);
		}
	}
	fgraph_hook_each(users, nr, func, regs);
	return FGRAPH_STUB_JUMP;
}
NOKPROBE_SYMBOL(fgraph_stub_hook_several);
#endif
#endif /* CONFIG_HAVE_FGRAPH */
#endif /* CONFIG_FGRAPH_CALLED_BY_FTRACE */

/*
 * Find the user of a record, unless it was unregistered since. If the row has the tag, the user
 * stays until preemption is enabled: fgraph_synchronize() waits for that. No barrier is needed
 * before @row->gops: a record has got the tag from the user, after fgraph_take_row() had written
 * the row.
 */
static __always_inline bool fgraph_user(struct fgraph_row *row, u64 tag,
					struct fgraph_ops **gops)
{
	if (unlikely(fgraph_row_tag(row) != tag))
		return false;
	*gops = row->gops;
	return true;
}

/* The user of a frame, or NULL if it was unregistered since. */
static __always_inline struct fgraph_ops *fgraph_frame_user(struct fgraph_frame *frame)
{
	u64 tag = READ_ONCE(frame->tag);
	struct fgraph_ops *gops;

	return fgraph_user(fgraph_row(tag & FGRAPH_ID_MASK), tag, &gops) ? gops : NULL;
}

/* Without a frame there is no address to return to. */
static noinline void __noreturn fgraph_no_frame(void)
{
	panic("fgraph: a function returned that has no frame");
}
NOKPROBE_SYMBOL(fgraph_no_frame);

/*
 * Call the return callbacks of all users of a frame, in the reverse order of their records. These
 * are between @top and the frame; if they are not @linked, records of other calls may be in
 * between. If @only is not NULL, it is the only one. Returns true if one of the users has gone.
 */
static __always_inline bool fgraph_call_users(void *top, struct fgraph_frame *frame,
					      struct fgraph_regs *regs, bool linked,
					      struct fgraph_ops *only)
{
	unsigned long slots = linked ? 0 : fgraph_slots(fgraph_head(frame));
	struct fgraph_entry *entry;
	struct fgraph_ops *gops;
	bool gone = false;

	if (only) {
		only->retfunc(only, frame, frame->data, regs);
		return false;
	}
	for (entry = top; (void *)entry != frame;
	     entry = linked ? READ_ONCE(entry->older) : fgraph_older(entry)) {
		void *data = entry->data;

		if (!linked) {
			/* Skip headers of chunks, and calls further out that were hooked late. */
			if (!fgraph_is_entry_of(entry, frame))
				continue;
			data = fgraph_data(entry, fgraph_head(entry));
		}
		if (!fgraph_user(READ_ONCE(entry->row), READ_ONCE(entry->tag), &gops)) {
			gone = true;
			continue;
		}
		gops->retfunc(gops, frame, data, regs);
	}
	gops = fgraph_frame_user(frame);
	if (unlikely(!gops))
		return true;
	gops->retfunc(gops, frame, fgraph_data_in(frame, slots), regs);
	return gone;
}

/*
 * The steps of a return up to where the frame can be dropped: call its users and restore the
 * return address, unless the call was made by a @stub. @top is the newest record, of this frame or
 * of a live call further out; @head is what its header says meanwhile. If the frame is not
 * @linked, its header says whether it is a stub. Returns true if one of the users has gone.
 *
 * READ_ONCE() is for KCSAN: it takes plain reads to be done after the frame has been dropped,
 * and so as a race with the next call's writes, although one CPU sees its own in order.
 */
static __always_inline bool fgraph_return_steps(struct fgraph_stack *st, void *top,
						unsigned long head, struct fgraph_frame *frame,
						struct fgraph_regs *regs, bool linked,
						struct fgraph_ops *only, bool stub)
{
	unsigned long how = linked ? FGRAPH_FRAME : fgraph_head(frame);
	bool gone;

	fgraph_complete_regs(regs, READ_ONCE(frame->ret));
	fgraph_set_head(top, head);
	barrier();
	gone = fgraph_call_users(top, frame, regs, linked, only);
	/*
	 * Before the frame is dropped, as an unwinder that finds the trampoline needs a frame.
	 * After a tail call it finds that of the older call of this place.
	 */
	if (!(how & (FGRAPH_TAIL | FGRAPH_STUB)) && !stub)
		fgraph_restore(READ_ONCE(frame->retp), fgraph_replaced(frame, how));
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
				   frame, regs, false, NULL, false);
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
 * stack, and no callback runs. @top is the newest record, with header @head. @only is the user
 * if there is just one, else NULL. Enables preemption, which fgraph_return() has disabled.
 */
static __always_inline unsigned long
fgraph_return_fast(struct fgraph_stack *st, void *top, unsigned long head,
		   struct fgraph_frame *frame, struct fgraph_regs *regs, struct fgraph_ops *only,
		   bool stub)
{
	bool gone = fgraph_return_steps(st, top, head + fgraph_context(), frame, regs, true, only,
					stub);
	unsigned long ret = READ_ONCE(frame->ret);

	fgraph_stack_drop_linked(st, top, frame);
	if (unlikely(gone))
		fgraph_trim_unused();
	preempt_enable_notrace();
	return ret;
}

/* The header of a frame, but for its count of calls, that the fast path is for. */
static __always_inline unsigned long fgraph_fast_frame(bool stub)
{
	return stub ? FGRAPH_FRAME | FGRAPH_STUB : FGRAPH_FRAME;
}

/* A call returns that has several users or none, or whose frame is not on top. */
static __always_inline unsigned long __fgraph_return_several(struct fgraph_stack *st,
							     unsigned long *retp,
							     struct fgraph_regs *regs, bool stub)
{
	unsigned long head, ret;
	void *top = READ_ONCE(st->top);
	struct fgraph_frame *frame = fgraph_read(top, offsetof(struct fgraph_entry, frame),
						 &head);

	/* The lowest bits suffice: what is above them says nothing without FGRAPH_INSIDE. */
	if ((u16)head == (FGRAPH_ENTRY | FGRAPH_LINKED) &&
	    (u16)fgraph_head(frame) == fgraph_fast_frame(stub) && frame->retp == retp)
		return fgraph_return_fast(st, top, head, frame, regs, NULL, stub);
	/* If a stub's frame is missing, the return address is where it was, so nothing is lost. */
	if (stub)
		frame = fgraph_frame_at(st, retp);
	if (stub && WARN_ON_ONCE(!frame || !(fgraph_head(frame) & FGRAPH_STUB)))
		ret = 0;
	else
		ret = fgraph_return_slow(st, retp, regs);
	preempt_enable_notrace();
	return ret;
}

/* noinline: keeps fgraph_return() from saving the registers that several users need. */
static noinline unsigned long fgraph_return_several(struct fgraph_stack *st, unsigned long *retp,
						    struct fgraph_regs *regs)
{
	return __fgraph_return_several(st, retp, regs, false);
}
NOKPROBE_SYMBOL(fgraph_return_several);

#ifdef CONFIG_FGRAPH_STUBS
/* A stub's function returns that has several users or none, or whose frame is not on top. */
static noinline unsigned long fgraph_stub_return_several(struct fgraph_stack *st,
							 unsigned long *retp,
							 struct fgraph_regs *regs)
{
	return __fgraph_return_several(st, retp, regs, true);
}
NOKPROBE_SYMBOL(fgraph_stub_return_several);
#endif

/*
 * A hooked function returned to a trampoline, or to the @stub that has called it. Call the users of
 * its frame, and return the real return address, which is at @retp in the case of a stub.
 */
static __always_inline unsigned long fgraph_return(unsigned long *retp, struct fgraph_regs *regs,
						   bool stub)
{
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	struct fgraph_ops *gops;
	unsigned long head;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (unlikely(!st)) {
		if (!WARN_ON_ONCE(stub))
			fgraph_no_frame();
		preempt_enable_notrace();
		return 0;
	}
	frame = READ_ONCE(st->top);
	if (likely(fgraph_read(frame, offsetof(struct fgraph_frame, retp), &head) == retp &&
		   (u16)head == fgraph_fast_frame(stub))) {
		gops = fgraph_frame_user(frame);
		if (likely(gops))
			return fgraph_return_fast(st, frame, head, frame, regs, gops, stub);
	}
#ifdef CONFIG_FGRAPH_STUBS
	if (stub)
		return fgraph_stub_return_several(st, retp, regs);
#endif
	return fgraph_return_several(st, retp, regs);
}

/* Called by the light trampoline, with the return registers in @regs. */
__visible unsigned long fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs)
{
	return fgraph_return(retp, regs, false);
}
NOKPROBE_SYMBOL(fgraph_return_light);

#ifdef CONFIG_HAVE_FGRAPH
/* Called by the full trampoline, with all registers. */
__visible unsigned long fgraph_return_full(struct pt_regs *regs)
{
	return fgraph_return(fgraph_full_retp(regs), FGRAPH_REGS_OF_FULL(regs), false);
}
NOKPROBE_SYMBOL(fgraph_return_full);
#endif

#ifdef CONFIG_FGRAPH_STUBS
/* Called by fgraph_stub_leave_light, with the return registers in @regs. */
__visible void fgraph_stub_left_light(unsigned long *retp, struct fgraph_regs *regs)
{
	fgraph_return(retp, regs, true);
}
NOKPROBE_SYMBOL(fgraph_stub_left_light);

/* Called by fgraph_stub_leave_full, with all registers. */
__visible void fgraph_stub_left_full(struct pt_regs *regs)
{
	fgraph_return(fgraph_full_retp(regs), FGRAPH_REGS_OF_FULL(regs), true);
}
NOKPROBE_SYMBOL(fgraph_stub_left_full);
#endif
