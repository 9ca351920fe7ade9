// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what filters of ftrace, function graph users and kprobes do when
 * something is refused: by a user, by a notrace list, by ftrace, or for want of
 * memory.
 */

#include <linux/error-injection.h>
#include <linux/ftrace.h>
#include <linux/ftrace_regs.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <kunit/test.h>

/* The functions that are hooked. They differ, so that they are not made one. */
static int calls_of_a, calls_of_b;

static noinline void ftrace_kunit_a(void)
{
	WRITE_ONCE(calls_of_a, calls_of_a + 1);
}

static noinline void ftrace_kunit_b(void)
{
	WRITE_ONCE(calls_of_b, calls_of_b - 1);
}

#define FUNCTION_A	"ftrace_kunit_a"
#define FUNCTION_B	"ftrace_kunit_b"

/* A function graph user that wants the returns of one function, or of none. */
struct graph_user {
	struct fgraph_ops gops;
	/* The site of the function that its filter has */
	unsigned long site;
	bool refuses;
	int entries;
	int returns;
	/* Calls of functions that its filter does not have, in any task */
	atomic_t strangers;
};

static notrace int graph_user_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				    void *data, struct ftrace_regs *fregs)
{
	struct graph_user *user = container_of(gops, struct graph_user, gops);

	if (frame->func != user->site) {
		atomic_inc(&user->strangers);
		return 0;
	}
	user->entries++;
	return !user->refuses;
}

static notrace void graph_user_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				      void *data, struct fgraph_regs *regs)
{
	struct graph_user *user = container_of(gops, struct graph_user, gops);

	user->returns++;
}

static struct graph_user user_a, user_b;

static void graph_user_reset(struct graph_user *user)
{
	user->refuses = false;
	user->entries = 0;
	user->returns = 0;
	atomic_set(&user->strangers, 0);
}

static void graph_user_init(struct kunit *test, struct graph_user *user,
			    void *function, char *name)
{
	memset(user, 0, sizeof(*user));
	user->gops.entryfunc = graph_user_entry;
	user->gops.retfunc = graph_user_return;
	user->site = ftrace_location((unsigned long)function);
	KUNIT_ASSERT_NE(test, user->site, 0);
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter(&user->gops.ops, name,
						   strlen(name), 1));
}

static int ftrace_kunit_init(struct kunit *test)
{
	graph_user_init(test, &user_a, ftrace_kunit_a, FUNCTION_A);
	graph_user_init(test, &user_b, ftrace_kunit_b, FUNCTION_B);
	return 0;
}

static void graph_user_exit(struct graph_user *user)
{
	/* Of a test that did not end */
	if (user->gops.ops.flags & FTRACE_OPS_FL_GRAPH)
		unregister_ftrace_graph(&user->gops);
	ftrace_free_filter(&user->gops.ops);
}

static void ftrace_kunit_exit(struct kunit *test)
{
	graph_user_exit(&user_a);
	graph_user_exit(&user_b);
}

static void call_both(void)
{
	ftrace_kunit_a();
	ftrace_kunit_b();
}

/* One call of @user's function was seen at both ends, and no other function. */
static void expect_one_call(struct kunit *test, struct graph_user *user)
{
	KUNIT_EXPECT_EQ(test, user->entries, 1);
	KUNIT_EXPECT_EQ(test, user->returns, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->strangers), 0);
}

/*
 * Allocations of this task fail when their turn has come: probes on the allocator's
 * functions make them return NULL.
 */
static struct {
	struct task_struct *task;
	int turn;
	bool failed;
} fault;

static int fault_handler(struct kprobe *p, struct pt_regs *regs)
{
	if (READ_ONCE(fault.task) != current || in_hardirq() || in_serving_softirq())
		return 0;
	if (--fault.turn)
		return 0;
	fault.failed = true;
	WRITE_ONCE(fault.task, NULL);
	regs_set_return_value(regs, 0);
	override_function_with_return(regs);
	return 1;
}
NOKPROBE_SYMBOL(fault_handler);

static struct kprobe fault_probes[] = {
	{ .symbol_name = "__kmalloc_noprof", .pre_handler = fault_handler },
	{ .symbol_name = "__kmalloc_cache_noprof", .pre_handler = fault_handler },
	{ .symbol_name = "kmem_cache_alloc_noprof", .pre_handler = fault_handler },
};

static void fault_remove(void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fault_probes); i++) {
		unregister_kprobe(&fault_probes[i]);
		/* Of the last registration */
		fault_probes[i].addr = NULL;
		fault_probes[i].flags = 0;
	}
}

static void fault_setup(struct kunit *test)
{
	int i, ret;

	if (IS_ENABLED(CONFIG_DEBUG_KMEMLEAK))
		kunit_skip(test, "kmemleak allocates as well, and gives up if it cannot");
	for (i = 0; i < ARRAY_SIZE(fault_probes); i++) {
		ret = register_kprobe(&fault_probes[i]);
		if (!ret)
			continue;
		while (--i >= 0)
			unregister_kprobe(&fault_probes[i]);
		kunit_skip(test, "no probe on the allocator: %d", ret);
	}
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fault_remove, NULL));
}

static void fault_arm(int turn)
{
	fault.turn = turn;
	fault.failed = false;
	WRITE_ONCE(fault.task, current);
}

/* Return: did an allocation fail since fault_arm()? */
static bool fault_disarm(void)
{
	WRITE_ONCE(fault.task, NULL);
	return fault.failed;
}

/* No operation here makes as many allocations. */
#define MANY_ALLOCATIONS	200

/* The return of a call does not call a user that refused it. */
static void refused_call(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&user_a.gops));
	KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&user_b.gops));

	/* The filter has no such function. */
	call_both();
	expect_one_call(test, &user_a);
	expect_one_call(test, &user_b);

	/* The entry callback says no. */
	unregister_ftrace_graph(&user_b.gops);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter(&user_b.gops.ops, FUNCTION_A,
						   strlen(FUNCTION_A), 1));
	user_b.site = user_a.site;
	KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&user_b.gops));
	graph_user_reset(&user_a);
	graph_user_reset(&user_b);
	user_a.refuses = true;
	call_both();
	KUNIT_EXPECT_EQ(test, user_a.entries, 1);
	KUNIT_EXPECT_EQ(test, user_a.returns, 0);
	expect_one_call(test, &user_b);

	unregister_ftrace_graph(&user_b.gops);
	unregister_ftrace_graph(&user_a.gops);
}

/* A filter that the notrace list empties is not one of all functions. */
static void emptied_filter(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_notrace(&user_a.gops.ops, FUNCTION_A,
						    strlen(FUNCTION_A), 1));

	/* Alone, when filters are not looked at for each call */
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&user_a.gops));
	call_both();
	KUNIT_EXPECT_EQ(test, user_a.entries, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&user_a.strangers), 0);

	/* With another one, and alone again */
	KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&user_b.gops));
	call_both();
	expect_one_call(test, &user_b);
	unregister_ftrace_graph(&user_b.gops);
	call_both();
	KUNIT_EXPECT_EQ(test, user_a.entries, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&user_a.strangers), 0);

	/* Not emptied any more, while it is registered */
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_notrace(&user_a.gops.ops, FUNCTION_B,
						    strlen(FUNCTION_B), 1));
	call_both();
	expect_one_call(test, &user_a);
	unregister_ftrace_graph(&user_a.gops);

	/* The other one that remains is not called for more than it wants. */
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_notrace(&user_a.gops.ops, FUNCTION_A,
						    strlen(FUNCTION_A), 1));
	graph_user_reset(&user_b);
	KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&user_b.gops));
	KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&user_a.gops));
	unregister_ftrace_graph(&user_a.gops);
	call_both();
	expect_one_call(test, &user_b);
	unregister_ftrace_graph(&user_b.gops);
}

/* A filter that cannot be allocated is an error, and not half a filter. */
static void filter_without_memory(struct kunit *test)
{
	static struct ftrace_ops ops;
	static const char * const filters[] = { FUNCTION_A, "ftrace_kunit_*", "1" };
	char filter[KSYM_NAME_LEN];
	int i, turn, ret;
	bool failed;

	fault_setup(test);
	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		for (turn = 1; turn < MANY_ALLOCATIONS; turn++) {
			/* It is written to. */
			strscpy(filter, filters[i]);
			fault_arm(turn);
			ret = ftrace_set_filter(&ops, filter, strlen(filter), 1);
			failed = fault_disarm();
			KUNIT_EXPECT_EQ_MSG(test, ret, failed ? -ENOMEM : 0,
					    "allocation %d of filter %s", turn, filters[i]);
			if (!failed)
				break;
		}
		KUNIT_EXPECT_GT(test, turn, 1);
		KUNIT_EXPECT_LT(test, turn, MANY_ALLOCATIONS);
	}
	ftrace_free_filter(&ops);
}

/* Where registering fails, nothing stays behind, and the next attempt works. */
static void register_each_allocation(struct kunit *test)
{
	int turn, ret;
	bool failed;

	for (turn = 1; turn < MANY_ALLOCATIONS; turn++) {
		graph_user_reset(&user_a);
		fault_arm(turn);
		ret = register_ftrace_graph(&user_a.gops);
		failed = fault_disarm();
		if (ret) {
			KUNIT_EXPECT_TRUE(test, failed);
			KUNIT_EXPECT_EQ_MSG(test, ret, -ENOMEM, "allocation %d", turn);
			ret = register_ftrace_graph(&user_a.gops);
		}
		KUNIT_ASSERT_EQ_MSG(test, ret, 0, "after allocation %d failed", turn);
		call_both();
		expect_one_call(test, &user_a);
		unregister_ftrace_graph(&user_a.gops);
		if (!failed)
			break;
	}
	KUNIT_EXPECT_GT(test, turn, 1);
	KUNIT_EXPECT_LT(test, turn, MANY_ALLOCATIONS);
}

static void register_without_memory(struct kunit *test)
{
	/* ftrace allocates some memory at first use and keeps it: do that before the count. */
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&user_a.gops));
	unregister_ftrace_graph(&user_a.gops);

	fault_setup(test);
	register_each_allocation(test);
}

static void register_second_without_memory(struct kunit *test)
{
	fault_setup(test);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&user_b.gops));
	register_each_allocation(test);
	graph_user_reset(&user_b);
	call_both();
	expect_one_call(test, &user_b);
	unregister_ftrace_graph(&user_b.gops);
}

/*
 * A user that goes is gone, with or without memory for the filter of the others; the
 * other one sees its own function only, and the first may come again.
 */
static void unregister_without_memory(struct kunit *test)
{
	bool failed;
	int turn;

	fault_setup(test);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&user_b.gops));
	for (turn = 1; turn < MANY_ALLOCATIONS; turn++) {
		KUNIT_ASSERT_EQ_MSG(test, 0, register_ftrace_graph(&user_a.gops),
				    "allocation %d", turn);
		graph_user_reset(&user_a);
		graph_user_reset(&user_b);
		call_both();
		expect_one_call(test, &user_a);
		expect_one_call(test, &user_b);

		fault_arm(turn);
		unregister_ftrace_graph(&user_a.gops);
		failed = fault_disarm();

		graph_user_reset(&user_a);
		graph_user_reset(&user_b);
		call_both();
		expect_one_call(test, &user_b);
		KUNIT_EXPECT_EQ(test, user_a.entries, 0);
		KUNIT_EXPECT_EQ(test, user_a.returns, 0);
		if (!failed)
			break;
	}
	KUNIT_EXPECT_GT(test, turn, 1);
	KUNIT_EXPECT_LT(test, turn, MANY_ALLOCATIONS);
	unregister_ftrace_graph(&user_b.gops);
}

#ifdef CONFIG_KPROBES_ON_FTRACE
static notrace void ipmodify_func(unsigned long ip, unsigned long parent_ip,
				  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static void post_handler(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

/* Two that may change where a call goes do not share a function. */
static void probe_that_ftrace_refuses(struct kunit *test)
{
	static struct ftrace_ops ipmodify = {
		.func = ipmodify_func,
		.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
	};
	struct kprobe probe = {
		.addr = (kprobe_opcode_t *)user_a.site,
		.post_handler = post_handler,
	};
	int ret;

	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&ipmodify, user_a.site, 0, 0));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&ipmodify));
	ret = register_kprobe(&probe);
	KUNIT_EXPECT_EQ(test, ret, -EBUSY);
	if (!ret)
		unregister_kprobe(&probe);
	unregister_ftrace_function(&ipmodify);

	/* Once the other user is unregistered, to register this one works. */
	probe = (struct kprobe) {
		.addr = (kprobe_opcode_t *)user_a.site,
		.post_handler = post_handler,
	};
	ret = register_kprobe(&probe);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret)
		unregister_kprobe(&probe);
	ftrace_free_filter(&ipmodify);
}
#endif

static struct kunit_case ftrace_kunit_cases[] = {
	KUNIT_CASE(refused_call),
	KUNIT_CASE(emptied_filter),
	KUNIT_CASE(filter_without_memory),
	KUNIT_CASE(register_without_memory),
	KUNIT_CASE(register_second_without_memory),
	KUNIT_CASE(unregister_without_memory),
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(probe_that_ftrace_refuses),
#endif
	{}
};

static struct kunit_suite ftrace_kunit_suite = {
	.name = "ftrace",
	.init = ftrace_kunit_init,
	.exit = ftrace_kunit_exit,
	.test_cases = ftrace_kunit_cases,
};

kunit_test_suite(ftrace_kunit_suite);

MODULE_DESCRIPTION("KUnit tests of filters, function graph users and kprobes");
MODULE_LICENSE("GPL");
