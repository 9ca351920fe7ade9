// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: hook the return of a call once, for all users who want it.
 *
 * The way in: a function is entered. Who wants it is the caller's business:
 * fgraph_ftrace.c, or the handler of a kprobe. The way out: a trampoline.
 *
 * Either has a fast path, for a stack on which no callback runs and for users whose
 * data fit into one slot, and a general path for any state of the stack.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "fgraph_internal.h"

/* Entry callbacks get either; a kretprobe knows which one and casts. */
#ifdef CONFIG_FUNCTION_TRACER
static_assert(offsetof(struct ftrace_regs, regs) == 0);
#endif

/**
 * struct fgraph_call - a call while it is being hooked for one user
 * @func:	the function
 * @regs:	registers at entry
 * @st:		the stack of the current task
 * @dead_below:	frames of places below that, on the same machine stack, are abandoned
 */
struct fgraph_call {
	unsigned long		func;
	struct pt_regs		*regs;
	struct fgraph_stack	*st;
	void			*dead_below;
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

/* Is this return address, as it is at entry, a trampoline that we have written? */
static __always_inline bool fgraph_is_hooked(unsigned long ret)
{
	return ret == (unsigned long)fgraph_trampoline_light ||
	       ret == (unsigned long)fgraph_trampoline_full;
}

/*
 * Have the call return to a trampoline that suits users with these flags. An
 * unwinder that finds the trampoline must find the frame, so that was committed
 * before. A full trampoline that is there already stays.
 */
static __always_inline void fgraph_set_trampoline(unsigned int flags, struct pt_regs *regs)
{
	unsigned long *place = fgraph_entry_place(regs);

	if (flags & FGRAPH_FULL_REGS)
		WRITE_ONCE(*place, (unsigned long)fgraph_trampoline_full);
	else if (!fgraph_is_hooked(READ_ONCE(*place)))
		WRITE_ONCE(*place, (unsigned long)fgraph_trampoline_light);
}

/* What interrupts uses the same slot, until the top has moved and once it is back. */
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

/* Ask a user whether it wants the return, where it may be that it has no callback. */
static __always_inline bool fgraph_ask(struct fgraph_ops *gops, struct fgraph_frame *frame,
				       void *data, struct pt_regs *regs)
{
	fgraph_entry_t entryfunc = gops->entryfunc;

	return !entryfunc || entryfunc(gops, frame, data, (struct ftrace_regs *)regs);
}

/* No more callbacks are called, and @top is what is left. */
static __always_inline void fgraph_uncover(struct fgraph_stack *st, void *cover, void *top)
{
	/* Something that a callback called was abandoned. */
	if (unlikely(READ_ONCE(st->top) != cover))
		fgraph_stack_pop_above(st, cover);
	fgraph_set_head(cover, FGRAPH_NONE);
	barrier();
	WRITE_ONCE(st->top, top);
	barrier();
}

/*
 * The fast path for one user: a simple one, of a call that nobody has hooked, where no
 * callback runs. Returns false if that is not so, or there is no room.
 */
static __always_inline bool fgraph_hook_first(struct fgraph_ops *gops, unsigned long func,
					      struct pt_regs *regs)
{
	unsigned long *place = fgraph_entry_place(regs), ret = READ_ONCE(*place);
	/* With preemption off, fgraph_trim() waits for us. */
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	struct fgraph_frame *frame;
	void *top;

	if (unlikely(!st || fgraph_is_hooked(ret)))
		return false;
	top = READ_ONCE(st->top);
	if (unlikely((fgraph_head(top) & FGRAPH_INSIDE) || !fgraph_slots_left(top)))
		return false;

	frame = top + FGRAPH_SLOT;
	WRITE_ONCE(st->top, frame);
	barrier();	/* TOP FIRST */
	fgraph_fill_frame(frame, gops->user.tag, func, ret, fgraph_retp(regs));
	if (gops->entryfunc) {
		fgraph_stack_commit(frame, FGRAPH_RESERVED | fgraph_context());
		if (!gops->entryfunc(gops, frame, frame->data, (struct ftrace_regs *)regs)) {
			fgraph_uncover(st, frame, top);
			return true;
		}
		/* Something that the callback called was abandoned. */
		if (unlikely(READ_ONCE(st->top) != frame))
			fgraph_stack_pop_above(st, frame);
	}
	fgraph_stack_commit(frame, FGRAPH_FRAME);
	/* An unwinder that finds the trampoline must find the frame. */
	WRITE_ONCE(*place, (unsigned long)(gops->flags & FGRAPH_FULL_REGS ?
					   fgraph_trampoline_full : fgraph_trampoline_light));
	return true;
}

/* The newest frame of a place; usually it is on top. */
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

	for (rec = READ_ONCE(st->top); rec != frame; rec = fgraph_below(rec)) {
		if (fgraph_is_entry_of(rec, frame) && ((struct fgraph_entry *)rec)->tag == tag)
			return true;
	}
	return frame->tag == tag;
}
NOKPROBE_SYMBOL(fgraph_frame_has);

/*
 * Make room for a user's record. @above: what of FGRAPH_CONTEXT its header must keep
 * from those further down.
 */
static void *fgraph_push(struct fgraph_call *call, unsigned long below, unsigned long *above)
{
	struct fgraph_stack *st = call->st;
	unsigned long head;
	void *top;

	if (unlikely(!fgraph_stack_fits(READ_ONCE(st->top), (below + 1) << FGRAPH_SLOT_SHIFT)))
		fgraph_reap(st, call->dead_below);
	top = fgraph_stack_top(st, &head);
	*above = head & FGRAPH_CONTEXT;
	return fgraph_stack_reserve(st, top, below, fgraph_context_within(*above));
}
NOKPROBE_SYMBOL(fgraph_push);

/* Ask a user of a call that has a frame, without an entry of this user. */
static int fgraph_join(struct fgraph_call *call, struct fgraph_ops *gops,
		       struct fgraph_frame *frame)
{
	unsigned long below = gops->user.below, above;
	struct fgraph_entry *entry;

	entry = fgraph_push(call, below, &above);
	if (unlikely(!entry))
		return -ENOMEM;
	fgraph_fill_entry(entry, gops, frame);
	if (!fgraph_ask(gops, frame, fgraph_data(entry, fgraph_head(entry)), call->regs) ||
	    !gops->retfunc) {
		fgraph_stack_pop(call->st, entry);
		return 0;
	}
	fgraph_stack_commit(entry, FGRAPH_ENTRY | below << FGRAPH_BELOW_SHIFT | above);
	fgraph_set_trampoline(gops->flags, call->regs);
	return 0;
}
NOKPROBE_SYMBOL(fgraph_join);

/* Ask a user of a call that has no frame, or that is a tail call: then @tail. */
static int fgraph_open(struct fgraph_call *call, struct fgraph_ops *gops, unsigned long ret,
		       unsigned long tail)
{
	unsigned long below = gops->user.below, above;
	struct fgraph_frame *frame;

	frame = fgraph_push(call, below, &above);
	if (unlikely(!frame))
		return -ENOMEM;
	fgraph_fill_frame(frame, gops->user.tag, call->func, ret, fgraph_retp(call->regs));
	if (!fgraph_ask(gops, frame, fgraph_data(frame, fgraph_head(frame)), call->regs) ||
	    !gops->retfunc) {
		fgraph_stack_pop(call->st, frame);
		return 0;
	}
	fgraph_stack_commit(frame, FGRAPH_FRAME | below << FGRAPH_BELOW_SHIFT | tail | above);
	fgraph_set_trampoline(gops->flags, call->regs);
	return 0;
}
NOKPROBE_SYMBOL(fgraph_open);

/*
 * Ask a user of a call that may have a frame. Where the return address is a
 * trampoline, it is the newest frame of its place that says for which call: this
 * one, or one that ends in a tail call of this one. Both return at once, the
 * newer one first.
 */
static int fgraph_join_or_open(struct fgraph_call *call, struct fgraph_ops *gops)
{
	unsigned long ret = READ_ONCE(*fgraph_entry_place(call->regs));
	struct fgraph_frame *frame;

	if (!fgraph_is_trampoline(ret))
		return fgraph_open(call, gops, ret, 0);
	frame = fgraph_frame_at(call->st, fgraph_retp(call->regs));
	/* A trampoline of which the real return address is not known. */
	if (WARN_ON_ONCE(!frame))
		return -ENOMEM;
	if (frame->func != call->func)
		return fgraph_open(call, gops, frame->ret, FGRAPH_TAIL);
	if (!fgraph_frame_has(call->st, frame, gops->user.tag))
		return fgraph_join(call, gops, frame);
	/* A loop and a tail call of the function to itself look the same here. */
	return gops->user.once ? 0 : fgraph_open(call, gops, frame->ret, FGRAPH_TAIL);
}
NOKPROBE_SYMBOL(fgraph_join_or_open);

/* The general path: any user, in any state of the shadow stack. */
static noinline void fgraph_hook_slow(struct fgraph_ops *gops, unsigned long func,
				      struct pt_regs *regs, void *dead_below)
{
	struct fgraph_call call = {
		.func = func,
		.regs = regs,
		.st = READ_ONCE(current->fgraph_stack) ?: fgraph_stack_make(),
		.dead_below = dead_below,
	};

	if (!call.st || fgraph_join_or_open(&call, gops))
		fgraph_miss(gops, FGRAPH_MISS_MEMORY);
}
NOKPROBE_SYMBOL(fgraph_hook_slow);

/*
 * Which frames on this machine stack are abandoned when a function is entered: those
 * of places below its own, and of its own, too, unless the call is hooked by now.
 */
static void *fgraph_dead_below(struct pt_regs *regs)
{
	return fgraph_retp(regs) + !fgraph_is_trampoline(*fgraph_entry_place(regs));
}
NOKPROBE_SYMBOL(fgraph_dead_below);

/**
 * fgraph_hook() - hook the return of a call for one user, without ftrace
 * @gops:	the user, registered
 * @func:	the function that is being entered, by the address that ftrace has
 *		for it if it has one
 * @regs:	registers at entry, also for the user's entry callback
 *
 * Calls the entry callback. If that wants the return, the user joins the frame
 * that others have opened for this call, or opens one and replaces the return
 * address. If there is no memory for that, the user misses the call.
 *
 * Context: any, preemption disabled; before the function has done anything.
 * Not in an entry callback of the same call. The caller sees to it that callbacks
 * do not recurse without end, by what they call being hooked again.
 */
void fgraph_hook(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs)
{
	void *dead_below;

	if (likely(fgraph_is_simple(gops)) && fgraph_hook_first(gops, func, regs))
		return;
	/* The handlers of a kprobe, up to here, may themselves be hooked. */
	if (IS_ENABLED(CONFIG_FUNCTION_TRACER))
		dead_below = __builtin_frame_address(0);
	else
		dead_below = fgraph_dead_below(regs);
	fgraph_hook_slow(gops, func, regs, dead_below);
}
EXPORT_SYMBOL_GPL(fgraph_hook);
NOKPROBE_SYMBOL(fgraph_hook);

#ifdef CONFIG_FGRAPH_FTRACE
/* Where users with &fgraph_user.admit need not be asked. */
static __always_inline bool fgraph_admits_all(void)
{
	/* A kprobe that interrupts puts back what it found: no race. */
	return !data_race(kprobe_running()) && fgraph_rcu_is_watching();
}

/*
 * The user may have much data, or not be allowed to be called here, or be in the frame
 * of this call already, or be called within a callback.
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

/* One after the other: for each of them it may be another way that is right. */
static noinline void fgraph_hook_each(struct fgraph_ops **users, unsigned int nr,
				      unsigned long func, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		fgraph_hook_checked(READ_ONCE(users[i]), func, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_each);

/* Not enough room for @nr users and the cover: what the next chunk can hold goes there. */
static noinline void *fgraph_cover_next(struct fgraph_stack *st, unsigned int *nr)
{
	/* A chunk but for its header, and the cover. */
	const unsigned int most = FGRAPH_CHUNK_SIZE / FGRAPH_SLOT - 2;

	*nr = min(*nr, most);
	return fgraph_stack_extend(st, (*nr + 1) << FGRAPH_SLOT_SHIFT);
}
NOKPROBE_SYMBOL(fgraph_cover_next);

/*
 * Take slots for @nr users at once, or for fewer, which @nr then says: below a
 * header that says that callbacks run (INSIDE). The slots below it are free, and
 * need not be visible before they are a record. Returns that header, or NULL if
 * there is no memory.
 */
static __always_inline void *fgraph_cover(struct fgraph_stack *st, void *top, unsigned int *nr)
{
	void *cover = top + ((*nr + 1UL) << FGRAPH_SLOT_SHIFT);

	if (likely(*nr < fgraph_slots_left(top))) {
		WRITE_ONCE(st->top, cover);
	} else {
		cover = fgraph_cover_next(st, nr);
		if (!cover)
			return NULL;
	}
	barrier();	/* TOP FIRST */
	fgraph_set_head(cover, FGRAPH_RESERVED | fgraph_context());
	barrier();
	return cover;
}

/*
 * The fast path for several: simple users of a call that nobody has hooked, where no
 * callback runs. The first who wants the return opens the frame, the others join it.
 */
static void fgraph_hook_batch(struct fgraph_stack *st, struct fgraph_ops **users,
			      unsigned int nr, unsigned long func, struct pt_regs *regs)
{
	struct fgraph_ops **user = users, **end, **all = users + nr;
	struct fgraph_frame *frame = NULL;
	struct fgraph_entry *entry;
	void *top = NULL, *cover;
	unsigned int flags = 0;

	do {
		void *left = top;

		top = READ_ONCE(st->top);
		/* Something that an interrupt called was abandoned. */
		if (unlikely(frame && top != left))
			break;
		nr = all - user;
		cover = fgraph_cover(st, top, &nr);
		if (unlikely(!cover))
			break;
		entry = cover - ((unsigned long)nr << FGRAPH_SLOT_SHIFT);
		end = user + nr;
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
			WRITE_ONCE(entry->below, top);
			fgraph_stack_commit(entry, FGRAPH_ENTRY | FGRAPH_LINKED);
			flags |= gops->flags;
			top = entry++;
		}
		fgraph_uncover(st, cover, top);
	} while (unlikely(user < all));
	if (likely(frame))
		fgraph_set_trampoline(flags, regs);
	/* There is no memory, or something is in between. */
	if (unlikely(user < all))
		fgraph_hook_each(user, all - user, func, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_batch);

/**
 * fgraph_hook_one() - hook the return of a call for the only user who wants it
 * @gops:	the user, a simple one
 * @func:	the function, by the address of its call to ftrace
 * @fregs:	as ftrace gives it, with fgraph_retp_valid()
 *
 * As fgraph_hook(); but what is called in a callback of a call that a callback made
 * is not hooked, only counted.
 *
 * Context: any, preemption disabled.
 */
void fgraph_hook_one(struct fgraph_ops *gops, unsigned long func, struct ftrace_regs *fregs)
{
	if (unlikely((gops->user.admit && !fgraph_admits_all()) ||
		     !fgraph_hook_first(gops, func, &fregs->regs)))
		fgraph_hook_checked(gops, func, &fregs->regs);
}
NOKPROBE_SYMBOL(fgraph_hook_one);

/**
 * fgraph_hook_several() - hook the return of a call for those who want it
 * @users:	the users
 * @nr:		how many they are
 * @simple:	all of them are simple
 * @func:	the function, by the address of its call to ftrace
 * @fregs:	as ftrace gives it, with fgraph_retp_valid()
 *
 * As fgraph_hook_one() for each of them.
 *
 * Context: any, preemption disabled.
 */
void fgraph_hook_several(struct fgraph_ops **users, unsigned int nr, bool simple,
			 unsigned long func, struct ftrace_regs *fregs)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	struct pt_regs *regs = &fregs->regs;

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
 * Tell a user that a call returns, if the user is still registered: the row is
 * read once, and the user only if its tag matches; it then stays until preemption is
 * enabled. The user was written before it was given its tag, without which no
 * record has it. Returns whether the user has gone.
 */
static __always_inline bool fgraph_tell(struct fgraph_row *row, unsigned long tag,
					struct fgraph_frame *frame, void *data,
					struct fgraph_regs *regs)
{
	struct fgraph_ops *gops;

	if (unlikely(READ_ONCE(row->tag) != tag))
		return true;
	gops = row->gops;
	gops->retfunc(gops, frame, data, regs);
	return false;
}

static __always_inline bool fgraph_tell_frame(struct fgraph_frame *frame, void *data,
					      struct fgraph_regs *regs)
{
	return fgraph_tell(fgraph_row(frame->tag & FGRAPH_ID_MASK), frame->tag, frame, data, regs);
}

static __always_inline bool fgraph_tell_entry(struct fgraph_entry *entry, void *data,
					      struct fgraph_regs *regs)
{
	return fgraph_tell(entry->row, entry->tag, entry->frame, data, regs);
}

/* There is nowhere to go. */
static noinline void __noreturn fgraph_no_frame(void)
{
	panic("fgraph: a function returned that has no frame");
}
NOKPROBE_SYMBOL(fgraph_no_frame);

/*
 * Tell all users of a frame, the newest first, wherever their records are.
 * Returns whether one has gone.
 */
static bool fgraph_tell_all(void *top, struct fgraph_frame *frame, struct fgraph_regs *regs)
{
	unsigned long head = fgraph_head(frame);
	bool gone = false;
	void *rec;

	for (rec = top; rec != frame; rec = fgraph_below(rec)) {
		/* The header of a chunk may be in between, and calls further out. */
		if (fgraph_is_entry_of(rec, frame))
			gone |= fgraph_tell_entry(rec, fgraph_data(rec, fgraph_head(rec)), regs);
	}
	return gone | fgraph_tell_frame(frame, fgraph_data(frame, head), regs);
}
NOKPROBE_SYMBOL(fgraph_tell_all);

/*
 * The newest call of a place is over. Returns its real return address; @tail tells
 * whether it was a tail call, so that the call which it stood for is over, too.
 */
static unsigned long fgraph_return_one(struct fgraph_stack *st, unsigned long *retp,
				       struct fgraph_regs *regs, bool *tail)
{
	struct fgraph_frame *frame = fgraph_frame_at(st, retp);
	unsigned long ret, top_head;
	bool uncovered, gone;
	void *top;

	if (unlikely(!frame))
		fgraph_no_frame();
	uncovered = fgraph_stack_uncover(st, frame);
	*tail = fgraph_head(frame) & FGRAPH_TAIL;
	ret = frame->ret;
	if (regs->full)
		fgraph_fixup_regs(regs->full, ret);

	/* A function that is hooked must be told to return, also within callbacks. */
	top = READ_ONCE(st->top);
	top_head = fgraph_head(top);
	fgraph_set_head(top, (top_head & ~FGRAPH_CONTEXT) |
			fgraph_context_within(top_head & FGRAPH_CONTEXT));
	barrier();
	gone = fgraph_tell_all(top, frame, regs);

	/*
	 * As long as the trampoline is there, unwinders need a frame; under a
	 * tail call there is another one.
	 */
	if (!*tail)
		WRITE_ONCE(*fgraph_record_place(retp), ret);
	barrier();
	if (likely(uncovered)) {
		fgraph_stack_pop(st, frame);
		fgraph_stack_drop_done(st);
	} else {
		fgraph_set_head(top, top_head);
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
 * The fast path: tell the users of a frame whose records, of one slot each, are the
 * newest ones of the stack, where no callback runs. @top is the newest, with @head.
 * Enables preemption.
 */
static __always_inline unsigned long
fgraph_return_fast(struct fgraph_stack *st, void *top, unsigned long head,
		   struct fgraph_frame *frame, struct fgraph_regs *regs)
{
	struct fgraph_entry *entry;
	bool gone = false;
	unsigned long ret;

	if (regs->full)
		fgraph_fixup_regs(regs->full, frame->ret);
	fgraph_set_head(top, head | fgraph_context());
	barrier();
	for (entry = top; (void *)entry != frame; entry = entry->below)
		gone |= fgraph_tell_entry(entry, entry->data, regs);
	gone |= fgraph_tell_frame(frame, frame->data, regs);

	ret = frame->ret;
	/* As long as the trampoline is there, unwinders need a frame. */
	WRITE_ONCE(*fgraph_record_place(frame->retp), ret);
	barrier();
	/* Something that a callback called was abandoned. */
	if (unlikely(READ_ONCE(st->top) != top))
		fgraph_stack_pop_above(st, top);
	fgraph_stack_drop_linked(st, top, frame);
	if (unlikely(gone))
		fgraph_trim_unused();
	preempt_enable_notrace();
	return ret;
}

/* A frame that is not alone on top. */
static noinline unsigned long fgraph_return_several(struct fgraph_stack *st, unsigned long *retp,
						    struct fgraph_regs *regs)
{
	unsigned long head, ret;
	void *top = READ_ONCE(st->top);
	/* CLAIM: before the header, as an interrupt may drop what was abandoned. */
	struct fgraph_frame *frame = READ_ONCE(((struct fgraph_entry *)top)->frame);

	barrier();
	head = fgraph_head(top);
	/* All of FGRAPH_CONTEXT is zero without FGRAPH_INSIDE. */
	if ((u32)head == (FGRAPH_ENTRY | FGRAPH_LINKED) &&
	    (u32)fgraph_head(frame) == FGRAPH_FRAME && frame->retp == retp)
		return fgraph_return_fast(st, top, head, frame, regs);
	ret = fgraph_return_slow(st, retp, regs);
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(fgraph_return_several);

/* A hooked function returned to a trampoline. Tell the users of its frame, newest first. */
static __always_inline unsigned long fgraph_return(unsigned long *retp,
						   struct fgraph_regs *regs)
{
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	unsigned long head;
	bool here;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (unlikely(!st))
		fgraph_no_frame();
	frame = READ_ONCE(st->top);
	here = READ_ONCE(frame->retp) == retp;
	barrier();	/* CLAIM: as in fgraph_return_several() */
	head = fgraph_head(frame);
	if (likely(here && (u32)head == FGRAPH_FRAME))
		return fgraph_return_fast(st, frame, head, frame, regs);
	return fgraph_return_several(st, retp, regs);
}

/* From the light trampoline. */
__visible unsigned long fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs)
{
	return fgraph_return(retp, regs);
}
NOKPROBE_SYMBOL(fgraph_return_light);

/* From the full trampoline. */
__visible unsigned long fgraph_return_full(struct pt_regs *regs)
{
	struct fgraph_regs fr = { .full = regs };

	return fgraph_return(fgraph_full_retp(regs), &fr);
}
NOKPROBE_SYMBOL(fgraph_return_full);
