/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_FGRAPH_H
#define _ASM_X86_FGRAPH_H

/*
 * A trampoline begins with a CALL of 5 bytes. It stores the address behind itself where the
 * return address was, and the next instruction overwrites that by the trampoline's address. An
 * interrupt in between finds the former, so an address up to 5 bytes behind the trampoline's
 * start stands for the trampoline.
 */
#define FGRAPH_TRAMPOLINE_SPAN	5

#ifndef __ASSEMBLER__

#include <linux/compiler_types.h>
#include <linux/stddef.h>
#include <asm/ptrace.h>

/* The addresses that hooked functions return to. C must not call them. */
void fgraph_trampoline_light(void);
void fgraph_trampoline_full(void);

/**
 * struct fgraph_regs - registers of a function that returns
 * @regs:	all registers, if the call returned to the full trampoline; else only ax, dx, bp,
 *		sp and ip are valid, and cs is 0. This is what struct ftrace_regs holds, too
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
 * The instruction pointer is the real return address, and the stack pointer has the value
 * that it will have there. The callback may write general registers, so the return value,
 * and flags; changes of other members have no effect.
 *
 * Context: return callbacks.
 *
 * Return: the registers; NULL if no user of the frame has FGRAPH_FULL_REGS.
 */
static __always_inline struct pt_regs *fgraph_get_regs(struct fgraph_regs *regs)
{
	return regs->regs.cs ? &regs->regs : NULL;
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
	return regs->regs.ax;
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
	return regs->regs.dx;
}

/*
 * The place of the return address, which identifies a call: at the entry of a function it is
 * on top of the stack.
 */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)regs->sp;
}

/* Where the return address of a function is found at its entry. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return fgraph_retp(regs);
}

/*
 * On resume from suspend-to-RAM, functions may be called where per-CPU variables, and so
 * current, are not accessible yet. The stack pointer is then a physical address.
 */
static __always_inline bool fgraph_retp_valid(unsigned long *retp)
{
	return (long)retp < 0;
}

/* Complete the registers of the full trampoline before callbacks see them. */
static __always_inline void fgraph_fixup_regs(struct pt_regs *regs,
					      unsigned long ret)
{
	regs->ip = ret;
}

/* Where an unwinder finds the return address while a trampoline runs. */
static __always_inline unsigned long *fgraph_record_place(unsigned long *retp)
{
	return retp;
}

/* fgraph_retp() of the call, for the full trampoline: right above the saved registers. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1);
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_X86_FGRAPH_H */
