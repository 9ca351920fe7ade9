/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: what the core needs of the rest of the kernel and of the interface for users, and
 * what differs between kernels.
 */
#ifndef _FGRAPH_BASE_H
#define _FGRAPH_BASE_H

#include <linux/context_tracking.h>
#include <linux/fgraph.h>
#include <linux/ftrace.h>

/*
 * Entry callbacks are passed a struct ftrace_regs. A kprobe's handler has a struct pt_regs
 * and casts, so what is behind the former must begin with the latter.
 */
#ifdef CONFIG_FUNCTION_TRACER
static_assert(offsetof(struct __arch_ftrace_regs, regs) == 0);
#endif

/* The entry callback of a user, or NULL. */
static __always_inline fgraph_entry_t fgraph_entryfunc(const struct fgraph_ops *gops)
{
	return gops->on_entry;
}

/* The return callback of a user, or NULL. */
static __always_inline fgraph_return_t fgraph_retfunc(const struct fgraph_ops *gops)
{
	return gops->on_return;
}

/* Initialise the callbacks of a user. */
#define FGRAPH_CALLBACKS(entry, ret)	.on_entry = (entry), .on_return = (ret)

/* Change the callbacks of a user that is not registered, or not called yet. */
static inline void fgraph_set_callbacks(struct fgraph_ops *gops, fgraph_entry_t entryfunc,
					fgraph_return_t retfunc)
{
	gops->on_entry = entryfunc;
	gops->on_return = retfunc;
}

#ifdef CONFIG_FUNCTION_TRACER
/* The filter of a user; NULL for a user of one function, which does not initialise it. */
static __always_inline struct ftrace_ops *fgraph_filter(const struct fgraph_ops *gops)
{
	return gops->ops.func_hash ? (struct ftrace_ops *)&gops->ops : NULL;
}
#endif

#ifdef CONFIG_TRACING
/* The function by which a user without a name is listed: the one it hooks, or its callback. */
static inline unsigned long fgraph_listed_function(const struct fgraph_ops *gops)
{
	return gops->user.function ?: (unsigned long)gops->entryfunc;
}
#endif

/* Add a function to a filter. 0, or -ENOMEM. */
#define fgraph_hash_add(hash, ip)	(add_ftrace_hash_entry_direct(hash, ip, 0) ? 0 : -ENOMEM)

/* The registers at entry that ftrace passes. */
#define fgraph_entry_regs(fregs)	((struct pt_regs *)arch_ftrace_regs(fregs))

/* Complete the registers at return before callbacks see them. */
static __always_inline void fgraph_complete_regs(struct fgraph_regs *regs, unsigned long ret)
{
	fgraph_fixup_regs(&regs->regs, ret);
}

/* What callbacks get if the full trampoline has saved @full. */
#define FGRAPH_REGS_OF_FULL(full)	container_of(full, struct fgraph_regs, regs)

/* Like rcu_is_watching(): called before recursion is detected. */
static __always_inline bool fgraph_rcu_is_watching(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	return rcu_is_watching_curr_cpu();
#else
	return true;
#endif
}

#endif /* _FGRAPH_BASE_H */
