/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: callbacks at the entry and at the return of functions.
 *
 * A user is a struct fgraph_ops. However many users want the return of a call, its return
 * address is replaced once. See Documentation/trace/fgraph.rst.
 *
 * Modules may use this header. fgraph_task.h has functions for the rest of the kernel.
 */
#ifndef _LINUX_FGRAPH_H
#define _LINUX_FGRAPH_H

#include <linux/errno.h>
#include <linux/fgraph_frame.h>
#include <linux/types.h>

struct fgraph_ops;
struct fgraph_regs;
struct ftrace_ops;
struct ftrace_regs;
struct pt_regs;

#ifdef CONFIG_FGRAPH
#include <asm/fgraph.h>

#ifndef CONFIG_HAVE_FGRAPH
/**
 * struct fgraph_regs - registers of a function that returns
 * @full:	all registers if the call returned to the full trampoline, else NULL
 */
struct fgraph_regs {
	struct pt_regs	*full;
};
#endif
#endif /* CONFIG_FGRAPH */

/**
 * struct fgraph_ops - a user of fgraph
 * @filter:	has the filter that says which functions the user wants; NULL for all
 *		functions. Can be changed at any time by ftrace_set_filter() and the like. Only
 *		its filter is used; several users may share it
 * @entryfunc:	called at the entry of a function; NULL for a user that wants every return
 * @retfunc:	called at the return; NULL for a user that wants entries only, for which
 *		calls are not hooked
 * @data_size:	size of the private data for each call, in bytes, up to
 *		FGRAPH_MAX_DATA_SIZE
 * @flags:	FGRAPH_FULL_REGS and FGRAPH_ENTRY_REGS
 * @name:	the user's name for the fgraph_users file, or NULL
 * @user:	private
 *
 * Members that the user does not set must be zero.
 */
struct fgraph_ops {
	struct ftrace_ops	*filter;
	fgraph_entry_t		entryfunc;
	fgraph_return_t		retfunc;
	size_t			data_size;
	unsigned int		flags;
	const char		*name;
	struct fgraph_user	user;
};

#ifdef CONFIG_FGRAPH_CALLED_BY_FTRACE
int register_ftrace_graph(struct fgraph_ops *gops);
int unregister_ftrace_graph(struct fgraph_ops *gops);
#else
static inline int register_ftrace_graph(struct fgraph_ops *gops)
{
	return -EOPNOTSUPP;
}

static inline int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	return -ENOENT;
}
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

#ifdef CONFIG_FGRAPH
/**
 * fgraph_get_regs() - all registers of a function that returns
 * @regs:	the registers that were passed to the return callback
 *
 * The instruction pointer is the real return address, and the stack pointer has the value
 * that it will have there. The callback may write general registers, so the return value,
 * and flags; changes of other members have no effect.
 *
 * Context: return callbacks.
 *
 * Return: the registers; NULL if no user of the frame has FGRAPH_FULL_REGS.
 */
static __always_inline struct pt_regs *fgraph_get_regs(struct fgraph_regs *regs)
{
	return regs->full;
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
#if defined(CONFIG_HAVE_FGRAPH) || defined(CONFIG_KRETPROBE_ON_FGRAPH)
	if (regs->full)
		return regs_return_value(regs->full);
#endif
#ifdef CONFIG_HAVE_FGRAPH
	return regs->value[0];
#else
	return 0;
#endif
}

#ifdef CONFIG_HAVE_FGRAPH

/**
 * fgraph_return_value_high() - the upper half of a return value of two registers
 * @regs:	the registers that were passed to the return callback
 *
 * Context: return callbacks.
 *
 * Return: the second return register, for types that take two.
 */
static __always_inline unsigned long fgraph_return_value_high(struct fgraph_regs *regs)
{
	return regs->full ? fgraph_full_value_high(regs->full) : regs->value[1];
}
#endif
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_H */
