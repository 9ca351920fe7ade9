/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: callbacks at the entry and at the return of functions.
 *
 * A user is a struct fgraph_ops, which is in ftrace.h. However many users want the return of a
 * call, its return address is replaced once.
 */
#ifndef _LINUX_FGRAPH_H
#define _LINUX_FGRAPH_H

#include <linux/fgraph_frame.h>
#include <linux/ftrace.h>

#ifdef CONFIG_FGRAPH
#include <asm/fgraph.h>

#ifdef CONFIG_HAVE_FGRAPH
/**
 * struct fgraph_regs - registers of a function that returns
 * @regs:	all registers if the call returned to the full trampoline, else a few, see
 *		fgraph_regs_full(). Exit handlers of fprobes get them as a struct
 *		ftrace_regs, which begins alike
 *
 * Callbacks use fgraph_return_value() and fgraph_get_regs().
 */
struct fgraph_regs {
	struct pt_regs	regs;
};
#else
/**
 * struct fgraph_regs - registers of a function that returns
 * @fregs:	what the trampoline has saved, or NULL if that is nothing
 * @full:	the same if the trampoline has saved all registers, else NULL
 */
struct fgraph_regs {
	struct ftrace_regs	*fregs;
	struct pt_regs		*full;
};
#endif

void *fgraph_parent_data(struct fgraph_ops *gops,
			 const struct fgraph_frame *frame);
int fgraph_frame_users(const struct fgraph_frame *frame, struct fgraph_ops **users, int max);

/**
 * fgraph_missed() - how many calls has a user missed?
 * @gops:	the user
 * @why:	the cause
 *
 * Context: any.
 *
 * Return: the number of calls missed for this cause since the user was registered.
 */
static inline unsigned long fgraph_missed(const struct fgraph_ops *gops, enum fgraph_miss why)
{
	return atomic_long_read(&gops->user.missed[why]);
}

/**
 * fgraph_get_regs() - all registers of a function that returns
 * @regs:	the registers that were passed to the return callback
 *
 * The instruction pointer is the real return address, and the stack pointer has the value
 * that it will have there. The callback may write general registers, so the return value,
 * and, unless a stub has called the function, flags; changes of other members have no effect.
 *
 * Context: return callbacks.
 *
 * Return: the registers; NULL if no user of the frame has FGRAPH_FULL_REGS.
 */
static __always_inline struct pt_regs *fgraph_get_regs(struct fgraph_regs *regs)
{
#ifdef CONFIG_HAVE_FGRAPH
	return fgraph_regs_full(&regs->regs) ? &regs->regs : NULL;
#else
	return regs->full;
#endif
}

/**
 * fgraph_return_value() - the return value of a function
 * @regs:	the registers that were passed to the return callback
 *
 * Context: return callbacks.
 *
 * Return: the first return register; 0 if the architecture does not save it.
 */
static __always_inline unsigned long fgraph_return_value(struct fgraph_regs *regs)
{
#if defined(CONFIG_HAVE_FGRAPH)
	return fgraph_regs_value(&regs->regs);
#else
	if (regs->full)
		return regs_return_value(regs->full);
#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_HAVE_FUNCTION_GRAPH_FREGS)
	return ftrace_regs_get_return_value(regs->fregs);
#endif
	return 0;
#endif
}

/**
 * fgraph_return_value_high() - the upper half of a return value of two registers
 * @regs:	the registers that were passed to the return callback
 *
 * Context: return callbacks.
 *
 * Return: the second return register, for types that take two; 0 if the architecture does not
 * save it.
 */
static __always_inline unsigned long fgraph_return_value_high(struct fgraph_regs *regs)
{
#ifdef CONFIG_HAVE_FGRAPH
	return fgraph_regs_value_high(&regs->regs);
#else
	return 0;
#endif
}
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_H */
