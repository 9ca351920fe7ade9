/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: what the core needs of the rest of the kernel and of the interface for users, and
 * what differs between kernels.
 */
#ifndef _FGRAPH_PORT_H
#define _FGRAPH_PORT_H

#include <linux/context_tracking.h>
#include <linux/fgraph.h>
#include <linux/ftrace.h>

#include "fgraph_stack.h"

/*
 * Entry callbacks are passed a struct ftrace_regs. A kprobe's handler has a struct pt_regs
 * and casts, so the former must begin with the latter.
 */
#ifdef CONFIG_FUNCTION_TRACER
static_assert(offsetof(struct ftrace_regs, regs) == 0);
#endif

/* The filter of a user, or NULL. */
static __always_inline struct ftrace_ops *fgraph_filter(const struct fgraph_ops *gops)
{
	return gops->filter;
}

/* The function by which a user without a name is listed. */
static inline unsigned long fgraph_listed_function(const struct fgraph_ops *gops)
{
	return gops->user.function;
}

/* Add a function to a filter. 0, or -ENOMEM. */
#define fgraph_hash_add(hash, ip)	add_hash_entry(hash, ip)

/* The registers at entry that ftrace passes. */
#define fgraph_entry_regs(fregs)	(&(fregs)->regs)

/* Complete the registers at return before callbacks see them. */
static __always_inline void fgraph_complete_regs(struct fgraph_regs *regs, unsigned long ret)
{
#if defined(CONFIG_HAVE_FGRAPH) || defined(CONFIG_KRETPROBE_ON_FGRAPH)
	if (regs->full)
		fgraph_fixup_regs(regs->full, ret);
#endif
}

/* What callbacks get if the full trampoline has saved @all. */
#define FGRAPH_REGS_OF_FULL(all)	(&(struct fgraph_regs) { .full = (all) })

/* Linux 7.3's names of what context tracking has in its word. */
#define CT_STATE_USER		CONTEXT_USER
#define CT_RCU_WATCHING		RCU_DYNTICKS_IDX

#endif /* _FGRAPH_PORT_H */
