/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_ARM64_FGRAPH_REGS_H
#define _ASM_ARM64_FGRAPH_REGS_H

/* Where struct fgraph_regs has x0, and its size, for the light trampoline. */
#define FGRAPH_REGS_X0		S_X0
#define FGRAPH_REGS_SIZE	PT_REGS_SIZE

#ifndef __ASSEMBLER__

#include <linux/compiler_types.h>
#include <asm/ptrace.h>

/*
 * Has the full trampoline saved the registers of a return? After the light one only x0 to x7,
 * x29, x30, sp and pc are valid, and pstate is 0.
 */
static __always_inline bool fgraph_regs_full(const struct pt_regs *regs)
{
	return regs->pstate;
}

/* The first return register. */
static __always_inline unsigned long fgraph_regs_value(const struct pt_regs *regs)
{
	return regs->regs[0];
}

/* The second return register. */
static __always_inline unsigned long fgraph_regs_value_high(const struct pt_regs *regs)
{
	return regs->regs[1];
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_ARM64_FGRAPH_REGS_H */
