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
 * and casts, so what is behind the former must begin with the latter.
 */
#if defined(CONFIG_FUNCTION_TRACER) && defined(CONFIG_HAVE_FGRAPH)
static_assert(offsetof(struct __arch_ftrace_regs, regs) == 0);
#endif

/* The registers at return as exit handlers of fprobes get them. */
static __always_inline struct ftrace_regs *fgraph_as_ftrace_regs(struct fgraph_regs *regs)
{
#ifdef CONFIG_HAVE_FGRAPH
	return (struct ftrace_regs *)regs;
#else
	return regs->fregs;
#endif
}

#ifdef CONFIG_FUNCTION_TRACER
/*
 * The filter of a user; NULL for a user of one function, which does not initialise it, and without
 * dynamic ftrace, which has no filters.
 */
static __always_inline struct ftrace_ops *fgraph_filter(const struct fgraph_ops *gops)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	return gops->ops.func_hash ? (struct ftrace_ops *)&gops->ops : NULL;
#else
	return NULL;
#endif
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

#ifdef CONFIG_HAVE_FGRAPH
/* The registers at entry that ftrace passes. */
#define fgraph_entry_regs(fregs)	((struct pt_regs *)arch_ftrace_regs(fregs))

/* What callbacks get if the full trampoline has saved @all. */
#define FGRAPH_REGS_OF_FULL(all)	container_of(all, struct fgraph_regs, regs)
#elif defined(FGRAPH_OWN_FTRACE_REGS)
static __always_inline struct fgraph_regs fgraph_regs_of_full(struct pt_regs *all,
							      struct __arch_ftrace_regs *own)
{
	*own = fgraph_own_ftrace_regs(all);
	return (struct fgraph_regs) { .full = all, .fregs = (struct ftrace_regs *)own };
}

#define FGRAPH_REGS_OF_FULL(all)	((struct fgraph_regs[]) { \
	fgraph_regs_of_full(all, (struct __arch_ftrace_regs[1]) { }) })
#else
/* A struct ftrace_regs begins with a struct pt_regs. */
static __always_inline struct fgraph_regs fgraph_regs_of_full(struct pt_regs *all)
{
	return (struct fgraph_regs) { .full = all, .fregs = (struct ftrace_regs *)all };
}

#define FGRAPH_REGS_OF_FULL(all)	((struct fgraph_regs[]) { fgraph_regs_of_full(all) })
#endif

/* Complete the registers at return before callbacks see them. */
static __always_inline void fgraph_complete_regs(struct fgraph_regs *regs, unsigned long ret)
{
#ifdef CONFIG_HAVE_FGRAPH
	fgraph_fixup_regs(&regs->regs, ret);
#else
#ifdef CONFIG_KRETPROBE_ON_FGRAPH
	if (regs->full)
		fgraph_fixup_regs(regs->full, ret);
#endif
#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_HAVE_FUNCTION_GRAPH_FREGS)
	if (regs->fregs)
		ftrace_regs_set_instruction_pointer(regs->fregs, ret);
#endif
#endif
}

#endif /* _FGRAPH_PORT_H */
