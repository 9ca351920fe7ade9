// SPDX-License-Identifier: GPL-2.0
/*
 * The readers of order.c. Built with copies of fgraph_stack.[ch], see order.sed, in which each load
 * of memory that other CPUs write is a READ_ONCE(), and that is order_load() here. The Makefile
 * keeps their functions local.
 */
#include "fake.h"
#include "order.h"

#undef READ_ONCE
#define READ_ONCE(x)	((__typeof__(x))order_load((const unsigned long *)&(x)))

#include "fgraph_stack.c"

/* What detach_stack() asks. */
bool order_read_empty(struct fgraph_stack **place)
{
	struct fgraph_stack *st = READ_ONCE(*place);

	return st && fgraph_stack_empty(st);
}

/* What fgraph_ret_addr() does for another task. */
bool order_read_find(struct fgraph_stack **place, unsigned long *retp)
{
	struct fgraph_stack *st = READ_ONCE(*place);
	unsigned long cursor = 0;

	return st && fgraph_stack_find(st, &cursor, retp, retp);
}
