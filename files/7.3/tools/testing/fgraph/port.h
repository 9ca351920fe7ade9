/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests need that differs between kernels. */
#ifndef _PORT_H
#define _PORT_H

#include <linux/fgraph.h>

/* Make registers look as the full trampoline leaves them: fgraph_get_regs() looks at one. */
static inline void set_full(struct pt_regs *regs)
{
#ifdef __x86_64__
	regs->cs = 0x10;
#else
	regs->pstate = 5;
#endif
}

/* The size of struct fgraph_regs on the stack of the light trampoline, in bytes. */
#define LIGHT_REGS_SIZE	sizeof(struct fgraph_regs)

/* Sets what fgraph_return_value() gives for the registers of the light trampoline. */
static inline void set_return_value(struct fgraph_regs *regs, unsigned long value)
{
	regs_return_value(&regs->regs) = value;
}

#endif /* _PORT_H */
