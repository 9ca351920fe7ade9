/* SPDX-License-Identifier: GPL-2.0 */
/* fgraph: the memory for shadow stacks, available in any context. */
#ifndef _FGRAPH_RESERVE_H
#define _FGRAPH_RESERVE_H

#include <linux/types.h>

struct fgraph_stack;

int fgraph_reserve_get(size_t data_size);
void fgraph_reserve_put(size_t data_size);
void fgraph_trim_unused(void);

struct fgraph_stack *fgraph_stack_make(void);

/**
 * struct fgraph_usage - memory of fgraph, in use and in reserve
 * @stacks:	number of shadow stacks
 * @chunks:	number of chunks in the shadow stacks
 * @bytes:	size of the shadow stacks
 * @reserve_chunks: number of chunks in the reserves of all CPUs
 * @reserve_bytes: size of the reserves of all CPUs
 */
struct fgraph_usage {
	unsigned long	stacks;
	unsigned long	chunks;
	unsigned long	bytes;
	unsigned long	reserve_chunks;
	unsigned long	reserve_bytes;
};

void fgraph_usage(struct fgraph_usage *usage);

#endif /* _FGRAPH_RESERVE_H */
