/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests need that differs between kernels. */
#ifndef _PORT_H
#define _PORT_H

#include <linux/fgraph.h>
#include "fgraph_internal.h"

/* Make registers look as the full trampoline leaves them: &fgraph_regs.full says so here. */
static inline void set_full(struct pt_regs *regs)
{
}

/* The size of struct fgraph_regs on the stack of the light trampoline, in bytes. */
#define LIGHT_REGS_SIZE	FGRAPH_REGS_SIZE

/* Sets what fgraph_return_value() gives for the registers of the light trampoline. */
static inline void set_return_value(struct fgraph_regs *regs, unsigned long value)
{
	regs->value[0] = value;
}

#endif /* _PORT_H */
