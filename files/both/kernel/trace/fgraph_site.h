/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: the users of a function, for those who call them when it is entered.
 */
#ifndef _FGRAPH_SITE_H
#define _FGRAPH_SITE_H

#include <linux/compiler.h>
#include <linux/ftrace.h>

#include "fgraph_internal.h"
#include "ftrace_internal.h"

/* Links memory that readers may still use, until it is freed. First member of its object. */
struct fgraph_old {
	struct fgraph_old	*next;
};

/**
 * struct fgraph_site - the users that want the calls of a function
 * @old:	links sites that are to be freed
 * @only:	the user, if it is the only one, fgraph_is_simple() and its filter need not be
 *		looked up, else NULL
 * @nr:		number of elements of @users in use
 * @room:	number of elements that fit into @users
 * @holes:	number of elements that are fgraph_nobody of fgraph_ftrace.c
 * @simple:	fgraph_is_simple() is true for all users
 * @look_up:	the filter of each user must be looked up; only in the list of wide users
 * @users:	the users, oldest first
 *
 * Users are only appended to @users while readers may see it. A user that goes is replaced by
 * fgraph_nobody, or the site by a copy.
 */
struct fgraph_site {
	struct fgraph_old	old;
	struct fgraph_ops	*only;
	unsigned int		nr;
	unsigned int		room;
	unsigned int		holes;
	bool			simple;
	bool			look_up;
	struct fgraph_ops	*users[];
};

/* The newest of the first *@nr users whose filter has the function, or NULL. */
static __always_inline struct fgraph_ops *fgraph_next_wide(struct fgraph_ops **users,
							   unsigned int *nr, unsigned long ip)
{
	while (*nr) {
		struct fgraph_ops *gops = READ_ONCE(users[--*nr]);
		struct ftrace_ops *filter = fgraph_filter(gops);

		if (!filter || ftrace_ops_test(filter, ip, gops))
			return gops;
	}
	return NULL;
}

/*
 * The users of a function, if architectures call function_graph_enter_regs(). For any context, with
 * preemption disabled. Of fgraph_ftrace.c, or of fgraph_static.c.
 */
struct fgraph_site *fgraph_find_site(unsigned long func);

#endif /* _FGRAPH_SITE_H */
