/* SPDX-License-Identifier: GPL-2.0 */
/* fgraph: users that are called by ftrace. */
#ifndef _FGRAPH_FTRACE_H
#define _FGRAPH_FTRACE_H

#include <linux/list.h>

struct fgraph_frame;
struct fgraph_ops;
struct fgraph_regs;
struct ftrace_ops;
struct ftrace_ops_hash;
struct ftrace_regs;

#ifdef CONFIG_FGRAPH_STUBS
unsigned long fgraph_stub_address(const struct ftrace_ops *op, unsigned long ip);
#else
static inline unsigned long fgraph_stub_address(const struct ftrace_ops *op, unsigned long ip)
{
	return 0;
}
#endif

#ifdef CONFIG_FGRAPH_FTRACE
/* The users of fgraph_add_filter(). Protected by ftrace_lock. */
extern struct list_head fgraph_filter_users;

/* Called by ftrace, with ftrace_lock held. */
int fgraph_filter_changed(struct ftrace_ops_hash *hash);
void fgraph_forget_functions(unsigned long start, unsigned long end);
struct fgraph_ops *fgraph_next_user(unsigned long ip, unsigned int *pos);

int fgraph_add_function(struct fgraph_ops *gops, bool commit);
void fgraph_remove_function(struct fgraph_ops *gops, bool commit);
int fgraph_commit_functions(void);
void fgraph_commit_removals(void);

/* For the KUnit tests: fgraph_dispatcher_kunit.h */
struct ftrace_ops *fgraph_dispatcher_ops(bool regs);
const char *fgraph_check_dispatchers(void);
#else
static inline int fgraph_filter_changed(struct ftrace_ops_hash *hash) { return 0; }
static inline void fgraph_forget_functions(unsigned long start, unsigned long end) { }
static inline int fgraph_commit_functions(void) { return 0; }
static inline void fgraph_commit_removals(void) { }
#endif

/* fgraph_ftrace.c, or fgraph_static.c */
int fgraph_add_filter(struct fgraph_ops *gops);
void fgraph_remove_filter(struct fgraph_ops *gops);

/* Of the architecture or the linker script: does nothing */
void ftrace_stub_graph(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		       struct fgraph_regs *regs);

#endif /* _FGRAPH_FTRACE_H */
