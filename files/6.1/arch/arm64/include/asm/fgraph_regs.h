/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_ARM64_FGRAPH_REGS_H
#define _ASM_ARM64_FGRAPH_REGS_H

/* The layout of struct fgraph_regs for the light trampoline, in bytes. */
#define FGRAPH_REGS_X0		16
#define FGRAPH_REGS_SIZE	80

#ifndef __ASSEMBLER__

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <asm/ptrace.h>

/**
 * struct fgraph_regs - registers of a function that returns
 * @full:	all registers, if the call returned to the full trampoline, else NULL
 * @unused:	keeps the stack pointer aligned
 * @value:	the return registers x0 to x7, if @full is NULL
 *
 * Callbacks use fgraph_return_value() and fgraph_get_regs().
 */
struct fgraph_regs {
	struct pt_regs	*full;
	unsigned long	unused;
	unsigned long	value[];
};

static_assert(offsetof(struct fgraph_regs, value) == FGRAPH_REGS_X0);
static_assert(offsetof(struct fgraph_regs, value[8]) == FGRAPH_REGS_SIZE);

/* The second return register. */
static __always_inline unsigned long fgraph_full_value_high(struct pt_regs *regs)
{
	return regs->regs[1];
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_ARM64_FGRAPH_REGS_H */
