/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_POWERPC_FGRAPH_H
#define _ASM_POWERPC_FGRAPH_H

#include <asm-generic/fgraph.h>

#ifndef __ASSEMBLER__

#include <asm/ptrace.h>

/* The stack pointer at the entry, which is the same after the return, identifies a call. */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)regs->gpr[1];
}

/* Where the return address of a function is found at its entry. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return (unsigned long *)&regs->link;
}

/* fgraph_retp() of the call that returns. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return fgraph_retp(regs);
}

/* Complete the registers of the trampoline before callbacks see them. */
static __always_inline void fgraph_fixup_regs(struct pt_regs *regs, unsigned long ret)
{
	regs_set_return_ip(regs, ret);
	regs->link = ret;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
/* return_to_handler has saved the stack pointer, which identifies the call that returns. */
#define fgraph_light_retp(fregs)	fgraph_retp((struct pt_regs *)(fregs))
#endif

unsigned long fgraph_return_full(struct pt_regs *regs);

#endif /* __ASSEMBLER__ */
#endif /* _ASM_POWERPC_FGRAPH_H */
