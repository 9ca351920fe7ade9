/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_ARM64_FGRAPH_H
#define _ASM_ARM64_FGRAPH_H

/*
 * Bytes of instructions at the start of each trampoline, before x29 points to
 * its frame record.
 */
#define FGRAPH_PROLOGUE_SIZE	20

/* An interrupted pc up to here stands for the trampoline. */
#define FGRAPH_TRAMPOLINE_SPAN	(FGRAPH_PROLOGUE_SIZE - 4)

/* struct fgraph_regs, as the light trampoline makes it. */
#define FGRAPH_REGS_VALUE	16
#define FGRAPH_REGS_SIZE	80

#ifndef __ASSEMBLY__

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <asm/ptrace.h>

/* What a hooked function returns to; not functions that C may call. */
void fgraph_trampoline_light(void);
void fgraph_trampoline_full(void);

/**
 * struct fgraph_regs - registers of a function that returns
 * @full:	full trampoline: all registers, else NULL
 * @unused:	keeps the stack aligned
 * @value:	light trampoline: the return registers, x0 to x7
 *
 * Use fgraph_return_value() and fgraph_get_regs().
 */
struct fgraph_regs {
	struct pt_regs	*full;
	unsigned long	unused;
	unsigned long	value[];
};

static_assert(offsetof(struct fgraph_regs, value) == FGRAPH_REGS_VALUE);
static_assert(offsetof(struct fgraph_regs, value[8]) == FGRAPH_REGS_SIZE);

/* The second return register. */
static __always_inline unsigned long fgraph_full_value_high(struct pt_regs *regs)
{
	return regs->regs[1];
}

/*
 * What stands for the place of the return address, which is in a register: the
 * stack pointer at entry, which it is again right after the return. Unlike the
 * caller's x29, it differs from that of calls further out even if assembly made
 * no frame record: it had to put its own return address somewhere.
 */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)regs->sp;
}

/* Where the return address is, for a function that was just entered. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return (unsigned long *)&regs->regs[30];
}

/* Wherever C runs, current can be had. */
static __always_inline bool fgraph_retp_valid(unsigned long *retp)
{
	return true;
}

/* Complete what the full trampoline saved, before any callback sees it. */
static __always_inline void fgraph_fixup_regs(struct pt_regs *regs,
					      unsigned long ret)
{
	regs->pc = ret;
	regs->regs[30] = ret;
}

/*
 * Where an unwinder finds the return address while a trampoline runs: in its
 * frame record, which is right below the caller's stack.
 */
static __always_inline unsigned long *fgraph_record_place(unsigned long *retp)
{
	return retp - 1;
}

/* The caller's stack pointer: behind the registers and the frame record. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1) + 2;
}

#endif /* __ASSEMBLY__ */
#endif /* _ASM_ARM64_FGRAPH_H */
