/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_FGRAPH_REGS_H
#define _ASM_X86_FGRAPH_REGS_H

#ifndef __ASSEMBLER__

#include <linux/compiler_types.h>
#include <asm/ptrace.h>

/*
 * Has the full trampoline saved the registers of a return? After the light one only ax, dx, bp,
 * sp and ip are valid, and cs is 0.
 */
static __always_inline bool fgraph_regs_full(const struct pt_regs *regs)
{
	return regs->cs;
}

/* The first return register. */
static __always_inline unsigned long fgraph_regs_value(const struct pt_regs *regs)
{
	return regs->ax;
}

/* The second return register. */
static __always_inline unsigned long fgraph_regs_value_high(const struct pt_regs *regs)
{
	return regs->dx;
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_X86_FGRAPH_REGS_H */
