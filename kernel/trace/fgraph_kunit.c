// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of fgraph: of the shadow stack on memory handed to it, of the
 * table of users, and of calls that are really hooked.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/error-injection.h>
#include <linux/fgraph.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "fgraph_internal.h"
#include "fgraph_kunit.h"

/*
 * The shadow stack.
 */

/* Data of a frame, or of an entry, that need no slot of their own. */
#define ROOM		sizeof_field(struct fgraph_frame, data)

/* Places of return addresses; nobody looks there. */
#define RETP(n)		((unsigned long *)(0x100000UL - (n) * 16))
#define RET(n)		(0x5000UL + (n))

static void *chunk(struct kunit *test, size_t size)
{
	void *memory = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, (unsigned long)memory & (size - 1), 0);
	return memory;
}

/* A stack with as many chunks as asked for, so that none is taken. */
static struct fgraph_stack *stack(struct kunit *test, int chunks)
{
	struct fgraph_stack *st = fgraph_stack_init(chunk(test, FGRAPH_CHUNK_SIZE));

	while (--chunks > 0)
		fgraph_stack_add(st, chunk(test, FGRAPH_CHUNK_SIZE), FGRAPH_CHUNK_SIZE);
	return st;
}

static void *reserve(struct fgraph_stack *st, size_t size)
{
	void *rec;

	preempt_disable();
	rec = fgraph_stack_reserve(st, READ_ONCE(st->top), fgraph_slots_below(size), 0);
	preempt_enable();
	return rec;
}

/* A frame whose data is all ones: whoever takes that for a header is seen. */
static struct fgraph_frame *push(struct fgraph_stack *st, int n, size_t size)
{
	struct fgraph_frame *frame = reserve(st, size);
	unsigned long head;

	if (!frame)
		return NULL;
	head = fgraph_head(frame);
	memset(fgraph_data(frame, head), 0xff, size);
	frame->func = n;
	frame->ret = RET(n);
	frame->retp = RETP(n);
	fgraph_stack_commit(frame, (head & ~FGRAPH_KIND_MASK) | FGRAPH_FRAME);
	return frame;
}

static struct fgraph_entry *push_entry(struct fgraph_stack *st,
				       struct fgraph_frame *frame, size_t size)
{
	struct fgraph_entry *entry = reserve(st, size);
	unsigned long head;

	if (!entry)
		return NULL;
	head = fgraph_head(entry);
	memset(fgraph_data(entry, head), 0xff, size);
	entry->frame = frame;
	fgraph_stack_commit(entry, (head & ~FGRAPH_KIND_MASK) | FGRAPH_ENTRY);
	return entry;
}

/*
 * Each slot is part of a record, or its first word is zero: all of them above
 * the top, and those that a record did not fit into.
 */
static void check_clean(struct kunit *test, struct fgraph_stack *st)
{
	struct fgraph_chunk *c;

	for (c = st->first; c; c = c->next) {
		unsigned int dirty = 0;
		void *rec;

		/* The topmost record of this chunk, if it is in use. */
		for (rec = st->top; rec; rec = fgraph_below(rec)) {
			if (rec >= (void *)c && rec < c->end)
				break;
		}
		for (rec = (rec ?: c) + FGRAPH_SLOT; rec < c->end; rec += FGRAPH_SLOT)
			dirty += !!fgraph_head(rec);
		KUNIT_EXPECT_EQ(test, dirty, 0);
	}
}

/* All frames from the top down are n, n - 1 ... 0. */
static void check_order(struct kunit *test, struct fgraph_stack *st, int n)
{
	void *rec;

	for (rec = st->top; rec; rec = fgraph_below(rec)) {
		if (fgraph_kind(fgraph_head(rec)) != FGRAPH_FRAME)
			continue;
		KUNIT_EXPECT_EQ(test, ((struct fgraph_frame *)rec)->func, n);
		n--;
	}
	KUNIT_EXPECT_EQ(test, n, -1);
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

/* A frame and those who joined it go in one go, also if a chunk ends between them. */
static void stack_linked(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 3);
	struct fgraph_frame *first = push(st, 0, 0), *frame;
	int room, i, joined;

	for (room = 0; room < 4; room++) {
		void *top;

		while (fgraph_slots_left(st->top) > room)
			push(st, 1, 0);
		top = st->top;
		for (i = 0; i < 4; i++) {
			frame = push(st, 1, 0);
			for (joined = 0; joined < i; joined++) {
				void *below = st->top;

				push_entry(st, frame, ROOM)->below = below;
			}
			fgraph_stack_drop_linked(st, st->top, frame);
			KUNIT_EXPECT_PTR_EQ(test, st->top, top);
			check_clean(test, st);
		}
		/* The next one begins in a chunk of its own. */
		while (fgraph_slots_left(st->top) == room)
			push(st, 1, 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), first);
}

/* Data lies in the record or below its header, and nowhere else. */
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
		KUNIT_EXPECT_PTR_EQ(test, fgraph_below(frame), (void *)st->first);
		check_clean(test, st);
		fgraph_stack_pop(st, frame);
		check_clean(test, st);
	}
}

/* 200 frames over four chunks, of sizes that leave room at the end of each. */
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

/* What no usual chunk can hold goes past it into a big one. */
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
	KUNIT_EXPECT_PTR_EQ(test, fgraph_below(fgraph_below(large)), (void *)small);
	/* The rest of the big chunk is used, over its middle. */
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

/* A big chunk is filled to its end before another is wanted. */
static void stack_fill(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 1);
	struct fgraph_chunk *big = chunk(test, FGRAPH_BIG_CHUNK_SIZE);
	int n = 0;

	if (fgraph_nr_users)
		kunit_skip(test, "somebody has a reserve");
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
		kunit_skip(test, "somebody has a reserve");
	push(st, 0, 0);
	top = st->top;
	KUNIT_EXPECT_NULL(test, push(st, 1, FGRAPH_CHUNK_SIZE));
	KUNIT_EXPECT_NULL(test, push(st, 1, FGRAPH_MAX_DATA_SIZE));
	KUNIT_EXPECT_PTR_EQ(test, st->top, top);
	KUNIT_EXPECT_NULL(test, st->first->next);
	check_clean(test, st);
	check_order(test, st, 0);
}

/* To pop a frame is to drop all above it. */
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

	/* 0-50 are of another machine stack, and the higher numbers deeper. */
	for (i = 0; i < 100; i++) {
		push_entry(st, push(st, i, 0), 0);
		if (i == 70)
			push_entry(st, fgraph_frame_of(st->top), 100);
	}
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, low, RETP(99)), 0);
	check_order(test, st, 99);
	/* A new call from where 79 is alive: each frame and its entry go. */
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, low, RETP(79)), 2 * 20);
	check_order(test, st, 79);
	check_clean(test, st);
	/* Down to the other machine stack. */
	push(st, 80, 0);
	KUNIT_EXPECT_EQ(test, fgraph_stack_reap(st, low, RETP(50)), 1 + 2 * 29 + 1);
	check_order(test, st, 50);
	/* Half a record may be of the code that was interrupted. */
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
	/* A tail call: the same place, the newer frame counts. */
	second = push(st, 0, 100);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), second);
	/* What looks like a frame but is none. */
	entry = push_entry(st, second, 0);
	entry->below = (void *)RET(9);
	entry->data[0] = (unsigned long)RETP(9);
	first = reserve(st, 0);
	first->retp = RETP(9);
	KUNIT_EXPECT_NULL(test, fgraph_stack_search(st, RETP(9)));
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(0)), second);
	fgraph_stack_commit(first, FGRAPH_FRAME);
	KUNIT_EXPECT_PTR_EQ(test, fgraph_stack_search(st, RETP(9)), first);
}

static void stack_find(struct kunit *test)
{
	struct fgraph_stack *st = stack(test, 8), *other = stack(test, 8);
	unsigned long cursor = 0, before;
	struct fgraph_frame *decoy;
	int i;

	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(0), RETP(0)), 0);
	for (i = 0; i < 200; i++) {
		push(st, i, i % 7 * 20);
		push(other, i + 1000, i % 5 * 20);
	}
	/* As an unwinder does: from the newest to the oldest, and in one go. */
	for (i = 199; i >= 0; i--)
		KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(i), RETP(i)), RET(i));
	for (i = 199; i >= 0; i--)
		KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(i), RETP(i)), RET(i));
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(500), RETP(500)), 0);

	/* The cursor may be of another stack, and be just anything. */
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
	 * It goes on from the cursor and does not begin anew: with a newer
	 * frame of the same place, it finds the older one.
	 */
	cursor = 0;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(150), RETP(150)), RET(150));
	decoy = push(st, 0, 0);
	for (i = 149; i >= 0; i--) {
		decoy->retp = RETP(i);
		KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(i), RETP(i)), RET(i));
	}
}

/* Who looks at a running task's stack may find rubbish, but leaves it alone. */
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
	/* Chunks that lead to each other, or nowhere. */
	st->first->next->below = st->top;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1000), RETP(1000)), 0);
	cursor = 0;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1), RETP(1)), 0);
	st->first->next->below = (void *)8;
	KUNIT_EXPECT_EQ(test, fgraph_stack_find(st, &cursor, RETP(1), RETP(1)), 0);
	KUNIT_EXPECT_FALSE(test, fgraph_stack_empty(st));
}

/* Between reserve and commit others come and go above, and see nothing. */
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
	{}
};

static struct kunit_suite stack_suite = {
	.name = "fgraph_stack",
	.test_cases = stack_cases,
};

/*
 * Memory: what is in use and in reserve.
 */

static bool no_memory(void)
{
	struct fgraph_usage u;

	fgraph_usage(&u);
	return !u.stacks && !u.chunks && !u.bytes && !u.reserve_chunks && !u.reserve_bytes;
}

/* The last returns, and tasks that have just ended, give theirs back soon. */
static bool wait_no_memory(void)
{
	int i;

	for (i = 0; i < 200 && !no_memory(); i++)
		msleep(20);
	return no_memory();
}

static void take_nothing(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct fgraph_regs *regs)
{
}

static void remove(struct fgraph_ops *gops)
{
	if (fgraph_user_retire(gops))
		return;
	fgraph_synchronize();
	fgraph_user_remove(gops);
}

/* A stack that lives on the reserve: it grows, and all is given back. */
static void memory_reserve(struct kunit *test)
{
	struct fgraph_ops gops = { .retfunc = take_nothing };
	struct fgraph_ops big = { .retfunc = take_nothing, .data_size = FGRAPH_MAX_DATA_SIZE };
	struct fgraph_usage before, after;
	struct fgraph_stack *st;
	int i;

	if (fgraph_nr_users)
		kunit_skip(test, "somebody has a reserve");
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
	/* Two of usual size and a big one. */
	KUNIT_EXPECT_EQ(test, after.chunks, 3);
	KUNIT_EXPECT_EQ(test, after.bytes, 2 * FGRAPH_CHUNK_SIZE + FGRAPH_BIG_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, fgraph_stack_free(st), 3);

	remove(&big);
	remove(&gops);
	KUNIT_EXPECT_TRUE(test, no_memory());
}

/*
 * The table of users.
 */

/* Who has this tag? As frames find it. */
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

	/* Each error leaves everything as it was. */
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&gops), -EINVAL);
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), -ENOENT);
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
	/* To have the same bytes is not to be registered. */
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&copy), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, user_of(tag), &gops);
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&copy), 0);
	KUNIT_EXPECT_NE(test, copy.user.tag, tag);
	remove(&copy);

	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), 0);
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), -ENOENT);
	KUNIT_EXPECT_NULL(test, user_of(tag));
	/* Until its grace period is over, it is still there. */
	KUNIT_EXPECT_EQ(test, fgraph_user_add(&gops), -EBUSY);
	fgraph_synchronize();
	fgraph_user_remove(&gops);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, users);
	KUNIT_EXPECT_EQ(test, fgraph_user_retire(&gops), -ENOENT);
	if (!users)
		KUNIT_EXPECT_TRUE(test, no_memory());
}

/* A tag that was given out once finds its own user or none. */
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
		remove(gops);
		KUNIT_EXPECT_NULL(test, user_of(old[i]));
	}
}

/* More than a page of the table holds. */
static void users_many(struct kunit *test)
{
	const int nr = 2 * FGRAPH_PAGE_USERS + 10;
	struct fgraph_ops *gops = kunit_kcalloc(test, nr, sizeof(*gops), GFP_KERNEL);
	unsigned int users = fgraph_nr_users;
	int i, ret = 0, lost = 0;

	KUNIT_ASSERT_NOT_NULL(test, gops);
	for (i = 0; i < nr; i++) {
		gops[i].retfunc = take_nothing;
		ret |= fgraph_user_add(&gops[i]);
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, users + nr);
	for (i = 0; i < nr; i++)
		lost += user_of(gops[i].user.tag) != &gops[i];
	KUNIT_EXPECT_EQ(test, lost, 0);

	/* One grace period may serve them all. */
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

/* What nobody hooked has no return address; nor has the trampoline itself. */
static void unwind_unknown(struct kunit *test)
{
	unsigned long light = (unsigned long)fgraph_trampoline_light, cursor = 0, word;
	unsigned long full = (unsigned long)fgraph_trampoline_full;

	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(current, &cursor, light, &word, &word), 0);
	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(current, &cursor, full, &word, &word), 0);
	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(&init_task, &cursor, full, &word, &word), 0);
	KUNIT_EXPECT_EQ(test, cursor, 0);
	word = (unsigned long)unwind_unknown;
	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(current, &cursor, word, &word, &word), word);
}

static struct kunit_case users_cases[] = {
	KUNIT_CASE(unwind_unknown),
	KUNIT_CASE(users_errors),
	KUNIT_CASE(users_generation),
	KUNIT_CASE(users_many),
	KUNIT_CASE(memory_reserve),
	{}
};

static struct kunit_suite users_suite = {
	.name = "fgraph_users",
	.test_cases = users_cases,
};

/*
 * Hooked calls.
 */

/* How a user learns that a function was entered. */
enum via {
	VIA_FTRACE,	/* its own ftrace_ops */
	VIA_KPROBE,	/* a kprobe where ftrace can reach */
	VIA_INT3,	/* where it cannot: a breakpoint */
	VIA_JUMP,	/* a breakpoint that was optimised */
};

static const struct via_param {
	const char	*name;
	enum via	via;
	bool		there;
} via_params[] = {
	{ "ftrace",	VIA_FTRACE,	IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER) },
	{ "kprobe",	VIA_KPROBE,	IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) },
	{ "int3",	VIA_INT3,	true },
	{ "jump",	VIA_JUMP,	IS_ENABLED(CONFIG_OPTPROBES) },
};

static const void *via_gen(const void *prev, char *desc)
{
	const struct via_param *p = prev ? (const struct via_param *)prev + 1 : via_params;

	for (; p < via_params + ARRAY_SIZE(via_params); p++) {
		if (p->there) {
			strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
			return p;
		}
	}
	return NULL;
}

#define MAX_FUNCS	3
#define MAX_USERS	80
#define MAX_TRACE	48

/**
 * struct hook_user - a user and what it has seen
 * @gops:	the user
 * @filter:	its filter, where ftrace calls it
 * @kp:		its kprobes, if it finds function entries by them
 * @via:	whether it does
 * @hooked:	is it registered?
 * @veto:	do not ask for the return
 * @entries:	calls of the entry callback
 * @returns:	calls of the return callback
 * @first:	entries at which the return address had not been replaced
 * @wrong:	returns of another frame or with other data than at entry
 * @frame:	the last frame
 * @func:	of that frame
 * @ret:	of that frame
 * @retp:	of that frame
 * @value:	what the function returned
 * @regs:	registers at return
 * @full:	were there any?
 * @frames:	at return, frames on the shadow stack for the place of the call
 * @joined:	at return, entries in these frames
 * @parent:	fgraph_parent_data() at the last entry
 * @trace:	stack trace of the return callback
 * @depth:	its length
 */
struct hook_user {
	struct fgraph_ops	gops;
#ifdef CONFIG_FUNCTION_TRACER
	struct ftrace_ops	filter;
#endif
	struct {
		struct kprobe	kp;
		struct hook_user	*user;
	}			kp[MAX_FUNCS];
	enum via		via;
	bool			hooked;

	bool			veto;
	atomic_t		entries;
	atomic_t		returns;
	atomic_t		first;
	atomic_t		wrong;
	const struct fgraph_frame *frame;
	unsigned long		func;
	unsigned long		ret;
	unsigned long		*retp;
	unsigned long		value;
	struct pt_regs		regs;
	bool			full;
	unsigned int		frames;
	unsigned int		joined;
	void			*parent;
	unsigned long		trace[MAX_TRACE];
	unsigned int		depth;
};

static struct hook_user users[MAX_USERS];

struct sleeper {
	const struct fgraph_kunit_targets *t;
	struct task_struct	*task;
	struct completion	began;
	struct completion	go;
	struct completion	done;
	unsigned long		value;
};

static struct sleeper sleepers[2];

static enum via via_of(struct kunit *test)
{
	return ((const struct via_param *)test->param_value)->via;
}

static const struct fgraph_kunit_targets *targets(struct kunit *test)
{
	enum via via = via_of(test);

	return via == VIA_FTRACE || via == VIA_KPROBE ? &fgraph_kunit_traced :
							&fgraph_kunit_hidden;
}

/* A byte that tells users and depths of recursion apart. */
static int fill_of(struct hook_user *u, const struct fgraph_frame *frame)
{
	return ((unsigned long)u / sizeof(*u) * 7 + (unsigned long)frame->retp / 16) & 0xff;
}

static int note_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
		      void *data, struct ftrace_regs *fregs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	atomic_inc(&u->entries);
	if (!fgraph_is_trampoline(*fgraph_entry_place((struct pt_regs *)fregs)))
		atomic_inc(&u->first);
	u->frame = frame;
	u->func = frame->func;
	u->ret = frame->ret;
	u->retp = frame->retp;
	u->parent = fgraph_parent_data(gops, frame);
	memset(data, fill_of(u, frame), gops->data_size);
	return !u->veto;
}

static void note_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);
	struct fgraph_stack *st = current->fgraph_stack;
	void *rec;

	atomic_inc(&u->returns);
	if ((unsigned long)data % sizeof(long) ||
	    memchr_inv(data, fill_of(u, frame), gops->data_size))
		atomic_inc(&u->wrong);
	u->value = fgraph_return_value(regs);
	u->full = fgraph_get_regs(regs);
	if (u->full)
		u->regs = *fgraph_get_regs(regs);
	u->frames = 0;
	u->joined = 0;
	for (rec = st->top; rec; rec = fgraph_below(rec)) {
		enum fgraph_kind kind = fgraph_kind(fgraph_head(rec));

		if (kind == FGRAPH_FRAME && ((struct fgraph_frame *)rec)->retp == frame->retp)
			u->frames++;
		if (kind == FGRAPH_ENTRY && ((struct fgraph_entry *)rec)->frame == frame)
			u->joined++;
	}
}

/* A user that leaves no trace but numbers: for calls in several contexts. */
static int count_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
		       void *data, struct ftrace_regs *fregs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	atomic_inc(&u->entries);
	memset(data, fill_of(u, frame), gops->data_size);
	return 1;
}

static void count_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	atomic_inc(&u->returns);
	if (memchr_inv(data, fill_of(u, frame), gops->data_size))
		atomic_inc(&u->wrong);
}

static int user_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	struct hook_user *u = *(struct hook_user **)(kp + 1);

	fgraph_hook(&u->gops, (unsigned long)kp->addr, regs);
	return 0;
}

/* Forbids to replace the breakpoint by a jump. */
static void user_post_handler(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static void unhook(struct hook_user *u)
{
	int i;

	if (!u->hooked)
		return;
	u->hooked = false;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (u->via == VIA_FTRACE) {
		unregister_ftrace_graph(&u->gops);
		ftrace_free_filter(&u->filter);
		return;
	}
#endif
	for (i = 0; i < MAX_FUNCS; i++) {
		if (u->kp[i].user)
			unregister_kprobe(&u->kp[i].kp);
		u->kp[i].user = NULL;
	}
	remove(&u->gops);
}

struct funcs {
	void	*func[MAX_FUNCS];
};

static int try_hook(struct hook_user *u, void **func)
{
	int i, ret;

	if (!u->gops.entryfunc)
		u->gops.entryfunc = note_entry;
	if (!u->gops.retfunc)
		u->gops.retfunc = note_return;
	u->gops.name = "kunit";
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (u->via == VIA_FTRACE) {
		u->gops.filter = &u->filter;
		for (i = 0; i < MAX_FUNCS && func[i]; i++) {
			ret = ftrace_set_filter_ip(&u->filter, (unsigned long)func[i], 0, 0);
			if (ret)
				return ret;
		}
		ret = register_ftrace_graph(&u->gops);
		u->hooked = !ret;
		return ret;
	}
#endif
	ret = fgraph_user_add(&u->gops);
	if (ret)
		return ret;
	u->hooked = true;
	for (i = 0; i < MAX_FUNCS && func[i]; i++) {
		memset(&u->kp[i], 0, sizeof(u->kp[i]));
		u->kp[i].kp.addr = func[i];
		u->kp[i].kp.pre_handler = user_pre_handler;
		if (u->via == VIA_INT3)
			u->kp[i].kp.post_handler = user_post_handler;
		u->kp[i].user = u;
		ret = register_kprobe(&u->kp[i].kp);
		if (ret) {
			u->kp[i].user = NULL;
			break;
		}
	}
	return ret;
}

static void hook_funcs(struct kunit *test, struct hook_user *u, struct funcs funcs)
{
	u->via = via_of(test);
	KUNIT_ASSERT_EQ(test, try_hook(u, funcs.func), 0);
}

/* Hook up to MAX_FUNCS functions for a user, in the way of this test. */
#define hook(test, u, list...)	\
	hook_funcs(test, u, (struct funcs) { .func = { list } })

/* After the last hook(): kprobes have become jumps, if they can. */
static void hooked(struct kunit *test)
{
	if (via_of(test) == VIA_JUMP)
		wait_for_kprobe_optimizer();
}

static unsigned long user_missed(struct hook_user *u)
{
	return fgraph_missed(&u->gops, FGRAPH_MISS_MEMORY) +
	       fgraph_missed(&u->gops, FGRAPH_MISS_NESTED);
}

/* A user has seen so many calls, each of them whole. */
static void expect_calls(struct kunit *test, struct hook_user *u, int calls)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), calls);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), calls);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->wrong), 0);
	KUNIT_EXPECT_EQ(test, user_missed(u), 0);
}

static void expect_stack_empty(struct kunit *test)
{
	KUNIT_ASSERT_NOT_NULL(test, current->fgraph_stack);
	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(current->fgraph_stack));
	check_clean(test, current->fgraph_stack);
}

static void clear(struct hook_user *u, int nr)
{
	memset(u, 0, nr * sizeof(*u));
}

static int hook_init(struct kunit *test)
{
	clear(users, MAX_USERS);
	memset(sleepers, 0, sizeof(sleepers));
	return 0;
}

static void wake(struct sleeper *s)
{
	if (!s->task)
		return;
	complete_all(&s->go);
	kthread_stop(s->task);
	s->task = NULL;
}

/* Also after a test that failed half way. */
static void hook_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sleepers); i++)
		wake(&sleepers[i]);
	for (i = 0; i < MAX_USERS; i++)
		unhook(&users[i]);
	if (!fgraph_nr_users)
		KUNIT_EXPECT_TRUE(test, wait_no_memory());
}

static noinline int sleeper_fn(void *arg)
{
	struct sleeper *s = arg;

	s->value = s->t->sleep(&s->began, &s->go);
	complete(&s->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 100 + 1);
	return 0;
}

/* Returns when the thread is in sleep(). */
static void start_sleeper(struct kunit *test, struct sleeper *s)
{
	s->t = targets(test);
	init_completion(&s->began);
	init_completion(&s->go);
	init_completion(&s->done);
	s->task = kthread_run(sleeper_fn, s, "fgraph_kunit");
	if (IS_ERR(s->task))
		s->task = NULL;
	KUNIT_ASSERT_NOT_NULL(test, s->task);
	wait_for_completion(&s->began);
	msleep(20);
}

static void hook_one(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct fgraph_kunit_pair pair;
	struct hook_user *u = users;
	int i;

	KUNIT_EXPECT_NULL(test, current->fgraph_stack);
	hook(test, u, t->add, t->pair);
	hooked(test);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, t->add(i, 5), i + 5);
		KUNIT_EXPECT_EQ(test, u->value, i + 5);
	}
	expect_calls(test, u, 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->first), 10);
	KUNIT_EXPECT_EQ(test, u->frames, 1);
	KUNIT_EXPECT_EQ(test, u->joined, 0);
	KUNIT_EXPECT_FALSE(test, u->full);
	KUNIT_EXPECT_TRUE(test, kernel_text_address(u->ret));
	KUNIT_EXPECT_FALSE(test, fgraph_is_trampoline(u->ret));
	KUNIT_EXPECT_TRUE(test, u->func - (unsigned long)t->add < 16);
	KUNIT_EXPECT_NULL(test, u->parent);
	/* Both return registers come through. */
	pair = t->pair(123, 456);
	KUNIT_EXPECT_EQ(test, pair.lo, 123);
	KUNIT_EXPECT_EQ(test, pair.hi, 456);
	expect_stack_empty(test);
	unhook(u);
	KUNIT_EXPECT_EQ(test, t->add(1, 5), 6);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 11);
	KUNIT_EXPECT_NULL(test, current->fgraph_stack);
}

static void hook_full_regs(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *full = &users[0], *light = &users[1];
	struct fgraph_kunit_pair pair;

	full->gops.flags = FGRAPH_FULL_REGS;
	hook(test, full, t->pair);
	hooked(test);
	pair = t->pair(123, 456);
	KUNIT_EXPECT_EQ(test, pair.lo, 123);
	KUNIT_EXPECT_EQ(test, pair.hi, 456);
	KUNIT_EXPECT_TRUE(test, full->full);
	KUNIT_EXPECT_EQ(test, regs_return_value(&full->regs), 123);
	KUNIT_EXPECT_EQ(test, instruction_pointer(&full->regs), full->ret);
#ifdef CONFIG_X86_64
	KUNIT_EXPECT_EQ(test, full->regs.dx, 456);
	KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)full->regs.sp, full->retp + 1);
	KUNIT_EXPECT_EQ(test, full->regs.cs, __KERNEL_CS);
#elif defined(CONFIG_ARM64)
	KUNIT_EXPECT_EQ(test, full->regs.regs[1], 456);
	KUNIT_EXPECT_EQ(test, full->regs.regs[30], full->ret);
	KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)full->regs.sp, full->retp);
	KUNIT_EXPECT_EQ(test, full->regs.pstate & PSR_MODE_MASK,
			is_kernel_in_hyp_mode() ? PSR_MODE_EL2h : PSR_MODE_EL1h);
#endif
	/* One user of the call needs registers: then all have them. */
	hook(test, light, t->pair);
	hooked(test);
	pair = t->pair(12, 45);
	KUNIT_EXPECT_EQ(test, pair.lo, 12);
	KUNIT_EXPECT_EQ(test, pair.hi, 45);
	KUNIT_EXPECT_TRUE(test, light->full);
	unhook(full);
	pair = t->pair(12, 45);
	KUNIT_EXPECT_FALSE(test, light->full);
	KUNIT_EXPECT_EQ(test, light->value, 12);
	expect_calls(test, full, 2);
	expect_calls(test, light, 2);
	expect_stack_empty(test);
}

/* So many users that their entries do not fit in one chunk. */
static void hook_join(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	int i, alone = 0, good = 0;

	for (i = 0; i < MAX_USERS; i++)
		hook(test, &users[i], t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(3, 4), 7);
	KUNIT_EXPECT_EQ(test, t->add(3, 5), 8);
	for (i = 0; i < MAX_USERS; i++) {
		struct hook_user *u = &users[i];

		good += atomic_read(&u->entries) == 2 && atomic_read(&u->returns) == 2 &&
			!atomic_read(&u->wrong) && u->value == 8;
		alone += u->frame != users[0].frame || u->frames != 1 ||
			 u->joined != MAX_USERS - 1;
	}
	KUNIT_EXPECT_EQ(test, good, MAX_USERS);
	/* All in one frame. */
	KUNIT_EXPECT_EQ(test, alone, 0);
	expect_stack_empty(test);
}

struct kretprobe_seen {
	struct kretprobe	rp;
	unsigned int		entries;
	unsigned int		returns;
	unsigned int		wrong;
	unsigned long		value;
	unsigned long		ret;
	unsigned long		new_value;
};

static int rp_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	container_of(rp, struct kretprobe_seen, rp)->entries++;
	memset(ri->data, 0xa5, rp->data_size);
	return 0;
}

static int rp_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct kretprobe_seen *seen = container_of(rp, struct kretprobe_seen, rp);

	seen->returns++;
	seen->value = regs_return_value(regs);
	seen->ret = get_kretprobe_retaddr(ri);
	if (memchr_inv(ri->data, 0xa5, rp->data_size))
		seen->wrong++;
	if (seen->new_value)
		regs_set_return_value(regs, seen->new_value);
	return 0;
}

static struct kretprobe_seen *kretprobe(struct kunit *test, void *func)
{
	struct kretprobe_seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->rp.kp.addr = func;
	seen->rp.entry_handler = rp_entry;
	seen->rp.handler = rp_handler;
	seen->rp.data_size = 100;
	return seen;
}

/* A kretprobe and another user share the frame, whoever was there first. */
static void hook_join_kretprobe(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct hook_user *u = users;
	int round;

	for (round = 0; round < 2; round++) {
		if (round == 0)
			hook(test, u, t->add);
		KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
		if (round == 1)
			hook(test, u, t->add);
		hooked(test);
		KUNIT_EXPECT_EQ(test, t->add(3, round), 3 + round);
		unhook(u);
		unregister_kretprobe(&seen->rp);

		KUNIT_EXPECT_EQ(test, u->value, 3 + round);
		KUNIT_EXPECT_EQ(test, u->frames, 1);
		KUNIT_EXPECT_EQ(test, u->joined, 1);
		KUNIT_EXPECT_TRUE(test, u->full);
		KUNIT_EXPECT_EQ(test, seen->entries, round + 1);
		KUNIT_EXPECT_EQ(test, seen->returns, round + 1);
		KUNIT_EXPECT_EQ(test, seen->wrong, 0);
		KUNIT_EXPECT_EQ(test, seen->value, 3 + round);
		KUNIT_EXPECT_EQ(test, seen->ret, u->ret);
		KUNIT_EXPECT_EQ(test, seen->rp.nmissed, 0);
		memset(&seen->rp.kp, 0, sizeof(seen->rp.kp));
		seen->rp.kp.addr = (void *)t->add;
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 2);
}

/* What an entry handler finds. */
static struct entry_found {
	unsigned int	entries;
	unsigned int	returns;
	unsigned int	wrong;
	unsigned long	ip;
	struct kprobe	*running;
} found;

static const struct fgraph_kunit_targets *found_by;

static int found_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	found.entries++;
	found.ip = instruction_pointer(regs);
	found.running = kprobe_running();
	if (user_mode(regs) || regs_get_kernel_argument(regs, 1) != 2 ||
	    fgraph_is_trampoline(get_kretprobe_retaddr(ri)))
		found.wrong++;
	/* A probe on that is skipped. */
	found_by->nest(found_by, 0);
	memset(ri->data, 0xa5, rp->data_size);
	/* Does it want the return? */
	return regs_get_kernel_argument(regs, 0) != 1;
}

static int found_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	found.returns++;
	if (memchr_inv(ri->data, 0xa5, get_kretprobe(ri)->data_size) ||
	    regs_return_value(regs) != 3)
		found.wrong++;
	return 0;
}

/* An entry handler finds the same, whether a kprobe calls it or ftrace. */
static void hook_kretprobe_entry(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe *skipped = &kretprobe(test, t->nest)->rp;
	unsigned long by_kprobe_ip = 0;
	static struct kprobe kp;
	int round;

	found_by = t;
	KUNIT_EXPECT_EQ(test, register_kretprobe(skipped), 0);
	for (round = 0; round < 2; round++) {
		struct kretprobe *rp = &kretprobe(test, t->add)->rp;

		memset(&found, 0, sizeof(found));
		memset(&kp, 0, sizeof(kp));
		kp.addr = (void *)t->add;
		kp.post_handler = user_post_handler;
		if (round == 0)
			KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
		rp->entry_handler = found_entry;
		rp->handler = found_handler;
		KUNIT_EXPECT_EQ(test, register_kretprobe(rp), 0);
		hooked(test);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
		KUNIT_EXPECT_EQ(test, t->add(2, 2), 4);
		KUNIT_EXPECT_NOT_NULL(test, found.running);
		if (round == 1 && via_of(test) == VIA_FTRACE) {
			KUNIT_EXPECT_TRUE(test, rp->kp.flags & KPROBE_FLAG_RETURN);
			KUNIT_EXPECT_PTR_EQ(test, found.running, &rp->kp);
		}
		expect_stack_empty(test);
		unregister_kretprobe(rp);
		KUNIT_EXPECT_EQ(test, rp->nmissed, 0);
		KUNIT_EXPECT_EQ(test, found.entries, 2);
		KUNIT_EXPECT_EQ(test, found.returns, 1);
		KUNIT_EXPECT_EQ(test, found.wrong, 0);
		if (round == 0) {
			unregister_kprobe(&kp);
			by_kprobe_ip = found.ip;
		}
	}
	KUNIT_EXPECT_EQ(test, found.ip, by_kprobe_ip);
	unregister_kretprobe(skipped);
	KUNIT_EXPECT_EQ(test, skipped->nmissed + skipped->kp.nmissed, 4);
}

static unsigned int rcu_returns;

static int rcu_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	rcu_returns++;
	return 0;
}

/*
 * Probing the function that tells whether RCU watches: a kretprobe wants to know
 * that before all else, in the handler of its breakpoint.
 */
static void hook_kretprobe_rcu(struct kunit *test)
{
	struct kretprobe *rp;
	int i;

	if (IS_ENABLED(CONFIG_PROVE_RCU) || !IS_ENABLED(CONFIG_TREE_RCU))
		kunit_skip(test, "each breakpoint calls it, or it is no function");
	rp = &kretprobe(test, (void *)rcu_is_watching)->rp;
	rp->entry_handler = NULL;
	rp->handler = rcu_return;
	rcu_returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(rp), 0);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, rcu_is_watching());
	unregister_kretprobe(rp);
	KUNIT_EXPECT_GE(test, rcu_returns, 10);
}

/* A probe that is hit in an interrupt of another one's handler. */
static struct {
	struct irq_work			work;
	const struct fgraph_kunit_targets *t;
	unsigned int			returns;
	bool				done;
} nested;

static void nested_interrupt(struct irq_work *work)
{
	nested.t->nest(nested.t, 0);
	WRITE_ONCE(nested.done, true);
}

static int nested_outer(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	int ms;

	nested.t->nest(nested.t, 0);
	irq_work_queue(&nested.work);
	for (ms = 0; ms < 1000 && !READ_ONCE(nested.done); ms++)
		mdelay(1);
	return 0;
}

static int nested_inner(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	nested.returns++;
	nested.t->nest(nested.t, 0);
	return 0;
}

/*
 * A kretprobe sees the return of what interrupts a handler, and not of what
 * handlers call.
 */
static void hook_kretprobe_nested(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *outer = kretprobe(test, t->add), *inner = kretprobe(test, t->nest);

	outer->rp.handler = nested_outer;
	inner->rp.handler = nested_inner;
	inner->rp.entry_handler = NULL;
	nested.work = IRQ_WORK_INIT_HARD(nested_interrupt);
	nested.t = t;
	nested.returns = 0;
	nested.done = false;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&outer->rp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&inner->rp), 0);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	irq_work_sync(&nested.work);
	expect_stack_empty(test);
	unregister_kretprobe(&inner->rp);
	unregister_kretprobe(&outer->rp);
	KUNIT_EXPECT_TRUE(test, nested.done);
	KUNIT_EXPECT_EQ(test, nested.returns, 1);
	/* By the handler of one, and of the other. */
	KUNIT_EXPECT_EQ(test, inner->rp.kp.nmissed + inner->rp.nmissed, 2);
}

static int nested_pre(struct kprobe *p, struct pt_regs *regs)
{
	nested.t->nest(nested.t, 0);
	return 0;
}

static void nested_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	nested.t->nest(nested.t, 0);
}

/* Nor of what the handlers of a breakpoint call, which is an exception as NMIs are. */
static void hook_kretprobe_in_handlers(struct kunit *test)
{
	struct kretprobe_seen *inner;
	struct kprobe *kp = kunit_kzalloc(test, sizeof(*kp), GFP_KERNEL);

	nested.t = targets(test);
	nested.returns = 0;
	inner = kretprobe(test, nested.t->nest);
	inner->rp.handler = nested_inner;
	inner->rp.entry_handler = NULL;
	KUNIT_ASSERT_NOT_NULL(test, kp);
	kp->addr = (void *)fgraph_kunit_hidden.add;
	kp->pre_handler = nested_pre;
	kp->post_handler = nested_post;
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&inner->rp), 0);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_hidden.add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, nested.returns, 0);
	KUNIT_EXPECT_EQ(test, inner->rp.kp.nmissed + inner->rp.nmissed, 2);
	unregister_kretprobe(&inner->rp);
	unregister_kprobe(kp);
}

/* More kretprobes of one function than fit in a chunk, of all sorts. */
static struct chain_seen {
	struct kretprobe	rp;
	unsigned int		returns;
	unsigned int		wrong;
} chain[70];

static unsigned int chain_told;

static int chain_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct chain_seen *seen = container_of(get_kretprobe(ri), struct chain_seen, rp);

	if (regs_get_kernel_argument(regs, 1) != 2)
		seen->wrong++;
	return 0;
}

static int chain_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct chain_seen *seen = container_of(get_kretprobe(ri), struct chain_seen, rp);

	seen->returns++;
	chain_told++;
	if (!regs || regs_return_value(regs) != 3)
		seen->wrong++;
	return 0;
}

/* Each that is on, and nobody else, sees a call, whoever comes and goes. */
static void chain_call(struct kunit *test, unsigned int on)
{
	unsigned int i, before = chain_told, wrong = 0;

	hooked(test);
	KUNIT_EXPECT_EQ(test, targets(test)->add(1, 2), 3);
	expect_stack_empty(test);
	KUNIT_EXPECT_EQ(test, chain_told - before, on);
	for (i = 0; i < ARRAY_SIZE(chain); i++)
		wrong += chain[i].wrong + chain[i].rp.nmissed + chain[i].rp.kp.nmissed;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void hook_chain(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned int i, nr = ARRAY_SIZE(chain);

	memset(chain, 0, sizeof(chain));
	for (i = 0; i < nr; i++) {
		chain[i].rp.kp.addr = (void *)t->add;
		chain[i].rp.handler = chain_handler;
		/* Ftrace calls these apart from the others. */
		if (i % 3 == 1)
			chain[i].rp.entry_handler = chain_entry;
		/* Some have data that fit in a slot, others take more. */
		chain[i].rp.data_size = i % 7 ? i % 5 ? 0 : 8 : 100;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	users[0].gops.entryfunc = count_entry;
	users[0].gops.retfunc = count_return;
	hook(test, &users[0], t->add);
	chain_call(test, nr);
	chain_call(test, nr);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, chain[i].returns, 2);

	/* Off at both ends and in between, and on again. */
	for (i = 0; i < nr; i += 3)
		KUNIT_EXPECT_EQ(test, disable_kretprobe(&chain[i].rp), 0);
	chain_call(test, nr - DIV_ROUND_UP(nr, 3));
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, chain[i].returns, i % 3 ? 3 : 2);
	for (i = 0; i < nr; i += 3)
		KUNIT_EXPECT_EQ(test, enable_kretprobe(&chain[i].rp), 0);
	chain_call(test, nr);

	/* Some go and come again: then they are newer than the others. */
	for (i = 1; i < nr; i += 2)
		unregister_kretprobe(&chain[i].rp);
	chain_call(test, nr - nr / 2);
	for (i = 1; i < nr; i += 4) {
		memset(&chain[i].rp.kp, 0, sizeof(chain[i].rp.kp));
		chain[i].rp.kp.addr = (void *)t->add;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	chain_call(test, nr - nr / 4);
	for (i = 0; i < nr; i++) {
		if (i % 4 != 3)
			unregister_kretprobe(&chain[i].rp);
	}
	chain_call(test, 0);
	expect_calls(test, &users[0], 7);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static unsigned int plain_calls;

static void plain_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		       struct ftrace_regs *fregs)
{
	plain_calls++;
}

static struct ftrace_ops plain_ops = { .func = plain_func };

/* Users of the same functions, and their filters change. */
static void hook_filters(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add, pair = (unsigned long)t->pair;
	struct hook_user *u = users;
	char name[KSYM_NAME_LEN];

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "of functions that ftrace knows");
	hook(test, &u[0], t->add);
	hook(test, &u[1], t->add, t->pair);
	hook(test, &u[2], t->add);
	/* With two, so that ftrace never calls one directly. */
	hook(test, &u[3], t->add, t->pair);
	hook(test, &u[4], t->add, t->pair);
	t->add(1, 2);
	t->pair(1, 2);
	expect_calls(test, &u[0], 1);
	expect_calls(test, &u[1], 2);
	expect_calls(test, &u[2], 1);
	/* One has one less, another one more. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u[1].filter, add, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u[2].filter, pair, 0, 0), 0);
	t->add(1, 2);
	t->pair(1, 2);
	expect_calls(test, &u[0], 2);
	expect_calls(test, &u[1], 3);
	expect_calls(test, &u[2], 3);
	/* What is in both filters is not traced. */
	snprintf(name, sizeof(name), "%ps", t->add);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&u[2].filter, name, strlen(name), 1), 0);
	t->add(1, 2);
	t->pair(1, 2);
	expect_calls(test, &u[0], 3);
	expect_calls(test, &u[1], 4);
	expect_calls(test, &u[2], 4);
	/* And who goes is not called; nor is one who is no user, and sees that. */
	unhook(&u[1]);
	plain_calls = 0;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&plain_ops, add, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&plain_ops), 0);
	t->add(1, 2);
	KUNIT_EXPECT_EQ(test, plain_calls, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&plain_ops), 0);
	ftrace_free_filter(&plain_ops);
	t->add(1, 2);
	KUNIT_EXPECT_EQ(test, plain_calls, 1);
	t->pair(1, 2);
	expect_calls(test, &u[0], 5);
	expect_calls(test, &u[1], 4);
	expect_calls(test, &u[2], 5);
	expect_calls(test, &u[3], 9);
	expect_calls(test, &u[4], 9);
	expect_stack_empty(test);
}
#endif

#ifdef CONFIG_FPROBE
struct fprobe_seen {
	struct fprobe	fp;
	unsigned int	entries;
	unsigned int	exits;
};

static void seen_entry(struct fprobe *fp, unsigned long ip, struct pt_regs *regs, void *data)
{
	container_of(fp, struct fprobe_seen, fp)->entries++;
}

static void seen_exit(struct fprobe *fp, unsigned long ip, struct pt_regs *regs, void *data)
{
	container_of(fp, struct fprobe_seen, fp)->exits++;
}

/* Of fprobes that are called at once, each is called as it would be alone. */
static void hook_fprobes(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add;
	struct fprobe_seen *seen;
	int i, nr = 40;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "fprobes are of functions that ftrace knows");
	seen = kunit_kcalloc(test, nr, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < nr; i++) {
		seen[i].fp.entry_handler = seen_entry;
		seen[i].fp.exit_handler = seen_exit;
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen[i].fp, &add, 1), 0);
		/* Between others of the same function. */
		if (i % 8 == 5)
			hook(test, &users[i], t->add);
	}
	/* One has no use for the return, the next time. */
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen[3].fp), 0);
	seen[3].fp.exit_handler = NULL;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen[3].fp, &add, 1), 0);
	for (i = 0; i < nr; i += 4)
		disable_fprobe(&seen[i].fp);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	for (i = 0; i < nr; i++) {
		if (i % 2)
			disable_fprobe(&seen[i].fp);
		else
			enable_fprobe(&seen[i].fp);
	}
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	for (i = 0; i < nr; i++) {
		unsigned int calls = i % 4 == 2 ? 2 : 1;

		KUNIT_EXPECT_EQ(test, seen[i].entries, calls);
		KUNIT_EXPECT_EQ(test, seen[i].exits, i == 3 ? 0 : calls);
		KUNIT_EXPECT_EQ(test, seen[i].fp.nmissed, 0);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen[i].fp), 0);
		if (i % 8 == 5)
			expect_calls(test, &users[i], 2);
	}
	expect_stack_empty(test);
}
#endif

/* A callback that calls the function it is for, as deep as it is let. */
static struct {
	const struct fgraph_kunit_targets *t;
	unsigned int depth, max;
} again;

static void again_start(const struct fgraph_kunit_targets *t)
{
	again.t = t;
	again.depth = 0;
	again.max = 0;
}

static void again_call(void)
{
	if (again.depth == 20)
		return;
	again.depth++;
	again.max = max(again.max, again.depth);
	again.t->add(1, 2);
	again.depth--;
}

static void again_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct fgraph_regs *regs)
{
	again_call();
}

#ifdef CONFIG_FPROBE
static unsigned int again_exits;

static void again_enter(struct fprobe *fp, unsigned long ip, struct pt_regs *regs, void *data)
{
	again_call();
}

static void again_exit(struct fprobe *fp, unsigned long ip, struct pt_regs *regs, void *data)
{
	again_exits++;
}
#endif

/* An fprobe that keeps kprobes off, on the function that does it. */
static void hook_fprobe_shared(struct kunit *test)
{
#ifdef CONFIG_FPROBE
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long sites[] = { ftrace_location((unsigned long)t->add),
				  ftrace_location((unsigned long)kprobe_busy_begin) };
	struct fprobe_seen *seen;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "fprobes are of functions that ftrace knows");
	seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->fp.entry_handler = seen_entry;
	seen->fp.exit_handler = seen_exit;
	seen->fp.flags = FPROBE_FL_KPROBE_SHARED;
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&seen->fp, sites, ARRAY_SIZE(sites)), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen->fp), 0);
	/* Recursion was seen, and ended. */
	KUNIT_EXPECT_GE(test, seen->fp.nmissed, 1);
	KUNIT_EXPECT_GE(test, seen->entries, 2);
	KUNIT_EXPECT_EQ(test, seen->entries, seen->exits);
#else
	kunit_skip(test, "there are no fprobes");
#endif
}

/* Calls that an fprobe's handler makes come to an end, from a task's first one on. */
static void hook_fprobe_in_handler(struct kunit *test)
{
#ifdef CONFIG_FPROBE
	static struct fprobe fp = { .entry_handler = again_enter, .exit_handler = again_exit };
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long site = ftrace_location((unsigned long)t->add);

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "fprobes are of functions that ftrace knows");
	again_start(t);
	again_exits = 0;
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&fp, &site, 1), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	unregister_fprobe(&fp);
	/* What a handler calls is hooked once more, at most. */
	KUNIT_EXPECT_GE(test, again.max, 1);
	KUNIT_EXPECT_LE(test, again.max, 2);
	KUNIT_EXPECT_EQ(test, again_exits, again.max);
	KUNIT_EXPECT_EQ(test, fp.nmissed, 1);
#else
	kunit_skip(test, "there are no fprobes");
#endif
}

/* Calls that callbacks make come to an end, also with a chain of others on them. */
static void hook_chain_in_callback(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	int i;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "who calls fgraph_hook() must see to that");
	memset(chain, 0, sizeof(chain));
	for (i = 0; i < 3; i++) {
		chain[i].rp.kp.addr = (void *)t->add;
		chain[i].rp.handler = chain_handler;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	again_start(t);
	users[0].gops.retfunc = again_return;
	hook(test, &users[0], t->add);
	hooked(test);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	unhook(&users[0]);
	for (i = 0; i < 3; i++) {
		unregister_kretprobe(&chain[i].rp);
		KUNIT_EXPECT_EQ(test, chain[i].wrong, 0);
	}
	/* The call by a callback of that call is not hooked any more. */
	KUNIT_EXPECT_GE(test, again.max, 1);
	KUNIT_EXPECT_LE(test, again.max, 2);
}

#ifdef CONFIG_FUNCTION_ERROR_INJECTION
/* As what injects errors does: the function is left before it has begun. */
static int override_handler(struct kprobe *kp, struct pt_regs *regs)
{
	regs_set_return_value(regs, 99);
	override_function_with_return(regs);
	return 1;
}

/* A jump cannot be overridden: with this, the breakpoint stays one. */
static void override_post_handler(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

/* Whoever has hooked the call sees it return all the same, and no frame is left. */
static void hook_override(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct kprobe *kp = kunit_kzalloc(test, sizeof(*kp), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, kp);
	kp->addr = (void *)t->add;
	kp->pre_handler = override_handler;
	kp->post_handler = override_post_handler;
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	/* The newest one's turn comes first. */
	KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
	hooked(test);
	for (i = 1; i <= 100; i++)
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
	KUNIT_EXPECT_EQ(test, seen->returns, 100);
	KUNIT_EXPECT_EQ(test, seen->value, 99);
	expect_stack_empty(test);
	unregister_kprobe(kp);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unregister_kretprobe(&seen->rp);
	KUNIT_EXPECT_EQ(test, seen->returns, 101);
}
#endif

#if defined(CONFIG_FUNCTION_ERROR_INJECTION) && defined(CONFIG_FPROBE) && \
	defined(CONFIG_FUNCTION_GRAPH_TRACER)
static void override_entry(struct fprobe *fp, unsigned long ip, struct pt_regs *regs, void *data)
{
	regs_set_return_value(regs, 99);
	override_function_with_return(regs);
}

/* The same by an fprobe, before others hook the return and after. */
static void hook_override_fprobe(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	unsigned long add = (unsigned long)t->add;
	struct fprobe_seen *fps;
	int i;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "fprobes are of functions that ftrace knows");
	fps = kunit_kcalloc(test, 2, sizeof(*fps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fps);
	for (i = 0; i < 2; i++) {
		fps[i].fp.entry_handler = override_entry;
		if (i)
			fps[i].fp.exit_handler = seen_exit;
		KUNIT_ASSERT_EQ(test, register_fprobe_ips(&fps[i].fp, &add, 1), 0);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
		hook(test, &users[i], t->add);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
		expect_calls(test, &users[i], 1);
		/* It says so of one that was unregistered: disabled. */
		seen->rp.kp.flags = 0;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
		expect_stack_empty(test);
		unregister_kretprobe(&seen->rp);
		KUNIT_EXPECT_EQ(test, seen->returns, i + 1);
		expect_calls(test, &users[i], 2);
		unhook(&users[i]);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&fps[i].fp), 0);
	}
	KUNIT_EXPECT_EQ(test, fps[1].exits, 3);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
}
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
static int check_location(void *test, const char *name, struct module *mod, unsigned long addr)
{
	unsigned long site = ftrace_location(addr);

	if (site && !in_range(site, addr, 16))
		KUNIT_FAIL((struct kunit *)test, "%s: site of another function, at +%lu", name,
			   site - addr);
	return 0;
}

/* That of no function is another one's. */
static void hook_locations(struct kunit *test)
{
	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "of ftrace's sites");
	kallsyms_on_each_symbol(check_location, test);
}
#endif

static void hook_change_value(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct hook_user *u = users;

	seen->new_value = 1234567890123UL;
	hook(test, u, t->add);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 1234567890123UL);
	seen->new_value = 0;
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unregister_kretprobe(&seen->rp);
	KUNIT_EXPECT_EQ(test, seen->returns, 2);
	expect_calls(test, u, 2);
}

/* Who refuses a call at entry does not hear of its return. */
static void hook_veto(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *no = &users[0], *yes = &users[1], *no2 = &users[2];

	no->veto = true;
	no2->veto = true;
	no->gops.data_size = 200;
	no2->gops.data_size = FGRAPH_MAX_DATA_SIZE;
	hook(test, no, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	hook(test, yes, t->add);
	hook(test, no2, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);

	KUNIT_EXPECT_EQ(test, atomic_read(&no->entries), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&no->returns), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&no2->entries), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&no2->returns), 0);
	KUNIT_EXPECT_EQ(test, yes->joined, 0);
	expect_calls(test, yes, 1);
	expect_stack_empty(test);
}

static void hook_data(struct kunit *test)
{
	static const size_t sizes[] = {
		1, 24, 25, 40, 41, 64, 500, 3000, 4032, 4096, FGRAPH_MAX_DATA_SIZE
	};
	const struct fgraph_kunit_targets *t = targets(test);
	int i, j;

	/* Three users of a size, and all sizes at once. */
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		clear(users, 3);
		for (j = 0; j < 3; j++) {
			users[j].gops.data_size = sizes[i];
			hook(test, &users[j], t->add);
		}
		hooked(test);
		KUNIT_EXPECT_EQ(test, t->add(1, i), 1 + i);
		for (j = 0; j < 3; j++) {
			expect_calls(test, &users[j], 1);
			unhook(&users[j]);
		}
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		clear(&users[i], 1);
		users[i].gops.data_size = sizes[i];
		hook(test, &users[i], t->add);
	}
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 9), 10);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		expect_calls(test, &users[i], 1);
	expect_stack_empty(test);
}

/* A user finds its data of the call around, past the frames of others. */
static void hook_parent_data(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *a = &users[0], *b = &users[1], *c = &users[2];

	a->gops.data_size = 8;
	b->gops.data_size = 300;
	c->gops.data_size = 8;
	/* C's data is in a joined entry, A's as well or in the frame. */
	hook(test, a, t->outer, t->inner);
	hook(test, b, t->outer, t->middle, t->inner);
	hook(test, c, t->outer, t->inner);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->outer(t, 0), 111);
	expect_calls(test, a, 2);
	expect_calls(test, b, 3);
	expect_calls(test, c, 2);
	/* Seen at the entry of inner(): the data of outer(). */
	KUNIT_EXPECT_NOT_NULL(test, a->parent);
	KUNIT_EXPECT_NOT_NULL(test, b->parent);
	KUNIT_EXPECT_NOT_NULL(test, c->parent);
	KUNIT_EXPECT_PTR_NE(test, a->parent, c->parent);
	KUNIT_EXPECT_EQ(test, t->inner(t, 0), 100);
	KUNIT_EXPECT_NULL(test, a->parent);
	KUNIT_EXPECT_NULL(test, b->parent);
	KUNIT_EXPECT_NULL(test, c->parent);
	expect_stack_empty(test);
}

/* Each call of nest() finds its caller's data, also when the frame returns. */
static int parent_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			void *data, struct ftrace_regs *fregs)
{
	unsigned long *parent = fgraph_parent_data(gops, frame);

	atomic_inc(&container_of(gops, struct hook_user, gops)->entries);
	*(unsigned long *)data = parent ? *parent + 1 : 0;
	return 1;
}

static void parent_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			  void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);
	unsigned long *parent = fgraph_parent_data(gops, frame);
	unsigned long level = *(unsigned long *)data;

	atomic_inc(&u->returns);
	if (parent ? *parent + 1 != level : level)
		atomic_inc(&u->wrong);
	/* The newest call returns first, nest(0). */
	if (fgraph_return_value(regs) + level != 200)
		atomic_inc(&u->wrong);
}

/* 200 calls deep, with data of three sizes. */
static void hook_recursion(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	int i;

	for (i = 0; i < 3; i++) {
		users[i].gops.entryfunc = parent_entry;
		users[i].gops.retfunc = parent_return;
		users[i].gops.data_size = 8 + 100 * i;
		hook(test, &users[i], t->nest);
	}
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->nest(t, 200), 200);
	KUNIT_EXPECT_EQ(test, t->nest(t, 200), 200);
	for (i = 0; i < 3; i++)
		expect_calls(test, &users[i], 2 * 201);
	expect_stack_empty(test);
}

static void hook_tail_call(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *jumper = &users[0], *callee = &users[1], *both = &users[2];

	hook(test, jumper, t->tail);
	hook(test, callee, t->add);
	hook(test, both, t->tail, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->tail(t, 20, 22), 42);
	if (jumper->retp != callee->retp)
		kunit_skip(test, "the compiler made no tail call");
	expect_calls(test, jumper, 1);
	expect_calls(test, callee, 1);
	expect_calls(test, both, 2);
	/* Two frames, the newer one over the older, with the real address. */
	KUNIT_EXPECT_EQ(test, callee->frames, 2);
	KUNIT_EXPECT_EQ(test, jumper->frames, 1);
	KUNIT_EXPECT_EQ(test, callee->joined, 1);
	KUNIT_EXPECT_EQ(test, jumper->joined, 1);
	KUNIT_EXPECT_EQ(test, callee->ret, jumper->ret);
	KUNIT_EXPECT_FALSE(test, fgraph_is_trampoline(callee->ret));
	KUNIT_EXPECT_EQ(test, jumper->value, 42);
	KUNIT_EXPECT_EQ(test, callee->value, 42);
	KUNIT_EXPECT_EQ(test, atomic_read(&callee->first), 0);
	expect_stack_empty(test);
}

/* A function that jumps to itself, over the end of a chunk. */
static void hook_tail_self(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = &users[0], *full = &users[1];

	hook(test, u, t->tail_self);
	full->gops.flags = FGRAPH_FULL_REGS;
	full->gops.data_size = 100;
	hook(test, full, t->tail_self);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->tail_self(t, 100), 7);
	expect_calls(test, u, 101);
	expect_calls(test, full, 101);
	if (atomic_read(&u->first) + atomic_read(&full->first) != 1)
		kunit_skip(test, "the compiler made no tail call");
	KUNIT_EXPECT_EQ(test, u->frames, 1);
	KUNIT_EXPECT_EQ(test, u->joined, 1);
	expect_stack_empty(test);
}

static unsigned long function_of(unsigned long addr)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr - 1, &size, &offset))
		return 0;
	return addr - 1 - offset;
}

/* The trace goes from @func[0] to its callers, with nothing between them. */
static void expect_callers(struct kunit *test, unsigned long *trace, unsigned int depth,
			   void *func[], int nr)
{
	int i, j;

	for (i = 0; i < depth && function_of(trace[i]) != (unsigned long)func[0]; i++)
		;
	KUNIT_ASSERT_LT_MSG(test, i, depth, "no %ps in the trace", func[0]);
	for (j = 0; j < nr && i + j < depth; j++)
		KUNIT_EXPECT_EQ_MSG(test, function_of(trace[i + j]), (unsigned long)func[j],
				    "%pS instead of %ps", (void *)trace[i + j], func[j]);
	KUNIT_EXPECT_EQ(test, j, nr);
	for (i = 0; i < depth; i++)
		KUNIT_EXPECT_FALSE(test, fgraph_is_trampoline(trace[i]));
}

static void trace_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	note_return(gops, frame, data, regs);
	if (u->frame == frame)
		u->depth = stack_trace_save(u->trace, MAX_TRACE, 0);
}

/* From inside a return callback, with light and full trampolines. */
static void hook_stack_trace(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = &users[0], *other = &users[1];
	int round;

	u->gops.retfunc = trace_return;
	for (round = 0; round < 2; round++) {
		u->gops.flags = round ? FGRAPH_FULL_REGS : 0;
		hook(test, u, t->inner, t->middle);
		hook(test, other, t->outer, t->middle);
		hooked(test);
		u->depth = 0;
		KUNIT_EXPECT_EQ(test, t->outer(t, 0), 111);
		unhook(u);
		unhook(other);
		expect_callers(test, u->trace, u->depth,
			       (void *[]){ t->middle, t->outer, hook_stack_trace }, 3);
	}
}

struct trace_arg {
	unsigned long	trace[MAX_TRACE];
	unsigned int	depth;
	int		reliable;
};

static noinline unsigned long take_trace(void *arg)
{
	struct trace_arg *a = arg;

	a->depth = stack_trace_save(a->trace, MAX_TRACE, 0);
	return a->depth;
}

static noinline unsigned long take_trace_reliable(void *arg)
{
	struct trace_arg *a = arg;

	a->reliable = stack_trace_save_tsk_reliable(current, a->trace, MAX_TRACE);
	a->depth = max(a->reliable, 0);
	return a->depth;
}

/* From inside hooked calls, and of a task that sleeps in one. */
static void hook_stack_trace_below(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct trace_arg *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct hook_user *u = &users[0];
	struct sleeper *s = sleepers;

	KUNIT_ASSERT_NOT_NULL(test, a);
	hook(test, u, t->call, t->sleep);
	hooked(test);
	t->call(take_trace, a);
	expect_callers(test, a->trace, a->depth,
		       (void *[]){ take_trace, t->call, hook_stack_trace_below }, 3);

	if (!IS_ENABLED(CONFIG_HAVE_RELIABLE_STACKTRACE))
		return;
	t->call(take_trace_reliable, a);
	KUNIT_EXPECT_GT(test, a->reliable, 0);
	expect_callers(test, a->trace, a->depth,
		       (void *[]){ take_trace_reliable, t->call, hook_stack_trace_below }, 3);

	start_sleeper(test, s);
	a->reliable = stack_trace_save_tsk_reliable(s->task, a->trace, MAX_TRACE);
	KUNIT_ASSERT_GT(test, a->reliable, 0);
	expect_callers(test, a->trace, a->reliable, (void *[]){ t->sleep, sleeper_fn }, 2);
	wake(s);
	expect_calls(test, u, 3);
}

/*
 * A user unregisters, and is freed, while a call that it hooked is asleep; the
 * next user gets its id. The call returns to its caller and to nobody else.
 */
static void hook_unregister_in_flight(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *gone = kzalloc(sizeof(*gone), GFP_KERNEL), *next = &users[0];
	struct sleeper *s = sleepers;
	unsigned long id;

	KUNIT_ASSERT_NOT_NULL(test, gone);
	hook(test, gone, t->sleep);
	hooked(test);
	start_sleeper(test, s);
	id = gone->gops.user.tag & FGRAPH_ID_MASK;
	unhook(gone);
	KUNIT_EXPECT_EQ(test, atomic_read(&gone->entries), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&gone->returns), 0);
	memset(gone, 0x6b, sizeof(*gone));
	kfree(gone);

	/* Its stack is in use, but nobody's. */
	KUNIT_EXPECT_NOT_NULL(test, s->task->fgraph_stack);
	hook(test, next, t->sleep);
	hooked(test);
	KUNIT_EXPECT_EQ(test, next->gops.user.tag & FGRAPH_ID_MASK, id);
	complete_all(&s->go);
	wait_for_completion(&s->done);
	KUNIT_EXPECT_EQ(test, s->value, 42);
	KUNIT_EXPECT_EQ(test, atomic_read(&next->entries), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&next->returns), 0);
	unhook(next);
	/* Given back though the task lives on. */
	KUNIT_EXPECT_NULL(test, s->task->fgraph_stack);
}

/* The last frame of all returns when there has long been no user. */
static void hook_return_without_users(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct fgraph_usage usage;
	struct hook_user *u = users;
	struct sleeper *s = sleepers, *never = sleepers + 1;

	if (fgraph_nr_users)
		kunit_skip(test, "there are other users");
	start_sleeper(test, never);
	hook(test, u, t->sleep);
	hooked(test);
	start_sleeper(test, s);
	KUNIT_EXPECT_NULL(test, never->task->fgraph_stack);
	unhook(u);
	fgraph_usage(&usage);
	KUNIT_EXPECT_EQ(test, usage.stacks, 1);
	KUNIT_EXPECT_EQ(test, usage.bytes, FGRAPH_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, usage.reserve_bytes, 0);
	complete_all(&s->go);
	wait_for_completion(&s->done);
	KUNIT_EXPECT_TRUE(test, wait_no_memory());
	KUNIT_EXPECT_NULL(test, s->task->fgraph_stack);
	KUNIT_EXPECT_EQ(test, s->value, 42);
}

/* As ftrace does, where it can: handlers of kprobes may be hooked themselves. */
static void hook_now(struct hook_user *u, unsigned long func, struct pt_regs *regs)
{
#ifdef CONFIG_FGRAPH_FTRACE
	struct fgraph_ops *users[] = { &u->gops };

	fgraph_hook_several(users, 1, false, func, (struct ftrace_regs *)regs);
#else
	fgraph_hook(&u->gops, func, regs);
#endif
}

/* The frame of a call that will never return, at a place in this frame. */
static noinline unsigned long abandon(void *arg)
{
	unsigned long slot[2] = { (unsigned long)abandon };
	struct hook_user *u = arg;
	struct pt_regs regs = { .sp = (unsigned long)slot };

	*fgraph_entry_place(&regs) = (unsigned long)abandon;
	preempt_disable();
	hook_now(u, (unsigned long)abandon, &regs);
	preempt_enable();
	return fgraph_is_trampoline(READ_ONCE(*fgraph_entry_place(&regs)));
}

/* Such frames are dropped when a call below them returns. */
static void hook_abandoned(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	u->gops.data_size = 100;
	hook(test, u, t->call, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->call(abandon, u), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 1);
	expect_stack_empty(test);
	KUNIT_EXPECT_EQ(test, abandon(u), 1);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, t->call(abandon, u), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->wrong), 0);
	fgraph_abandon_calls(__builtin_frame_address(0));
	expect_stack_empty(test);
}

/* A kretprobe's breakpoint at the head of a loop: each turn looks like a tail call. */
static void hook_loop(struct kunit *test)
{
	unsigned long slot[2] = { (unsigned long)hook_loop };
	struct pt_regs regs = { .sp = (unsigned long)slot };
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;
	int i;

	u->gops.user.once = true;
	hook(test, u, t->add);
	*fgraph_entry_place(&regs) = (unsigned long)hook_loop;
	preempt_disable();
	for (i = 0; i < 1000; i++)
		fgraph_hook(&u->gops, (unsigned long)hook_loop, &regs);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 1);
	KUNIT_EXPECT_EQ(test, user_missed(u), 0);
	KUNIT_EXPECT_TRUE(test, fgraph_is_trampoline(*fgraph_entry_place(&regs)));
	fgraph_abandon_calls(slot + 1);
	expect_stack_empty(test);
}

/* And before they take another chunk: nobody grows by them. */
static void hook_abandoned_many(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct fgraph_usage usage;
	struct hook_user *u = users;
	int i;

	hook(test, u, t->add);
	hooked(test);
	for (i = 0; i < 1000; i++)
		abandon(u);
	fgraph_usage(&usage);
	KUNIT_EXPECT_LE(test, usage.chunks, 2);
	KUNIT_EXPECT_EQ(test, user_missed(u), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 1);
	fgraph_abandon_calls(__builtin_frame_address(0));
	expect_stack_empty(test);
}

#define MAX_TAKEN	2048

/* Empties the reserve, with interrupts off: it stays so. */
static int take_all(struct kunit *test, void **taken)
{
	int nr = 0;

	while (nr < MAX_TAKEN && (taken[nr] = fgraph_chunk_take(FGRAPH_CHUNK_SIZE)))
		nr++;
	return nr;
}

/* No memory: the call is missed, and counted for who missed it. */
static void hook_missed(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	void **taken = kunit_kcalloc(test, MAX_TAKEN, sizeof(*taken), GFP_KERNEL);
	struct hook_user *u = users, *small = users + 1;
	unsigned long flags, value;
	int nr, calls;

	KUNIT_ASSERT_NOT_NULL(test, taken);
	u->gops.data_size = 200;
	hook(test, u, t->add, t->nest);
	hook(test, small, t->nest);
	hooked(test);

	/* No stack for this task. */
	local_irq_save(flags);
	nr = take_all(test, taken);
	value = t->add(1, 2);
	local_irq_restore(flags);
	while (nr)
		fgraph_chunk_give(taken[--nr], FGRAPH_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, value, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 0);
	KUNIT_EXPECT_EQ(test, user_missed(u), 1);
	KUNIT_EXPECT_NULL(test, current->fgraph_stack);

	/* The interrupt that refills has come. */
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 1);

	/* It cannot grow: the outer calls are told of, the inner ones missed. */
	local_irq_save(flags);
	nr = take_all(test, taken);
	value = t->nest(t, 50);
	local_irq_restore(flags);
	while (nr)
		fgraph_chunk_give(taken[--nr], FGRAPH_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, value, 50);
	calls = atomic_read(&u->entries) - 1;
	KUNIT_EXPECT_GT(test, calls, 5);
	KUNIT_EXPECT_LT(test, calls, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), calls + 1);
	KUNIT_EXPECT_EQ(test, user_missed(u), 1 + 51 - calls);
	calls = atomic_read(&small->entries);
	KUNIT_EXPECT_EQ(test, atomic_read(&small->returns), calls);
	KUNIT_EXPECT_EQ(test, user_missed(small), 51 - calls);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->wrong) + atomic_read(&small->wrong), 0);
	expect_stack_empty(test);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

static void call_hooked_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			       void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	count_return(gops, frame, data, regs);
	u->value = fgraph_kunit_traced.add(u->value, 1);
}

#if defined(CONFIG_FPROBE) && defined(CONFIG_CONTEXT_TRACKING_IDLE)
static void expect_seen(struct kunit *test, struct fprobe_seen *seen, unsigned int exits,
			unsigned long missed)
{
	KUNIT_EXPECT_EQ(test, seen->exits, exits);
	KUNIT_EXPECT_EQ(test, seen->entries, seen->fp.entry_handler ? exits : 0);
	KUNIT_EXPECT_EQ(test, seen->fp.nmissed, missed);
}

/* As in the idle loop: RCU does not watch. */
static int call_idle(const struct fgraph_kunit_targets *t)
{
	int value;

	local_irq_disable();
	ct_idle_enter();
	value = t->add(1, 2);
	ct_idle_exit();
	local_irq_enable();
	return value;
}

/* Of users of different kinds that are called at once, each is as if it were alone. */
static void hook_batch(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	static struct ftrace_ops relies = { .func = plain_func, .flags = FTRACE_OPS_FL_RECURSION };
	unsigned long add = (unsigned long)t->add;
	struct hook_user *calls = &users[4];
	struct fprobe_seen *seen;
	int i, round;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "fprobes are of functions that ftrace knows");
	seen = kunit_kcalloc(test, 4, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < 4; i++) {
		seen[i].fp.entry_handler = i < 2 ? NULL : seen_entry;
		seen[i].fp.exit_handler = seen_exit;
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen[i].fp, &add, 1), 0);
		users[i].gops.entryfunc = i % 2 ? count_entry : NULL;
		users[i].gops.retfunc = count_return;
		hook(test, &users[i], t->add);
	}
	/* With the fprobes that look at entries, and with the others. */
	memset(chain, 0, sizeof(chain));
	for (i = 0; i < 2; i++) {
		chain[i].rp.kp.addr = (void *)t->add;
		chain[i].rp.handler = chain_handler;
		chain[i].rp.entry_handler = i ? chain_entry : NULL;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	plain_calls = 0;
	for (round = 0; round < 2; round++) {
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
		/* Of concern to graph tracers alone. */
		pause_graph_tracing();
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
		unpause_graph_tracing();
		/* But this is, whose handlers may rely on it. */
		KUNIT_EXPECT_EQ(test, call_idle(t), 3);
		/* And this to nobody else. */
		for (i = 1; i < 3; i++)
			disable_fprobe(&seen[i].fp);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
		for (i = 1; i < 3; i++)
			enable_fprobe(&seen[i].fp);
		for (i = 0; i < 4; i++) {
			expect_seen(test, &seen[i], (i % 3 ? 2 : 3) * (round + 1), round + 1);
			KUNIT_EXPECT_EQ(test, atomic_read(&users[i].returns), 4 * (round + 1));
		}
		for (i = 0; i < 2; i++) {
			KUNIT_EXPECT_EQ(test, chain[i].returns, 3 * (round + 1));
			KUNIT_EXPECT_EQ(test, chain[i].rp.nmissed, round + 1);
			KUNIT_EXPECT_EQ(test, chain[i].wrong, 0);
		}
		/* The same beside one who relies on ftrace. */
		if (round)
			break;
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&relies, add, 0, 0), 0);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&relies), 0);
	}
	KUNIT_EXPECT_EQ(test, plain_calls, 4);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&relies), 0);
	ftrace_free_filter(&relies);
	/*
	 * Now it is called again when it returns, and then once more, which all miss,
	 * but who is disabled.
	 */
	calls->gops.entryfunc = count_entry;
	calls->gops.retfunc = call_hooked_return;
	hook(test, calls, t->add);
	disable_fprobe(&seen[1].fp);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_seen(test, &seen[0], 8, 3);
	expect_seen(test, &seen[1], 4, 2);
	expect_seen(test, &seen[2], 6, 3);
	expect_seen(test, &seen[3], 8, 3);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen[i].fp), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].returns), 10);
		KUNIT_EXPECT_EQ(test, user_missed(&users[i]), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].wrong), 0);
	}
	for (i = 0; i < 2; i++) {
		unregister_kretprobe(&chain[i].rp);
		KUNIT_EXPECT_EQ(test, chain[i].returns, 8);
		KUNIT_EXPECT_EQ(test, chain[i].rp.nmissed, 3);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&calls->returns), 2);
	expect_stack_empty(test);
}

/*
 * A call that was on its way to the list function when the first was registered
 * who needs all registers: they have not been saved.
 */
static void hook_no_regs(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add, ret = _THIS_IP_;
	struct ftrace_regs fregs = { };
	struct fprobe_seen *seen;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "a breakpoint saves all registers");
	seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->fp.entry_handler = seen_entry;
	seen->fp.exit_handler = seen_exit;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen->fp, &add, 1), 0);
	memset(chain, 0, sizeof(chain));
	chain[0].rp.kp.addr = (void *)add;
	chain[0].rp.handler = chain_handler;
	chain[0].rp.entry_handler = chain_entry;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[0].rp), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);

	fregs.regs.sp = (unsigned long)&ret;
	*fgraph_entry_place(&fregs.regs) = ret;
	arch_ftrace_ops_list_func(ftrace_location(add), 0, NULL, &fregs);
	KUNIT_EXPECT_EQ(test, *fgraph_entry_place(&fregs.regs), ret);
	KUNIT_EXPECT_EQ(test, chain[0].returns, 1);
	KUNIT_EXPECT_EQ(test, chain[0].wrong, 0);
	expect_seen(test, seen, 1, 0);
	expect_stack_empty(test);
	unregister_kretprobe(&chain[0].rp);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen->fp), 0);
}
#endif

/* A callback that calls what it hooks: not for ever. */
static void hook_callback_hooked(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "kprobes keep from recursing by themselves");
	u->gops.entryfunc = count_entry;
	u->gops.retfunc = call_hooked_return;
	hook(test, u, t->add, t->call);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_GE(test, u->value, 1);
	KUNIT_EXPECT_LE(test, u->value, 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	expect_stack_empty(test);
}

static int call_inner_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			    void *data, struct ftrace_regs *fregs)
{
	fgraph_kunit_traced.inner(&fgraph_kunit_traced, 2);
	return count_entry(gops, frame, data, fregs);
}

/* For users without a filter: which calls are the test's own? */
static struct task_struct *own_task;
static unsigned long own_add, own_inner;

static void own_calls(const struct fgraph_kunit_targets *t)
{
	own_task = current;
	own_add = ftrace_location((unsigned long)t->add);
	own_inner = ftrace_location((unsigned long)t->inner);
}

static bool own_call(const struct fgraph_frame *frame)
{
	return current == own_task && (frame->func == own_add || frame->func == own_inner);
}

static int call_own_inner_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				void *data, struct ftrace_regs *fregs)
{
	return own_call(frame) && call_inner_entry(gops, frame, data, fregs);
}

/*
 * A user of all functions: what its callbacks call is hooked, and missed one level
 * further. Where ftrace has to call others as well, it hides what they call.
 */
static void hook_unfiltered(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "of ftrace's callbacks");
	own_calls(t);
	u->gops.entryfunc = call_own_inner_entry;
	u->gops.retfunc = count_return;
	hook(test, u);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&plain_ops), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_GE(test, atomic_read(&u->entries), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&plain_ops), 0);
	atomic_set(&u->entries, 0);
	atomic_set(&u->returns, 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unhook(u);
	KUNIT_EXPECT_GE(test, atomic_read(&u->entries), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	KUNIT_EXPECT_GE(test, user_missed(u), 1);
}

/* Handles each breakpoint, before it looks for recursion. */
#ifdef CONFIG_ARM64
#define BREAKPOINT_HANDLER	"kprobe_breakpoint_handler"
#else
#define BREAKPOINT_HANDLER	"kprobe_int3_handler"
#endif

static int call_breakpoint_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				 void *data, struct ftrace_regs *fregs)
{
	/* kprobes do not survive one that is hit while another one is stepped. */
	if (!kprobe_running())
		fgraph_kunit_hidden.add(1, 1);
	return count_entry(gops, frame, data, fregs);
}

/*
 * A callback that calls what has a breakpoint, and hooks what handles those:
 * not for ever, although each is an NMI within an NMI.
 */
static void hook_callback_breakpoint(struct kunit *test)
{
	static struct kprobe kp;
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "kprobes keep from recursing by themselves");
	memset(&kp, 0, sizeof(kp));
	kp.addr = (void *)fgraph_kunit_hidden.add;
	kp.post_handler = user_post_handler;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	u->gops.entryfunc = call_breakpoint_entry;
	u->gops.retfunc = count_return;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&u->filter, BREAKPOINT_HANDLER,
						strlen(BREAKPOINT_HANDLER), 0), 0);
	hook(test, u, t->add);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_GE(test, atomic_read(&u->entries), 2);
	KUNIT_EXPECT_LE(test, atomic_read(&u->entries), 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	expect_stack_empty(test);
}

static int late_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	rp->maxactive++;
	return 0;
}

/*
 * A kretprobe hooks a call after functions on the way to its handler were
 * hooked: their frames are below, and return first.
 */
static void hook_late(struct kunit *test)
{
	static const char * const on_the_way[] = {
		BREAKPOINT_HANDLER,
#ifdef CONFIG_ARM64
		"brk_handler", "do_debug_exception", "kprobe_handler",
#else
		"kprobe_ftrace_handler", "do_int3", "aggr_pre_handler",
#endif
	};
	static struct kretprobe rp[2];
	static struct kprobe kp;
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users, *way = users + 1;
	int i, hidden;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "of functions that ftrace knows");
	for (hidden = 0; hidden < 2; hidden++) {
		const struct fgraph_kunit_targets *of = hidden ? &fgraph_kunit_hidden : t;

		memset(rp, 0, sizeof(rp));
		/* Behind a kprobe, else ftrace calls them; or a jump, soon. */
		memset(&kp, 0, sizeof(kp));
		kp.addr = (void *)of->add;
		kp.post_handler = user_post_handler;
		KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
		for (i = 0; i < 2; i++) {
			rp[i].kp.addr = (void *)of->add;
			rp[i].handler = late_handler;
			KUNIT_ASSERT_EQ(test, register_kretprobe(&rp[i]), 0);
		}
		clear(u, 2);
		/* Some of these may be inlined, but not the first one. */
		for (i = 0; i < ARRAY_SIZE(on_the_way); i++)
			ftrace_set_filter(&way->filter, (char *)on_the_way[i],
					  strlen(on_the_way[i]), 0);
		way->gops.entryfunc = count_entry;
		way->gops.retfunc = count_return;
		way->gops.data_size = 100;
		hook(test, way, t->inner);
		hook(test, u, t->call, t->add);
		for (i = 0; i < 10; i++)
			KUNIT_EXPECT_EQ(test, of->add(1, 2), 3);
		KUNIT_EXPECT_EQ(test, rp[0].maxactive, 10);
		KUNIT_EXPECT_EQ(test, rp[1].maxactive, 10);
		KUNIT_EXPECT_GE(test, atomic_read(&way->entries), 10);
		KUNIT_EXPECT_EQ(test, atomic_read(&way->entries), atomic_read(&way->returns));
		KUNIT_EXPECT_EQ(test, atomic_read(&way->wrong), 0);
		expect_calls(test, u, hidden ? 0 : 10);
		expect_stack_empty(test);
		unhook(u);
		unhook(way);
		for (i = 0; i < 2; i++)
			unregister_kretprobe(&rp[i]);
		unregister_kprobe(&kp);
	}
}

static void hook_register_errors(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;
	unsigned int nr = fgraph_nr_users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "of register_ftrace_graph()");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_graph(&u->gops), -ENOENT);
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&u->gops), -EINVAL);
	u->gops.data_size = FGRAPH_MAX_DATA_SIZE + 1;
	u->gops.retfunc = note_return;
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&u->gops), -E2BIG);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_graph(&u->gops), -ENOENT);
	/* An address that is none of a function. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u->filter, (unsigned long)users, 0, 0),
			-EINVAL);
	u->gops.data_size = 0;
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, nr);

	hook(test, u, t->add);
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&u->gops), -EBUSY);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, nr + 1);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, t->inner(t, 2), 102);
	expect_calls(test, u, 1);
	unhook(u);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_graph(&u->gops), -ENOENT);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, nr);
}

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

struct hammer {
	struct hrtimer		timer;
	const struct fgraph_kunit_targets *t;
	unsigned int		calls;
	unsigned int		wrong;
};

static enum hrtimer_restart hammer_fn(struct hrtimer *timer)
{
	struct hammer *h = container_of(timer, struct hammer, timer);

	h->calls++;
	if (h->t->add(h->calls, 1) != h->calls + 1 || h->t->nest(h->t, 3) != 3)
		h->wrong++;
	hrtimer_forward_now(timer, ns_to_ktime(50 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* Interrupts push and pop their frames at any point of a task's. */
static void hook_interrupted(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hammer *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	unsigned long end, wrong = 0, n = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	for (i = 0; i < 3; i++) {
		users[i].gops.entryfunc = count_entry;
		users[i].gops.retfunc = count_return;
		users[i].gops.data_size = 8 + 300 * i;
		users[i].gops.flags = i == 1 ? FGRAPH_FULL_REGS : 0;
		hook(test, &users[i], t->nest, t->add);
	}
	hooked(test);
	h->t = t;
	hrtimer_init(&h->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	h->timer.function = hammer_fn;
	hrtimer_start(&h->timer, ns_to_ktime(50 * NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_HARD);
	for (end = jiffies + HZ / 2; time_before(jiffies, end); n++) {
		wrong += t->nest(t, 30) != 30;
		wrong += t->add(n, n) != 2 * n;
	}
	hrtimer_cancel(&h->timer);
	KUNIT_EXPECT_EQ(test, wrong + h->wrong, 0);
	KUNIT_EXPECT_GT(test, h->calls, 50);
	for (i = 0; i < 3; i++) {
		int calls = 32 * n + 5 * h->calls;

		/* One kprobe at a time: not those in its own pre_handler. */
		if (users[i].via != VIA_FTRACE)
			calls -= users[i].kp[0].kp.nmissed + users[i].kp[1].kp.nmissed;
		expect_calls(test, &users[i], calls);
	}
	expect_stack_empty(test);
}

static noinline int caller_fn(void *arg)
{
	struct sleeper *s = arg;

	while (!kthread_should_stop()) {
		if (s->t->outer(s->t, 5) != 116 || s->t->tail(s->t, 3, 4) != 7 ||
		    s->t->nest(s->t, 70) != 70)
			s->value++;
		/* Where kprobes are made jumps, they wait for this. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* Users come and go while others call, and each call finds its way home. */
static void hook_come_and_go(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *stays = &users[4], *u;
	int i;

	stays->gops.entryfunc = count_entry;
	stays->gops.retfunc = count_return;
	stays->gops.flags = FGRAPH_FULL_REGS;
	stays->gops.data_size = 50;
	hook(test, stays, t->middle);
	for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
		sleepers[i].t = t;
		init_completion(&sleepers[i].go);
		sleepers[i].task = kthread_run(caller_fn, &sleepers[i], "fgraph_kunit");
		KUNIT_ASSERT_FALSE(test, IS_ERR(sleepers[i].task));
	}
	for (i = 0; i < 24; i++) {
		u = &users[i % 4];
		unhook(u);
		clear(u, 1);
		u->gops.entryfunc = count_entry;
		u->gops.retfunc = count_return;
		u->gops.data_size = i * 40;
		u->gops.flags = i % 3 ? 0 : FGRAPH_FULL_REGS;
		if (i % 2)
			hook(test, u, t->outer, t->middle, t->nest);
		else
			hook(test, u, t->nest, t->tail, t->add);
		msleep(20);
	}
	for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
		wake(&sleepers[i]);
		KUNIT_EXPECT_EQ(test, sleepers[i].value, 0);
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].entries),
				atomic_read(&users[i].returns));
		KUNIT_EXPECT_GT(test, atomic_read(&users[i].entries), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].wrong), 0);
	}
	expect_calls(test, stays, atomic_read(&stays->entries));
}

static struct kunit_case hook_cases[] = {
	KUNIT_CASE_PARAM(hook_one, via_gen),
	KUNIT_CASE_PARAM(hook_full_regs, via_gen),
	KUNIT_CASE_PARAM(hook_join, via_gen),
	KUNIT_CASE_PARAM(hook_join_kretprobe, via_gen),
	KUNIT_CASE_PARAM(hook_kretprobe_entry, via_gen),
	KUNIT_CASE_PARAM(hook_kretprobe_rcu, via_gen),
	KUNIT_CASE_PARAM(hook_kretprobe_nested, via_gen),
	KUNIT_CASE_PARAM(hook_kretprobe_in_handlers, via_gen),
	KUNIT_CASE_PARAM(hook_chain, via_gen),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE_PARAM(hook_filters, via_gen),
#endif
#ifdef CONFIG_FPROBE
	KUNIT_CASE_PARAM(hook_fprobes, via_gen),
#endif
	KUNIT_CASE_PARAM(hook_fprobe_shared, via_gen),
	KUNIT_CASE_PARAM(hook_fprobe_in_handler, via_gen),
	KUNIT_CASE_PARAM(hook_chain_in_callback, via_gen),
#ifdef CONFIG_FUNCTION_ERROR_INJECTION
	KUNIT_CASE_PARAM(hook_override, via_gen),
#endif
#if defined(CONFIG_FUNCTION_ERROR_INJECTION) && defined(CONFIG_FPROBE) && \
	defined(CONFIG_FUNCTION_GRAPH_TRACER)
	KUNIT_CASE_PARAM(hook_override_fprobe, via_gen),
#endif
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
	KUNIT_CASE_PARAM(hook_locations, via_gen),
#endif
	KUNIT_CASE_PARAM(hook_change_value, via_gen),
	KUNIT_CASE_PARAM(hook_veto, via_gen),
	KUNIT_CASE_PARAM(hook_data, via_gen),
	KUNIT_CASE_PARAM(hook_parent_data, via_gen),
	KUNIT_CASE_PARAM(hook_recursion, via_gen),
	KUNIT_CASE_PARAM(hook_tail_call, via_gen),
	KUNIT_CASE_PARAM(hook_tail_self, via_gen),
	KUNIT_CASE_PARAM(hook_stack_trace, via_gen),
	KUNIT_CASE_PARAM(hook_stack_trace_below, via_gen),
	KUNIT_CASE_PARAM(hook_unregister_in_flight, via_gen),
	KUNIT_CASE_PARAM(hook_return_without_users, via_gen),
	KUNIT_CASE_PARAM(hook_abandoned, via_gen),
	KUNIT_CASE_PARAM(hook_loop, via_gen),
	KUNIT_CASE_PARAM(hook_abandoned_many, via_gen),
	KUNIT_CASE_PARAM(hook_missed, via_gen),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#if defined(CONFIG_FPROBE) && defined(CONFIG_CONTEXT_TRACKING_IDLE)
	KUNIT_CASE_PARAM(hook_batch, via_gen),
	KUNIT_CASE_PARAM(hook_no_regs, via_gen),
#endif
	KUNIT_CASE_PARAM(hook_callback_hooked, via_gen),
	KUNIT_CASE_PARAM(hook_unfiltered, via_gen),
	KUNIT_CASE_PARAM(hook_callback_breakpoint, via_gen),
	KUNIT_CASE_PARAM(hook_late, via_gen),
	KUNIT_CASE_PARAM(hook_register_errors, via_gen),
#endif
	KUNIT_CASE_PARAM(hook_interrupted, via_gen),
	KUNIT_CASE_PARAM(hook_come_and_go, via_gen),
	{}
};

static struct kunit_suite hook_suite = {
	.name = "fgraph_hook",
	.init = hook_init,
	.exit = hook_exit,
	.test_cases = hook_cases,
};

kunit_test_suites(&stack_suite, &users_suite, &hook_suite);
