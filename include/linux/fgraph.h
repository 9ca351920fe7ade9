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

#include <linux/bits.h>
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
#else
/* Other architectures have one user at a time, with data of fixed size in each frame. */
struct fgraph_frame {
	unsigned long	func;
	unsigned long	ret;
	unsigned long	*retp;
};

#define FGRAPH_MAX_DATA_SIZE	(4 * sizeof(u64))
#endif /* CONFIG_FGRAPH */

/**
 * typedef fgraph_entry_t - called when a function is entered that the user wants
 * @gops:	the user
 * @frame:	the call; only @func, @ret and @retp are set, and the return address may not
 *		be replaced yet
 * @data:	this user's private data for the call: &fgraph_ops.data_size bytes, not
 *		initialised, at the same address until the return
 * @fregs:	the registers at entry. ftrace_get_regs() gives NULL if neither this user nor
 *		another one of the function has FGRAPH_ENTRY_REGS. Without CONFIG_FGRAPH,
 *		@fregs itself is NULL
 *
 * Context: any in which a function can be called, also NMI and where RCU does not watch.
 * Preemption is disabled. Must not sleep.
 *
 * Return: nonzero to have the return callback called for this call, else 0.
 */
typedef int (*fgraph_entry_t)(struct fgraph_ops *gops,
			      const struct fgraph_frame *frame, void *data,
			      struct ftrace_regs *fregs);

/**
 * typedef fgraph_return_t - called when a hooked function returns
 * @gops:	the user
 * @frame:	the call
 * @data:	this user's private data for the call, as its entry callback left it
 * @regs:	the registers at return, see fgraph_return_value() and
 *		fgraph_get_regs()
 *
 * Context: like fgraph_entry_t. Not called any more when unregister_ftrace_graph() has
 * returned.
 */
typedef void (*fgraph_return_t)(struct fgraph_ops *gops,
				const struct fgraph_frame *frame, void *data,
				struct fgraph_regs *regs);

/* fgraph_ops.flags */
enum {
	/* The return callback needs a struct pt_regs: calls return to the full trampoline. */
	FGRAPH_FULL_REGS	= BIT(0),
	/* The entry callback needs all registers, which makes each call slower. */
	FGRAPH_ENTRY_REGS	= BIT(1),
};

/**
 * struct fgraph_ops - a user of fgraph
 * @filter:	has the filter that says which functions the user wants; NULL for all
 *		functions. Can be changed at any time by ftrace_set_filter() and the like. It
 *		must not be registered with ftrace; several users may share it
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

#if defined(CONFIG_FGRAPH_FTRACE) || defined(CONFIG_FUNCTION_GRAPH_TRACER)
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
#ifdef CONFIG_FGRAPH
int fgraph_frame_users(const struct fgraph_frame *frame, struct fgraph_ops **users, int max);
#endif

/**
 * fgraph_missed() - how many calls was a user not told of?
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
 * Return: the first return register.
 */
static __always_inline unsigned long fgraph_return_value(struct fgraph_regs *regs)
{
	return regs->full ? regs_return_value(regs->full) : regs->value[0];
}

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
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_H */
