// SPDX-License-Identifier: GPL-2.0
/* The callbacks of the model's users. Like the core, they are interrupted at each instruction. */
#include "fgraph_hook.h"
#include "model.h"

/* A function of its own, as the caller of an inline function would not be interrupted. */
noinline void model_hook_one(struct fgraph_ops *gops, unsigned long func,
			     struct ftrace_regs *fregs)
{
	fgraph_hook_one(gops, func, fregs);
}

static __always_inline void write_data(const struct entry *e, void *data)
{
	size_t stride = model_data_stride(e), i;

	for (i = 0; i < e->size / sizeof(long); i += stride)
		WRITE_ONCE(((unsigned long *)data)[i], model_data(e, i));
}

int model_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		struct ftrace_regs *fregs)
{
	struct entry *e = model_entered(gops, frame, data, fregs);

	write_data(e, data);
	model_callback(e->refused);
	return !e->refused || !gops->retfunc;
}

void model_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		  struct fgraph_regs *regs)
{
	struct entry *e = model_returned(gops, frame, data, regs);
	bool silent = container_of(gops, struct user, gops)->silent;
	struct fgraph_ops *users[4];
	void *parent;
	int nr;

	/* A silent user had no entry callback to write its data. */
	if (silent)
		write_data(e, data);
	if (container_of(gops, struct user, gops)->ask) {
		parent = fgraph_parent_data(gops, frame);
		nr = fgraph_frame_users(frame, users, ARRAY_SIZE(users));
		model_asked(gops, frame, parent, users, nr);
	}
	model_callback(true);
	if (silent)
		model_kept(e);
}
