/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_S390_FGRAPH_H
#define _ASM_S390_FGRAPH_H

#include <asm-generic/fgraph.h>

#ifndef __ASSEMBLER__

#include <asm/ptrace.h>

/* The stack pointer at the entry, which is the same after the return, identifies a call. */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)regs->gprs[15];
}

/* Where the return address of a function is found at its entry. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return (unsigned long *)&regs->gprs[14];
}

/* fgraph_retp() of the call that returns. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return fgraph_retp(regs);
}

/* Complete the registers of the trampoline before callbacks see them. */
static __always_inline void fgraph_fixup_regs(struct pt_regs *regs, unsigned long ret)
{
	regs->psw.addr = ret;
	regs->gprs[14] = ret;
}

/* return_to_handler has saved the stack pointer, which identifies the call that returns. */
#define fgraph_light_retp(fregs)	fgraph_retp((struct pt_regs *)(fregs))

#endif /* __ASSEMBLER__ */
#endif /* _ASM_S390_FGRAPH_H */
