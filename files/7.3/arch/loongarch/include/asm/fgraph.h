/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_LOONGARCH_FGRAPH_H
#define _ASM_LOONGARCH_FGRAPH_H

#define fgraph_link_register(r)		((r)->regs[1])
#include <asm-generic/fgraph.h>

#ifndef __ASSEMBLER__

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
/* The stack pointer above what return_to_handler has saved identifies the call that returns. */
#define fgraph_light_retp(fregs)	((unsigned long *)((struct pt_regs *)(fregs) + 1))
#endif

#endif /* __ASSEMBLER__ */
#endif /* _ASM_LOONGARCH_FGRAPH_H */
