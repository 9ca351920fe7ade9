/* SPDX-License-Identifier: GPL-2.0 */
/* The members of struct fgraph_ops that the core uses, and the registers at entry. */
#ifndef _FAKE_LINUX_FTRACE_H
#define _FAKE_LINUX_FTRACE_H

#include "../fake.h"
#include "../../../../include/linux/fgraph_frame.h"

#define CONFIG_FUNCTION_GRAPH_TRACER
#define CONFIG_FUNCTION_GRAPH_RETVAL

struct ftrace_graph_ent {
	unsigned long		func;
	long			depth;
} __packed;

struct ftrace_graph_ret {
	unsigned long		func;
	unsigned long		retval;
	int			depth;
	unsigned int		overrun;
} __packed;

struct ftrace_ops {
	void			*func_hash;
};

struct fgraph_ops {
	int			(*entryfunc)(struct ftrace_graph_ent *ent, struct fgraph_ops *gops,
					     struct ftrace_regs *fregs);
	void			(*retfunc)(struct ftrace_graph_ret *ret, struct fgraph_ops *gops,
					   struct ftrace_regs *fregs);
	int			idx;
	bool			stateless;
	bool			task_var;
	fgraph_entry_t		on_entry;
	fgraph_return_t		on_return;
	struct ftrace_ops	ops;
	size_t			data_size;
	unsigned int		flags;
	const char		*name;
	struct fgraph_user	user;
};

static inline bool ftrace_graph_is_dead(void)
{
	return false;
}

#define __arch_ftrace_regs	ftrace_regs
#define arch_ftrace_regs(fregs)	(fregs)

#endif /* _FAKE_LINUX_FTRACE_H */
