/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: callbacks at the entry and at the return of functions.
 *
 * A user is a struct fgraph_ops, which is in ftrace.h. Its callbacks for fgraph are
 * &fgraph_ops.on_entry and &fgraph_ops.on_return. However many users want the return of a
 * call, its return address is replaced once.
 */
#ifndef _LINUX_FGRAPH_H
#define _LINUX_FGRAPH_H

#include <linux/fgraph_frame.h>
#include <linux/ftrace.h>

#ifdef CONFIG_FGRAPH
#include <asm/fgraph.h>

void *fgraph_parent_data(struct fgraph_ops *gops,
			 const struct fgraph_frame *frame);
int fgraph_frame_users(const struct fgraph_frame *frame, struct fgraph_ops **users, int max);

/**
 * fgraph_missed() - how many calls was a user not told of?
 * @gops:	the user
 * @why:	the cause
 *
 * Context: any.
 *
 * Return: the number of calls missed for this cause since the user was registered.
 */
static inline unsigned long fgraph_missed(const struct fgraph_ops *gops, enum fgraph_miss why)
{
	return atomic_long_read(&gops->user.missed[why]);
}
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_H */
