/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_FGRAPH_H
#define _ASM_X86_FGRAPH_H

#ifdef CONFIG_X86_32
#include <asm-generic/fgraph.h>
#else
#include <asm/fgraph_regs.h>

/*
 * A trampoline begins with a CALL of 5 bytes. It stores the address behind itself where the
 * return address was, and the next instruction overwrites that by the trampoline's address. An
 * interrupt in between finds the former, so an address up to 5 bytes behind the trampoline's
 * start stands for the trampoline.
 */
#define FGRAPH_TRAMPOLINE_SPAN	5
#endif

#ifndef __ASSEMBLER__

#include <linux/compiler.h>
#include <asm/ptrace.h>

#ifdef CONFIG_X86_64
/* The addresses that hooked functions return to. C must not call them. */
void fgraph_trampoline_light(void);
void fgraph_trampoline_full(void);
#elif defined(CONFIG_HAVE_FUNCTION_GRAPH_FREGS)
/* Above the registers, return_to_handler has a frame record where the return address was. */
#define fgraph_light_retp(fregs)	((unsigned long *)((struct pt_regs *)(fregs) + 1) + 1)
#else
/* return_to_handler passes the place where the return address was. */
#define fgraph_light_retp(place)	((unsigned long *)(place))
#endif

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

#ifdef CONFIG_X86_64
/* Put the return address back where an unwinder finds it while a trampoline runs. */
static __always_inline void fgraph_restore(unsigned long *retp, unsigned long ret)
{
	WRITE_ONCE(*fgraph_record_place(retp), ret);
}
#endif

/* fgraph_retp() of the call, for the full trampoline: right above the saved registers. */
static __always_inline unsigned long *fgraph_full_retp(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1);
}

#endif /* __ASSEMBLER__ */
#endif /* _ASM_X86_FGRAPH_H */
