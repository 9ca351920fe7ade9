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
#include <linux/trace_recursion.h>

#include "fgraph_internal.h"
#ifdef CONFIG_FUNCTION_TRACER
#include "ftrace_internal.h"
#endif

static DEFINE_IDA(fgraph_words);

#ifdef CONFIG_FUNCTION_TRACER
/* Entry callbacks get either, and whoever knows which one casts. */
static_assert(offsetof(struct ftrace_regs, regs) == 0);
#endif

static void fgraph_miss(struct fgraph_ops *gops)
{
	atomic_long_inc(&gops->missed);
}
NOKPROBE_SYMBOL(fgraph_miss);

/*
 * Abandoned frames may be all that is in the way of a push. On the task's own
 * stack they are those below @high; those of other stacks are dropped when the
 * task returns on its own one.
 */
static void fgraph_reap(struct fgraph_stack *st, unsigned long *high)
{
	void *low = task_stack_page(current);

	if ((void *)high >= low && (void *)high <= low + THREAD_SIZE)
		fgraph_stack_reap(st, low, high);
}
NOKPROBE_SYMBOL(fgraph_reap);

/*
 * The frame of a return address, if it is not the one on top: those above it
 * are of calls that were abandoned, and are dropped.
 */
static struct fgraph_frame *fgraph_uncover(struct fgraph_stack *st, unsigned long *retp)
{
	struct fgraph_frame *frame = st ? fgraph_stack_search(st, retp) : NULL;
	void *top;

	if (frame) {
		while (!fgraph_is_entry_of(top = READ_ONCE(st->top), frame))
			fgraph_stack_drop(st, top);
	}
	return frame;
}
NOKPROBE_SYMBOL(fgraph_uncover);

static __always_inline struct fgraph_frame *
fgraph_newest_frame(struct fgraph_stack *st, unsigned long *retp)
{
	struct fgraph_frame *frame = st ? fgraph_frame_of(READ_ONCE(st->top)) : NULL;

	if (unlikely(!frame || frame->retp != retp))
		frame = fgraph_uncover(st, retp);
	return frame;
}

/* Has this user an entry in the newest frame? */
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

/* Does the user want the return? Asked when the record is not visible yet. */
static __always_inline bool fgraph_wanted(struct fgraph_ops *gops,
					  struct fgraph_frame *frame, void *data,
					  struct pt_regs *regs)
{
	if (gops->entryfunc &&
	    !gops->entryfunc(gops, frame, data, (struct ftrace_regs *)regs))
		return false;
	return gops->retfunc;
}

/* @high: frames of places below that, on the same stack, are abandoned. */
static __always_inline void *fgraph_push(struct fgraph_stack *st,
					 unsigned long *high, unsigned int below)
{
	if (unlikely(!fgraph_stack_fits(READ_ONCE(st->top), below)))
		fgraph_reap(st, high);
	return fgraph_stack_reserve(st, below);
}

/* A call that is hooked already gets one more user. */
static int fgraph_join(struct fgraph_ops *gops, unsigned long tag,
		       struct fgraph_stack *st, struct fgraph_frame *frame,
		       struct pt_regs *regs)
{
	unsigned int below = fgraph_slots_below(gops->data_size,
						sizeof_field(struct fgraph_entry, data));
	struct fgraph_entry *entry;

	entry = fgraph_push(st, frame->retp, below);
	if (unlikely(!entry)) {
		fgraph_miss(gops);
		return -ENOMEM;
	}

	if (!fgraph_wanted(gops, frame, fgraph_entry_data(entry, fgraph_head(entry)), regs)) {
		fgraph_stack_pop(st, entry);
		return 0;
	}
	entry->tag = tag;
	entry->frame = frame;
	fgraph_stack_commit(entry, FGRAPH_ENTRY | (unsigned long)below << FGRAPH_BELOW_SHIFT);

	if (gops->flags & FGRAPH_FULL_REGS)
		WRITE_ONCE(*fgraph_entry_slot(regs), (unsigned long)fgraph_trampoline_full);
	return 0;
}
NOKPROBE_SYMBOL(fgraph_join);

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
 * The caller sees to it that callbacks do not recurse without end, by what they
 * call being hooked again.
 *
 * Return: 0, or -ENOMEM if the user misses the call for lack of memory, which
 * &fgraph_ops.missed counts.
 */
int fgraph_hook(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs)
{
	unsigned int below = fgraph_slots_below(gops->data_size,
						sizeof_field(struct fgraph_frame, data));
	struct fgraph_stack *st = current->fgraph_stack;
	unsigned long *retp = fgraph_retp(regs), *slot = fgraph_entry_slot(regs);
	unsigned long ret = READ_ONCE(*slot), head;
	unsigned long tag = READ_ONCE(gops->tag);
	bool hooked = fgraph_is_trampoline(ret);
	struct fgraph_frame *frame;

	/* Called late, from where preemption was possible: it has gone. */
	if (unlikely(!tag))
		return 0;

	head = FGRAPH_FRAME | (unsigned long)below << FGRAPH_BELOW_SHIFT;

	if (unlikely(!st)) {
		st = fgraph_stack_make();
		if (!st)
			goto miss;
	}

	if (hooked) {
		frame = fgraph_newest_frame(st, retp);
		/* Not a return address that we know the real one of. */
		if (WARN_ON_ONCE(!frame))
			goto miss;
		if (frame->func == func && !fgraph_frame_has(st, frame, tag))
			return fgraph_join(gops, tag, st, frame, regs);
		/* A tail call: both calls return at once, the newer one first. */
		ret = frame->ret;
		head |= FGRAPH_TAIL;
	}

	/* A fresh return address: no older frame of its place is alive. */
	frame = fgraph_push(st, hooked ? retp : retp + 1, below);
	if (unlikely(!frame))
		goto miss;
	frame->func = func;
	frame->ret = ret;
	frame->retp = retp;

	if (!fgraph_wanted(gops, frame, fgraph_frame_data(frame, head), regs)) {
		fgraph_stack_pop(st, frame);
		return 0;
	}
	frame->tag = tag;
	/* An unwinder that finds the trampoline must find the frame. */
	fgraph_stack_commit(frame, head);

	if (gops->flags & FGRAPH_FULL_REGS)
		WRITE_ONCE(*slot, (unsigned long)fgraph_trampoline_full);
	else if (!hooked)
		WRITE_ONCE(*slot, (unsigned long)fgraph_trampoline_light);
	return 0;
miss:
	fgraph_miss(gops);
	return -ENOMEM;
}
EXPORT_SYMBOL_GPL(fgraph_hook);
NOKPROBE_SYMBOL(fgraph_hook);

/* Where no callback is traced, kprobes keep from recursing by themselves. */
#ifdef CONFIG_FUNCTION_TRACER
#define fgraph_recursion_lock(ip, parent) \
	trace_test_and_set_recursion(ip, parent, TRACE_FGRAPH_START)
#define fgraph_recursion_unlock(bit)	trace_clear_recursion(bit)
#else
#define fgraph_recursion_lock(ip, parent)	(-1)
#define fgraph_recursion_unlock(bit)		do { } while (0)
#endif

/*
 * Returns whether the user of an entry has gone. @frame and the entry stay
 * until all users of the call have been told.
 */
static __always_inline bool fgraph_tell(unsigned long tag, struct fgraph_frame *frame,
					void *data, struct fgraph_regs *regs)
{
	struct fgraph_ops *gops = fgraph_user(tag);

	if (unlikely(!gops))
		return true;
	gops->retfunc(gops, frame, data, regs);
	return false;
}

/*
 * A hooked function returned to a trampoline. Tell the users of its frame, the
 * newest first; for a tail call, then those of the caller that it stood for.
 */
static __always_inline unsigned long fgraph_return(unsigned long *retp,
						   struct fgraph_regs *regs)
{
	struct fgraph_frame *frame;
	struct fgraph_stack *st;
	unsigned long head, ret;
	bool gone = false;
	void *rec;
	int bit;

	preempt_disable_notrace();
	st = current->fgraph_stack;
	/*
	 * What callbacks call is not hooked. A function that was hooked, though,
	 * must be told to return: also if it is called by a callback.
	 */
	bit = fgraph_recursion_lock(_THIS_IP_, _THIS_IP_);

	do {
		frame = fgraph_newest_frame(st, retp);
		if (unlikely(!frame))
			panic("fgraph: a function returned that has no frame");
		head = fgraph_head(frame);
		ret = frame->ret;
		if (regs->full)
			fgraph_fixup_regs(regs->full, ret);

		for (rec = READ_ONCE(st->top); rec != frame; rec = fgraph_below(rec)) {
			struct fgraph_entry *entry = rec;

			/* The header of a chunk may be in between. */
			if (unlikely(!fgraph_is_entry_of(rec, frame)))
				continue;
			gone |= fgraph_tell(entry->tag, frame,
					    fgraph_entry_data(entry, fgraph_head(entry)), regs);
		}
		gone |= fgraph_tell(frame->tag, frame, fgraph_frame_data(frame, head), regs);

		/*
		 * As long as the trampoline is there, unwinders need a frame;
		 * under a tail call there is another one.
		 */
		if (!(head & FGRAPH_TAIL))
			WRITE_ONCE(*fgraph_record_slot(retp), ret);
		barrier();
		fgraph_stack_pop(st, frame);
	} while (head & FGRAPH_TAIL);

	if (unlikely(gone)) {
		/* Either the trim sees the stack empty, or we see no users. */
		smp_mb();
		if (!READ_ONCE(fgraph_nr_users))
			fgraph_trim_later();
	}
	if (bit >= 0)
		fgraph_recursion_unlock(bit);
	preempt_enable_notrace();
	return ret;
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
	void *rec;

	for (rec = fgraph_below(frame); rec; rec = fgraph_below(rec)) {
		unsigned long head = fgraph_head(rec);

		switch (fgraph_kind(head)) {
		case FGRAPH_FRAME:
			if (((struct fgraph_frame *)rec)->tag == gops->tag)
				return fgraph_frame_data(rec, head);
			break;
		case FGRAPH_ENTRY:
			if (((struct fgraph_entry *)rec)->tag == gops->tag)
				return fgraph_entry_data(rec, head);
			break;
		default:
			break;
		}
	}
	return NULL;
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
	struct fgraph_stack *st = current->fgraph_stack;
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
	struct fgraph_stack *st = current->fgraph_stack;
	struct fgraph_word *word;
	unsigned long value;

	if (!st)
		st = fgraph_stack_make();
	word = st ? fgraph_stack_word(st, gops->word) : NULL;
	if (!word)
		return NULL;
	value = READ_ONCE(word->value);
	barrier();
	if (unlikely(READ_ONCE(word->tag) != gops->tag)) {
		/* Unless an interrupt has just done so, and uses it. */
		cmpxchg(&word->value, value, 0);
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
 * @gops:	the user; its &fgraph_ops.ops is not used
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
/**
 * fgraph_hook_ftrace() - hook the return of a call, from an ftrace callback
 * @gops:	the user, registered
 * @ip:		as the callback got it
 * @parent_ip:	as the callback got it
 * @fregs:	as the callback got it
 *
 * As fgraph_hook(), but what callbacks call is not hooked.
 *
 * Context: any.
 *
 * Return: as fgraph_hook(), and -EBUSY in a callback, which &fgraph_ops.missed
 * counts, too.
 */
int fgraph_hook_ftrace(struct fgraph_ops *gops, unsigned long ip,
		       unsigned long parent_ip, struct ftrace_regs *fregs)
{
	int bit, ret;

	if (unlikely(!fgraph_retp_valid(fgraph_retp(&fregs->regs))))
		return 0;
	bit = fgraph_recursion_lock(ip, parent_ip);
	if (unlikely(bit < 0)) {
		fgraph_miss(gops);
		return -EBUSY;
	}
	ret = fgraph_hook(gops, ip, &fregs->regs);
	fgraph_recursion_unlock(bit);
	return ret;
}
NOKPROBE_SYMBOL(fgraph_hook_ftrace);
#endif /* CONFIG_FUNCTION_TRACER */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

DEFINE_STATIC_KEY_FALSE(kill_ftrace_graph);

/**
 * ftrace_graph_stop() - hook no further call, for good
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
	if (unlikely(!fgraph_retp_valid(fgraph_retp(&fregs->regs))))
		return;
	if (unlikely(ftrace_graph_is_dead()))
		return;
	if (unlikely(atomic_read(&current->tracing_graph_pause)))
		return;
	fgraph_hook_ftrace(container_of(op, struct fgraph_ops, ops), ip, parent_ip, fregs);
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
 * Return: 0, or -ENOENT if it is not registered; then nothing was changed.
 */
int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&fgraph_mutex);
	ret = fgraph_user_retire(gops);
	if (!ret) {
		unregister_ftrace_function(&gops->ops);
		fgraph_synchronize();
		remove_user(gops);
	}
	mutex_unlock(&fgraph_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_graph);

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
