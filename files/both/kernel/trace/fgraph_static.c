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
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "fgraph_ftrace.h"
#include "fgraph_internal.h"
#include "fgraph_site.h"

/* The users while there are none. */
static struct fgraph_site fgraph_no_users;
static struct fgraph_site __rcu *fgraph_all = RCU_INITIALIZER(&fgraph_no_users);
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

/* All users, for function_graph_enter_regs(): no user has a filter. Preemption is disabled. */
struct fgraph_site *fgraph_find_site(unsigned long func)
{
	return rcu_dereference_raw(fgraph_all);
}
NOKPROBE_SYMBOL(fgraph_find_site);

/* Replace the users by a copy without @not and with @more. Cannot fail without @more. */
static int fgraph_replace_all(struct fgraph_ops *not, struct fgraph_ops *more)
{
	struct fgraph_site *old, *new;
	unsigned int i;

	lockdep_assert_held(&fgraph_static_mutex);

	old = rcu_dereference_protected(fgraph_all, lockdep_is_held(&fgraph_static_mutex));
	new = kzalloc(struct_size(new, users, old->nr + !!more),
		      more ? GFP_KERNEL : GFP_KERNEL | __GFP_NOFAIL);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < old->nr; i++) {
		if (old->users[i] != not)
			new->users[new->nr++] = old->users[i];
	}
	if (more)
		new->users[new->nr++] = more;
	if (new->nr == 1 && fgraph_is_simple(new->users[0]))
		new->only = new->users[0];
	if (!new->nr) {
		kfree(new);
		new = &fgraph_no_users;
	}
	rcu_assign_pointer(fgraph_all, new);
	ftrace_graph_entry = new->nr ? fgraph_static_entry : ftrace_graph_entry_stub;
	if (old != &fgraph_no_users) {
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
