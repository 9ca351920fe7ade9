/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_LOONGARCH_FGRAPH_H
#define _ASM_LOONGARCH_FGRAPH_H

#include <asm-generic/fgraph.h>

#ifndef __ASSEMBLER__

#include <asm/ptrace.h>

/* The stack pointer at the entry, which is the same after the return, identifies a call. */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)regs->regs[3];
}

/* Where the return address of a function is found at its entry. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return (unsigned long *)&regs->regs[1];
}

/* fgraph_retp() of the call that returns. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return fgraph_retp(regs);
}

/* Complete the registers of the trampoline before callbacks see them. */
static __always_inline void fgraph_fixup_regs(struct pt_regs *regs, unsigned long ret)
{
	regs->csr_era = ret;
	regs->regs[1] = ret;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
/* The stack pointer above what return_to_handler has saved identifies the call that returns. */
#define fgraph_light_retp(fregs)	((unsigned long *)((struct pt_regs *)(fregs) + 1))
#endif

#endif /* __ASSEMBLER__ */
#endif /* _ASM_LOONGARCH_FGRAPH_H */
