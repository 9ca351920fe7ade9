// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of fgraph_users.c: the table of users. */
#include <kunit/test.h>
#include <linux/fgraph.h>
#include <linux/slab.h>

#include "../fgraph_port.h"
#include "fgraph_kunit.h"
#include "../fgraph_users.h"

/* Find the user of a tag like a return does, or NULL. */
static struct fgraph_ops *user_of(unsigned long tag)
{
	struct fgraph_row *row = fgraph_row(tag & FGRAPH_ID_MASK);

	return READ_ONCE(row->tag) == tag ? row->gops : NULL;
}

static void users_errors(struct kunit *test)
{
	struct fgraph_ops gops = { .data_size = 8 }, copy;
	unsigned int users = fgraph_nr_users;
	unsigned long tag;

	/* Errors must not change anything. */
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&gops), -EINVAL);
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), -ENOENT);
	gops.entryfunc = NULL;
	gops.retfunc = take_nothing;
	gops.data_size = FGRAPH_MAX_DATA_SIZE + 1;
	copy = gops;
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&gops), -E2BIG);
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), -ENOENT);
	KUNIT_EXPECT_EQ(test, memcmp(&gops, &copy, sizeof(gops)), 0);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, users);
	if (!users)
		KUNIT_EXPECT_TRUE(test, wait_no_memory());

	gops.data_size = FGRAPH_MAX_DATA_SIZE;
	KUNIT_ASSERT_EQ(test, fgraph_user_add(&gops), 0);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, users + 1);
	tag = gops.user.tag;
	copy = gops;
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&gops), -EBUSY);
	KUNIT_EXPECT_EQ(test, memcmp(&gops, &copy, sizeof(gops)), 0);
	KUNIT_EXPECT_PTR_EQ(test, user_of(tag), &gops);
	/* A copy of a registered user is not registered. */
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&copy), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, user_of(tag), &gops);
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&copy), 0);
	KUNIT_EXPECT_NE(test, copy.user.tag, tag);
	remove_user(&copy);

	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), 0);
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), -ENOENT);
	KUNIT_EXPECT_NULL(test, user_of(tag));
	/* A retired user cannot be registered again before it is removed. */
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&gops), -EBUSY);
	fgraph_synchronize();
	fgraph_user_remove(&gops);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, users);
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), -ENOENT);
	if (!users)
		KUNIT_EXPECT_TRUE(test, no_memory());
}

/* An old tag never finds another user, even one with the same id. */
static void users_generation(struct kunit *test)
{
	struct fgraph_ops a = { .retfunc = take_nothing }, b = a;
	unsigned long old[20];
	int i, j;

	for (i = 0; i < ARRAY_SIZE(old); i++) {
		struct fgraph_ops *gops = i % 2 ? &a : &b;

		KUNIT_ASSERT_EQ(test, fgraph_user_add(gops), 0);
		old[i] = gops->user.tag;
		KUNIT_EXPECT_NE(test, old[i], 0);
		KUNIT_EXPECT_EQ(test, old[i] & FGRAPH_ID_MASK, old[0] & FGRAPH_ID_MASK);
		KUNIT_EXPECT_PTR_EQ(test, user_of(old[i]), gops);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NULL(test, user_of(old[j]));
		remove_user(gops);
		KUNIT_EXPECT_NULL(test, user_of(old[i]));
	}
}

/* There are more users than fit into two pages of the table. */
static void users_many(struct kunit *test)
{
	const int nr = 2 * FGRAPH_PAGE_USERS + 10;
	struct fgraph_ops *gops = kunit_kcalloc(test, nr, sizeof(*gops), GFP_KERNEL);
	unsigned int users = fgraph_nr_users;
	int i, ret = 0, lost = 0;

	KUNIT_ASSERT_NOT_NULL(test, gops);
	for (i = 0; i < nr; i++) {
		gops[i].entryfunc = NULL;
		gops[i].retfunc = take_nothing;
		ret |= fgraph_user_add(&gops[i]);
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, users + nr);
	for (i = 0; i < nr; i++)
		lost += user_of(gops[i].user.tag) != &gops[i];
	KUNIT_EXPECT_EQ(test, lost, 0);

	/* One wait serves all of them. */
	for (i = 0; i < nr; i++)
		ret |= fgraph_user_retire(&gops[i]);
	KUNIT_EXPECT_EQ(test, ret, 0);
	fgraph_synchronize();
	for (i = 0; i < nr; i++)
		fgraph_user_remove(&gops[i]);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, users);
	if (!users)
		KUNIT_EXPECT_TRUE(test, no_memory());
}

static struct kunit_case users_cases[] = {
	KUNIT_CASE(users_errors),
	KUNIT_CASE(users_generation),
	KUNIT_CASE(users_many),
	{}
};

static struct kunit_suite users_suite = {
	.name = "fgraph_users",
	.test_cases = users_cases,
};

kunit_test_suite(users_suite);
