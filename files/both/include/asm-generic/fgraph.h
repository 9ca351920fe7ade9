/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph on an architecture that has no trampolines of its own for it: ftrace calls
 * function_graph_enter_regs(), and hooked functions return to return_to_handler.
 *
 * An architecture that has HAVE_KRETPROBE_ON_FGRAPH includes this in a header of its own. If the
 * return address is in a register at the entry, that header defines fgraph_link_register() first.
 * Else it has fgraph_retp(), fgraph_entry_place(), fgraph_full_retp() and fgraph_fixup_regs().
 */
#ifndef _ASM_GENERIC_FGRAPH_H
#define _ASM_GENERIC_FGRAPH_H

#ifndef __ASSEMBLER__

#include <linux/compiler.h>

#ifdef CONFIG_KRETPROBE_ON_FGRAPH
/* Functions that have a kretprobe return to this one. C must not call it. */
void fgraph_trampoline_full(void);
#else
#define fgraph_trampoline_full		return_to_handler
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
void return_to_handler(void);
#define fgraph_trampoline_light		return_to_handler
#else
#define fgraph_trampoline_light		fgraph_trampoline_full
#endif

#define FGRAPH_TRAMPOLINE_SPAN		0

#ifdef CONFIG_HAVE_FUNCTION_DESCRIPTORS
#include <asm/sections.h>

/* Not by a function, which might be traced */
#define FGRAPH_ADDRESS(func)		(((func_desc_t *)(func))->addr)
#endif

/* The trampoline itself hands the return address over to the unwinder. */
static __always_inline void fgraph_restore(unsigned long *retp, unsigned long ret)
{
}

#ifdef fgraph_link_register
#include <asm/ptrace.h>

/* The stack pointer at the entry, which is the same after the return, identifies a call. */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)kernel_stack_pointer(regs);
}

/* Where the return address of a function is found at its entry. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return (unsigned long *)&fgraph_link_register(regs);
}

/* fgraph_retp() of the call that returns. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return fgraph_retp(regs);
}

/* Complete the registers of the trampoline before callbacks see them. */
static __always_inline void fgraph_fixup_regs(struct pt_regs *regs, unsigned long ret)
{
	instruction_pointer_set(regs, ret);
	fgraph_link_register(regs) = ret;
}
#endif /* fgraph_link_register */

#endif /* __ASSEMBLER__ */
#endif /* _ASM_GENERIC_FGRAPH_H */
