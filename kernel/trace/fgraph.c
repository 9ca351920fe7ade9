// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: hook the return of a call once, for all users who want it.
 *
 * Here: entry, join, return, and the coming and going of users.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "fgraph_internal.h"
#ifdef CONFIG_FUNCTION_TRACER
#include "ftrace_internal.h"
#endif

static DEFINE_IDA(fgraph_words);

#ifdef CONFIG_FUNCTION_TRACER
/* Entry callbacks get either, and whoever knows which one casts. */
static_assert(offsetof(struct ftrace_regs, regs) == 0);
#endif

static noinline void fgraph_miss(struct fgraph_ops *gops)
{
	atomic_long_inc(&gops->missed);
	if (gops->missfunc)
		gops->missfunc(gops);
}
NOKPROBE_SYMBOL(fgraph_miss);

/*
 * Abandoned frames may be all that is in the way of a push. On the task's own
 * stack they are those below @high; those of other stacks are dropped when the
 * task returns on its own one.
 */
static void fgraph_reap(struct fgraph_stack *st, void *high)
{
	void *low = task_stack_page(current);

	if (high >= low && high <= low + THREAD_SIZE)
		fgraph_stack_reap(st, low, high);
}
NOKPROBE_SYMBOL(fgraph_reap);

/**
 * fgraph_abandon_calls() - what was called from here will never return
 * @high:	the lowest place of a return address on the machine stack of the
 *		current task that is alive
 *
 * For code that comes back in another way, time and again: nobody else sees to
 * each of these calls, if they are hooked.
 *
 * Context: any, also where RCU does not watch.
 */
void fgraph_abandon_calls(void *high)
{
	struct fgraph_stack *st;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (st) {
		fgraph_reap(st, high);
		fgraph_trim_unused();
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(fgraph_abandon_calls);

/* The newest frame of a place; usually it is on top. */
static struct fgraph_frame *fgraph_frame_at(struct fgraph_stack *st, unsigned long *retp)
{
	struct fgraph_frame *frame = fgraph_frame_of(READ_ONCE(st->top));

	return frame && frame->retp == retp ? frame : fgraph_stack_search(st, retp);
}
NOKPROBE_SYMBOL(fgraph_frame_at);

/* Has this user an entry in the frame? */
static __always_inline bool fgraph_frame_has(struct fgraph_stack *st,
					     struct fgraph_frame *frame,
					     unsigned long tag)
{
	void *rec;

	for (rec = READ_ONCE(st->top); rec != frame; rec = fgraph_below(rec)) {
		if (fgraph_is_entry_of(rec, frame) && ((struct fgraph_entry *)rec)->tag == tag)
			return true;
	}
	return frame->tag == tag;
}

/* Ask the user, if it has to be asked. When the record is not visible yet. */
static __always_inline bool fgraph_ask(struct fgraph_ops *gops, struct fgraph_frame *frame,
				       void *data, struct pt_regs *regs)
{
	return !gops->entryfunc ||
	       gops->entryfunc(gops, frame, data, (struct ftrace_regs *)regs);
}

/* Does it want the return? Some users never do. */
static __always_inline bool fgraph_wanted(struct fgraph_ops *gops,
					  struct fgraph_frame *frame, void *data,
					  struct pt_regs *regs)
{
	return fgraph_ask(gops, frame, data, regs) && gops->retfunc;
}

/* Out of the way. Returns the return address, so that nobody has to keep it. */
static noinline unsigned long fgraph_pop_frame(struct fgraph_stack *st,
					       struct fgraph_frame *frame)
{
	unsigned long ret = frame->ret;

	fgraph_stack_pop(st, frame);
	return ret;
}
NOKPROBE_SYMBOL(fgraph_pop_frame);

/* Usually there is nothing else to drop. @rec takes one slot. */
static __always_inline void fgraph_unpush(struct fgraph_stack *st, void *rec)
{
	if (likely(READ_ONCE(st->top) == rec))
		fgraph_stack_drop_header(st, rec, rec - FGRAPH_SLOT);
	else
		fgraph_stack_pop(st, rec);
}

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

/* A callback is about to run, or has been called, where others may be running. */
static noinline unsigned long fgraph_context_within(unsigned long above)
{
	unsigned long context = fgraph_context();

	if ((above & FGRAPH_INSIDE) && fgraph_level(above) == fgraph_level(context))
		context |= FGRAPH_AGAIN;
	return context;
}
NOKPROBE_SYMBOL(fgraph_context_within);

/*
 * Make room for a record. @high: frames of places below that, on the same stack,
 * are abandoned. @above: what the header must keep from those further down.
 */
static void *fgraph_push(struct fgraph_stack *st, void *high,
			 const struct fgraph_record *what, unsigned long *above)
{
	unsigned long head;
	void *top;

	if (unlikely(!fgraph_stack_fits(READ_ONCE(st->top), what->size)))
		fgraph_reap(st, high);
	top = fgraph_stack_top(st, &head);
	*above = head & FGRAPH_CONTEXT;
	return fgraph_stack_reserve(st, top, what, fgraph_context_within(*above));
}
NOKPROBE_SYMBOL(fgraph_push);

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
 * What callbacks call is hooked once: not in callbacks of such a call, or it might
 * go on for ever. An interrupt may not have said yet that it is one.
 */
static noinline bool fgraph_recursion(unsigned long above)
{
	return (above & FGRAPH_AGAIN) && (fgraph_context_within(above) & FGRAPH_AGAIN);
}
NOKPROBE_SYMBOL(fgraph_recursion);

static __always_inline void fgraph_entry_fill(struct fgraph_entry *entry,
					      struct fgraph_ops *gops, unsigned long tag,
					      struct fgraph_frame *frame)
{
	entry->tag = tag;
	entry->slot = gops->slot;
	entry->frame = frame;
}

/* The trampoline that is there may not give all registers. */
static __always_inline void fgraph_upgrade(unsigned int flags, struct pt_regs *regs)
{
	if (flags & FGRAPH_FULL_REGS)
		WRITE_ONCE(*fgraph_entry_slot(regs), (unsigned long)fgraph_trampoline_full);
}

/* Any call, in any state of the shadow stack. */
static noinline int fgraph_hook_slow(struct fgraph_ops *gops, unsigned long func,
				     struct pt_regs *regs, bool traced)
{
	unsigned long *retp = fgraph_retp(regs), *slot = fgraph_entry_slot(regs);
	/* Before all else: whoever registers writes it last. */
	unsigned long tag = smp_load_acquire(&gops->tag);
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned long ret = READ_ONCE(*slot), above, tail = 0, head, users = 0, bits;
	bool hooked = fgraph_is_trampoline(ret);
	struct fgraph_entry *entry;
	struct fgraph_frame *frame;
	void *high, *top;

	/* Called late, from where preemption was possible: it has gone. */
	if (unlikely(!tag))
		return 0;
	/*
	 * With a fresh return address, no older frame of its place is alive. But
	 * the handlers of a kprobe, up to here, may themselves be hooked.
	 */
	if (traced || !IS_ENABLED(CONFIG_FUNCTION_TRACER))
		high = hooked ? retp : retp + 1;
	else
		high = __builtin_frame_address(0);

	if (unlikely(!st)) {
		st = fgraph_stack_make();
		if (!st)
			goto miss;
	}

	if (hooked) {
		frame = fgraph_frame_at(st, retp);
		/* Not a return address that we know the real one of. */
		if (WARN_ON_ONCE(!frame))
			goto miss;
		top = READ_ONCE(st->top);
		head = gops->entry.head;
		if (fgraph_run_of(top, fgraph_head(top), &users, &bits) == frame) {
			if (!users) {
				fgraph_run_complete(top, frame);
				fgraph_run_of(top, fgraph_head(top), &users, &bits);
			}
			head = fgraph_run_head(top, bits, head, tag);
		} else {
			head &= ~FGRAPH_RUN_BITS;
		}
		if (frame->func == func &&
		    ((head & FGRAPH_FALLING) || !fgraph_frame_has(st, frame, tag))) {
			entry = fgraph_push(st, high, &gops->entry, &above);
			if (unlikely(!entry))
				goto miss;
			/* Of a run that was on top, nothing was dropped. */
			fgraph_entry_fill(entry, gops, tag, frame);
			entry->users = users | fgraph_user_bit(tag);
			if (!fgraph_wanted(gops, frame, (void *)entry + gops->entry.data, regs)) {
				fgraph_stack_pop(st, entry);
				return 0;
			}
			fgraph_stack_commit(entry, head | above);
			fgraph_upgrade(gops->flags, regs);
			return 0;
		}
		/* A tail call: both calls return at once, the newer one first. */
		ret = frame->ret;
		tail = FGRAPH_TAIL;
	}

	frame = fgraph_push(st, high, &gops->frame, &above);
	if (unlikely(!frame))
		goto miss;
	frame->func = func;
	frame->ret = ret;
	frame->retp = retp;

	if (!fgraph_wanted(gops, frame, (void *)frame + gops->frame.data, regs)) {
		fgraph_stack_pop(st, frame);
		return 0;
	}
	frame->tag = tag;
	/* An unwinder that finds the trampoline must find the frame. */
	fgraph_stack_commit(frame, gops->frame.head | above | tail);

	if (gops->flags & FGRAPH_FULL_REGS)
		WRITE_ONCE(*slot, (unsigned long)fgraph_trampoline_full);
	else if (!hooked)
		WRITE_ONCE(*slot, (unsigned long)fgraph_trampoline_light);
	return 0;
miss:
	fgraph_miss(gops);
	return -ENOMEM;
}
NOKPROBE_SYMBOL(fgraph_hook_slow);

/* Neither of those below. */
static noinline int fgraph_hook_unusual(struct fgraph_ops *gops, unsigned long func,
					struct pt_regs *regs, bool traced)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned long above = 0;

	if (st)
		fgraph_stack_top(st, &above);
	/* Who has gone misses nothing. */
	if (traced && unlikely(fgraph_recursion(above)) && READ_ONCE(gops->tag)) {
		fgraph_miss(gops);
		return -EBUSY;
	}
	return fgraph_hook_slow(gops, func, regs, traced);
}
NOKPROBE_SYMBOL(fgraph_hook_unusual);

/* A return address at entry: if a trampoline's, then by what we have written. */
static __always_inline bool fgraph_is_hooked(unsigned long ret)
{
	return ret == (unsigned long)fgraph_trampoline_light ||
	       ret == (unsigned long)fgraph_trampoline_full;
}

/*
 * The top of the task's stack, for those below. False if there is no stack, or if
 * a callback runs.
 */
static __always_inline bool fgraph_usual(struct fgraph_stack **st, void **top,
					 unsigned long *head)
{
	/* With preemption off, fgraph_trim() waits for us. */
	*st = READ_ONCE(current->fgraph_stack);
	if (unlikely(!*st))
		return false;
	*top = READ_ONCE((*st)->top);
	*head = fgraph_head(*top);
	/* All of FGRAPH_CONTEXT is zero without this. */
	return !(*head & FGRAPH_INSIDE);
}

/* For a record of one slot, which is zero until it is complete: (5). */
static __always_inline bool fgraph_ask_slot(struct fgraph_ops *gops, struct fgraph_frame *frame,
					    void *rec, void *data, struct pt_regs *regs)
{
	fgraph_entry_t entryfunc = gops->entryfunc;

	if (!entryfunc)
		return true;
	fgraph_set_head(rec, FGRAPH_RESERVED | fgraph_context());
	barrier();
	return entryfunc(gops, frame, data, (struct ftrace_regs *)regs);
}

/*
 * Nearly all calls that are hooked already, fgraph_hook_slow() less all that does
 * not happen: the frame of the call is on top, with others who have joined.
 */
static noinline int fgraph_hook_again(struct fgraph_ops *gops, unsigned long func,
				      struct pt_regs *regs, bool traced)
{
	/* Before all else of @gops: whoever registers writes it last. */
	unsigned long tag = smp_load_acquire(&gops->slot_tag);
	unsigned long head, users, bits, bit;
	struct fgraph_entry *entry;
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	void *top;

	if (unlikely(!tag || !fgraph_usual(&st, &top, &head)))
		goto slow;
	frame = fgraph_run_of(top, head, &users, &bits);
	if (unlikely(!frame || frame->retp != fgraph_retp(regs) || frame->func != func ||
		     !fgraph_stack_fits_slot(top)))
		goto slow;
	if (unlikely(!users)) {
		fgraph_run_complete(top, frame);
		fgraph_run_of(top, fgraph_head(top), &users, &bits);
	}
	head = fgraph_run_head(top, bits, FGRAPH_ENTRY | FGRAPH_RUN_BITS, tag);
	bit = fgraph_user_bit(tag);
	/* Who is older than all in the run is none of them. */
	if (unlikely((users & bit) && !(head & FGRAPH_FALLING) &&
		     fgraph_frame_has(st, frame, tag)))
		goto slow;
	entry = fgraph_stack_reserve_slot(st, top);
	fgraph_entry_fill(entry, gops, tag, frame);
	entry->users = users | bit;
	if (unlikely(!fgraph_ask_slot(gops, frame, entry, entry->data, regs))) {
		fgraph_unpush(st, entry);
		return 0;
	}
	fgraph_stack_commit(entry, head);
	fgraph_upgrade(gops->flags, regs);
	return 0;
slow:
	return fgraph_hook_unusual(gops, func, regs, traced);
}
NOKPROBE_SYMBOL(fgraph_hook_again);

static __always_inline void fgraph_frame_fill(struct fgraph_frame *frame, unsigned long tag,
					      unsigned long func, unsigned long ret,
					      unsigned long *retp)
{
	frame->tag = tag;
	frame->func = func;
	frame->ret = ret;
	frame->retp = retp;
}

/* An unwinder that finds the trampoline must find the frame. */
static __always_inline void fgraph_frame_commit(struct fgraph_ops *gops,
						struct fgraph_frame *frame,
						unsigned long head, unsigned long *slot)
{
	fgraph_stack_commit(frame, head);
	WRITE_ONCE(*slot, gops->trampoline);
}

/*
 * And nearly all that are not, for a user with a &fgraph_ops.simple_tag. Calls
 * nothing, so needs no registers but those that a callee may use. Returns the
 * frame, or NULL if nothing was done.
 */
static __always_inline struct fgraph_frame *
fgraph_hook_simple(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs,
		   unsigned long *slot, unsigned long ret)
{
	unsigned long *retp = fgraph_retp(regs), head;
	/* Before all else of @gops: whoever registers writes it last. */
	unsigned long tag = smp_load_acquire(&gops->simple_tag);
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	void *top;

	if (!tag)
		return NULL;
	if (unlikely(!fgraph_usual(&st, &top, &head) || !fgraph_stack_fits_slot(top)))
		return NULL;
	frame = fgraph_stack_reserve_slot(st, top);
	fgraph_frame_fill(frame, tag, func, ret, retp);
	fgraph_frame_commit(gops, frame, FGRAPH_FRAME, slot);
	return frame;
}

/* Much data, or no returns wanted, or not in a usual state. */
static noinline int fgraph_hook_sized(struct fgraph_ops *gops, unsigned long func,
				      struct pt_regs *regs, bool traced,
				      unsigned long *slot, unsigned long ret)
{
	/* Before all else of @gops: whoever registers writes it last. */
	unsigned long tag = smp_load_acquire(&gops->tag), head;
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	void *top;

	if (unlikely(!tag || !fgraph_usual(&st, &top, &head) ||
		     !fgraph_stack_fits(top, gops->frame.size)))
		return fgraph_hook_unusual(gops, func, regs, traced);
	frame = fgraph_stack_reserve(st, top, &gops->frame, fgraph_context());
	fgraph_frame_fill(frame, tag, func, ret, fgraph_retp(regs));
	if (likely(fgraph_wanted(gops, frame, (void *)frame + gops->frame.data, regs)))
		fgraph_frame_commit(gops, frame, gops->frame.head, slot);
	else
		fgraph_stack_pop(st, frame);
	return 0;
}
NOKPROBE_SYMBOL(fgraph_hook_sized);

/* Any user. @ret is the return address, which is at @slot. */
static __always_inline int fgraph_hook_first(struct fgraph_ops *gops, unsigned long func,
					     struct pt_regs *regs, bool traced,
					     unsigned long *slot, unsigned long ret)
{
	unsigned long *retp = fgraph_retp(regs), head;
	/* Before all else of @gops: whoever registers writes it last. */
	unsigned long tag = smp_load_acquire(&gops->slot_tag);
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	void *top;

	if (unlikely(!tag || !fgraph_usual(&st, &top, &head) || !fgraph_stack_fits_slot(top)))
		return fgraph_hook_sized(gops, func, regs, traced, slot, ret);
	frame = fgraph_stack_reserve_slot(st, top);
	fgraph_frame_fill(frame, tag, func, ret, retp);
	if (likely(fgraph_ask_slot(gops, frame, frame, frame->data, regs)))
		fgraph_frame_commit(gops, frame, FGRAPH_FRAME, slot);
	else
		fgraph_unpush(st, frame);
	return 0;
}

/* Preemption is disabled. */
static __always_inline int fgraph_hook_fast(struct fgraph_ops *gops, unsigned long func,
					    struct pt_regs *regs, bool traced)
{
	unsigned long *slot = fgraph_entry_slot(regs), ret = READ_ONCE(*slot);

	if (fgraph_is_hooked(ret))
		return fgraph_hook_again(gops, func, regs, traced);
	return fgraph_hook_first(gops, func, regs, traced, slot, ret);
}

/**
 * fgraph_hook() - hook the return of a call for one user
 * @gops:	the user, registered
 * @func:	the function that is being entered, by the address that ftrace has
 *		for it if it has one
 * @regs:	registers at entry, also for the user's entry callback
 *
 * Calls the entry callback. If that wants the return, the user joins the frame
 * that others have opened for this call, or opens one and replaces the return
 * address.
 *
 * Context: any, preemption disabled; before the function has done anything.
 * Not in an entry callback of the same call. The caller sees to it that callbacks
 * do not recurse without end, by what they call being hooked again.
 *
 * Return: 0, or -ENOMEM if the user misses the call for lack of memory, which
 * &fgraph_ops.missed counts.
 */
int fgraph_hook(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs)
{
	return fgraph_hook_fast(gops, func, regs, false);
}
EXPORT_SYMBOL_GPL(fgraph_hook);
NOKPROBE_SYMBOL(fgraph_hook);

/*
 * Returns whether the user of an entry has gone. @frame and the entry stay
 * until all users of the call have been told.
 */
static __always_inline bool fgraph_tell(struct fgraph_slot *slot, unsigned long tag,
					struct fgraph_frame *frame, void *data,
					struct fgraph_regs *regs)
{
	if (unlikely(READ_ONCE(slot->tag) != tag))
		return true;
	slot->gops->retfunc(slot->gops, frame, data, regs);
	return false;
}

static __always_inline bool fgraph_tell_entry(struct fgraph_entry *entry, void *data,
					      struct fgraph_frame *frame,
					      struct fgraph_regs *regs)
{
	return fgraph_tell(entry->slot, entry->tag, frame, data, regs);
}

static __always_inline bool fgraph_tell_frame(struct fgraph_frame *frame, void *data,
					      struct fgraph_regs *regs)
{
	return fgraph_tell(fgraph_slot(frame->tag & FGRAPH_ID_MASK), frame->tag, frame, data,
			   regs);
}

/* There is nowhere to go. */
static noinline void __noreturn fgraph_no_frame(void)
{
	panic("fgraph: a function returned that has no frame");
}
NOKPROBE_SYMBOL(fgraph_no_frame);

/*
 * A hooked function returned to a trampoline. Tell the users of its frame, the
 * newest first; for a tail call, then those of the caller that it stood for.
 */
static noinline unsigned long fgraph_return_slow(struct fgraph_stack *st, unsigned long *retp,
						 struct fgraph_regs *regs)
{
	unsigned long head, top_head, ret;
	struct fgraph_frame *frame;
	bool gone = false, uncovered;
	void *top, *rec;

	do {
		frame = fgraph_frame_at(st, retp);
		if (unlikely(!frame))
			fgraph_no_frame();
		uncovered = fgraph_stack_uncover(st, frame);
		head = fgraph_head(frame);
		ret = frame->ret;
		if (regs->full)
			fgraph_fixup_regs(regs->full, ret);

		/* A function that is hooked must be told to return, also within. */
		top = READ_ONCE(st->top);
		top_head = fgraph_head(top);
		fgraph_set_head(top, (top_head & ~FGRAPH_CONTEXT) |
				fgraph_context_within(top_head & FGRAPH_CONTEXT));
		barrier();

		for (rec = top; rec != frame; rec = fgraph_below(rec)) {
			struct fgraph_entry *entry = rec;

			/* The header of a chunk may be in between. */
			if (unlikely(!fgraph_is_entry_of(rec, frame)))
				continue;
			gone |= fgraph_tell_entry(entry, fgraph_data(rec, fgraph_head(rec)),
						  frame, regs);
		}
		gone |= fgraph_tell_frame(frame, fgraph_data(frame, head), regs);

		/*
		 * As long as the trampoline is there, unwinders need a frame;
		 * under a tail call there is another one.
		 */
		if (!(head & FGRAPH_TAIL))
			WRITE_ONCE(*fgraph_record_slot(retp), ret);
		barrier();
		if (likely(uncovered)) {
			fgraph_stack_pop(st, frame);
			fgraph_stack_drop_done(st);
		} else {
			fgraph_set_head(top, top_head);
			fgraph_stack_done(st, frame);
		}
	} while (head & FGRAPH_TAIL);

	if (unlikely(gone))
		fgraph_trim_unused();
	return ret;
}
NOKPROBE_SYMBOL(fgraph_return_slow);

/* Tell those of a run. */
static __always_inline bool fgraph_tell_run(void *top, struct fgraph_frame *frame,
					    struct fgraph_regs *regs)
{
	bool gone = false;
	void *rec = top;

	while (rec != frame) {
		struct fgraph_entry *entry = rec;
		unsigned long head = fgraph_head(entry);

		gone |= fgraph_tell_entry(entry, fgraph_data(entry, head), frame, regs);
		rec = fgraph_record_below(rec - fgraph_size(head));
	}
	gone |= fgraph_tell_frame(frame, fgraph_data(frame, fgraph_head(frame)), regs);
	return gone;
}

/*
 * As fgraph_return_slow(), for a frame that is on top, with those who have
 * joined and nothing in between.
 */
static noinline unsigned long fgraph_return_run(struct fgraph_stack *st, unsigned long *retp,
						struct fgraph_regs *regs)
{
	void *top = READ_ONCE(st->top);
	unsigned long head = fgraph_head(top), ret, users, bits;
	struct fgraph_frame *frame;
	bool gone;

	frame = fgraph_run_of(top, head, &users, &bits);
	if (unlikely(!frame || frame->retp != retp))
		goto slow;
	if (unlikely((head | fgraph_head(frame)) & (FGRAPH_CONTEXT | FGRAPH_TAIL | FGRAPH_OVER)))
		goto slow;

	ret = frame->ret;
	if (regs->full)
		fgraph_fixup_regs(regs->full, ret);
	fgraph_set_head(top, head | fgraph_context());
	barrier();
	gone = fgraph_tell_run(top, frame, regs);

	WRITE_ONCE(*fgraph_record_slot(retp), ret);
	barrier();
	/* Unless something that a callback called was abandoned. */
	if (likely(READ_ONCE(st->top) == top))
		fgraph_stack_drop_run(st, top, frame);
	else
		fgraph_stack_pop(st, frame);
	if (unlikely(gone))
		fgraph_trim_unused();
	return ret;
slow:
	return fgraph_return_slow(st, retp, regs);
}
NOKPROBE_SYMBOL(fgraph_return_run);

/* Tell those of a run that lie side by side, down to @end. */
static __always_inline bool fgraph_tell_adjacent(void *rec, void *end,
						 struct fgraph_frame *frame,
						 struct fgraph_regs *regs)
{
	bool gone = false;

	do {
		struct fgraph_entry *entry = rec;

		gone |= fgraph_tell_entry(entry, entry->data, frame, regs);
		rec -= FGRAPH_SLOT;
	} while (rec != end);
	return gone;
}

/* Tell those of a run where each takes one slot. @end: fgraph_stack_adjacent(). */
static __always_inline bool fgraph_tell_flat(void *rec, void *end, struct fgraph_frame *frame,
					     struct fgraph_regs *regs)
{
	bool gone = fgraph_tell_adjacent(rec, end, frame, regs);

	while (unlikely(end != frame)) {
		rec = fgraph_record_below(end);
		if (rec == frame)
			break;
		end = fgraph_stack_adjacent(rec, frame);
		gone |= fgraph_tell_adjacent(rec, end, frame, regs);
	}
	gone |= fgraph_tell_frame(frame, frame->data, regs);
	return gone;
}

/* The same where each takes one slot: nearly all calls that several users hook. */
static noinline unsigned long fgraph_return_flat(struct fgraph_stack *st, unsigned long *retp,
						 struct fgraph_regs *regs)
{
	struct fgraph_entry *top = READ_ONCE(st->top);
	/* (6) */
	struct fgraph_frame *frame = READ_ONCE(top->frame);
	unsigned long head = fgraph_head(top), ret;
	void *end;
	bool gone;

	/* All of FGRAPH_CONTEXT is zero without FGRAPH_INSIDE. */
	if (unlikely(((u32)head | FGRAPH_FALLING) != (FGRAPH_ENTRY | FGRAPH_RUN_BITS)))
		goto run;
	if (unlikely(frame->retp != retp || (u32)fgraph_head(frame) != FGRAPH_FRAME))
		goto run;

	if (regs->full)
		fgraph_fixup_regs(regs->full, frame->ret);
	fgraph_set_head(top, head | fgraph_context());
	barrier();
	end = fgraph_stack_adjacent(top, frame);
	gone = fgraph_tell_flat(top, end, frame, regs);

	/* What is in the frame need not be kept meanwhile. */
	ret = frame->ret;
	WRITE_ONCE(*fgraph_record_slot(frame->retp), ret);
	barrier();
	/* Unless something that a callback called was abandoned. */
	if (likely(READ_ONCE(st->top) == top))
		fgraph_stack_drop_flat(st, top, end, frame);
	else
		fgraph_stack_pop(st, frame);
	if (unlikely(gone))
		fgraph_trim_unused();
	return ret;
run:
	return fgraph_return_run(st, retp, regs);
}
NOKPROBE_SYMBOL(fgraph_return_flat);

/*
 * Nearly always there is one user, with little data, and nothing in between.
 * @full: @regs has all registers.
 */
static __always_inline unsigned long fgraph_return(unsigned long *retp,
						   struct fgraph_regs *regs, bool full)
{
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	struct fgraph_slot *user;
	unsigned long ret, tag;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (unlikely(!st))
		fgraph_no_frame();
	frame = READ_ONCE(st->top);
	if (unlikely(READ_ONCE(frame->retp) != retp || (u32)fgraph_head(frame) != FGRAPH_FRAME))
		goto several;
	tag = frame->tag;
	user = fgraph_slot(tag & FGRAPH_ID_MASK);
	if (unlikely(READ_ONCE(user->tag) != tag))
		goto several;

	if (full)
		fgraph_fixup_regs(regs->full, frame->ret);
	fgraph_set_head(frame, FGRAPH_FRAME | fgraph_context());
	barrier();
	user->gops->retfunc(user->gops, frame, frame->data, regs);
	/* What is in the frame need not be kept meanwhile. */
	ret = frame->ret;
	/* As long as the trampoline is there, unwinders need a frame. */
	WRITE_ONCE(*fgraph_record_slot(frame->retp), ret);
	barrier();
	if (likely(READ_ONCE(st->top) == frame))
		fgraph_stack_drop_header(st, frame, (void *)frame - FGRAPH_SLOT);
	else
		ret = fgraph_pop_frame(st, frame);
	preempt_enable_notrace();
	return ret;
several:
	ret = fgraph_return_flat(st, retp, regs);
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
 * @low:	the lowest and
 * @high:	the highest address that may be &fgraph_frame.retp of that call
 *
 * Context: any.
 *
 * Return: @addr if it is none of ours, else what it stands for; 0 if that is
 * not known, so that nobody takes the trampoline for a caller.
 */
unsigned long fgraph_ret_addr(struct task_struct *task, unsigned long *cursor,
			      unsigned long addr, unsigned long *low,
			      unsigned long *high)
{
	struct fgraph_stack *st;

	if (likely(!fgraph_is_trampoline(addr)))
		return addr;

	/* Keeps the stack's memory, see fgraph_trim(). */
	preempt_disable_notrace();
	st = READ_ONCE(task->fgraph_stack);
	addr = st ? fgraph_stack_find(st, cursor, low, high) : 0;
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
	unsigned long tag = gops->tag, head = fgraph_head(frame);
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
	struct fgraph_ops *gops;
	int nr = 0;
	void *rec;

	for (rec = READ_ONCE(st->top); rec; rec = fgraph_below(rec)) {
		if (!fgraph_is_entry_of(rec, frame))
			continue;
		/* A frame has its tag where an entry has it. */
		gops = fgraph_user(((struct fgraph_entry *)rec)->tag);
		if (gops && nr++ < max)
			users[nr - 1] = gops;
		if (rec == frame)
			break;
	}
	return nr;
}
EXPORT_SYMBOL_GPL(fgraph_frame_users);
NOKPROBE_SYMBOL(fgraph_frame_users);

/**
 * fgraph_task_word() - a word of the current task for a user
 * @gops:	the user, registered with FGRAPH_TASK_WORD
 *
 * The word is zero when the user first asks in a task.
 *
 * Context: any, preemption disabled.
 *
 * Return: where it is, or NULL if there is no memory.
 */
unsigned long *fgraph_task_word(struct fgraph_ops *gops)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	struct fgraph_word *word;
	unsigned long tag;

	if (!st)
		st = fgraph_stack_make();
	word = st ? fgraph_stack_word(st, gops->word) : NULL;
	if (!word)
		return NULL;
	while (unlikely((tag = READ_ONCE(word->tag)) != gops->tag)) {
		unsigned long value = READ_ONCE(word->value);

		/* Both at once: an interrupt may do the same, and use the word. */
		if (system_has_cmpxchg_double()) {
			cmpxchg_double_local(&word->tag, &word->value, tag, value, gops->tag, 0);
			continue;
		}
		/* Of an interrupt here, a value may be lost that was there before. */
		cmpxchg_local(&word->value, value, 0);
		WRITE_ONCE(word->tag, gops->tag);
	}
	return &word->value;
}
EXPORT_SYMBOL_GPL(fgraph_task_word);
NOKPROBE_SYMBOL(fgraph_task_word);

static int add_user(struct fgraph_ops *gops)
{
	int ret;

	if (!gops->entryfunc && !gops->retfunc)
		return -EINVAL;
	if (gops->data_size > FGRAPH_MAX_DATA_SIZE)
		return -E2BIG;
	if (fgraph_user_registered(gops))
		return -EBUSY;

	ret = fgraph_reserve_start(gops->data_size);
	if (ret)
		return ret;
	gops->frame = fgraph_record(FGRAPH_FRAME, gops->data_size,
				    offsetof(struct fgraph_frame, data));
	gops->entry = fgraph_record(FGRAPH_ENTRY, gops->data_size,
				    offsetof(struct fgraph_entry, data));
	gops->trampoline = (unsigned long)(gops->flags & FGRAPH_FULL_REGS ?
					   fgraph_trampoline_full : fgraph_trampoline_light);
	if (gops->flags & FGRAPH_TASK_WORD) {
		ret = ida_alloc(&fgraph_words, GFP_KERNEL);
		if (ret < 0)
			goto stop;
		gops->word = ret;
	}
	ret = fgraph_user_add(gops);
	if (!ret)
		return 0;
	if (gops->flags & FGRAPH_TASK_WORD)
		ida_free(&fgraph_words, gops->word);
stop:
	if (!fgraph_nr_users)
		fgraph_reserve_stop();
	return ret;
}

static void remove_user(struct fgraph_ops *gops)
{
	if (!fgraph_user_retired(gops))
		return;
	if (gops->flags & FGRAPH_TASK_WORD)
		ida_free(&fgraph_words, gops->word);
	fgraph_user_remove(gops);
	if (!fgraph_nr_users)
		fgraph_reserve_stop();
}

/**
 * fgraph_add_user() - register a user that finds function entries by itself
 * @gops:	the user; its &fgraph_ops.ops is the caller's to use
 *
 * It may then call fgraph_hook().
 *
 * Context: process. May sleep.
 *
 * Return: 0; -EINVAL without any callback, -E2BIG if it wants more than
 * FGRAPH_MAX_DATA_SIZE bytes, -EBUSY if it is registered already, -ENOSPC after
 * a million users, -ENOMEM.
 */
int fgraph_add_user(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&fgraph_mutex);
	ret = add_user(gops);
	mutex_unlock(&fgraph_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(fgraph_add_user);

/**
 * fgraph_retire_user() - from now on, start no callback of a user
 * @gops:	the user
 *
 * Those that run are over after fgraph_synchronize(), which may serve many
 * users at once. Then comes fgraph_remove_user().
 *
 * Context: process. May sleep.
 *
 * Return: 0, or -ENOENT if it is not registered.
 */
int fgraph_retire_user(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&fgraph_mutex);
	ret = fgraph_user_retire(gops);
	mutex_unlock(&fgraph_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(fgraph_retire_user);

/**
 * fgraph_remove_user() - the user may go
 * @gops:	the user, after fgraph_retire_user() and fgraph_synchronize().
 *		Nothing happens if it was not registered
 *
 * Context: process. May sleep.
 */
void fgraph_remove_user(struct fgraph_ops *gops)
{
	mutex_lock(&fgraph_mutex);
	remove_user(gops);
	mutex_unlock(&fgraph_mutex);
}
EXPORT_SYMBOL_GPL(fgraph_remove_user);

#ifdef CONFIG_FUNCTION_TRACER
/* Apart, as it keeps in registers what is needed after the entry callback. */
static noinline int fgraph_hook_asking(struct fgraph_ops *gops, unsigned long func,
				       struct pt_regs *regs, unsigned long *slot,
				       unsigned long ret)
{
	return fgraph_hook_first(gops, func, regs, true, slot, ret);
}
NOKPROBE_SYMBOL(fgraph_hook_asking);

/**
 * fgraph_hook_ftrace() - hook the return of a call, from an ftrace callback
 * @gops:	the user, registered
 * @ip:		as the callback got it
 * @fregs:	as the callback got it, fgraph_retp_valid()
 *
 * As fgraph_hook(), but in a callback of a call that a callback makes, nothing is
 * hooked.
 *
 * Context: any, preemption disabled.
 *
 * Return: as fgraph_hook(), and -EBUSY in such a callback, which
 * &fgraph_ops.missed counts, too.
 */
int fgraph_hook_ftrace(struct fgraph_ops *gops, unsigned long ip, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &fregs->regs;
	unsigned long *slot = fgraph_entry_slot(regs), ret = READ_ONCE(*slot);

	if (fgraph_is_hooked(ret))
		return fgraph_hook_again(gops, ip, regs, true);
	if (fgraph_hook_simple(gops, ip, regs, slot, ret))
		return 0;
	return fgraph_hook_asking(gops, ip, regs, slot, ret);
}
NOKPROBE_SYMBOL(fgraph_hook_ftrace);

/**
 * struct fgraph_run - private: a call, while several users are hooking it
 * @st:		the stack of the current task
 * @frame:	the frame of the call
 * @top:	the newest record of its run
 * @flat:	FGRAPH_FLAT if the run has it: those who join now need no data below
 * @flags:	&fgraph_ops.flags of those who have joined now
 * @users:	who may have been in the run before
 * @oldest:	if not 0, whose tag is smaller was not
 */
struct fgraph_run {
	struct fgraph_stack	*st;
	struct fgraph_frame	*frame;
	void			*top;
	unsigned long		flat;
	unsigned int		flags;
	unsigned long		users;
	unsigned long		oldest;
};

/* A frame on which nothing is yet. */
static __always_inline struct fgraph_run fgraph_run_on(struct fgraph_stack *st,
						       struct fgraph_frame *frame)
{
	return (struct fgraph_run) {
		.st = st,
		.frame = frame,
		.top = frame,
		.flat = FGRAPH_FLAT,
	};
}

/*
 * The run on top, if it is of this call and one more can join; else without a
 * frame. The call is hooked: the caller has looked.
 */
static __always_inline struct fgraph_run fgraph_find_run(unsigned long func,
							 struct pt_regs *regs)
{
	unsigned long head, users = 0, bits = 0;
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	void *top;

	/* What is called in a callback is to say so: (5). */
	if (unlikely(!fgraph_usual(&st, &top, &head)))
		return (struct fgraph_run) { };
	frame = fgraph_run_of(top, head, &users, &bits);
	if (unlikely(!frame || frame->func != func || frame->retp != fgraph_retp(regs)))
		return (struct fgraph_run) { };
	if (unlikely(!users)) {
		fgraph_run_complete(top, frame);
		fgraph_run_of(top, fgraph_head(top), &users, &bits);
	}
	return (struct fgraph_run) {
		.st = st,
		.frame = frame,
		.top = top,
		.flat = bits & FGRAPH_FLAT,
		.users = users,
		.oldest = bits & FGRAPH_FALLING ? ((struct fgraph_entry *)top)->tag : 0,
	};
}

/* Has this user been in the run before, perhaps? */
static __always_inline bool fgraph_run_may_have(const struct fgraph_run *run, unsigned long tag)
{
	return unlikely(run->users & fgraph_user_bit(tag)) && tag >= run->oldest;
}

/* @entry is filled in, and needs no slot but its own. @flags: its user's. */
static __always_inline void fgraph_run_add(struct fgraph_run *run, struct fgraph_entry *entry,
					   unsigned int flags)
{
	run->flags |= flags;
	fgraph_stack_commit(entry, FGRAPH_ENTRY);
	run->top = entry;
}

/*
 * That was all of them: who comes later looks at the newest entry. Seldom does
 * anybody, who then finds out who the users are.
 */
static __always_inline void fgraph_run_end(struct fgraph_run *run, void *top,
					   struct pt_regs *regs)
{
	struct fgraph_entry *entry = run->top;

	if (entry != top) {
		entry->users = 0;
		fgraph_stack_commit(entry, FGRAPH_ENTRY | FGRAPH_RUN | run->flat);
	}
	fgraph_upgrade(run->flags, regs);
}

/*
 * Users of a chain join a call. Returns the first for whom that is not simple.
 * @fresh: none of them can be in the run.
 */
static __always_inline struct fgraph_ops *fgraph_join_chain(struct fgraph_run *run,
							    struct fgraph_ops *gops,
							    struct pt_regs *regs, bool fresh)
{
	void *top = run->top;

	for (; gops; gops = READ_ONCE(gops->next)) {
		/* Before all else: whoever registers writes it last. */
		unsigned long tag = smp_load_acquire(&gops->simple_tag);
		struct fgraph_entry *entry;

		if (unlikely(!tag || !fgraph_stack_fits_slot(run->top)))
			break;
		if (!fresh && fgraph_run_may_have(run, tag))
			break;
		entry = fgraph_stack_reserve_slot(run->st, run->top);
		fgraph_entry_fill(entry, gops, tag, run->frame);
		fgraph_run_add(run, entry, gops->flags);
	}
	fgraph_run_end(run, top, regs);
	return gops;
}

/*
 * Is the call hooked by now? If whoever came before has gone, or did not want it,
 * what is on top is old.
 */
static __always_inline bool fgraph_hooked_now(struct pt_regs *regs)
{
	return likely(fgraph_is_hooked(READ_ONCE(*fgraph_entry_slot(regs))));
}

/* The same for a call that somebody has hooked, if it is on top. */
static __always_inline struct fgraph_ops *fgraph_chain_more(struct fgraph_ops *gops,
							    unsigned long func,
							    struct pt_regs *regs)
{
	struct fgraph_run run;

	if (!fgraph_hooked_now(regs))
		return gops;
	run = fgraph_find_run(func, regs);
	if (unlikely(!run.frame))
		return gops;
	return fgraph_join_chain(&run, gops, regs, false);
}

/* Any users of a chain, in any state of the shadow stack. */
static noinline void fgraph_chain_slow(struct fgraph_ops *gops, unsigned long func,
				       struct pt_regs *regs)
{
	do {
		fgraph_hook_fast(gops, func, regs, true);
		gops = READ_ONCE(gops->next);
		if (gops)
			gops = fgraph_chain_more(gops, func, regs);
	} while (gops);
}
NOKPROBE_SYMBOL(fgraph_chain_slow);

/* The others, when the first one has opened the frame. */
static noinline void fgraph_chain_rest(struct fgraph_ops *gops, unsigned long func,
				       struct pt_regs *regs, struct fgraph_frame *frame)
{
	struct fgraph_run run = fgraph_run_on(READ_ONCE(current->fgraph_stack), frame);

	gops = fgraph_join_chain(&run, gops, regs, true);
	if (unlikely(gops))
		fgraph_chain_slow(gops, func, regs);
}
NOKPROBE_SYMBOL(fgraph_chain_rest);

/**
 * fgraph_hook_chain() - hook the return of a call for all users of a function
 * @gops:	a user; the others follow by &fgraph_ops.next
 * @ip:		as the ftrace callback got it
 * @fregs:	as the ftrace callback got it, fgraph_retp_valid()
 *
 * As fgraph_hook_ftrace() for each of them, in one go.
 *
 * Context: any, preemption disabled.
 */
void fgraph_hook_chain(struct fgraph_ops *gops, unsigned long ip, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &fregs->regs;
	unsigned long *slot = fgraph_entry_slot(regs), ret = READ_ONCE(*slot);
	struct fgraph_frame *frame;

	if (fgraph_is_hooked(ret))
		goto slow;
	frame = fgraph_hook_simple(gops, ip, regs, slot, ret);
	if (unlikely(!frame))
		goto slow;
	gops = READ_ONCE(gops->next);
	if (unlikely(gops))
		fgraph_chain_rest(gops, ip, regs, frame);
	return;
slow:
	fgraph_chain_slow(gops, ip, regs);
}
NOKPROBE_SYMBOL(fgraph_hook_chain);

#ifdef CONFIG_DYNAMIC_FTRACE
/* Whose turn it is, of a batch. */
static __always_inline struct fgraph_ops *fgraph_batch_user(const struct ftrace_index_entry *entry)
{
	return container_of(entry->ops, struct fgraph_ops, ops);
}

/*
 * Slots for users of a batch, @nr at most, all at once: on top of them there is a
 * header that says that a callback runs (5), and which keeps them. Those in
 * between are free, and need not be visible before they are a record. Returns
 * how many; none if nothing was done.
 */
static __always_inline unsigned long fgraph_cover(struct fgraph_stack *st, void *top,
						  unsigned long nr, void **cover)
{
	unsigned long left = fgraph_slots_left(top);

	if (unlikely(nr >= left)) {
		if (left < 2)
			return 0;
		nr = left - 1;
	}
	*cover = top + ((nr + 1) << FGRAPH_SLOT_SHIFT);
	WRITE_ONCE(st->top, *cover);
	barrier();	/* (3) */
	fgraph_set_head(*cover, FGRAPH_RESERVED | fgraph_context());
	barrier();
	return nr;
}

/* Nobody is asked any more, and @top is what is left. */
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
 * Users of a batch join a call, in slots that are covered. Returns the first who
 * has not been asked, as things are not as usual for it, or @end.
 */
static __always_inline const struct ftrace_index_entry *
fgraph_join_covered(struct fgraph_run *run, const struct ftrace_index_entry *entry,
		    const struct ftrace_index_entry *end, struct pt_regs *regs, bool fresh)
{
	void *top = run->top;

	for (; entry < end; entry++) {
		struct fgraph_ops *gops = fgraph_batch_user(entry);
		/* Before all else: whoever registers writes it last. */
		unsigned long tag = smp_load_acquire(&gops->slot_tag);
		struct fgraph_entry *rec = run->top + FGRAPH_SLOT;

		if (unlikely(!tag))
			break;
		if (!fresh && fgraph_run_may_have(run, tag))
			break;
		fgraph_entry_fill(rec, gops, tag, run->frame);
		if (likely(fgraph_ask(gops, run->frame, rec->data, regs)))
			fgraph_run_add(run, rec, fgraph_batch_user(entry)->flags);
	}
	fgraph_run_end(run, top, regs);
	return entry;
}

/* Users of a batch hook a call that somebody has hooked. Returns the same. */
static __always_inline const struct ftrace_index_entry *
fgraph_join_batch(const struct ftrace_index_entry *entry, unsigned long func,
		  struct pt_regs *regs)
{
	struct fgraph_run run = fgraph_find_run(func, regs);
	unsigned long nr;
	void *cover;

	if (unlikely(!run.frame))
		return entry;
	nr = fgraph_cover(run.st, run.top, entry->batch, &cover);
	if (unlikely(!nr))
		return entry;
	entry = fgraph_join_covered(&run, entry, entry + nr, regs, false);
	fgraph_uncover(run.st, cover, run.top);
	return entry;
}

/* Those of a batch, up to @end, in any state of the shadow stack. */
static noinline void fgraph_batch_slow(const struct ftrace_index_entry *entry,
				       const struct ftrace_index_entry *end,
				       unsigned long func, struct pt_regs *regs)
{
	do {
		fgraph_hook_fast(fgraph_batch_user(entry), func, regs, true);
		if (++entry < end && fgraph_hooked_now(regs))
			entry = fgraph_join_batch(entry, func, regs);
	} while (entry < end);
}
NOKPROBE_SYMBOL(fgraph_batch_slow);

/* A batch, for a call that somebody has hooked. */
static noinline void fgraph_batch_join(const struct ftrace_index_entry *entry,
				       unsigned long func, struct pt_regs *regs)
{
	const struct ftrace_index_entry *end = entry + entry->batch;

	entry = fgraph_join_batch(entry, func, regs);
	if (unlikely(entry < end))
		fgraph_batch_slow(entry, end, func, regs);
}
NOKPROBE_SYMBOL(fgraph_batch_join);

/* And for one that nobody has. */
static noinline void fgraph_batch_open(const struct ftrace_index_entry *entry,
				       unsigned long func, struct pt_regs *regs,
				       unsigned long *slot, unsigned long ret)
{
	const struct ftrace_index_entry *end = entry + entry->batch, *covered;
	unsigned long *retp = fgraph_retp(regs), head, tag, nr;
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	void *top, *cover;

	if (unlikely(!fgraph_usual(&st, &top, &head)))
		goto slow;
	nr = fgraph_cover(st, top, entry->batch, &cover);
	if (unlikely(!nr))
		goto slow;
	covered = entry + nr;
	frame = top + FGRAPH_SLOT;
	do {
		struct fgraph_ops *gops = fgraph_batch_user(entry);

		/* Before all else: whoever registers writes it last. */
		tag = smp_load_acquire(&gops->slot_tag);
		if (unlikely(!tag))
			break;
		fgraph_frame_fill(frame, tag, func, ret, retp);
		if (likely(fgraph_ask(gops, frame, frame->data, regs))) {
			struct fgraph_run run = fgraph_run_on(st, frame);

			fgraph_frame_commit(gops, frame, FGRAPH_FRAME, slot);
			entry = fgraph_join_covered(&run, entry + 1, covered, regs, true);
			top = run.top;
			break;
		}
	} while (++entry < covered);
	fgraph_uncover(st, cover, top);
	if (likely(entry == end))
		return;
slow:
	fgraph_batch_slow(entry, end, func, regs);
}
NOKPROBE_SYMBOL(fgraph_batch_open);

/* And for one that a chain has hooked: the rest of that, and a batch. */
static noinline void fgraph_batch_chain(struct fgraph_ops *gops,
					const struct ftrace_index_entry *entry,
					unsigned long func, struct pt_regs *regs,
					struct fgraph_frame *frame)
{
	struct fgraph_run run = fgraph_run_on(READ_ONCE(current->fgraph_stack), frame);
	const struct ftrace_index_entry *end = entry + entry->batch;
	unsigned long nr;
	void *cover;

	if (gops)
		gops = fgraph_join_chain(&run, gops, regs, true);
	if (unlikely(gops)) {
		fgraph_chain_slow(gops, func, regs);
		fgraph_batch_join(entry, func, regs);
		return;
	}
	nr = fgraph_cover(run.st, run.top, entry->batch, &cover);
	if (likely(nr)) {
		entry = fgraph_join_covered(&run, entry, entry + nr, regs, true);
		fgraph_uncover(run.st, cover, run.top);
	}
	if (unlikely(entry < end))
		fgraph_batch_slow(entry, end, func, regs);
}
NOKPROBE_SYMBOL(fgraph_batch_chain);

/* Are calls of no concern to graph tracers, at all or in this task? */
static __always_inline bool fgraph_graph_paused(void)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	return unlikely(ftrace_graph_is_dead()) ||
	       unlikely(atomic_read(&current->tracing_graph_pause));
#else
	return false;
#endif
}

/* One by one: not all of them may want this call. */
static noinline void fgraph_batch_each(unsigned long ip, unsigned long parent_ip,
				       const struct ftrace_index_entry *entry,
				       struct ftrace_regs *fregs)
{
	const struct ftrace_index_entry *end = entry + entry->batch;

	for (; entry < end; entry++) {
		ftrace_func_t func = READ_ONCE(entry->ops->func);

		func(ip, parent_ip, entry->ops, fregs);
	}
}
NOKPROBE_SYMBOL(fgraph_batch_each);

/**
 * fgraph_ftrace_batch() - the &ftrace_ops.batch_func of users of fgraph
 * @ip:		as the ftrace callback got it
 * @parent_ip:	as the ftrace callback got it
 * @entry:	the first of them. Each is the &fgraph_ops.ops of a user, unless it has
 *		a batch_first_func, which then must not pass it on here; and has a
 *		callback of its own, which hooks for that one as ftrace's callbacks do;
 *		where graph tracing is paused or RCU does not watch, these are called
 *		instead. Whoever registers the ops with another callback must take the
 *		batch_func back
 * @fregs:	as the ftrace callback got it
 *
 * Context: any, preemption disabled.
 */
void fgraph_ftrace_batch(unsigned long ip, unsigned long parent_ip,
			 const struct ftrace_index_entry *entry, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &fregs->regs;
	unsigned long *slot, ret;

	/* Before anything looks at current. */
	if (unlikely(!fgraph_retp_valid(fgraph_retp(regs))))
		return;
	if (fgraph_graph_paused() || unlikely(!fgraph_rcu_is_watching())) {
		fgraph_batch_each(ip, parent_ip, entry, fregs);
		return;
	}
	slot = fgraph_entry_slot(regs);
	ret = READ_ONCE(*slot);
	if (fgraph_is_hooked(ret))
		fgraph_batch_join(entry, ip, regs);
	else
		fgraph_batch_open(entry, ip, regs, slot, ret);
}
NOKPROBE_SYMBOL(fgraph_ftrace_batch);

/**
 * fgraph_chain_batch() - a chain of users, and then a batch
 * @gops:	the first of the chain, as for fgraph_hook_chain()
 * @ip:		as the ftrace callback got it
 * @parent_ip:	as the ftrace callback got it
 * @entry:	the first of the batch, as for fgraph_ftrace_batch()
 * @fregs:	as the ftrace callback got it, fgraph_retp_valid()
 *
 * Context: any where RCU watches, preemption disabled.
 */
void fgraph_chain_batch(struct fgraph_ops *gops, unsigned long ip, unsigned long parent_ip,
			const struct ftrace_index_entry *entry, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &fregs->regs;
	unsigned long *slot = fgraph_entry_slot(regs), ret = READ_ONCE(*slot);
	struct fgraph_frame *frame;

	if (fgraph_is_hooked(ret) || fgraph_graph_paused())
		goto apart;
	frame = fgraph_hook_simple(gops, ip, regs, slot, ret);
	if (unlikely(!frame))
		goto apart;
	fgraph_batch_chain(READ_ONCE(gops->next), entry, ip, regs, frame);
	return;
apart:
	fgraph_hook_chain(gops, ip, fregs);
	fgraph_ftrace_batch(ip, parent_ip, entry, fregs);
}
NOKPROBE_SYMBOL(fgraph_chain_batch);
#endif /* CONFIG_DYNAMIC_FTRACE */
#endif /* CONFIG_FUNCTION_TRACER */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

DEFINE_STATIC_KEY_FALSE(kill_ftrace_graph);

/**
 * ftrace_graph_stop() - hook no further call for graph users, for good
 *
 * For when function tracing has found itself broken. Calls that are hooked
 * still return.
 */
void ftrace_graph_stop(void)
{
	static_branch_enable(&kill_ftrace_graph);
}

/* The callback of each user's ftrace_ops. */
static void fgraph_ftrace_entry(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	/* Before anything looks at current. */
	if (unlikely(!fgraph_retp_valid(fgraph_retp(&fregs->regs))) || fgraph_graph_paused())
		return;
	preempt_disable_notrace();
	fgraph_hook_fast(container_of(op, struct fgraph_ops, ops), ip, &fregs->regs, true);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(fgraph_ftrace_entry);

/**
 * register_ftrace_graph() - hook functions that ftrace can reach
 * @gops:	the user; its &fgraph_ops.ops may have a filter set
 *
 * Context: process. May sleep.
 *
 * Return: 0; the errors of fgraph_add_user(); those of
 * register_ftrace_function().
 */
int register_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&fgraph_mutex);
	ret = add_user(gops);
	if (ret)
		goto out;

	gops->ops.func = fgraph_ftrace_entry;
	gops->ops.batch_func = fgraph_ftrace_batch;
	if (gops->flags & FGRAPH_GLOBAL_FILTER)
		ftrace_ops_set_global_filter(&gops->ops);
	ret = register_ftrace_function(&gops->ops);
	if (ret) {
		/* Some functions may have called it already. */
		fgraph_user_retire(gops);
		fgraph_synchronize();
		remove_user(gops);
	}
out:
	mutex_unlock(&fgraph_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_graph);

/**
 * unregister_ftrace_graph() - hook nothing more for a user
 * @gops:	the user
 *
 * No callback runs any more when this returns: the user, its data and its
 * module may go. Calls that it hooked return without it.
 *
 * Context: process. May sleep.
 *
 * Return: 0; -ENOENT if it is not registered, then nothing was changed; the errors
 * of unregister_ftrace_function(): ftrace has found itself broken, so no callback
 * runs, but @gops must stay.
 */
int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&fgraph_mutex);
	ret = fgraph_user_retire(gops);
	if (!ret) {
		ret = unregister_ftrace_function(&gops->ops);
		fgraph_synchronize();
		remove_user(gops);
	}
	mutex_unlock(&fgraph_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_graph);

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
