/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: functions for unwinders, which need real return addresses, and for the code that
 * resets and frees tasks.
 */
#ifndef _LINUX_FGRAPH_TASK_H
#define _LINUX_FGRAPH_TASK_H

#include <linux/compiler.h>
#include <linux/limits.h>
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

/* The address that a function returns to, if that is where @func is. */
#ifndef FGRAPH_ADDRESS
#define FGRAPH_ADDRESS(func)	((unsigned long)(func))
#endif

/**
 * fgraph_is_trampoline() - is a return address that of a trampoline of fgraph?
 * @addr:	a return address as found on a machine stack
 *
 * Context: any. Not for modules.
 *
 * Return: true if @addr is a trampoline, or at most FGRAPH_TRAMPOLINE_SPAN bytes behind its
 * start.
 */
static __always_inline bool fgraph_is_trampoline(unsigned long addr)
{
	/* FGRAPH_TRAMPOLINE_SPAN explains why this is a range. */
	return addr - FGRAPH_ADDRESS(fgraph_trampoline_light) <= FGRAPH_TRAMPOLINE_SPAN ||
	       addr - FGRAPH_ADDRESS(fgraph_trampoline_full) <= FGRAPH_TRAMPOLINE_SPAN;
}

/**
 * fgraph_caller() - find the caller of a function that is being entered
 * @parent_ip:	the function's return address, as an ftrace callback gets it
 *
 * @parent_ip is a trampoline if a breakpoint has hooked the call before ftrace is called, or
 * if the call is a tail call of a hooked function.
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
	/* Abandoned calls are below; the newest frame that is not is that of this call. */
	return fgraph_ret_addr(current, &cursor, parent_ip, __builtin_frame_address(0),
			       (unsigned long *)ULONG_MAX) ?: parent_ip;
}
#else
static inline void fgraph_free_task(struct task_struct *task) { }
static inline void fgraph_reset_task(struct task_struct *task) { }
static inline void fgraph_abandon_calls(void *dead_below) { }
static inline bool fgraph_is_trampoline(unsigned long addr) { return false; }
static inline unsigned long fgraph_caller(unsigned long parent_ip) { return parent_ip; }
static inline unsigned long fgraph_ret_addr(struct task_struct *task, unsigned long *cursor,
					    unsigned long addr, unsigned long *lowest,
					    unsigned long *highest)
{
	return addr;
}
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_TASK_H */
