// SPDX-License-Identifier: GPL-2.0
/*
 * Users with entryfunc() and retfunc(). Of the model's users, one in four has the callbacks of
 * callbacks.c directly. The others get them from the functions here, which check what such
 * callbacks are told, and what those find that ask for which call they run.
 */
#include "fgraph_callbacks.c"
#include "model.h"

enum { NATIVE, STATELESS, STATE, TASK_VAR, KINDS };

/*
 * Each call of a user that is &fgraph_ops.task_var adds 1 to the word, for the calls within. So
 * at entry it says how many calls of the user are around this one, as the depth does.
 */
static void check_word(struct fgraph_ops *gops, long depth, unsigned int here)
{
	if (gops->task_var)
		expect((u32)*fgraph_get_task_var(gops) == depth + here);
}

static int graph_entry(struct ftrace_graph_ent *ent, struct fgraph_ops *gops,
		       struct ftrace_regs *fregs)
{
	size_t size = base_data_size(gops);
	const struct fgraph_frame *frame = fgraph_running_frame();
	void *data = fgraph_reserve_data(gops->idx, size);
	int wanted;

	expect(frame && data);
	expect(ent->func == frame->func);
	expect(ftrace_graph_top_ret_addr(current) == frame->ret);
	if (!gops->stateless)
		expect(!fgraph_reserve_data(gops->idx, sizeof(long)));
	expect(!fgraph_reserve_data(gops->idx ^ 1, sizeof(long)));
	check_word(gops, ent->depth, 0);
	wanted = model_entry(gops, frame, data, fregs);
	/* Nested callbacks must leave it as it was. */
	expect(fgraph_running_frame() == frame);
	check_word(gops, ent->depth, 0);
	if (wanted && gops->task_var)
		++*fgraph_get_task_var(gops);
	return wanted;
}

static void graph_return(struct ftrace_graph_ret *ret, struct fgraph_ops *gops,
			 struct ftrace_regs *fregs)
{
	const struct fgraph_frame *frame = fgraph_running_frame();
	void *data, *parent;
	int size;

	expect(frame);
	expect(ret->func == frame->func);
	expect(ret->retval == fgraph_return_value((struct fgraph_regs *)fregs));
	expect(ret->overrun <= fgraph_missed(gops, FGRAPH_MISS_MEMORY));
	expect(ftrace_graph_top_ret_addr(current) == frame->ret);
	check_word(gops, ret->depth, 1);
	data = fgraph_retrieve_data(gops->idx, &size);
	expect(data && size == base_data_size(gops));
	expect(!fgraph_retrieve_data(gops->idx ^ 1, NULL));
	parent = base_parent_data(gops, frame);
	/* An interrupt may drop an abandoned call between the two searches. */
	expect(fgraph_retrieve_parent_data(gops->idx, NULL, 1) == parent || model_now->nr_dead);
	model_return(gops, frame, data, (struct fgraph_regs *)fregs);
	expect(fgraph_running_frame() == frame);
	expect(fgraph_retrieve_data(gops->idx, NULL) == data);
	check_word(gops, ret->depth, 1);
}

void base_set_callbacks(struct fgraph_ops *gops, int n, fgraph_entry_t entryfunc,
			fgraph_return_t retfunc)
{
	int kind = entryfunc ? n % KINDS : NATIVE;

	/* The word takes 8 bytes. It would shift larger data, whose slots look like frames. */
	if (gops->data_size <= sizeof(struct fgraph_state) ||
	    gops->data_size > FGRAPH_HEADER_DATA)
		kind = min(kind, STATELESS);
	gops->stateless = kind == STATELESS;
	gops->task_var = kind == TASK_VAR;
	gops->entryfunc = kind == NATIVE ? NULL : graph_entry;
	gops->retfunc = kind == NATIVE || !retfunc ? NULL : graph_return;
	if (kind == NATIVE)
		fgraph_set_callbacks(gops, entryfunc, retfunc);
	else
		fgraph_set_callbacks(gops, fgraph_entry_without_pids(gops),
				     retfunc ? fgraph_call_return : NULL);
}

void base_registered(struct fgraph_ops *gops)
{
	fgraph_set_idx(gops);
}

/* The size of what a user of this interface has before its own data */
static size_t state_size(const struct fgraph_ops *gops)
{
	return gops->entryfunc && !gops->stateless ? sizeof(struct fgraph_state) : 0;
}

size_t base_data_size(const struct fgraph_ops *gops)
{
	return gops->data_size - state_size(gops);
}

void *base_parent_data(struct fgraph_ops *gops, const struct fgraph_frame *frame)
{
	void *data = fgraph_parent_data(gops, frame);

	return data ? data + state_size(gops) : NULL;
}
