// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of fgraph_reserve.c: memory of shadow stacks, in use and in reserve. */
#include <kunit/test.h>
#include <linux/fgraph.h>
#include <linux/fgraph_task.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "../fgraph_port.h"
#include "fgraph_kunit.h"
#include "../fgraph_reserve.h"
#include "../fgraph_stack.h"
#include "../fgraph_users.h"

/* A stack grows by chunks of the reserve, and all memory is freed after the last user. */
static void memory_reserve(struct kunit *test)
{
	struct fgraph_ops gops = { .retfunc = take_nothing };
	struct fgraph_ops big = {
		.retfunc = take_nothing,
		.data_size = FGRAPH_MAX_DATA_SIZE,
	};
	struct fgraph_usage before, after;
	struct fgraph_stack *st;
	int i;

	if (fgraph_nr_users)
		kunit_skip(test, "there are other users");
	KUNIT_EXPECT_TRUE(test, wait_no_memory());

	KUNIT_ASSERT_EQ(test, fgraph_user_add(&gops), 0);
	fgraph_usage(&before);
	KUNIT_EXPECT_EQ(test, before.stacks, 0);
	KUNIT_EXPECT_EQ(test, before.bytes, 0);
	KUNIT_EXPECT_GE(test, before.reserve_chunks, num_online_cpus());
	KUNIT_EXPECT_EQ(test, before.reserve_bytes, before.reserve_chunks * FGRAPH_CHUNK_SIZE);
	KUNIT_ASSERT_EQ(test, fgraph_user_add(&big), 0);
	fgraph_usage(&after);
	KUNIT_EXPECT_GT(test, after.reserve_bytes, before.reserve_bytes);

	preempt_disable();
	st = fgraph_stack_init(fgraph_chunk_take(FGRAPH_CHUNK_SIZE));
	preempt_enable();
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_NOT_NULL(test, push(st, i, 0));
	KUNIT_EXPECT_NOT_NULL(test, push(st, i, FGRAPH_MAX_DATA_SIZE));
	check_order(test, st, i);
	fgraph_usage(&after);
	/* Two chunks of the usual size and a big one. */
	KUNIT_EXPECT_EQ(test, after.chunks, 3);
	KUNIT_EXPECT_EQ(test, after.bytes, 2 * FGRAPH_CHUNK_SIZE + FGRAPH_BIG_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, fgraph_stack_free(st), 3);

	remove_user(&big);
	remove_user(&gops);
	KUNIT_EXPECT_TRUE(test, no_memory());
}

static int come_and_go(void *unused)
{
	while (!kthread_should_stop()) {
		if (!fgraph_reserve_get(0))
			fgraph_reserve_put(0);
		cond_resched();
	}
	return 0;
}

/* A user that comes while the last one goes finds the reserve full. */
static void memory_reserve_race(struct kunit *test)
{
	unsigned long full, end, lacking = 0;
	struct task_struct *task;
	struct fgraph_usage usage;
	int ret;

	if (fgraph_nr_users)
		kunit_skip(test, "there are other users");
	KUNIT_ASSERT_TRUE(test, wait_no_memory());
	KUNIT_ASSERT_EQ(test, fgraph_reserve_get(0), 0);
	fgraph_usage(&usage);
	full = usage.reserve_chunks;
	fgraph_reserve_put(0);

	task = kthread_create(come_and_go, NULL, "come_and_go");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* On another CPU, if there is one. */
	kthread_bind(task, cpumask_any_but(cpu_online_mask, raw_smp_processor_id()) % nr_cpu_ids);
	wake_up_process(task);
	end = jiffies + HZ / 2;
	do {
		ret = fgraph_reserve_get(0);
		if (ret)
			break;
		fgraph_usage(&usage);
		lacking += usage.reserve_chunks < full;
		fgraph_reserve_put(0);
		cond_resched();
	} while (time_before(jiffies, end));
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, lacking, 0);
	KUNIT_EXPECT_TRUE(test, no_memory());
}

static struct kunit_case reserve_cases[] = {
	KUNIT_CASE(memory_reserve),
	KUNIT_CASE(memory_reserve_race),
	{}
};

static struct kunit_suite reserve_suite = {
	.name = "fgraph_reserve",
	.test_cases = reserve_cases,
};

kunit_test_suite(reserve_suite);
