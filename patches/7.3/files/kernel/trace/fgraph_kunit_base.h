/* SPDX-License-Identifier: GPL-2.0 */
/* What the KUnit tests of fgraph need that differs between kernels. */
#ifndef _FGRAPH_KUNIT_BASE_H
#define _FGRAPH_KUNIT_BASE_H

#include <linux/fgraph.h>
#include <linux/hrtimer.h>
#include <linux/kconfig.h>

/* Can ftrace call the users of this kernel, by their filters? */
#define FGRAPH_KUNIT_FTRACE	IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER)

/* The filter of a user, in a structure that has @gops. */
#define own_filter(u)	(&(u)->gops.ops)

static inline void use_filter(struct fgraph_ops *gops, struct ftrace_ops *filter)
{
}

/* A function that handles each breakpoint, called before kprobes check for recursion. */
#ifdef CONFIG_ARM64
#define BREAKPOINT_HANDLER	"do_el1_brk64"
#else
#define BREAKPOINT_HANDLER	"kprobe_int3_handler"
#endif

/* What the callback of kallsyms_on_each_symbol() is passed. */
#define SYMBOL_PARAMS	void *data, const char *name, unsigned long addr

/* What a generator of parameters for KUNIT_CASE_PARAM() is passed. */
#define GENERATOR_PARAMS	struct kunit *test, const void *prev, char *desc

static inline void setup_timer(struct hrtimer *timer,
			       enum hrtimer_restart (*function)(struct hrtimer *),
			       enum hrtimer_mode mode)
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
}

#endif /* _FGRAPH_KUNIT_BASE_H */
