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

/* Sets the callbacks of the model's user number @n. */
static inline void base_set_callbacks(struct fgraph_ops *gops, int n, fgraph_entry_t entryfunc,
				      fgraph_return_t retfunc)
{
	fgraph_set_callbacks(gops, entryfunc, retfunc);
}

/* Called after a user has been registered. */
static inline void base_registered(struct fgraph_ops *gops)
{
}

/* The size of the private data that callbacks of a user get, in bytes. */
static inline size_t base_data_size(const struct fgraph_ops *gops)
{
	return gops->data_size;
}

/* What fgraph_parent_data() gives, as the callbacks of the surrounding call got it. */
static inline void *base_parent_data(struct fgraph_ops *gops, const struct fgraph_frame *frame)
{
	return fgraph_parent_data(gops, frame);
}

#endif /* _PORT_H */
