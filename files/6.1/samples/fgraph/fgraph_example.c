// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of a user of fgraph with private data: it measures how long each call of a function
 * takes, and lists the other users that have hooked the call.
 *
 * Usage: insmod fgraph_example.ko symbol=vfs_read
 */
#include <linux/fgraph.h>
#include <linux/ftrace.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/string.h>

static char *symbol = "kernel_clone";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "Function to be hooked, wildcards allowed");

static unsigned int report = 1;
module_param(report, uint, 0644);
MODULE_PARM_DESC(report, "How many more calls to report; counts down");

/* The private data of each call, from its entry to its return. */
struct call {
	u64	start;
};

static atomic_long_t calls;
static atomic64_t total_ns;

static int example_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct ftrace_regs *fregs)
{
	struct call *call = data;

	call->start = ktime_get_mono_fast_ns();
	/* Return nonzero to be called for the return of this call. */
	return 1;
}

static void report_call(const struct fgraph_frame *frame, u64 ns)
{
	struct fgraph_ops *users[16];
	int nr = fgraph_frame_users(frame, users, ARRAY_SIZE(users)), i;

	pr_info("%ps returns to %pS after %llu ns: one frame, %d users\n",
		(void *)frame->func, (void *)frame->ret, ns, nr);
	for (i = 0; i < min_t(int, nr, ARRAY_SIZE(users)); i++) {
		const char *kind = users[i]->user.kind ?: "other";

		if (users[i]->name || !users[i]->user.function)
			pr_info("  %s %s\n", kind, users[i]->name ?: "-");
		else
			pr_info("  %s %ps\n", kind, (void *)users[i]->user.function);
	}
}

static void example_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			   void *data, struct fgraph_regs *regs)
{
	struct call *call = data;
	u64 ns = ktime_get_mono_fast_ns() - call->start;

	atomic_long_inc(&calls);
	atomic64_add(ns, &total_ns);
	/* Printing in a callback is slow. If this races, one more call is reported. */
	if (report) {
		report--;
		report_call(frame, ns);
	}
}

/* Its filter says which functions are hooked. */
static struct ftrace_ops example_filter;

static struct fgraph_ops example_ops = {
	.filter		= &example_filter,
	.entryfunc	= example_entry,
	.retfunc	= example_return,
	.data_size	= sizeof(struct call),
	.name		= "fgraph_example",
};

static int __init fgraph_example_init(void)
{
	int ret;

	ret = ftrace_set_filter(&example_filter, symbol, strlen(symbol), 1);
	if (ret) {
		pr_err("no function %s that ftrace can trace: %d\n", symbol, ret);
		return ret;
	}
	ret = register_ftrace_graph(&example_ops);
	if (ret) {
		pr_err("register_ftrace_graph: %d\n", ret);
		ftrace_free_filter(&example_filter);
	}
	return ret;
}

static void __exit fgraph_example_exit(void)
{
	/* Calls that are asleep in the function return later, without calling this module. */
	unregister_ftrace_graph(&example_ops);
	ftrace_free_filter(&example_filter);
	pr_info("%s: %ld calls, %lld ns, %lu missed\n", symbol, atomic_long_read(&calls),
		(s64)atomic64_read(&total_ns), fgraph_missed(&example_ops, FGRAPH_MISS_MEMORY));
}

module_init(fgraph_example_init);
module_exit(fgraph_example_exit);
MODULE_DESCRIPTION("Example of a user of fgraph");
MODULE_LICENSE("GPL");
