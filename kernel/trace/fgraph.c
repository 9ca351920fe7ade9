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
#include <linux/sched/task_stack.h>

#include "fgraph_internal.h"

/* Entry callbacks get either; a kretprobe knows which one and casts. */
#ifdef CONFIG_FUNCTION_TRACER
static_assert(offsetof(struct ftrace_regs, regs) == 0);
#endif

/**
 * struct fgraph_call - a call while it is being hooked
 * @func:	the function
 * @regs:	registers at entry
 * @st:		the stack of the current task
 * @frame:	the frame that was opened for it, or NULL
 * @flags:	&fgraph_ops.flags of the users who want the return
 */
struct fgraph_call {
	unsigned long		func;
	struct pt_regs		*regs;
	struct fgraph_stack	*st;
	struct fgraph_frame	*frame;
	unsigned int		flags;
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
 * Abandoned frames may be all that is in the way of a push. On the task's own
 * stack they are those of places below @dead_below; those of other stacks are
 * dropped when the task returns on its own one.
 */
static void fgraph_reap(struct fgraph_stack *st, void *dead_below)
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

/* What a header says while a callback runs in its record. */
static __always_inline unsigned long fgraph_context(void)
{
	return FGRAPH_INSIDE | (unsigned long)preempt_count() << FGRAPH_COUNT_SHIFT;
}

/*
 * In a task, a softirq, an interrupt or an NMI? Not in how many: breakpoints in
 * what callbacks call count as NMIs, without end.
 */
static unsigned int fgraph_level(unsigned long context)
{
	unsigned int count = context >> FGRAPH_COUNT_SHIFT;

	if (count & NMI_MASK)
		return 3;
	if (count & HARDIRQ_MASK)
		return 2;
	return !!(count & SOFTIRQ_OFFSET);
}
NOKPROBE_SYMBOL(fgraph_level);

/* The same where the header below has @above of FGRAPH_CONTEXT. */
static noinline unsigned long fgraph_context_within(unsigned long above)
{
	unsigned long context = fgraph_context();

	if ((above & FGRAPH_INSIDE) && fgraph_level(above) == fgraph_level(context))
		context |= FGRAPH_NESTED;
	return context;
}
NOKPROBE_SYMBOL(fgraph_context_within);

/**
 * fgraph_in_callback() - does a callback of fgraph run in this context?
 * @count:	preempt_count() of a context on this CPU, the current one or one
 *		that it interrupts for a moment
 *
 * Context: any, preemption disabled.
 *
 * Return: whether one does, in the same of task, softirq, interrupt and NMI.
 */
bool fgraph_in_callback(int count)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned long above = 0;

	if (st)
		fgraph_stack_top(st, &above);
	return (above & FGRAPH_INSIDE) &&
	       fgraph_level(above) == fgraph_level((unsigned long)count << FGRAPH_COUNT_SHIFT);
}
NOKPROBE_SYMBOL(fgraph_in_callback);

/*
 * What callbacks call is hooked, but not what is called in callbacks of such a
 * call: it might go on for ever. An interrupt may not have said yet that it is one,
 * hence the comparison with the context this runs in.
 */
static bool fgraph_recursion(struct fgraph_stack *st)
{
	unsigned long above = 0;

	fgraph_stack_top(st, &above);
	return (above & FGRAPH_NESTED) && (fgraph_context_within(above) & FGRAPH_NESTED);
}
NOKPROBE_SYMBOL(fgraph_recursion);

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

static __always_inline void fgraph_fill_frame(struct fgraph_frame *frame, unsigned long tag,
					      unsigned long func, unsigned long ret,
					      unsigned long *retp)
{
	frame->tag = tag;
	frame->func = func;
	frame->ret = ret;
	frame->retp = retp;
}

static __always_inline void fgraph_fill_entry(struct fgraph_entry *entry,
					      struct fgraph_ops *gops,
					      struct fgraph_frame *frame)
{
	entry->tag = gops->user.tag;
	entry->row = gops->user.row;
	entry->frame = frame;
}

/* Ask a user whether it wants the return, where it may be that it has no callback. */
static __always_inline bool fgraph_ask(struct fgraph_ops *gops, struct fgraph_frame *frame,
				       void *data, struct pt_regs *regs)
{
	fgraph_entry_t entryfunc = gops->entryfunc;

	return !entryfunc || entryfunc(gops, frame, data, (struct ftrace_regs *)regs);
}

/*
 * Not enough room for @nr users and the cover in the chunk. What a chunk can hold
 * goes side by side into the next one, so that the return finds it CONTIGUOUS.
 */
static noinline void *fgraph_cover_next(struct fgraph_stack *st, unsigned int *nr)
{
	/* A chunk but for its own header, that of the stack, and the cover. */
	const unsigned int most = FGRAPH_CHUNK_SIZE / FGRAPH_SLOT - 3;

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
 * Ask users of a call that nobody has hooked, in slots behind @rec which are
 * covered, until one wants the return: that one opens the frame. Returns how many
 * were asked.
 */
static __always_inline unsigned int
fgraph_open_covered(struct fgraph_call *call, void *rec, struct fgraph_ops **users,
		    unsigned int nr)
{
	struct fgraph_frame *frame = rec + FGRAPH_SLOT;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fgraph_ops *gops = READ_ONCE(users[i]);

		fgraph_fill_frame(frame, gops->user.tag, call->func,
				  *fgraph_entry_place(call->regs), fgraph_retp(call->regs));
		if (likely(fgraph_ask(gops, frame, frame->data, call->regs))) {
			fgraph_stack_commit(frame, FGRAPH_FRAME);
			call->flags = gops->flags;
			call->frame = frame;
			return i + 1;
		}
	}
	return nr;
}

/*
 * Ask further users of that call, none of whom can be in its frame. Returns the
 * newest record.
 */
static __always_inline void *
fgraph_join_covered(struct fgraph_call *call, void *rec, unsigned long head,
		    struct fgraph_ops **users, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fgraph_entry *entry = rec + FGRAPH_SLOT;
		struct fgraph_ops *gops = READ_ONCE(users[i]);

		fgraph_fill_entry(entry, gops, call->frame);
		if (likely(fgraph_ask(gops, call->frame, entry->data, call->regs))) {
			fgraph_stack_commit(entry, head);
			call->flags |= gops->flags;
			rec = entry;
		}
	}
	return rec;
}

/*
 * Ask as many users as a chunk has room for. Returns how many: less than @nr
 * if there are more, 0 if there is no memory.
 */
static __always_inline unsigned int fgraph_hook_batch(struct fgraph_call *call, void *top,
						      struct fgraph_ops **users, unsigned int nr)
{
	unsigned long head = FGRAPH_ENTRY;
	unsigned int asked = 0;
	void *cover, *base, *rec;

	cover = fgraph_cover(call->st, top, &nr);
	if (unlikely(!cover))
		return 0;
	/* Where the record before the first one would be. */
	base = cover - ((nr + 1UL) << FGRAPH_SLOT_SHIFT);
	rec = base;
	if (!call->frame) {
		asked = fgraph_open_covered(call, rec, users, nr);
		if (call->frame)
			rec = call->frame;
		head |= FGRAPH_CONTIGUOUS;
	}
	if (asked < nr)
		rec = fgraph_join_covered(call, rec, head, users + asked, nr - asked);
	fgraph_uncover(call->st, cover, rec == base ? top : rec);
	return nr;
}

/*
 * Ask simple users of a call that nobody has hooked, where no callback runs. Returns how
 * many of them: the others find no memory.
 */
static __always_inline unsigned int
fgraph_hook_simple(struct fgraph_call *call, struct fgraph_ops **users, unsigned int nr)
{
	unsigned int done = 0, asked;
	void *top;

	do {
		top = READ_ONCE(call->st->top);
		asked = fgraph_hook_batch(call, top, users + done, nr - done);
		done += asked;
	} while (done < nr && asked);
	if (call->frame)
		fgraph_set_trampoline(call->flags, call->regs);
	return done;
}

/*
 * The fast path: ask a simple user of a call that nobody has hooked, where no callback
 * runs. Returns false if that is not so, or there is no room.
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
	if (unlikely((fgraph_head(top) & FGRAPH_INSIDE) || !fgraph_stack_fits(top, FGRAPH_SLOT)))
		return false;

	frame = top + FGRAPH_SLOT;
	WRITE_ONCE(st->top, frame);
	barrier();	/* TOP FIRST */
	fgraph_fill_frame(frame, gops->user.tag, func, ret, fgraph_retp(regs));
	if (gops->entryfunc) {
		fgraph_stack_commit(frame, FGRAPH_RESERVED | fgraph_context());
		if (!gops->entryfunc(gops, frame, frame->data, (struct ftrace_regs *)regs)) {
			fgraph_stack_pop(st, frame);
			return true;
		}
		/* Something that the callback called may have been abandoned. */
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
 * Make room for a user's record. @dead_below: frames of places below that, on the
 * same machine stack, are abandoned. @above: what of FGRAPH_CONTEXT its header must
 * keep from those further down.
 */
static void *fgraph_push(struct fgraph_stack *st, void *dead_below, unsigned long below,
			 unsigned long *above)
{
	unsigned long head;
	void *top;

	if (unlikely(!fgraph_stack_fits(READ_ONCE(st->top), (below + 1) << FGRAPH_SLOT_SHIFT)))
		fgraph_reap(st, dead_below);
	top = fgraph_stack_top(st, &head);
	*above = head & FGRAPH_CONTEXT;
	return fgraph_stack_reserve(st, top, below, fgraph_context_within(*above));
}
NOKPROBE_SYMBOL(fgraph_push);

/* What an entry may have of FGRAPH_CONTIGUOUS that is pushed on @top. */
static unsigned long fgraph_contiguous_on(void *top, struct fgraph_frame *frame)
{
	if (top == frame)
		return fgraph_slots(fgraph_head(frame)) ? 0 : FGRAPH_CONTIGUOUS;
	return fgraph_is_entry_of(top, frame) ? fgraph_head(top) & FGRAPH_CONTIGUOUS : 0;
}
NOKPROBE_SYMBOL(fgraph_contiguous_on);

/* Ask a user of a call that has a frame, without an entry of this user. */
static int fgraph_join(struct fgraph_call *call, struct fgraph_ops *gops, void *dead_below)
{
	unsigned long below = gops->user.below, contiguous, above;
	void *top = READ_ONCE(call->st->top);
	struct fgraph_entry *entry;

	contiguous = below ? 0 : fgraph_contiguous_on(top, call->frame);
	entry = fgraph_push(call->st, dead_below, below, &above);
	if (unlikely(!entry))
		return -ENOMEM;
	if ((void *)entry != top + FGRAPH_SLOT)
		contiguous = 0;
	fgraph_fill_entry(entry, gops, call->frame);
	if (!fgraph_ask(gops, call->frame, fgraph_data(entry, fgraph_head(entry)), call->regs) ||
	    !gops->retfunc) {
		fgraph_stack_pop(call->st, entry);
		return 0;
	}
	fgraph_stack_commit(entry, FGRAPH_ENTRY | below << FGRAPH_BELOW_SHIFT |
			    contiguous | above);
	fgraph_set_trampoline(gops->flags, call->regs);
	return 0;
}
NOKPROBE_SYMBOL(fgraph_join);

/* Ask a user of a call that has no frame, or that is a tail call: then @tail. */
static int fgraph_open(struct fgraph_call *call, struct fgraph_ops *gops, unsigned long ret,
		       unsigned long tail, void *dead_below)
{
	unsigned long below = gops->user.below, above;
	struct fgraph_frame *frame;

	frame = fgraph_push(call->st, dead_below, below, &above);
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
static int fgraph_join_or_open(struct fgraph_call *call, struct fgraph_ops *gops,
			       void *dead_below)
{
	unsigned long ret = READ_ONCE(*fgraph_entry_place(call->regs));
	struct fgraph_frame *frame;

	if (!fgraph_is_trampoline(ret))
		return fgraph_open(call, gops, ret, 0, dead_below);
	frame = fgraph_frame_at(call->st, fgraph_retp(call->regs));
	/* A trampoline of which the real return address is not known. */
	if (WARN_ON_ONCE(!frame))
		return -ENOMEM;
	if (frame->func != call->func)
		return fgraph_open(call, gops, frame->ret, FGRAPH_TAIL, dead_below);
	if (fgraph_frame_has(call->st, frame, gops->user.tag)) {
		/* A loop and a tail call of the function to itself look the same here. */
		if (gops->user.once)
			return 0;
		return fgraph_open(call, gops, frame->ret, FGRAPH_TAIL, dead_below);
	}
	call->frame = frame;
	return fgraph_join(call, gops, dead_below);
}
NOKPROBE_SYMBOL(fgraph_join_or_open);

/*
 * Which frames on this machine stack are abandoned when a function is entered: those
 * of places below its own, and of its own, too, unless the call is hooked by now.
 */
static void *fgraph_dead_below(struct pt_regs *regs)
{
	return fgraph_retp(regs) + !fgraph_is_trampoline(*fgraph_entry_place(regs));
}
NOKPROBE_SYMBOL(fgraph_dead_below);

/* The general path: any user, in any state of the shadow stack. */
static noinline void fgraph_hook_slow(struct fgraph_call *call, struct fgraph_ops *gops,
				      void *dead_below)
{
	call->st = READ_ONCE(current->fgraph_stack) ?: fgraph_stack_make();
	if (!call->st || fgraph_join_or_open(call, gops, dead_below))
		fgraph_miss(gops, FGRAPH_MISS_MEMORY);
}
NOKPROBE_SYMBOL(fgraph_hook_slow);

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
	struct fgraph_call call = { .func = func, .regs = regs };
	void *dead_below;

	if (likely(gops->retfunc && !gops->user.below) && fgraph_hook_first(gops, func, regs))
		return;
	/* The handlers of a kprobe, up to here, may themselves be hooked. */
	if (IS_ENABLED(CONFIG_FUNCTION_TRACER))
		dead_below = __builtin_frame_address(0);
	else
		dead_below = fgraph_dead_below(regs);
	fgraph_hook_slow(&call, gops, dead_below);
}
EXPORT_SYMBOL_GPL(fgraph_hook);
NOKPROBE_SYMBOL(fgraph_hook);

#ifdef CONFIG_FGRAPH_FTRACE
/*
 * One by one: a user may have much data, or not be allowed to be called here, or be in
 * the frame of this call already.
 */
static noinline void fgraph_hook_each(struct fgraph_call *call, struct fgraph_ops **users,
				      unsigned int nr)
{
	/* A kprobe that interrupts puts back what it found: no race. */
	bool odd = data_race(kprobe_running()) || !fgraph_rcu_is_watching();
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fgraph_ops *gops = READ_ONCE(users[i]);

		if (odd && gops->user.admit && !gops->user.admit(gops))
			continue;
		if (st && fgraph_recursion(st))
			fgraph_miss(gops, FGRAPH_MISS_NESTED);
		else
			fgraph_hook_slow(call, gops, fgraph_dead_below(call->regs));
	}
}
NOKPROBE_SYMBOL(fgraph_hook_each);

/* Have all users data that fit into a slot, and may all be called here? */
static __always_inline bool fgraph_may_hook_fast(unsigned int traits)
{
	if (traits == FGRAPH_ALL_SIMPLE)
		return true;
	if (traits != (FGRAPH_ALL_SIMPLE | FGRAPH_SOME_ADMIT))
		return false;
	/* A kprobe that interrupts puts back what it found: no race. */
	return !data_race(kprobe_running()) && fgraph_rcu_is_watching();
}

/*
 * Several users, or one where the fast path cannot be taken. If all are simple, nobody
 * has hooked the call and no callback runs, they get their slots in one go.
 */
static noinline void fgraph_hook_several(struct fgraph_site *site, unsigned long func,
					 struct pt_regs *regs)
{
	struct fgraph_call call = {
		.func = func,
		.regs = regs,
		.st = READ_ONCE(current->fgraph_stack),
	};
	/* Pairs with fgraph_site_append(): that many users are there, and their traits. */
	unsigned int nr = smp_load_acquire(&site->nr), done = 0;

	if (fgraph_may_hook_fast(READ_ONCE(site->traits)) && call.st &&
	    !fgraph_is_hooked(READ_ONCE(*fgraph_entry_place(regs))) &&
	    !(fgraph_head(READ_ONCE(call.st->top)) & FGRAPH_INSIDE))
		done = fgraph_hook_simple(&call, site->users, nr);
	if (done < nr)
		fgraph_hook_each(&call, site->users + done, nr - done);
}
NOKPROBE_SYMBOL(fgraph_hook_several);

/**
 * fgraph_hook_site() - hook the return of a call for those who want the function
 * @site:	the users, at least one
 * @func:	the function, by the address of its call to ftrace
 * @fregs:	as ftrace gives it, with fgraph_retp_valid()
 *
 * As fgraph_hook() for each of them; but what is called in a callback of a call
 * that a callback made is not hooked, only counted.
 *
 * Context: any, preemption disabled.
 */
void fgraph_hook_site(struct fgraph_site *site, unsigned long func, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &fregs->regs;

	if (unlikely(READ_ONCE(site->nr) != 1 || !fgraph_may_hook_fast(READ_ONCE(site->traits)) ||
		     !fgraph_hook_first(READ_ONCE(site->users[0]), func, regs)))
		fgraph_hook_several(site, func, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_site);
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
 * The frame that @top belongs to, if all of its records take one slot each and lie
 * side by side on top of the stack, and no callback runs. Else NULL. @head is set to
 * that of @top.
 */
static __always_inline struct fgraph_frame *
fgraph_contiguous_frame(void *top, unsigned long *head, unsigned long *retp)
{
	/* CLAIM: before the header, as an interrupt may drop what was abandoned. */
	struct fgraph_frame *frame = READ_ONCE(((struct fgraph_entry *)top)->frame);

	barrier();
	*head = fgraph_head(top);
	/* All of FGRAPH_CONTEXT is zero without FGRAPH_INSIDE. */
	if ((u32)*head == FGRAPH_FRAME)
		frame = top;
	else if ((u32)*head != (FGRAPH_ENTRY | FGRAPH_CONTIGUOUS) ||
		 (u32)fgraph_head(frame) != FGRAPH_FRAME)
		return NULL;
	return likely(READ_ONCE(frame->retp) == retp) ? frame : NULL;
}

/*
 * A hooked function returned to a trampoline. Tell the users of its frame, the
 * newest first. @full: @regs has all registers.
 */
static __always_inline unsigned long fgraph_return(unsigned long *retp,
						   struct fgraph_regs *regs, bool full)
{
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	unsigned long head, ret;
	bool gone = false;
	void *top, *rec;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (unlikely(!st))
		fgraph_no_frame();
	top = READ_ONCE(st->top);
	frame = fgraph_contiguous_frame(top, &head, retp);
	if (unlikely(!frame)) {
		ret = fgraph_return_slow(st, retp, regs);
		goto out;
	}

	if (full)
		fgraph_fixup_regs(regs->full, frame->ret);
	fgraph_set_head(top, head | fgraph_context());
	barrier();
	for (rec = top; rec != frame; rec -= FGRAPH_SLOT)
		gone |= fgraph_tell_entry(rec, ((struct fgraph_entry *)rec)->data, regs);
	gone |= fgraph_tell_frame(frame, frame->data, regs);

	ret = frame->ret;
	/* As long as the trampoline is there, unwinders need a frame. */
	WRITE_ONCE(*fgraph_record_place(retp), ret);
	barrier();
	/* Something that a callback called may have been abandoned. */
	if (unlikely(READ_ONCE(st->top) != top))
		fgraph_stack_pop_above(st, top);
	fgraph_stack_drop_contiguous(st, top, frame);
	if (unlikely(gone))
		fgraph_trim_unused();
out:
	preempt_enable_notrace();
	return ret;
}

/* From the light trampoline. */
__visible unsigned long fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs)
{
	return fgraph_return(retp, regs, false);
}
NOKPROBE_SYMBOL(fgraph_return_light);

/* From the full trampoline. */
__visible unsigned long fgraph_return_full(struct pt_regs *regs)
{
	struct fgraph_regs fr = { .full = regs };

	return fgraph_return(fgraph_full_retp(regs), &fr, true);
}
NOKPROBE_SYMBOL(fgraph_return_full);

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
