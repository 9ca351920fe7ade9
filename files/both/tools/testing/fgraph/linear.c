// SPDX-License-Identifier: GPL-2.0
/*
 * The time that an entry takes must grow like the number of users, not faster. In place of time,
 * instructions are counted, which step_left does for the assembly of "make step".
 */
#include "step.h"

#define LINEAR_USERS	640

static struct fgraph_ops linear_users[LINEAR_USERS];
/* The users, oldest first, as a site has them. */
static struct fgraph_ops *linear_site[LINEAR_USERS];
static unsigned long linear_told;

static void linear_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			  struct fgraph_regs *regs)
{
	linear_told++;
}

/* How many instructions does it take to hook a call for @nr users, and to return from it? */
static unsigned long linear_count(struct call *c, int first, int nr)
{
	unsigned long count;

	step_left = ~0UL;
	fgraph_hook_several(linear_site + first, nr, false, c->func, &c->fregs);
	count = ~step_left;
	step_left = 0;
	return count;
}

/* Have the users called by @dispatchers dispatchers, one after the other. */
static unsigned long linear_call(int nr, int dispatchers)
{
	struct call *c = model_call(10);
	struct fgraph_regs *regs = (void *)(unsigned long[LIGHT_REGS_SIZE / sizeof(long)]) { };
	unsigned long count = 0;
	int i;

	preempt_disable_notrace();
	for (i = 0; i < dispatchers; i++)
		count += linear_count(c, i * (nr / dispatchers), nr / dispatchers);
	preempt_enable_notrace();
	linear_told = 0;
	model_body(c);
	step_left = ~0UL;
	expect(fgraph_return_light(c->retp, regs) == c->ret);
	count += ~step_left;
	step_left = 0;
	expect(linear_told == nr);
	model_leave(c);
	/* The reserve must suffice for the next call. */
	fake_run_irq_works();
	fake_run_works();
	return count;
}

/* The instructions of a call with @nr users, of which one keeps more data than fit into a slot. */
static unsigned long linear_run(int nr, int dispatchers)
{
	unsigned long count;
	int i;

	model_start();
	for (i = 0; i < nr; i++) {
		linear_site[i] = &linear_users[i];
		linear_users[i] = (struct fgraph_ops) {
			.retfunc = linear_return,
			.data_size = i ? 0 : 32,
		};
		expect(!fgraph_user_add(&linear_users[i]));
	}
	/* The first calls find no chunks linked. */
	for (i = 0; i < 3; i++)
		count = linear_call(nr, dispatchers);
	for (i = 0; i < nr; i++)
		expect(!fgraph_user_retire(&linear_users[i]));
	fgraph_synchronize();
	for (i = 0; i < nr; i++)
		fgraph_user_remove(&linear_users[i]);
	model_end();
	return count;
}

/* Returns how many times more instructions sixteen times more users take, times 100. */
unsigned long linear_growth(int dispatchers)
{
	return linear_run(LINEAR_USERS, dispatchers) * 100 /
	       linear_run(LINEAR_USERS / 16, dispatchers);
}
