/* SPDX-License-Identifier: GPL-2.0 */
/* What the KUnit tests of fgraph need of the interface, which differs between kernels. */
#ifndef _FGRAPH_KUNIT_BASE_H
#define _FGRAPH_KUNIT_BASE_H

#include <linux/fgraph.h>

/* A return callback that does nothing. */
static inline void take_nothing(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				void *data, struct fgraph_regs *regs)
{
}

#endif /* _FGRAPH_KUNIT_BASE_H */
