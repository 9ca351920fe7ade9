/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_FGRAPH_REGS_H
#define _ASM_X86_FGRAPH_REGS_H

/* The size of struct fgraph_regs on the stack of the light trampoline, in bytes. */
#define FGRAPH_REGS_SIZE	24

#ifndef __ASSEMBLER__

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <asm/ptrace.h>

/**
 * struct fgraph_regs - registers of a function that returns
 * @full:	all registers, if the call returned to the full trampoline, else NULL
 * @value:	the return registers rax and rdx, if @full is NULL
 *
 * Callbacks use fgraph_return_value() and fgraph_get_regs().
 */
struct fgraph_regs {
	struct pt_regs	*full;
	unsigned long	value[];
};

static_assert(offsetof(struct fgraph_regs, value[2]) == FGRAPH_REGS_SIZE);

/* The second return register. */
static __always_inline unsigned long fgraph_full_value_high(struct pt_regs *regs)
{
	return regs->dx;
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_X86_FGRAPH_REGS_H */
