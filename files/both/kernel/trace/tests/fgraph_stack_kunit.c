// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of fgraph_stack.c, on memory that the tests provide. */
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fgraph_kunit.h"
#include "../fgraph_stack.h"
#include "../fgraph_users.h"

static void *chunk(struct kunit *test, size_t size)
{
	void *memory = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, (unsigned long)memory & (size - 1), 0);
	return memory;
}

/* A stack that already has @chunks chunks, so that none is taken from the reserve. */
static struct fgraph_stack *stack(struct kunit *test, int chunks)
{
	struct fgraph_stack *st = fgraph_stack_init(chunk(test, FGRAPH_CHUNK_SIZE));

	while (--chunks > 0)
		fgraph_stack_add(st, chunk(test, FGRAPH_CHUNK_SIZE), FGRAPH_CHUNK_SIZE);
	return st;
}

static struct fgraph_entry *push_entry(struct fgraph_stack *st,
				       struct fgraph_frame *frame, size_t size)
{
	struct fgraph_entry *entry = reserve_ones(st, size);

	if (!entry)
		return NULL;
	entry->frame = frame;
	commit(entry, FGRAPH_ENTRY);
	return entry;
}

static void stack_order(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 1);
	struct fgraph_frame *frame[10];
	int i;

	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	KUNIT_EXPECT_NULL(test, fgraph_frame_of(st->top));
	for (i = 0; i < 10; i++) {
		frame[i] = push(st, i, 8);
		KUNIT_ASSERT_NOT_NULL(test, frame[i]);
		KUNIT_EXPECT_PTR_EQ(test, fgraph_frame_of(st->top), frame[i]);
		KUNIT_EXPECT_FALSE(test, fgraph_stack_empty(st));
		check_order(test, st, i);
	}
	while (--i >= 0) {
		check_clean(test, st);
		KUNIT_EXPECT_PTR_EQ(test, fgraph_frame_of(st->top), frame[i]);
		fgraph_stack_pop(st, frame[i]);
	}
	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	check_clean(test, st);
}

static void stack_entries(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 1);
	struct fgraph_frame *frame = push(st, 0, 100);
	struct fgraph_entry *entry;
	int i;

	for (i = 0; i < 5; i++) {
		entry = push_entry(st, frame, i * 20);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_PTR_EQ(test, fgraph_frame_of(st->top), frame);
	}
	check_clean(test, st);
	fgraph_stack_pop(st, entry);
	check_clean(test, st);
	fgraph_stack_pop(st, frame);
	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	check_clean(test, st);
}

/* fgraph_stack_drop_linked() drops a frame and its entries, at any distance to the chunk's end. */
static void stack_linked(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 3);
	struct fgraph_frame *first = push(st, 0, 0), *frame;
	int room, i, joined;

	for (room = 0; room < 4; room++) {
		void *top;

		while (fgraph_stack_fits(st->top, (room + 1) * FGRAPH_SLOT))
			push(st, 1, 0);
		top = st->top;
		for (i = 0; i < 4; i++) {
			frame = push(st, 1, 0);
			for (joined = 0; joined < i; joined++) {
				void *older = st->top;

				push_entry(st, frame, ROOM)->older = older;
			}
			fgraph_stack_drop_linked(st, st->top, frame);
			KUNIT_EXPECT_PTR_EQ(test, st->top, top);
			check_clean(test, st);
		}
		/* Fill the chunk, so that the next round begins in another one. */
		while (!fgraph_stack_fits(st->top, (room + 1) * FGRAPH_SLOT) &&
		       fgraph_stack_fits(st->top, room * FGRAPH_SLOT))
			push(st, 1, 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), first);
}

/* Data are in the header if they fit there, else in the slots right below it. */
static void stack_data(struct kunit *test)
{
	static const size_t sizes[] = {
		0, 1, 8, ROOM, ROOM + 1,
		FGRAPH_SLOT, FGRAPH_SLOT + 1, 1000, FGRAPH_CHUNK_SIZE - 4 * FGRAPH_SLOT,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct fgraph_stack *st = stack(test, 1);
		void *bottom = st->top + FGRAPH_SLOT, *data;
		struct fgraph_frame *frame = push(st, 0, sizes[i]);

		KUNIT_ASSERT_NOT_NULL(test, frame);
		data = fgraph_data(frame, fgraph_head(frame));
		KUNIT_EXPECT_EQ(test, (unsigned long)data % sizeof(long), 0);
		if (sizes[i] <= ROOM) {
			KUNIT_EXPECT_PTR_EQ(test, data, (void *)frame->data);
			KUNIT_EXPECT_PTR_EQ(test, bottom, (void *)frame);
		} else {
			KUNIT_EXPECT_PTR_EQ(test, data, bottom);
			KUNIT_EXPECT_LE(test, (unsigned long)data + sizes[i],
					(unsigned long)frame);
			KUNIT_EXPECT_GT(test, (unsigned long)data + sizes[i] + FGRAPH_SLOT,
					(unsigned long)frame);
		}
		KUNIT_EXPECT_PTR_EQ(test, fgraph_older(frame), (void *)st->first);
		check_clean(test, st);
		fgraph_stack_pop(st, frame);
		check_clean(test, st);
	}
}

/* 200 frames fill four chunks; their sizes leave free slots at the end of each chunk. */
static void stack_chunks(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 8);
	struct fgraph_frame *frame[200];
	int round, i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_SIZE(frame); i++) {
			frame[i] = push(st, i, i % 5 * 30);
			KUNIT_ASSERT_NOT_NULL(test, frame[i]);
		}
		check_order(test, st, i - 1);
		check_clean(test, st);
		while (--i >= 0) {
			KUNIT_EXPECT_FALSE(test, fgraph_stack_empty(st));
			fgraph_stack_pop(st, frame[i]);
			if (i % 10 == 0)
				check_clean(test, st);
		}
		KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	}
}

/* A record that no usual chunk can hold skips the next usual chunk and goes into a big one. */
static void stack_big_chunks(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 2);
	struct fgraph_chunk *second = st->first->next, *big, *big2;
	struct fgraph_frame *small, *large, *large2, *half;

	big = chunk(test, FGRAPH_BIG_CHUNK_SIZE);
	fgraph_stack_add(st, big, FGRAPH_BIG_CHUNK_SIZE);
	big2 = chunk(test, FGRAPH_BIG_CHUNK_SIZE);
	fgraph_stack_add(st, big2, FGRAPH_BIG_CHUNK_SIZE);
	KUNIT_ASSERT_PTR_EQ(test, second->next, big);

	small = push(st, 0, 0);
	large = push(st, 1, FGRAPH_MAX_DATA_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, large);
	KUNIT_EXPECT_TRUE(test, (void *)large > (void *)big && (void *)large < big->end);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_older(fgraph_older(large)), (void *)small);
	/* The rest of the big chunk is used, also behind its middle. */
	half = push(st, 2, 0);
	KUNIT_EXPECT_TRUE(test, (void *)half == (void *)large + FGRAPH_SLOT);
	large2 = push(st, 3, FGRAPH_MAX_DATA_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, large2);
	KUNIT_EXPECT_TRUE(test, (void *)large2 > (void *)big2 && (void *)large2 < big2->end);
	check_order(test, st, 3);
	check_clean(test, st);
	fgraph_stack_pop(st, large2);
	fgraph_stack_pop(st, half);
	check_clean(test, st);
	fgraph_stack_pop(st, large);
	check_clean(test, st);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), small);
	fgraph_stack_pop(st, small);
	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	check_clean(test, st);
}

/* A big chunk is filled to its end before another chunk is taken. */
static void stack_fill(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 1);
	struct fgraph_chunk *big = chunk(test, FGRAPH_BIG_CHUNK_SIZE);
	int n = 0;

	if (fgraph_nr_users)
		kunit_skip(test, "there are other users");
	fgraph_stack_add(st, big, FGRAPH_BIG_CHUNK_SIZE);
	while (n < 1000 && push(st, n, 0))
		n++;
	KUNIT_EXPECT_EQ(test, n, 62 + 127);
	check_order(test, st, n - 1);
	check_clean(test, st);
	fgraph_stack_pop(st, fgraph_stack_search(st, RETP(0)));
	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	check_clean(test, st);
}

static void stack_no_memory(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 1);
	void *top;

	if (fgraph_nr_users)
		kunit_skip(test, "there are other users");
	push(st, 0, 0);
	top = st->top;
	KUNIT_EXPECT_NULL(test, push(st, 1, FGRAPH_CHUNK_SIZE));
	KUNIT_EXPECT_NULL(test, push(st, 1, FGRAPH_MAX_DATA_SIZE));
	KUNIT_EXPECT_PTR_EQ(test, st->top, top);
	KUNIT_EXPECT_NULL(test, st->first->next);
	check_clean(test, st);
	check_order(test, st, 0);
}

/* fgraph_stack_pop() drops a frame and all records above it. */
static void stack_stale(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 4);
	struct fgraph_frame *frame, *old;
	int i;

	old = push(st, 0, 0);
	frame = push(st, 1, 200);
	for (i = 2; i < 100; i++) {
		push(st, i, 50);
		push_entry(st, fgraph_frame_of(st->top), 50);
	}
	reserve(st, 1000);
	fgraph_stack_pop(st, frame);
	KUNIT_EXPECT_PTR_EQ(test, st->top, (void *)old);
	check_order(test, st, 0);
	check_clean(test, st);
}

static void stack_reap(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 4);
	void *low = RETP(150);
	int i;

	/* Frames 0 to 50 are of another machine stack. Higher numbers are inner calls. */
	for (i = 0; i < 100; i++) {
		push_entry(st, push(st, i, 0), 0);
		if (i == 70)
			push_entry(st, fgraph_frame_of(st->top), 100);
	}
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, low, RETP(99)), 0);
	check_order(test, st, 99);
	/* Frame 79 is alive. The 20 frames above it are dropped with their entries. */
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, low, RETP(79)), 2 * 20);
	check_order(test, st, 79);
	check_clean(test, st);
	/* Frames of the other machine stack stay. */
	push(st, 80, 0);
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, low, RETP(50)), 1 + 2 * 29 + 1);
	check_order(test, st, 50);
	/* An incomplete record stops it, as interrupted code may be about to complete it. */
	reserve(st, 0);
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, (void *)0, RETP(-1)), 0);
	fgraph_stack_pop(st, st->top);
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, (void *)0, RETP(-1)), 2 * 51);
	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, (void *)0, RETP(-1)), 0);
	check_clean(test, st);
}

static void stack_search(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 2);
	struct fgraph_frame *first, *second;
	struct fgraph_entry *entry;

	KUNIT_EXPECT_NULL(test, fgraph_stack_search(st, RETP(0)));
	first = push(st, 0, 0);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), first);
	/* After a tail call there are two frames of the same place: the newer one is found. */
	second = push(st, 0, 100);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), second);
	/* An entry and an incomplete record whose members look like those of a frame. */
	entry = push_entry(st, second, 0);
	entry->older = (void *)RET(9);
	entry->data[0] = (unsigned long)RETP(9);
	first = reserve(st, 0);
	first->retp = RETP(9);
	KUNIT_EXPECT_NULL(test, fgraph_stack_search(st, RETP(9)));
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), second);
	fgraph_stack_commit(first, FGRAPH_FRAME);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(9)), first);
}

/* The stacks of these tests do not change, so both searches must find the same. */
static unsigned long find(struct kunit *test, struct fgraph_stack *st, unsigned long *cursor,
			  unsigned long *low, unsigned long *high)
{
	unsigned long own = *cursor, ret = fgraph_stack_find(st, cursor, low, high);

	KUNIT_EXPECT_EQ(test, fgraph_stack_find_own(st, &own, low, high), ret);
	KUNIT_EXPECT_EQ(test, own, *cursor);
	return ret;
}

static void stack_find(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 8), *other = stack(test, 8);
	unsigned long cursor = 0, before;
	struct fgraph_frame *decoy;
	int i;

	KUNIT_EXPECT_EQ(test, find(test, st, &cursor, RETP(0), RETP(0)), 0);
	for (i = 0; i < 200; i++) {
		push(st, i, i % 7 * 20);
		push(other, i + 1000, i % 5 * 20);
	}
	/* An unwinder asks from the newest call to the oldest, keeping the cursor. */
	for (i = 199; i >= 0; i--)
		KUNIT_EXPECT_EQ(test, find(test, st, &cursor, RETP(i), RETP(i)), RET(i));
	for (i = 199; i >= 0; i--)
		KUNIT_EXPECT_EQ(test, find(test, st, &cursor, RETP(i), RETP(i)), RET(i));
	KUNIT_EXPECT_EQ(test, find(test, st, &cursor, RETP(500), RETP(500)), 0);

	/* The cursor may be of another stack, or have any value. */
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(other, &cursor, RETP(1100), RETP(1100)), RET(1100));
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(100), RETP(100)), RET(100));
	for (before = cursor - 200; before < cursor + 200; before += 8) {
		unsigned long c = before;

		KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &c, RETP(150), RETP(150)), RET(150));
	}
	cursor = -1UL;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1), RETP(1)), RET(1));
	cursor = FGRAPH_SLOT;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1), RETP(1)), RET(1));

	/*
	 * A search goes on from the cursor instead of the top: if there is a newer frame of the
	 * same place, the older one is found.
	 */
	cursor = 0;
	KUNIT_EXPECT_EQ(test, find(test, st, &cursor, RETP(150), RETP(150)), RET(150));
	decoy = push(st, 0, 0);
	for (i = 149; i >= 0; i--) {
		decoy->retp = RETP(i);
		KUNIT_EXPECT_EQ(test, find(test, st, &cursor, RETP(i), RETP(i)), RET(i));
	}
}

/* fgraph_stack_find() is safe on a stack with invalid contents, as of a running task. */
static void stack_find_rubbish(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 2);
	struct fgraph_frame *frame;
	unsigned long cursor = 0;
	int i;

	for (i = 0; i < 100; i++)
		push(st, i, 0);
	frame = fgraph_stack_search(st, RETP(90));
	frame->head = -1UL;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(99), RETP(99)), RET(99));
	cursor = 0;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(50), RETP(50)), 0);
	frame->head = FGRAPH_CHUNK;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(50), RETP(50)), RET(50));
	/* A chunk leads to itself, or to an invalid address. */
	st->first->next->older_top = st->top;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1000), RETP(1000)), 0);
	cursor = 0;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1), RETP(1)), 0);
	st->first->next->older_top = (void *)8;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1), RETP(1)), 0);
	KUNIT_EXPECT_FALSE(test, fgraph_stack_empty(st));
}

/* An interrupt between reserve and commit works above the record and does not see it. */
static void stack_interrupted(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 2);
	struct fgraph_frame *half, *irq;
	unsigned long cursor = 0;

	push(st, 0, 0);
	half = reserve(st, 100);
	half->ret = RET(1);
	half->retp = RETP(1);
	irq = push(st, 2, 100);
	KUNIT_EXPECT_NULL(test, fgraph_stack_search(st, RETP(1)));
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(2), RETP(2)), RET(2));
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1), RETP(1)), 0);
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(0), RETP(0)), RET(0));
	fgraph_stack_pop(st, irq);
	KUNIT_EXPECT_PTR_EQ(test, st->top, (void *)half);
	KUNIT_EXPECT_NULL(test, fgraph_frame_of(st->top));
	check_clean(test, st);
	fgraph_stack_commit(half, fgraph_head(half) + FGRAPH_FRAME - FGRAPH_RESERVED);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(1)), half);
}

/*
 * After code that is about to push has read the top, an interrupt drops abandoned calls from the
 * top. The push then leaves free slots below its record, perhaps in another chunk.
 */
static void stack_reaped_below(struct kunit *test)
{
	int chunks;

	for (chunks = 1; chunks <= 2; chunks++) {
		struct fgraph_stack *st = stack(test, 2);
		struct fgraph_frame *frame;
		void *top;

		do {
			push(st, 0, 0);
		} while (chunks == 2 && !((void *)st->first->next < st->top &&
					  st->top < st->first->next->end));
		top = st->top;
		KUNIT_EXPECT_GT(test, fgraph_stack_reap(st, (void *)0, RETP(-1)), 0);
		KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
		frame = fgraph_stack_reserve(st, top, 0, 0);
		KUNIT_EXPECT_FALSE(test, fgraph_stack_empty(st));
		fgraph_stack_pop(st, frame);
		KUNIT_EXPECT_PTR_EQ(test, st->top, top);
		KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
		check_clean(test, st);
		/* The stack can be used as before. */
		KUNIT_EXPECT_NOT_NULL(test, push(st, 1, 0));
		KUNIT_EXPECT_FALSE(test, fgraph_stack_empty(st));
		fgraph_stack_pop(st, fgraph_stack_search(st, RETP(1)));
		KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(st));
	}
}

static struct kunit_case stack_cases[] = {
	KUNIT_CASE(stack_order),
	KUNIT_CASE(stack_entries),
	KUNIT_CASE(stack_linked),
	KUNIT_CASE(stack_data),
	KUNIT_CASE(stack_chunks),
	KUNIT_CASE(stack_big_chunks),
	KUNIT_CASE(stack_fill),
	KUNIT_CASE(stack_no_memory),
	KUNIT_CASE(stack_stale),
	KUNIT_CASE(stack_reap),
	KUNIT_CASE(stack_search),
	KUNIT_CASE(stack_find),
	KUNIT_CASE(stack_find_rubbish),
	KUNIT_CASE(stack_interrupted),
	KUNIT_CASE(stack_reaped_below),
	{}
};

static struct kunit_suite stack_suite = {
	.name = "fgraph_stack",
	.test_cases = stack_cases,
};

kunit_test_suite(stack_suite);
