/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_ARM64_FGRAPH_REGS_H
#define _ASM_ARM64_FGRAPH_REGS_H

/* Where struct fgraph_regs has x0, and its size, for the light trampoline. */
#define FGRAPH_REGS_X0		S_X0
#define FGRAPH_REGS_SIZE	PT_REGS_SIZE

#ifndef __ASSEMBLER__

#include <linux/compiler_types.h>
#include <linux/stddef.h>
#include <asm/ptrace.h>

/**
 * struct fgraph_regs - registers of a function that returns
 * @regs:	all registers, if the call returned to the full trampoline; else only x0 to x7,
 *		x29, x30, sp and pc are valid, and pstate is 0. This is what struct ftrace_regs
 *		holds, too
 *
 * Callbacks use fgraph_return_value() and fgraph_get_regs().
 */
struct fgraph_regs {
	struct pt_regs	regs;
};

/**
 * fgraph_get_regs() - all registers of a function that returns
 * @regs:	the registers that were passed to the return callback
 *
 * The program counter is the real return address, and the stack pointer has the value
 * that it will have there. The callback may write general registers, so the return value,
 * and flags; changes of other members have no effect.
 *
 * Context: return callbacks.
 *
 * Return: the registers; NULL if no user of the frame has FGRAPH_FULL_REGS.
 */
static __always_inline struct pt_regs *fgraph_get_regs(struct fgraph_regs *regs)
{
	return regs->regs.pstate ? &regs->regs : NULL;
}

/**
 * fgraph_return_value() - the return value of a function
 * @regs:	the registers that were passed to the return callback
 *
 * Context: return callbacks.
 *
 * Return: the first return register.
 */
static __always_inline unsigned long fgraph_return_value(struct fgraph_regs *regs)
{
	return regs->regs.regs[0];
}

/**
 * fgraph_return_value_high() - the upper half of a return value of two registers
 * @regs:	the registers that were passed to the return callback
 *
 * Context: return callbacks.
 *
 * Return: the second return register, for types that take two.
 */
static __always_inline unsigned long fgraph_return_value_high(struct fgraph_regs *regs)
{
	return regs->regs.regs[1];
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_ARM64_FGRAPH_REGS_H */
