/* SPDX-License-Identifier: GPL-2.0 */
/* Readers on other CPUs, which see the stores of the core late: step.c, order.c, order-reader.c */
#ifndef _ORDER_H
#define _ORDER_H

#include <stddef.h>
#include <linux/types.h>

struct fgraph_stack;

/**
 * struct order_counts - what was done
 * @stores:	number of stores to shadow stacks
 * @reads:	how often a reader has read a stack
 */
struct order_counts {
	unsigned long	stores;
	unsigned long	reads;
};

void order_begin(struct order_counts *counts);
void order_point(void);
/* Which reader runs, and what it does not see. */
void order_describe(char *buf, size_t size);

/* A load of a reader. */
unsigned long order_load(const unsigned long *word);

/* order-reader.c: the readers. @place is &task_struct.fgraph_stack. */
bool order_read_empty(struct fgraph_stack **place);
bool order_read_find(struct fgraph_stack **place, unsigned long *retp);

#endif /* _ORDER_H */
