/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_RISCV_FGRAPH_H
#define _ASM_RISCV_FGRAPH_H

#define fgraph_link_register(r)		((r)->ra)
#include <asm-generic/fgraph.h>

/* The size of a trampoline's frame record, in bytes, so that the stack pointer stays aligned */
#define FGRAPH_RECORD_SIZE	16

#ifndef __ASSEMBLER__

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
/*
 * The stack pointer above what return_to_handler has saved, registers and a frame record,
 * identifies the call that returns.
 */
#define fgraph_light_retp(fregs)	((unsigned long *)((void *)(fregs) + FGRAPH_RECORD_SIZE + \
					 ALIGN(sizeof(struct __arch_ftrace_regs), STACK_ALIGN)))

#define FGRAPH_OWN_FTRACE_REGS
/* What callbacks get that only need the registers which ftrace saves. */
static __always_inline struct __arch_ftrace_regs fgraph_own_ftrace_regs(struct pt_regs *regs)
{
	return (struct __arch_ftrace_regs) {
		.epc	= regs->epc,
		.ra	= regs->ra,
		.sp	= regs->sp,
		.s0	= regs->s0,
		.a0	= regs->a0,
		.a1	= regs->a1,
	};
}
#endif

#endif /* __ASSEMBLER__ */
#endif /* _ASM_RISCV_FGRAPH_H */
