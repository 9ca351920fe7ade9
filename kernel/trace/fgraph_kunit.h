/* SPDX-License-Identifier: GPL-2.0 */
/* Functions for fgraph_kunit.c to hook. */
#ifndef _FGRAPH_KUNIT_H
#define _FGRAPH_KUNIT_H

#include <linux/completion.h>

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
};

extern const struct fgraph_kunit_targets fgraph_kunit_traced;
extern const struct fgraph_kunit_targets fgraph_kunit_hidden;

#endif /* _FGRAPH_KUNIT_H */
