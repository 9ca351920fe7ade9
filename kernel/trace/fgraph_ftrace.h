/* SPDX-License-Identifier: GPL-2.0 */
/* Users of fgraph whom ftrace calls. */
#ifndef _FGRAPH_FTRACE_H
#define _FGRAPH_FTRACE_H

struct fgraph_ops;
struct ftrace_ops_hash;

/* What ftrace tells, with ftrace_lock held. */
#ifdef CONFIG_FGRAPH_FTRACE
#define FGRAPH_NR_FTRACE_OPS	2

/* Who is called by ftrace: indexed by whether all registers are saved. */
extern struct ftrace_ops fgraph_ftrace_ops[FGRAPH_NR_FTRACE_OPS];

int fgraph_filter_changed(struct ftrace_ops_hash *hash);
void fgraph_forget_functions(unsigned long start, unsigned long end);

int fgraph_add_function(struct fgraph_ops *gops);
void fgraph_remove_function(struct fgraph_ops *gops);
#else
static inline int fgraph_filter_changed(struct ftrace_ops_hash *hash) { return 0; }
static inline void fgraph_forget_functions(unsigned long start, unsigned long end) { }
#endif

#endif /* _FGRAPH_FTRACE_H */
