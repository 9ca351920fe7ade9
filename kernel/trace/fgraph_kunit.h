/* SPDX-License-Identifier: GPL-2.0 */
/* What the KUnit tests of fgraph share: functions to hook. */
#ifndef _FGRAPH_KUNIT_H
#define _FGRAPH_KUNIT_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fgraph.h>

#include "fgraph_reserve.h"
#include "fgraph_stack.h"
#include "fgraph_users.h"

/* What two return registers hold. */
struct fgraph_kunit_pair {
	unsigned long	lo;
	unsigned long	hi;
};

/*
 * They are there twice, from one source: once for ftrace to find, and once
 * hidden from it, so that kprobes have to write an INT3 or a jump.
 */
struct fgraph_kunit_targets {
	unsigned long (*add)(unsigned long a, unsigned long b);
	struct fgraph_kunit_pair (*pair)(unsigned long lo, unsigned long hi);
	/* Calls itself. Returns @depth. */
	unsigned long (*nest)(const struct fgraph_kunit_targets *t, unsigned long depth);
	/* Jumps to add(), and to itself @n times: returns 7. */
	unsigned long (*tail)(const struct fgraph_kunit_targets *t, unsigned long a,
			      unsigned long b);
	unsigned long (*tail_self)(const struct fgraph_kunit_targets *t, unsigned long n);
	/* outer() calls middle(), that calls inner(): returns x + 111. */
	unsigned long (*outer)(const struct fgraph_kunit_targets *t, unsigned long x);
	unsigned long (*middle)(const struct fgraph_kunit_targets *t, unsigned long x);
	unsigned long (*inner)(const struct fgraph_kunit_targets *t, unsigned long x);
	/* Calls back from inside. Returns what that does, plus 1. */
	unsigned long (*call)(unsigned long (*fn)(void *), void *arg);
	/* Says that it began, and waits. Returns 42. */
	unsigned long (*sleep)(struct completion *began, struct completion *go);
	/* As of a module that goes, and of one that comes back: return x + 1. */
	unsigned long (*freed)(unsigned long x);
	unsigned long (*reloaded)(unsigned long x);
};

extern const struct fgraph_kunit_targets fgraph_kunit_traced;
extern const struct fgraph_kunit_targets fgraph_kunit_hidden;

/* Is all memory given back? */
static inline bool no_memory(void)
{
	struct fgraph_usage u;

	fgraph_usage(&u);
	return !u.stacks && !u.chunks && !u.bytes && !u.reserve_chunks && !u.reserve_bytes;
}

/* The last returns, and tasks that have just ended, give theirs back soon. */
static inline bool wait_no_memory(void)
{
	int i;

	for (i = 0; i < 200 && !no_memory(); i++)
		msleep(20);
	return no_memory();
}

static inline void take_nothing(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				void *data, struct fgraph_regs *regs)
{
}

static inline void remove_user(struct fgraph_ops *gops)
{
	if (fgraph_user_retire(gops))
		return;
	fgraph_synchronize();
	fgraph_user_remove(gops);
}

/*
 * Each slot is part of a record, or its first word is zero: all of them above
 * the top, and those that a record did not fit into.
 */
static inline void check_clean(struct kunit *test, struct fgraph_stack *st)
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

/* Data of a frame, or of an entry, that need no slot of their own. */
#define ROOM		sizeof_field(struct fgraph_frame, data)

/* Places of return addresses; nobody looks there. */
#define RETP(n)		((unsigned long *)(0x100000UL - (n) * 16))
#define RET(n)		(0x5000UL + (n))

static inline void *reserve(struct fgraph_stack *st, size_t size)
{
	void *rec;

	preempt_disable();
	rec = fgraph_stack_reserve(st, READ_ONCE(st->top), fgraph_slots_below(size), 0);
	preempt_enable();
	return rec;
}

/* A frame whose data is all ones: whoever takes that for a header is seen. */
static inline struct fgraph_frame *push(struct fgraph_stack *st, int n, size_t size)
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

/* All frames from the top down are n, n - 1 ... 0. */
static inline void check_order(struct kunit *test, struct fgraph_stack *st, int n)
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

#endif /* _FGRAPH_KUNIT_H */
