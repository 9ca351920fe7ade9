/* SPDX-License-Identifier: GPL-2.0 */
/* What the KUnit tests of fgraph need that differs between kernels. */
#ifndef _FGRAPH_KUNIT_PORT_H
#define _FGRAPH_KUNIT_PORT_H

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

/* What handlers of fprobes are passed, and how they use @regs. */
#define FPROBE_PARAMS	struct fprobe *fp, unsigned long ip, unsigned long ret_ip, \
			struct ftrace_regs *regs, void *data
#define fprobe_argument(regs, n)	ftrace_regs_get_argument(regs, n)
#define fprobe_return_value(regs)	ftrace_regs_get_return_value(regs)
#define fprobe_set_return_value(regs, value)	ftrace_regs_set_return_value(regs, value)
#define fprobe_override(regs)	ftrace_override_function_with_return(regs)

/* The most private data that an fprobe may have, in bytes: &fprobe.entry_data_size. */
#define FPROBE_MAX_DATA_SIZE	MAX_FPROBE_DATA_SIZE

/* The type of an entry handler, and what it returns to have the exit handler called. */
#define FPROBE_ENTRY_TYPE	int
#define FPROBE_WANT_EXIT	0

/*
 * How many of @n misses where RCU does not watch &fprobe.nmissed counts: none, as the fprobe may be
 * freed there. &fgraph_user.missed has them.
 */
#define FPROBE_IDLE_MISSES(n)	0

static inline void setup_timer(struct hrtimer *timer,
			       enum hrtimer_restart (*function)(struct hrtimer *),
			       enum hrtimer_mode mode)
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
}

/* The entry handler of an fprobe is given no more than ftrace saves for all. */
#define FPROBE_NEEDS_ALL_REGS	false

#endif /* _FGRAPH_KUNIT_PORT_H */
