// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph without dynamic ftrace: each function calls function_graph_enter() as long as there is a
 * user, there are no filters, and each user gets each call.
 *
 * The writers hold fgraph_static_mutex. Readers are in any context, with preemption disabled.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "fgraph_ftrace.h"
#include "fgraph_hook.h"
#include "fgraph_internal.h"

/**
 * struct fgraph_all - the users
 * @nr:		number of @users
 * @users:	the users, oldest first
 */
struct fgraph_all {
	unsigned int		nr;
	struct fgraph_ops	*users[];
};

static struct fgraph_all __rcu *fgraph_all;
static DEFINE_MUTEX(fgraph_static_mutex);

int ftrace_graph_entry_stub(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			    void *data, struct ftrace_regs *fregs)
{
	return 0;
}

static int fgraph_static_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			       void *data, struct ftrace_regs *fregs)
{
	return 0;
}

/* Architectures compare these with ftrace_stub_graph and ftrace_graph_entry_stub. */
fgraph_return_t ftrace_graph_return = ftrace_stub_graph;
fgraph_entry_t ftrace_graph_entry = ftrace_graph_entry_stub;

/* See fgraph_hook_entry() of fgraph_ftrace.c. */
void fgraph_hook_entry(unsigned long func, unsigned long *place, unsigned long *retp,
		       struct ftrace_regs *fregs)
{
	struct fgraph_call call;
	struct fgraph_all *all;
	unsigned int nr;

	preempt_disable_notrace();
	all = rcu_dereference_raw(fgraph_all);
	if (all) {
		nr = all->nr;
		fgraph_begin_call(&call, all->users, nr, func, place, retp,
				  (struct pt_regs *)fregs);
		while (nr)
			fgraph_hook_next(&call, all->users[--nr]);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(fgraph_hook_entry);

/* Replace the users by a copy without @not and with @more. Cannot fail without @more. */
static int fgraph_replace_all(struct fgraph_ops *not, struct fgraph_ops *more)
{
	struct fgraph_all *old, *new;
	unsigned int i;

	lockdep_assert_held(&fgraph_static_mutex);

	old = rcu_dereference_protected(fgraph_all, lockdep_is_held(&fgraph_static_mutex));
	new = kzalloc(struct_size(new, users, (old ? old->nr : 0) + !!more),
		      more ? GFP_KERNEL : GFP_KERNEL | __GFP_NOFAIL);
	if (!new)
		return -ENOMEM;
	for (i = 0; old && i < old->nr; i++) {
		if (old->users[i] != not)
			new->users[new->nr++] = old->users[i];
	}
	if (more)
		new->users[new->nr++] = more;
	if (!new->nr) {
		kfree(new);
		new = NULL;
	}
	rcu_assign_pointer(fgraph_all, new);
	ftrace_graph_entry = new ? fgraph_static_entry : ftrace_graph_entry_stub;
	if (old) {
		fgraph_synchronize();
		kfree(old);
	}
	return 0;
}

/* See fgraph_ftrace.c. */
int fgraph_add_filter(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&fgraph_static_mutex);
	ret = fgraph_replace_all(NULL, gops);
	mutex_unlock(&fgraph_static_mutex);
	return ret;
}

/* See fgraph_ftrace.c. */
void fgraph_remove_filter(struct fgraph_ops *gops)
{
	mutex_lock(&fgraph_static_mutex);
	fgraph_replace_all(gops, NULL);
	mutex_unlock(&fgraph_static_mutex);
}
