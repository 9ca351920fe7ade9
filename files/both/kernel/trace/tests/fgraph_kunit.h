/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the KUnit tests of fgraph: functions to hook, and helpers. */
#ifndef _FGRAPH_KUNIT_H
#define _FGRAPH_KUNIT_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fgraph.h>

#include "fgraph_kunit_port.h"
#include "../fgraph_reserve.h"
#include "../fgraph_stack.h"
#include "../fgraph_users.h"

/* A value that is returned in two registers. */
struct fgraph_kunit_pair {
	unsigned long	lo;
	unsigned long	hi;
};

/*
 * The functions to hook. They are compiled twice from one source: fgraph_kunit_traced has those
 * that ftrace can call, fgraph_kunit_hidden those where kprobes need a breakpoint or a jump.
 */
struct fgraph_kunit_targets {
	unsigned long (*add)(unsigned long a, unsigned long b);
	struct fgraph_kunit_pair (*pair)(unsigned long lo, unsigned long hi);
	/* Calls itself @depth times and returns @depth. */
	unsigned long (*nest)(const struct fgraph_kunit_targets *t, unsigned long depth);
	/* Ends in a tail call of add(). */
	unsigned long (*tail)(const struct fgraph_kunit_targets *t, unsigned long a,
			      unsigned long b);
	/* Ends in a tail call of itself, @n times, and returns 7. */
	unsigned long (*tail_self)(const struct fgraph_kunit_targets *t, unsigned long n);
	/* outer() calls middle(), which calls inner(). outer() returns x + 111. */
	unsigned long (*outer)(const struct fgraph_kunit_targets *t, unsigned long x);
	unsigned long (*middle)(const struct fgraph_kunit_targets *t, unsigned long x);
	unsigned long (*inner)(const struct fgraph_kunit_targets *t, unsigned long x);
	/* Calls @fn and returns its value plus 1. */
	unsigned long (*call)(unsigned long (*fn)(void *), void *arg);
	/* Completes @began, waits for @go and returns 42. */
	unsigned long (*sleep)(struct completion *began, struct completion *go);
	/* Sets @regs like perf does for its software events, and takes a trace from there. */
	unsigned int (*trace_regs)(struct pt_regs *regs, unsigned long *trace,
				   unsigned int max);
	/* Tests treat these as functions of a module that is unloaded, or reloaded. */
	unsigned long (*freed)(unsigned long x);
	unsigned long (*reloaded)(unsigned long x);
};

extern const struct fgraph_kunit_targets fgraph_kunit_traced;
extern const struct fgraph_kunit_targets fgraph_kunit_hidden;

/* Has all memory of fgraph been freed? */
static inline bool no_memory(void)
{
	struct fgraph_usage u;

	fgraph_usage(&u);
	return !u.stacks && !u.chunks && !u.bytes && !u.reserve_chunks && !u.reserve_bytes;
}

/* Wait up to 4 seconds until memory is freed after last returns and by tasks that end. */
static inline bool wait_no_memory(void)
{
	int i;

	for (i = 0; i < 200 && !no_memory(); i++)
		msleep(20);
	return no_memory();
}

/* A return callback that does nothing. */
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
 * Check that the first word of each slot that is not part of a record is zero: the slots above
 * the top, and those at the end of a chunk where the next record did not fit.
 */
static inline void check_clean(struct kunit *test, struct fgraph_stack *st)
{
	struct fgraph_chunk *c;

	for (c = st->first; c; c = c->next) {
		unsigned int dirty = 0;
		void *rec;

		/* The topmost record of this chunk, if it is in use. */
		for (rec = st->top; rec; rec = fgraph_older(rec)) {
			if (rec >= (void *)c && rec < c->end)
				break;
		}
		for (rec = (rec ?: c) + FGRAPH_SLOT; rec < c->end; rec += FGRAPH_SLOT)
			dirty += !!fgraph_head(rec);
		KUNIT_EXPECT_EQ(test, dirty, 0);
	}
}

/* The size of data that fit into a frame or an entry, in bytes. */
#define ROOM		sizeof_field(struct fgraph_frame, data)

/* Places of return addresses, which are not dereferenced, and the return addresses. */
#define RETP(n)		((unsigned long *)(0x100000UL - (n) * 16))
#define RET(n)		(0x5000UL + (n))

/* Push a record with @size bytes of data that is not complete yet. */
static inline void *reserve(struct fgraph_stack *st, size_t size)
{
	void *rec;

	preempt_disable();
	rec = fgraph_stack_reserve(st, READ_ONCE(st->top), fgraph_slots_for(size), 0);
	preempt_enable();
	return rec;
}

/* Reserve a record whose data are all ones, which is no valid header. */
static inline void *reserve_ones(struct fgraph_stack *st, size_t size)
{
	void *rec = reserve(st, size);

	if (rec)
		memset(fgraph_data(rec, fgraph_head(rec)), 0xff, size);
	return rec;
}

static inline void commit(void *rec, unsigned long kind)
{
	fgraph_stack_commit(rec, (fgraph_head(rec) & ~FGRAPH_KIND_MASK) | kind);
}

/* Push frame number @n. */
static inline struct fgraph_frame *push(struct fgraph_stack *st, int n, size_t size)
{
	struct fgraph_frame *frame = reserve_ones(st, size);

	if (!frame)
		return NULL;
	frame->func = n;
	frame->ret = RET(n);
	frame->retp = RETP(n);
	commit(frame, FGRAPH_FRAME);
	return frame;
}

/* Check that the frames from the top down are n, n - 1 ... 0. */
static inline void check_order(struct kunit *test, struct fgraph_stack *st, int n)
{
	void *rec;

	for (rec = st->top; rec; rec = fgraph_older(rec)) {
		if (fgraph_kind(fgraph_head(rec)) != FGRAPH_FRAME)
			continue;
		KUNIT_EXPECT_EQ(test, ((struct fgraph_frame *)rec)->func, n);
		n--;
	}
	KUNIT_EXPECT_EQ(test, n, -1);
}

/* The stack pointer in registers */
#if defined(CONFIG_S390)
#define stack_pointer(r)	((r)->gprs[15])
#elif defined(CONFIG_PPC)
#define stack_pointer(r)	((r)->gpr[1])
#elif defined(CONFIG_LOONGARCH)
#define stack_pointer(r)	((r)->regs[3])
#else
#define stack_pointer(r)	((r)->sp)
#endif

#endif /* _FGRAPH_KUNIT_H */
