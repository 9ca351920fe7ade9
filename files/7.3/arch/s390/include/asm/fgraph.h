/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_S390_FGRAPH_H
#define _ASM_S390_FGRAPH_H

#define fgraph_link_register(r)		((r)->gprs[14])
#include <asm-generic/fgraph.h>

#ifndef __ASSEMBLER__

/* return_to_handler has saved the stack pointer, which identifies the call that returns. */
#define fgraph_light_retp(fregs)	fgraph_retp((struct pt_regs *)(fregs))

#endif /* __ASSEMBLER__ */
#endif /* _ASM_S390_FGRAPH_H */
