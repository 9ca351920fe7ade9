/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_FGRAPH_H
#define _ASM_X86_FGRAPH_H

/*
 * A trampoline begins with a CALL of 5 bytes, that puts the address behind
 * itself where the trampoline's address was. An unwinder that interrupts just
 * there finds that address: any up to 5 bytes in stands for the trampoline.
 */
#define FGRAPH_TRAMPOLINE_SPAN	5

/* struct fgraph_regs, as the light trampoline makes it. */
#define FGRAPH_REGS_SIZE	24

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
 * @value:	light trampoline: the return registers, rax and rdx
 *
 * Use fgraph_return_value() and fgraph_get_regs().
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

/*
 * The place of the return address, for a function that was just entered: the
 * return address is on top of the stack.
 */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)regs->sp;
}

/* Where the return address is, for a function that was just entered. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return fgraph_retp(regs);
}

/*
 * On resume from suspend-to-RAM functions may be called in real mode, where
 * current is not to be had. The stack is then at a physical address.
 */
static __always_inline bool fgraph_retp_valid(unsigned long *retp)
{
	return (long)retp < 0;
}

/* Complete what the full trampoline saved, before any callback sees it. */
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

/* The slot of the return address is right above the saved registers. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1);
}

#endif /* __ASSEMBLY__ */
#endif /* _ASM_X86_FGRAPH_H */
