// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph on architectures that have no trampolines of their own for it.
 *
 * ftrace calls function_graph_enter_regs() for each function that a user may want, and the
 * architecture replaces the return address if that returns 0. return_to_handler, to which the
 * function then returns, calls ftrace_return_to_handler().
 *
 * What identifies a call is what the architecture passes as @retp. If it passes NULL for all
 * calls, the newest frame is that of the call which returns.
 */
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/suspend.h>

#include "fgraph_ftrace.h"
#include "fgraph_hook.h"
#include "fgraph_internal.h"

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#include "fgraph_site.h"

#ifdef CONFIG_DYNAMIC_FTRACE
/* Architectures may have a call of function_graph_enter() that must be switched on and off. */
int __weak ftrace_enable_ftrace_graph_caller(void)
{
	return 0;
}

int __weak ftrace_disable_ftrace_graph_caller(void)
{
	return 0;
}
#endif

/*
 * Hook the return of a call for the users of @site that want it. @place is where the return address
 * is; it is replaced if a user wants the return.
 */
static __always_inline void fgraph_hook_entry(struct fgraph_site *site, unsigned long func,
					      unsigned long *place, unsigned long *retp,
					      struct pt_regs *regs)
{
	/* Pairs with fgraph_site_append(). */
	unsigned int nr = smp_load_acquire(&site->nr);
	bool look_up = READ_ONCE(site->look_up);
	struct fgraph_ops *gops = READ_ONCE(site->only);
	struct fgraph_call call;

	if (gops && (!gops->user.admit || fgraph_admits_all()) &&
	    fgraph_hook_first(gops, func, place, retp, regs, FGRAPH_FRAME))
		return;
	fgraph_begin_call(&call, site->users, nr, func, place, retp, regs);
	while (nr) {
		gops = look_up ? fgraph_next_wide(site->users, &nr, func) :
				 READ_ONCE(site->users[--nr]);
		if (gops)
			fgraph_hook_next(&call, gops);
	}
}

/**
 * function_graph_enter_regs() - a function is entered that users may want
 * @ret:	its return address
 * @func:	address of the function's call to ftrace
 * @frame_pointer: not used
 * @retp:	where the unwinder finds the return address or, where that is in a register, the
 *		stack pointer at entry; NULL if the architecture cannot tell
 * @fregs:	registers at entry, for callbacks; NULL if the architecture passes none
 *
 * Context: any.
 *
 * Return: 0 if the caller must replace the return address by return_to_handler; else -EBUSY, and
 * the return address stays as it is.
 */
int function_graph_enter_regs(unsigned long ret, unsigned long func,
			      unsigned long frame_pointer, unsigned long *retp,
			      struct ftrace_regs *fregs)
{
	unsigned long place = ret;

	preempt_disable_notrace();
	fgraph_hook_entry(fgraph_find_site(func), func, &place, retp, (struct pt_regs *)fregs);
	preempt_enable_notrace();
	return place == ret ? -EBUSY : 0;
}
NOKPROBE_SYMBOL(function_graph_enter_regs);

/*
 * Some architectures return from functions twice when an image of hibernation is restored, and
 * frames without a place cannot be dropped.
 */
static int fgraph_pm_notify(struct notifier_block *nb, unsigned long event, void *unused)
{
	if (event == PM_HIBERNATION_PREPARE)
		pause_graph_tracing();
	else if (event == PM_POST_HIBERNATION)
		unpause_graph_tracing();
	return NOTIFY_DONE;
}

static struct notifier_block fgraph_pm_notifier = {
	.notifier_call = fgraph_pm_notify,
};

static int __init fgraph_pm_init(void)
{
	return register_pm_notifier(&fgraph_pm_notifier);
}
core_initcall(fgraph_pm_init);

/**
 * ftrace_graph_get_ret_stack() - find a frame by its number
 * @task:	the task
 * @idx:	how many newer frames there are
 *
 * Context: any; @task is the current task or does not run.
 *
 * Return: the frame, or NULL. It may be gone when the task runs.
 */
const struct fgraph_frame *ftrace_graph_get_ret_stack(struct task_struct *task, int idx)
{
	struct fgraph_stack *st = READ_ONCE(task->fgraph_stack);
	void *rec;

	for (rec = st ? READ_ONCE(st->top) : NULL; rec; rec = fgraph_older(rec)) {
		if (fgraph_kind(fgraph_head(rec)) == FGRAPH_FRAME && idx-- <= 0)
			return rec;
	}
	return NULL;
}
NOKPROBE_SYMBOL(ftrace_graph_get_ret_stack);

#ifndef fgraph_light_retp
/* The place of the call that returns: that of the newest frame. NULL if there is none. */
static unsigned long *fgraph_newest_retp(void)
{
	const struct fgraph_frame *frame = ftrace_graph_get_ret_stack(current, 0);

	return frame ? READ_ONCE(frame->retp) : NULL;
}
NOKPROBE_SYMBOL(fgraph_newest_retp);

#define fgraph_light_retp(passed)	((void)(passed), fgraph_newest_retp())
#endif

/**
 * ftrace_return_to_handler() - a hooked function returns
 * @fregs:	the registers that return_to_handler has saved; or, where it passes no registers,
 *		a word that the architecture chooses
 *
 * Context: any. Called by return_to_handler only.
 *
 * Return: the address to return to.
 */
#ifdef CONFIG_HAVE_FUNCTION_GRAPH_FREGS
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs)
{
	struct fgraph_regs regs = { .fregs = fregs };

	return fgraph_return_light(fgraph_light_retp(fregs), &regs);
}
#else
unsigned long ftrace_return_to_handler(unsigned long word)
{
	struct fgraph_regs regs = { };

	return fgraph_return_light(fgraph_light_retp(word), &regs);
}
#endif
NOKPROBE_SYMBOL(ftrace_return_to_handler);
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#ifdef CONFIG_KRETPROBE_ON_FGRAPH
/**
 * fgraph_return_full() - a function returns that has a kretprobe
 * @regs:	all registers, as the trampoline has saved them
 *
 * Context: any. Called by fgraph_trampoline_full only.
 *
 * Return: the address to return to.
 */
unsigned long __used __visible fgraph_return_full(struct pt_regs *regs)
{
	return fgraph_return_light(fgraph_full_retp(regs), FGRAPH_REGS_OF_FULL(regs));
}
NOKPROBE_SYMBOL(fgraph_return_full);
#endif

/*
 * Unwinders keep the state of a walk in an int: the lower half of the address where the next
 * search begins. The chunks of the stack say which address that is.
 */
static unsigned long fgraph_cursor(struct fgraph_stack *st, unsigned int low)
{
	struct fgraph_chunk *c;

	for (c = low ? st->first : NULL; c; c = READ_ONCE(c->next)) {
		if (low - (unsigned int)(unsigned long)c < c->end - (void *)c)
			return (unsigned long)c + (low - (unsigned int)(unsigned long)c);
	}
	return 0;
}

/**
 * ftrace_graph_ret_addr() - find the real return address of a call for an unwinder
 * @task:	the task whose stack is walked; NULL is the current one
 * @idx:	the state of the walk, 0 before the first step; NULL if @ret is to be returned
 * @ret:	the return address as it was found on the machine stack
 * @retp:	as function_graph_enter_regs() got it for the call
 *
 * Context: any.
 *
 * Return: @ret if it is not return_to_handler or the real one is not known, else the real one.
 */
unsigned long ftrace_graph_ret_addr(struct task_struct *task, int *idx, unsigned long ret,
				    unsigned long *retp)
{
	unsigned long cursor, real = 0;
	struct fgraph_stack *st;

	if (!fgraph_is_trampoline(ret) || !idx)
		return ret;
	if (!task)
		task = current;
	/* fgraph_trim() does not free the stack while preemption is disabled here. */
	preempt_disable_notrace();
	st = READ_ONCE(task->fgraph_stack);
	if (st) {
		cursor = fgraph_cursor(st, *idx);
		real = fgraph_stack_find(st, &cursor, retp, retp);
		/* An architecture that passes no place has frames without one. */
		if (!real)
			real = fgraph_stack_find(st, &cursor, NULL, NULL);
		if (real)
			*idx = cursor;
	}
	preempt_enable_notrace();
	return real ?: ret;
}
NOKPROBE_SYMBOL(ftrace_graph_ret_addr);
