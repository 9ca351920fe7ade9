/* SPDX-License-Identifier: GPL-2.0 */
/* What the KUnit tests of fgraph need that differs between kernels. */
#ifndef _FGRAPH_KUNIT_PORT_H
#define _FGRAPH_KUNIT_PORT_H

#include <linux/fgraph.h>
#include <linux/hrtimer.h>
#include <linux/kconfig.h>

/* Can ftrace call the users of this kernel, by their filters? */
#define FGRAPH_KUNIT_FTRACE	IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER)

/* The filter of a user, in a structure that has @gops and @filter. */
#define own_filter(u)	(&(u)->filter)

static inline void use_filter(struct fgraph_ops *gops, struct ftrace_ops *filter)
{
	gops->filter = filter;
}

/* A function that handles each breakpoint, called before kprobes check for recursion. */
#ifdef CONFIG_ARM64
#define BREAKPOINT_HANDLER	"kprobe_breakpoint_handler"
#else
#define BREAKPOINT_HANDLER	"kprobe_int3_handler"
#endif

/* What the callback of kallsyms_on_each_symbol() is passed. */
#define SYMBOL_PARAMS	void *data, const char *name, struct module *mod, unsigned long addr

/* What a generator of parameters for KUNIT_CASE_PARAM() is passed. */
#define GENERATOR_PARAMS	const void *prev, char *desc

/* What handlers of fprobes are passed, and how they use @regs. */
#define FPROBE_PARAMS	struct fprobe *fp, unsigned long ip, struct pt_regs *regs, void *data
#define fprobe_argument(regs, n)	regs_get_kernel_argument(regs, n)
#define fprobe_return_value(regs)	regs_return_value(regs)
#define fprobe_set_return_value(regs, value)	regs_set_return_value(regs, value)
#define fprobe_override(regs)	override_function_with_return(regs)

/* The most private data that an fprobe may have, in bytes: &fprobe.entry_data_size. */
#define FPROBE_MAX_DATA_SIZE	FGRAPH_MAX_DATA_SIZE

/* The type of an entry handler, and what it returns to have the exit handler called. */
#define FPROBE_ENTRY_TYPE	void
#define FPROBE_WANT_EXIT

/* There are handlers beside these that can refuse the return, and what they are passed. */
#define FPROBE_SESSION_PARAMS	struct fprobe *fp, unsigned long ip, unsigned long ret_ip, \
				struct pt_regs *regs, void *data

/* How many of @n misses where RCU does not watch &fprobe.nmissed counts. */
#define FPROBE_IDLE_MISSES(n)	(n)

static inline void setup_timer(struct hrtimer *timer,
			       enum hrtimer_restart (*function)(struct hrtimer *),
			       enum hrtimer_mode mode)
{
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
}

/* The entry handler of an fprobe is given all registers. */
#define FPROBE_NEEDS_ALL_REGS	true

#endif /* _FGRAPH_KUNIT_PORT_H */
