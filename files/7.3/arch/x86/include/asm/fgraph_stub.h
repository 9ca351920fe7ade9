/* SPDX-License-Identifier: GPL-2.0 */
/* The stubs of fgraph, see arch/x86/kernel/fgraph_stub.c. */
#ifndef _ASM_X86_FGRAPH_STUB_H
#define _ASM_X86_FGRAPH_STUB_H

#define FGRAPH_STUB_SIZE	64
/* Where a stub begins, it calls fgraph_stub_enter, whose return address is this. */
#define FGRAPH_STUB_ENTERED	5
/* At the end of a stub is the address of the function's call to ftrace, of 8 bytes. */
#define FGRAPH_STUB_IP		(FGRAPH_STUB_SIZE - 8)

/* What fgraph_stub_enter has saved besides struct pt_regs, in words; see fgraph_stub_64.S. */
#ifdef CONFIG_FRAME_POINTER
#define FGRAPH_STUB_RECORDS	5
#else
#define FGRAPH_STUB_RECORDS	0
#endif

#ifndef __ASSEMBLER__

#include <linux/compiler.h>
#include <asm/ptrace.h>

/* The place of the function's return address, for fgraph_stub_entered(). */
static __always_inline unsigned long *fgraph_stub_retp(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1) + FGRAPH_STUB_RECORDS + 1;
}

/*
 * Complete the registers that fgraph_stub_enter has saved: the arguments, ax and bp. Callbacks get
 * what ftrace_caller saves, and @ip, where the function goes on.
 */
static __always_inline void fgraph_stub_complete_regs(struct pt_regs *regs, unsigned long ip)
{
	regs->orig_ax = 0;
	regs->ip = ip;
	regs->cs = 0;
	regs->sp = (unsigned long)fgraph_stub_retp(regs);
}

/* Only stubs call these. */
void fgraph_stub_enter(void);
void fgraph_stub_leave_light(void);
void fgraph_stub_leave_full(void);

#endif /* __ASSEMBLER__ */
#endif /* _ASM_X86_FGRAPH_STUB_H */
