/* SPDX-License-Identifier: GPL-2.0 */
/* The members of struct fgraph_ops that the core uses, and the registers at entry. */
#ifndef _FAKE_LINUX_FTRACE_H
#define _FAKE_LINUX_FTRACE_H

#include "../fake.h"
#include "../../../../include/linux/fgraph_frame.h"

struct ftrace_ops {
	void			*func_hash;
};

struct fgraph_ops {
	fgraph_entry_t		entryfunc;
	fgraph_return_t		retfunc;
	struct ftrace_ops	ops;
	size_t			data_size;
	unsigned int		flags;
	const char		*name;
	struct fgraph_user	user;
};

#define __arch_ftrace_regs	ftrace_regs
#define arch_ftrace_regs(fregs)	(fregs)

#endif /* _FAKE_LINUX_FTRACE_H */
