/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_ARM64_FGRAPH_H
#define _ASM_ARM64_FGRAPH_H

#include <asm/fgraph_regs.h>

/*
 * The size in bytes of the instructions at the start of each trampoline, after which x29
 * points to the trampoline's frame record.
 */
#define FGRAPH_PROLOGUE_SIZE	20

/*
 * An unwinder that starts at a pc within the first instructions finds no frame record of the
 * trampoline yet. So a pc up to this many bytes behind its start stands for the trampoline.
 */
#define FGRAPH_TRAMPOLINE_SPAN	(FGRAPH_PROLOGUE_SIZE - 4)

#ifndef __ASSEMBLER__

#include <linux/compiler.h>
#include <asm/ptrace.h>

/* The addresses that hooked functions return to. C must not call them. */
void fgraph_trampoline_light(void);
void fgraph_trampoline_full(void);

/*
 * The value that identifies a call on its machine stack, as its return address is in a
 * register: the stack pointer at entry, which is the same right after the return. It differs
 * between nested calls even if the caller is assembly that made no frame record, unlike x29:
 * the caller has stored its own return address on the stack.
 */
static __always_inline unsigned long *fgraph_retp(struct pt_regs *regs)
{
	return (unsigned long *)regs->sp;
}

/* Where the return address of a function is found at its entry. */
static __always_inline unsigned long *fgraph_entry_place(struct pt_regs *regs)
{
	return (unsigned long *)&regs->regs[30];
}

/* On arm64, current is valid wherever C runs. */
static __always_inline bool fgraph_retp_valid(unsigned long *retp)
{
	return true;
}

/* Complete the registers of the full trampoline before callbacks see them. */
static __always_inline void fgraph_fixup_regs(struct pt_regs *regs,
					      unsigned long ret)
{
	regs->pc = ret;
	regs->regs[30] = ret;
}

/*
 * Where an unwinder finds the return address while a trampoline runs: in the trampoline's
 * frame record, which is right below the caller's stack pointer.
 */
static __always_inline unsigned long *fgraph_record_place(unsigned long *retp)
{
	return retp - 1;
}

/* Put the return address back where an unwinder finds it while a trampoline runs. */
static __always_inline void fgraph_restore(unsigned long *retp, unsigned long ret)
{
	WRITE_ONCE(*fgraph_record_place(retp), ret);
}

/* fgraph_retp() of the call, for the full trampoline: behind its registers and frame record. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1) + 2;
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_ARM64_FGRAPH_H */
