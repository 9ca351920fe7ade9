/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_POWERPC_FGRAPH_H
#define _ASM_POWERPC_FGRAPH_H

#define fgraph_link_register(r)		((r)->link)
#include <asm-generic/fgraph.h>

#ifndef __ASSEMBLER__

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
/* return_to_handler has saved the stack pointer, which identifies the call that returns. */
#define fgraph_light_retp(fregs)	fgraph_retp((struct pt_regs *)(fregs))
#endif

unsigned long fgraph_return_full(struct pt_regs *regs);

#endif /* __ASSEMBLER__ */
#endif /* _ASM_POWERPC_FGRAPH_H */
