// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the KUnit tests of fgraph hook, see fgraph_kunit.h. This file is compiled with
 * calls to ftrace, and is included by fgraph_kunit_hidden.c, which is compiled without them.
 */
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/stacktrace.h>

#include "fgraph_kunit.h"

#ifndef FGRAPH_KUNIT_NAME
#define FGRAPH_KUNIT_TABLE	fgraph_kunit_traced
#define FGRAPH_KUNIT_NAME(name)	fgraph_kunit_traced_##name
#endif
#define T(name)	FGRAPH_KUNIT_NAME(name)

/*
 * The functions call each other through the table, so that the compiler can neither inline a
 * call nor make a loop of a function that ends in a tail call of itself.
 */
static noinline unsigned long T(add)(unsigned long a, unsigned long b)
{
	barrier();
	return a + b;
}

static noinline struct fgraph_kunit_pair T(pair)(unsigned long lo, unsigned long hi)
{
	struct fgraph_kunit_pair pair = { lo, hi };

	barrier();
	return pair;
}

static noinline unsigned long T(nest)(const struct fgraph_kunit_targets *t,
				      unsigned long depth)
{
	return depth ? t->nest(t, depth - 1) + 1 : 0;
}

static noinline unsigned long T(tail)(const struct fgraph_kunit_targets *t,
				      unsigned long a, unsigned long b)
{
	return t->add(a, b);
}

static noinline unsigned long T(tail_self)(const struct fgraph_kunit_targets *t,
					   unsigned long n)
{
	return n ? t->tail_self(t, n - 1) : 7;
}

static noinline unsigned long T(outer)(const struct fgraph_kunit_targets *t,
				       unsigned long x)
{
	return t->middle(t, x) + 1;
}

static noinline unsigned long T(middle)(const struct fgraph_kunit_targets *t,
					unsigned long x)
{
	return t->inner(t, x) + 10;
}

static noinline unsigned long T(inner)(const struct fgraph_kunit_targets *t,
				       unsigned long x)
{
	barrier();
	return x + 100;
}

static noinline unsigned long T(call)(unsigned long (*fn)(void *), void *arg)
{
	return fn(arg) + 1;
}

static noinline unsigned long T(sleep)(struct completion *began,
				       struct completion *go)
{
	complete(began);
	wait_for_completion(go);
	return 42;
}

static noinline unsigned int T(trace_regs)(struct pt_regs *regs, unsigned long *trace,
					   unsigned int max)
{
#ifdef CONFIG_PERF_EVENTS
	perf_fetch_caller_regs(regs);
	return stack_trace_save_regs(regs, trace, max, 0);
#else
	return 0;
#endif
}

/* Only site_freed() and site_reloaded() use these: ftrace may not know them afterwards. */
static noinline unsigned long T(freed)(unsigned long x)
{
	barrier();
	return x + 1;
}

static noinline unsigned long T(reloaded)(unsigned long x)
{
	barrier();
	return x + 1;
}

const struct fgraph_kunit_targets FGRAPH_KUNIT_TABLE = {
	.add		= T(add),
	.pair		= T(pair),
	.nest		= T(nest),
	.tail		= T(tail),
	.tail_self	= T(tail_self),
	.outer		= T(outer),
	.middle		= T(middle),
	.inner		= T(inner),
	.call		= T(call),
	.sleep		= T(sleep),
	.trace_regs	= T(trace_regs),
	.freed		= T(freed),
	.reloaded	= T(reloaded),
};
