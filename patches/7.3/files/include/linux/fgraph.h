/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: callbacks at the entry and at the return of functions.
 *
 * A user is a struct fgraph_ops, which is in ftrace.h with the functions for users. The core
 * of fgraph includes this header.
 */
#ifndef _LINUX_FGRAPH_H
#define _LINUX_FGRAPH_H

#include <linux/fgraph_frame.h>
#include <linux/ftrace.h>

#endif /* _LINUX_FGRAPH_H */
