// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of a user of fgraph with private data: for each read of a file, it keeps the name of
 * the file, the size that is asked for and the time from entry to return. It reports them with
 * what was read, and lists the other users that have hooked the call.
 *
 * Usage: insmod fgraph_example.ko symbol=vfs_read file=passwd
 */
#include <linux/fgraph.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/string.h>

static char *symbol = "vfs_read";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "Function to be hooked: vfs_read or vfs_write");

static char *file = "";
module_param(file, charp, 0444);
MODULE_PARM_DESC(file, "Name of the files whose calls count, without directory; empty for all");

static unsigned int report = 1;
module_param(report, uint, 0644);
MODULE_PARM_DESC(report, "How many more calls to report; counts down");

/* The private data of each call, from its entry to its return. */
struct call {
	u64	start;
	size_t	size;
	char	name[40];
};

static atomic_long_t calls;
static atomic64_t total_ns;

static int example_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct ftrace_regs *fregs)
{
	/* FGRAPH_ENTRY_REGS asks for them. */
	struct pt_regs *regs = ftrace_get_regs(fregs);
	struct file *f = (struct file *)regs_get_kernel_argument(regs, 0);
	struct call *call = data;

	snprintf(call->name, sizeof(call->name), "%pD", f);
	/* Return 0 not to be called for the return of this call. */
	if (*file && strcmp(call->name, file))
		return 0;
	call->size = regs_get_kernel_argument(regs, 2);
	call->start = ktime_get_mono_fast_ns();
	return 1;
}

static void report_call(const struct fgraph_frame *frame, const struct call *call, long value,
			u64 ns)
{
	struct fgraph_ops *users[16];
	int nr = fgraph_frame_users(frame, users, ARRAY_SIZE(users)), i;

	pr_info("%ps(%s, %zu) = %ld, returns to %pS after %llu ns: one frame, %d users\n",
		(void *)frame->func, call->name, call->size, value, (void *)frame->ret, ns, nr);
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
		report_call(frame, call, fgraph_return_value(regs), ns);
	}
}

/* Its filter says which functions are hooked. */
static struct ftrace_ops example_filter;

static struct fgraph_ops example_ops = {
	.filter		= &example_filter,
	.entryfunc	= example_entry,
	.retfunc	= example_return,
	.data_size	= sizeof(struct call),
	.flags		= FGRAPH_ENTRY_REGS,
	.name		= "fgraph_example",
};

static int __init fgraph_example_init(void)
{
	int ret;

	/* The callbacks take the first argument for a file, whatever the function is. */
	if (strcmp(symbol, "vfs_read") && strcmp(symbol, "vfs_write")) {
		pr_err("symbol=%s: neither vfs_read nor vfs_write\n", symbol);
		return -EINVAL;
	}

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
