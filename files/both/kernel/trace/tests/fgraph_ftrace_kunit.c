// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of fgraph_ftrace.c: the right users are called for a function while users come and
 * go, filters change and functions have users of both dispatchers.
 */
#include <kunit/test.h>
#include <linux/fgraph.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../fgraph_ftrace.h"
#include "../fgraph_internal.h"
#include "fgraph_kunit.h"
#include "../ftrace_internal.h"

#define NR_USERS	40

/**
 * struct site_user - a user and the calls that it has seen
 * @gops:	the user
 * @filter:	the user's filter
 * @registered:	the user is registered
 * @adds:	number of entries of add()
 * @pairs:	number of entries of pair()
 * @others:	number of entries of freed() or reloaded()
 * @returns:	number of returns of any function
 * @entry_turn:	value of site_turn at the last entry
 * @return_turn:	value of site_turn at the last return
 * @regs:	number of entries for which all registers were saved
 */
struct site_user {
	struct fgraph_ops	gops;
	struct ftrace_ops	filter;
	bool			registered;
	unsigned int		adds;
	unsigned int		pairs;
	unsigned int		others;
	unsigned int		returns;
	unsigned int		entry_turn;
	unsigned int		return_turn;
	unsigned int		regs;
};

static struct site_user site_users[NR_USERS];
/* Counts the entries and returns that all users have seen. */
static unsigned int site_turn;
/* Users of all functions only count calls of this task. */
static struct task_struct *site_task;
static unsigned long site_add, site_pair;
/* The function that is treated as that of a module which goes, or 0. */
static unsigned long site_gone;

/* Refuses calls of other tasks and other functions, which users of all functions get. */
static int site_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
		      void *data, struct ftrace_regs *fregs)
{
	struct site_user *u = container_of(gops, struct site_user, gops);

	if (current != site_task)
		return 0;
	if (frame->func == site_add)
		u->adds++;
	else if (frame->func == site_pair)
		u->pairs++;
	else if (frame->func == site_gone)
		u->others++;
	else
		return 0;
	u->entry_turn = ++site_turn;
	if (ftrace_regs_saved(fregs))
		u->regs++;
	return 1;
}

static void site_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			void *data, struct fgraph_regs *regs)
{
	struct site_user *u = container_of(gops, struct site_user, gops);

	u->returns++;
	u->return_turn = ++site_turn;
}

static void site_call(void)
{
	fgraph_kunit_traced.add(1, 2);
	fgraph_kunit_traced.pair(1, 2);
}

/* Expect that a user has seen that many calls of each function, at entry and at return. */
static void site_expect(struct kunit *test, struct site_user *u, int adds, int pairs)
{
	KUNIT_EXPECT_EQ_MSG(test, u->adds, adds, "user %td", u - site_users);
	KUNIT_EXPECT_EQ_MSG(test, u->pairs, pairs, "user %td", u - site_users);
	KUNIT_EXPECT_EQ_MSG(test, u->returns, adds + pairs + u->others, "user %td",
			    u - site_users);
}

/* Expect that of two users of a call the newer one came first at entry, and last at return. */
static void site_expect_order(struct kunit *test, struct site_user *older, struct site_user *newer)
{
	KUNIT_EXPECT_LT(test, newer->entry_turn, older->entry_turn);
	KUNIT_EXPECT_GT(test, newer->return_turn, older->return_turn);
}

static void site_check(struct kunit *test)
{
	const char *wrong;

	mutex_lock(&ftrace_lock);
	wrong = fgraph_check_dispatchers();
	mutex_unlock(&ftrace_lock);
	if (wrong)
		KUNIT_FAIL(test, "a dispatcher's %s", wrong);
}

static void site_filter(struct kunit *test, struct site_user *u, unsigned long ip, int remove)
{
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(own_filter(u), ip, remove, 0), 0);
	site_check(test);
}

static void site_register(struct kunit *test, struct site_user *u)
{
	use_filter(&u->gops, own_filter(u));
	u->gops.entryfunc = site_entry;
	u->gops.retfunc = site_return;
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&u->gops), 0);
	u->registered = true;
	site_check(test);
}

static void site_unregister(struct kunit *test, struct site_user *u)
{
	if (u->registered)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_graph(&u->gops), 0);
	u->registered = false;
	site_check(test);
	ftrace_free_filter(own_filter(u));
}

static int site_init(struct kunit *test)
{
	memset(site_users, 0, sizeof(site_users));
	site_turn = 0;
	site_gone = 0;
	site_task = current;
	site_add = ftrace_location((unsigned long)fgraph_kunit_traced.add);
	site_pair = ftrace_location((unsigned long)fgraph_kunit_traced.pair);
	return 0;
}

static void site_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < NR_USERS; i++)
		site_unregister(test, &site_users[i]);
}

/* Users are called from the newest to the oldest, and back, each for its functions only. */
static void site_order(struct kunit *test)
{
	struct site_user *u = site_users;
	int i;

	for (i = 0; i < NR_USERS; i++) {
		site_filter(test, &u[i], site_add, 0);
		if (i % 2)
			site_filter(test, &u[i], site_pair, 0);
		site_register(test, &u[i]);
	}
	fgraph_kunit_traced.add(1, 2);
	for (i = 1; i < NR_USERS; i++)
		site_expect_order(test, &u[i - 1], &u[i]);
	/* Every third user goes, and the first one comes back as the newest. */
	for (i = 0; i < NR_USERS; i += 3)
		site_unregister(test, &u[i]);
	site_filter(test, &u[0], site_add, 0);
	site_register(test, &u[0]);
	site_call();
	site_expect_order(test, &u[NR_USERS - 2], &u[0]);
	for (i = 1; i < NR_USERS; i++) {
		if (i % 3)
			site_expect(test, &u[i], 2, i % 2);
		else
			site_expect(test, &u[i], 1, 0);
	}
	site_expect(test, &u[0], 2, 0);
}

/* The filter of a registered user changes: more, fewer, other and all functions. */
static void site_filter_changes(struct kunit *test)
{
	struct site_user *u = &site_users[0], *stays = &site_users[1];

	site_filter(test, stays, site_add, 0);
	site_register(test, stays);
	site_filter(test, u, site_add, 0);
	site_register(test, u);
	site_call();
	site_expect(test, u, 1, 0);
	site_filter(test, u, site_pair, 0);
	site_call();
	site_expect(test, u, 2, 1);
	site_filter(test, u, site_add, 1);
	site_call();
	site_expect(test, u, 2, 2);
	/* An empty filter means all functions. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(own_filter(u), NULL, 0, 1), 0);
	site_call();
	site_expect(test, u, 3, 3);
	/* Functions in the notrace filter are left out. */
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(own_filter(u), "fgraph_kunit_traced_add", 23, 1) ?:
			      ftrace_set_filter_ip(own_filter(u), site_pair, 0, 0), 0);
	site_call();
	site_expect(test, u, 3, 4);
	site_expect(test, stays, 5, 0);
	site_unregister(test, u);
	site_call();
	site_expect(test, u, 3, 4);
	site_expect(test, stays, 6, 0);
}

/* Users of all functions and a user of one function are each called once. */
static void site_all(struct kunit *test)
{
	struct site_user *all = &site_users[0], *few = &site_users[1], *all2 = &site_users[2];

	site_register(test, all);
	site_call();
	site_expect(test, all, 1, 1);
	site_filter(test, few, site_add, 0);
	site_register(test, few);
	site_register(test, all2);
	site_call();
	site_expect(test, all, 2, 2);
	site_expect(test, few, 1, 0);
	site_expect(test, all2, 1, 1);
	site_unregister(test, few);
	site_call();
	site_expect(test, all, 3, 3);
	site_unregister(test, all);
	site_call();
	site_expect(test, all2, 3, 3);
	site_unregister(test, all2);
	/* When no user is left, the empty filters must not mean all functions. */
	site_call();
	site_expect(test, all2, 3, 3);
	site_expect(test, few, 1, 0);
}

/* Users whose filters are looked up at each call are called in the same order. */
static void site_wide_order(struct kunit *test)
{
	struct site_user *u = site_users;
	/* More than fgraph_hook_wide() takes at once, and one that does not want the function. */
	const int nr = 10, other = 4;
	int i;

	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, ftrace_set_notrace(own_filter(&u[i]), i == other ? "*_add" :
							 "*_pair", i == other ? 4 : 5, 1), 0);
		site_register(test, &u[i]);
		KUNIT_ASSERT_TRUE(test, u[i].gops.user.wide);
	}
	fgraph_kunit_traced.add(1, 2);
	site_expect(test, &u[other], 0, 0);
	for (i = 1; i < nr; i++) {
		if (i != other && i - 1 != other)
			site_expect_order(test, &u[i - 1], &u[i]);
	}
}

/* A user of so many functions that its filter is looked up at each call. */
static void site_wide(struct kunit *test)
{
	struct site_user *u = &site_users[0], *few = &site_users[1];
	/* No constant, as ftrace_set_filter() writes a NUL in place of the second "*". */
	char pattern[] = "*a*";

	KUNIT_ASSERT_EQ(test, ftrace_set_filter(own_filter(u), pattern, 3, 1), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_notrace(own_filter(u), "*pair", 5, 1), 0);
	site_register(test, u);
	if (!u->gops.user.wide)
		kunit_skip(test, "this kernel has few functions");
	site_call();
	site_expect(test, u, 1, 0);
	site_filter(test, few, site_add, 0);
	site_filter(test, few, site_pair, 0);
	site_register(test, few);
	site_call();
	site_expect(test, u, 2, 0);
	site_expect(test, few, 1, 1);
	site_unregister(test, u);
	site_call();
	site_expect(test, u, 2, 0);
	site_expect(test, few, 2, 2);
}

/* A user that needs all registers comes and goes: all users see each call once. */
static void site_regs(struct kunit *test)
{
	struct site_user *light = &site_users[0], *regs = &site_users[1], *all = &site_users[2];
	int round;

	if (!IS_ENABLED(CONFIG_HAVE_FGRAPH) || !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		kunit_skip(test, "ftrace cannot save all registers");
	for (round = 0; round < 2; round++) {
		memset(site_users, 0, sizeof(site_users));
		if (round)
			site_register(test, all);
		site_filter(test, light, site_add, 0);
		site_register(test, light);
		site_call();
		site_filter(test, regs, site_add, 0);
		regs->gops.flags = FGRAPH_ENTRY_REGS;
		site_register(test, regs);
		site_call();
		site_expect(test, light, 2, 0);
		site_expect(test, regs, 1, 0);
		KUNIT_EXPECT_EQ(test, regs->regs, 1);
		site_unregister(test, regs);
		site_call();
		site_expect(test, light, 3, 0);
		site_expect(test, regs, 1, 0);
		if (round)
			site_expect(test, all, 3, 3);
		site_unregister(test, light);
		site_unregister(test, all);
	}
	/* The user that needs all registers wants all functions. */
	memset(site_users, 0, sizeof(site_users));
	site_filter(test, light, site_add, 0);
	site_register(test, light);
	regs->gops.flags = FGRAPH_ENTRY_REGS;
	site_register(test, regs);
	site_call();
	site_expect(test, light, 1, 0);
	site_expect(test, regs, 1, 1);
	KUNIT_EXPECT_EQ(test, regs->regs, 2);
}

/*
 * A task that was preempted in ftrace's code may pass the ftrace_ops that was the only one when
 * it entered that code. fgraph must not use it.
 */
static void site_foreign_ops(struct kunit *test)
{
	struct site_user *u = &site_users[0];
	unsigned long ret = _THIS_IP_;
	struct pt_regs regs = { };
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	memset(ops, 0x6b, sizeof(*ops));
	site_filter(test, u, site_add, 0);
	site_register(test, u);
	site_call();
	if (ftrace_trace_function == ftrace_stub ||
	    rcu_access_pointer(rcu_access_pointer(ftrace_ops_list)->next) != &ftrace_list_end)
		kunit_skip(test, "fgraph is not alone with ftrace");
	stack_pointer(&regs) = (unsigned long)&ret;
	*fgraph_entry_place(&regs) = ret;
	ftrace_trace_function(site_add, 0, ops, (struct ftrace_regs *)&regs);
	KUNIT_EXPECT_TRUE(test, fgraph_is_trampoline(*fgraph_entry_place(&regs)));
	KUNIT_EXPECT_EQ(test, u->adds, 2);
	fgraph_abandon_calls(&ret + 1);
}

/* The registers and the return address of a call, for which a test calls the ops one by one. */
struct site_entry {
	struct pt_regs		regs;
	unsigned long		ret;
};

static void site_begin(struct site_entry *call)
{
	memset(call, 0, sizeof(*call));
	call->ret = _THIS_IP_;
	stack_pointer(&call->regs) = (unsigned long)&call->ret;
	*fgraph_entry_place(&call->regs) = call->ret;
}

/* Call one of the ops like ftrace does. */
static void site_enter(struct site_entry *call, bool regs)
{
	struct ftrace_ops *op = fgraph_dispatcher_ops(regs);

	op->func(site_add, 0, op, (struct ftrace_regs *)&call->regs);
}

/*
 * Both ops are called for a function, in either order, and the user that needs all registers goes
 * in between: a user of all functions sees the call once.
 */
static void site_two_ops(struct kunit *test)
{
	struct site_user *all = &site_users[0], *regs = &site_users[1];
	struct site_entry call;
	int first;

	if (!IS_ENABLED(CONFIG_HAVE_FGRAPH) || !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		kunit_skip(test, "ftrace cannot save all registers");
	for (first = 0; first < 2; first++) {
		memset(site_users, 0, sizeof(site_users));
		site_register(test, all);
		site_filter(test, regs, site_add, 0);
		regs->gops.flags = FGRAPH_ENTRY_REGS;
		site_register(test, regs);
		site_begin(&call);
		site_enter(&call, first);
		site_unregister(test, regs);
		site_enter(&call, !first);
		KUNIT_EXPECT_EQ(test, all->adds, 1);
		KUNIT_EXPECT_EQ(test, regs->adds, first);
		KUNIT_EXPECT_TRUE(test, fgraph_is_trampoline(*fgraph_entry_place(&call.regs)));
		fgraph_abandon_calls(&call.ret + 1);
		site_unregister(test, all);
	}
}

static int site_reader(void *arg)
{
	unsigned long *wrong = arg;

	while (!kthread_should_stop()) {
		struct fgraph_kunit_pair pair = fgraph_kunit_traced.pair(5, 6);

		if (fgraph_kunit_traced.add(3, 4) != 7 || pair.lo != 5 || pair.hi != 6)
			(*wrong)++;
		/* ftrace waits for RCU Tasks before it frees a trampoline. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* Sites are replaced while another task calls the functions: a user that stays misses no call. */
static void site_replaced(struct kunit *test)
{
	struct site_user *u = site_users, *stays = &site_users[NR_USERS - 1];
	struct task_struct *task;
	unsigned long wrong = 0;
	int i, round, calls = 0;

	site_filter(test, stays, site_add, 0);
	site_register(test, stays);
	task = kthread_run(site_reader, &wrong, "fgraph_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < NR_USERS - 1; i++) {
			site_filter(test, &u[i], i % 2 ? site_add : site_pair, 0);
			u[i].gops.flags = i == 20 && IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ?
					  FGRAPH_ENTRY_REGS : 0;
			site_register(test, &u[i]);
			fgraph_kunit_traced.add(1, 2);
			calls++;
		}
		for (i = 0; i < NR_USERS - 1; i++) {
			/* In another order than they came, as 7 and 39 have no common factor. */
			site_unregister(test, &u[7 * i % (NR_USERS - 1)]);
			fgraph_kunit_traced.add(1, 2);
			calls++;
		}
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	site_expect(test, stays, calls, 0);
}

/* The last ops that ftrace would call for a function. @nr is set to their number. */
static struct ftrace_ops *site_ops(unsigned long ip, int *nr)
{
	struct ftrace_ops *op, *wants = NULL;
	struct pt_regs regs;

	lockdep_assert_held(&ftrace_lock);
	*nr = 0;
	rcu_read_lock();
	do_for_each_ftrace_op(op, ftrace_ops_list) {
		/* An empty list is ftrace_list_end. With @regs, SAVE_REGS does not matter. */
		if (op != &ftrace_list_end && ftrace_ops_test(op, ip, &regs)) {
			wants = op;
			(*nr)++;
		}
	} while_for_each_ftrace_op(op);
	rcu_read_unlock();
	return wants;
}

static int site_nr_ops(unsigned long ip)
{
	int nr;

	mutex_lock(&ftrace_lock);
	site_ops(ip, &nr);
	mutex_unlock(&ftrace_lock);
	return nr;
}

/*
 * Functions of a module go while users with filters on them are registered. The users are not
 * called for the functions any more, and their other functions are not affected.
 */
static void site_freed(struct kunit *test)
{
	struct site_user *only = &site_users[0], *both = &site_users[1], *regs = &site_users[2];
	unsigned long freed = ftrace_location((unsigned long)fgraph_kunit_traced.freed);
	struct site_user *u;

	if (!freed)
		kunit_skip(test, "this test can run only once after boot");
	site_gone = freed;
	site_filter(test, only, freed, 0);
	site_register(test, only);
	site_filter(test, both, site_add, 0);
	site_filter(test, both, freed, 0);
	site_register(test, both);
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		regs->gops.flags = FGRAPH_ENTRY_REGS;
	site_filter(test, regs, freed, 0);
	site_register(test, regs);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.freed(1), 2);
	site_call();
	for (u = only; u <= regs; u++)
		KUNIT_EXPECT_EQ(test, u->others, 1);

	/* This is how init functions go. The code stays, but ftrace does not know it any more. */
	ftrace_free_mem(NULL, (void *)freed, (void *)freed + 1);
	KUNIT_EXPECT_EQ(test, ftrace_location(freed), 0);
	/* No user is called for it. A filter that has become empty does not mean all functions. */
	KUNIT_EXPECT_EQ(test, site_nr_ops(freed), 0);
	KUNIT_EXPECT_EQ(test, site_nr_ops(site_pair), 0);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.freed(1), 2);
	site_call();
	for (u = only; u <= regs; u++)
		KUNIT_EXPECT_EQ(test, u->others, 1);
	site_expect(test, only, 0, 0);
	site_expect(test, both, 2, 0);
	site_expect(test, regs, 0, 0);

	/* Filters can be changed, but the function that is gone cannot be added. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(own_filter(both), freed, 0, 0), -EINVAL);
	site_filter(test, only, site_pair, 0);
	site_filter(test, regs, site_add, 0);
	site_call();
	site_expect(test, only, 0, 1);
	site_expect(test, both, 3, 0);
	site_expect(test, regs, 1, 0);
	site_unregister(test, both);
	site_unregister(test, regs);
	site_call();
	site_expect(test, only, 0, 2);
	site_expect(test, both, 3, 0);
	site_expect(test, regs, 1, 0);
	for (u = only; u <= regs; u++)
		KUNIT_EXPECT_EQ(test, u->others, 1);
}

/*
 * Do what happens when a module goes and is loaded again to the same addresses. The ops is
 * unregistered meanwhile, so that ftrace's record of the function has no users, like a new one.
 */
static void site_reload(struct kunit *test, unsigned long ip)
{
	struct ftrace_ops *op;
	int nr, ret = -ENOENT;

	mutex_lock(&ftrace_lock);
	op = site_ops(ip, &nr);
	if (nr == 1)
		ret = ftrace_shutdown(op, 0);
	fgraph_forget_functions(ip, ip + 1);
	if (!ret)
		ret = ftrace_startup(op, 0);
	mutex_unlock(&ftrace_lock);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

/*
 * Functions of a module that was loaded again are new ones. A user with a filter on them is called
 * again, once for each call, when they are added to its filter. A user of all functions is called
 * at once.
 */
static void site_reloaded(struct kunit *test)
{
	unsigned long reloaded = ftrace_location((unsigned long)fgraph_kunit_traced.reloaded);
	struct site_user *u = &site_users[0], *all = &site_users[1];
	int round;

	site_gone = reloaded;
	site_filter(test, u, reloaded, 0);
	site_register(test, u);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.reloaded(1), 2);
	for (round = 1; round <= 3; round++) {
		KUNIT_EXPECT_EQ(test, u->others, round);
		site_reload(test, reloaded);
		/* No ops is called for the function, nor for one that no filter has. */
		KUNIT_EXPECT_EQ(test, site_nr_ops(reloaded), 0);
		KUNIT_EXPECT_EQ(test, site_nr_ops(site_pair), 0);
		KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.reloaded(1), 2);
		KUNIT_EXPECT_EQ(test, u->others, round);
		/* It has gone from the user's filter, too, so that must get it again. */
		if (round == 1) {
			site_filter(test, u, site_add, 0);
			KUNIT_EXPECT_EQ(test, site_nr_ops(reloaded), 0);
		}
		site_filter(test, u, reloaded, 0);
		KUNIT_EXPECT_EQ(test, site_nr_ops(reloaded), 1);
		KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.reloaded(1), 2);
	}
	site_call();
	site_expect(test, u, 1, 0);
	KUNIT_EXPECT_EQ(test, u->others, 4);

	site_register(test, all);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.reloaded(1), 2);
	KUNIT_EXPECT_EQ(test, u->others, 5);
	site_reload(test, reloaded);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.reloaded(1), 2);
	KUNIT_EXPECT_EQ(test, all->others, 2);
	KUNIT_EXPECT_EQ(test, u->others, 5);
	site_call();
	site_expect(test, u, 2, 0);
	/* The user can be unregistered although its function has gone. */
	site_unregister(test, u);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_traced.reloaded(1), 2);
	KUNIT_EXPECT_EQ(test, all->others, 3);
	site_unregister(test, all);
	KUNIT_EXPECT_EQ(test, site_nr_ops(reloaded), 0);
}

#ifdef CONFIG_KRETPROBE_ON_FGRAPH
/* An array of kretprobes comes and goes: ftrace is told once, of all of them. */
#define NR_ARRAY	3

static unsigned int array_returns[NR_ARRAY];
static struct kretprobe array_probes[NR_ARRAY];

static int array_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	array_returns[get_kretprobe(ri) - array_probes]++;
	return 0;
}

static void array_call(struct kunit *test, unsigned int returns)
{
	int i;

	site_check(test);
	site_call();
	fgraph_kunit_traced.nest(&fgraph_kunit_traced, 0);
	for (i = 0; i < NR_ARRAY; i++)
		KUNIT_EXPECT_EQ(test, array_returns[i], returns);
}

static void site_kretprobes(struct kunit *test)
{
	void *funcs[] = { fgraph_kunit_traced.add, fgraph_kunit_traced.pair,
			  fgraph_kunit_traced.nest };
	struct kretprobe *rps[NR_ARRAY];
	unsigned int round, i;

	memset(array_returns, 0, sizeof(array_returns));
	for (round = 0; round < 3; round++) {
		memset(array_probes, 0, sizeof(array_probes));
		for (i = 0; i < NR_ARRAY; i++) {
			rps[i] = &array_probes[i];
			rps[i]->handler = array_return;
			rps[i]->kp.addr = funcs[i];
		}
		/* In one round the last one is refused, and so all of them. */
		if (round == 1) {
			rps[NR_ARRAY - 1]->kp.symbol_name = "fgraph_kunit_none";
			KUNIT_EXPECT_LT(test, register_kretprobes(rps, NR_ARRAY), 0);
			array_call(test, 1);
			continue;
		}
		KUNIT_ASSERT_EQ(test, register_kretprobes(rps, NR_ARRAY), 0);
		array_call(test, round / 2 + 1);
		unregister_kretprobes(rps, NR_ARRAY);
		array_call(test, round / 2 + 1);
	}
}
#endif

static struct kunit_case site_cases[] = {
	KUNIT_CASE(site_order),
	KUNIT_CASE(site_filter_changes),
	KUNIT_CASE(site_all),
	KUNIT_CASE(site_wide),
	KUNIT_CASE(site_wide_order),
	KUNIT_CASE(site_regs),
	KUNIT_CASE(site_foreign_ops),
	KUNIT_CASE(site_two_ops),
	KUNIT_CASE(site_replaced),
	KUNIT_CASE(site_freed),
	KUNIT_CASE(site_reloaded),
#ifdef CONFIG_KRETPROBE_ON_FGRAPH
	KUNIT_CASE(site_kretprobes),
#endif
	{}
};

static struct kunit_suite site_suite = {
	.name = "fgraph_ftrace",
	.init = site_init,
	.exit = site_exit,
	.test_cases = site_cases,
};

kunit_test_suites(&site_suite);
