/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel around it asks of fgraph: unwinders, who ask for the real
 * return address, and the code that makes, resets and frees tasks.
 */
#ifndef _LINUX_FGRAPH_TASK_H
#define _LINUX_FGRAPH_TASK_H

#include <linux/compiler.h>
#include <linux/types.h>

struct task_struct;

#ifdef CONFIG_FGRAPH
#include <linux/fgraph.h>
#include <asm/current.h>

void fgraph_free_task(struct task_struct *task);
void fgraph_reset_task(struct task_struct *task);
void fgraph_abandon_calls(void *dead_below);
unsigned long fgraph_ret_addr(struct task_struct *task, unsigned long *cursor,
			      unsigned long addr, unsigned long *lowest,
			      unsigned long *highest);

/**
 * fgraph_is_trampoline() - does a return to this address go through fgraph?
 * @addr:	a return address, as found on a stack
 *
 * Context: any. Not for modules.
 */
static __always_inline bool fgraph_is_trampoline(unsigned long addr)
{
	/* See FGRAPH_TRAMPOLINE_SPAN for why a range. */
	return addr - (unsigned long)fgraph_trampoline_light <= FGRAPH_TRAMPOLINE_SPAN ||
	       addr - (unsigned long)fgraph_trampoline_full <= FGRAPH_TRAMPOLINE_SPAN;
}

/**
 * fgraph_caller() - the caller of a function that is being entered
 * @parent_ip:	its return address, as an ftrace callback gets it
 *
 * That is a trampoline if the call was hooked by a breakpoint before ftrace's
 * turn came, or is a tail call of a function that was hooked.
 *
 * Context: any. Not for modules.
 *
 * Return: the real return address; @parent_ip if that is not known.
 */
static __always_inline unsigned long fgraph_caller(unsigned long parent_ip)
{
	unsigned long cursor = 0;

	if (likely(!fgraph_is_trampoline(parent_ip)))
		return parent_ip;
	/* The newest frame, wherever it is. */
	return fgraph_ret_addr(current, &cursor, parent_ip, NULL,
			       (unsigned long *)ULONG_MAX) ?: parent_ip;
}
#else
static inline void fgraph_free_task(struct task_struct *task) { }
static inline void fgraph_reset_task(struct task_struct *task) { }
static inline void fgraph_abandon_calls(void *dead_below) { }
static inline bool fgraph_is_trampoline(unsigned long addr) { return false; }
static inline unsigned long fgraph_caller(unsigned long parent_ip) { return parent_ip; }
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_TASK_H */
