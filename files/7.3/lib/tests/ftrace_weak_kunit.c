// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of a notrace function with an overridden weak function behind it: the
 * weak one has code and a site, but no symbol, so that kallsyms takes it for a part of
 * the notrace one. Such sites of vmlinux are dropped when it is linked, so that this
 * must be a module.
 */

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <kunit/test.h>

#include "ftrace_weak.h"

static int counter;

/* In this order. */
static noinline notrace __attribute__((__no_reorder__)) void ftrace_weak_before(void)
{
	WRITE_ONCE(counter, counter + 1);
}

/* ftrace_weak_other.c has the one that is taken. */
__weak noinline __attribute__((__no_reorder__)) int ftrace_weak_overridden(int value)
{
	return value - READ_ONCE(counter);
}

static notrace void stub(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static struct ftrace_ops ops = { .func = stub };

static int set_filter(void *function)
{
	return ftrace_set_filter_ip(&ops, (unsigned long)function, 0, 1);
}

static void site_of_another_function(struct kunit *test)
{
	ftrace_weak_before();
	KUNIT_EXPECT_EQ(test, ftrace_weak_overridden(1), 2);

	/* The strong function is traced, so ftrace knows this module. */
	KUNIT_EXPECT_EQ(test, 0, set_filter(ftrace_weak_overridden));
	KUNIT_EXPECT_EQ(test, -EINVAL, set_filter(ftrace_weak_before));
	ftrace_free_filter(&ops);
}

static struct kunit_case ftrace_weak_cases[] = {
	KUNIT_CASE(site_of_another_function),
	{}
};

static struct kunit_suite ftrace_weak_suite = {
	.name = "ftrace_weak",
	.test_cases = ftrace_weak_cases,
};

kunit_test_suite(ftrace_weak_suite);

MODULE_DESCRIPTION("KUnit test of sites of overridden weak functions");
MODULE_LICENSE("GPL");
