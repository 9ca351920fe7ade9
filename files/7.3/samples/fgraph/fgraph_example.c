// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of an fprobe with data for each call: for each read of a file, it keeps the name of
 * the file, the size that is asked for and the time from entry to return. It reports them with
 * what was read. An fprobe is the way of a module to use fgraph.
 *
 * Usage: insmod fgraph_example.ko symbol=vfs_read file=passwd
 */
#include <linux/fprobe.h>
#include <linux/fs.h>
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

static int example_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			 struct ftrace_regs *fregs, void *data)
{
	struct file *f = (struct file *)ftrace_regs_get_argument(fregs, 0);
	struct call *call = data;

	snprintf(call->name, sizeof(call->name), "%pD", f);
	/* Return nonzero not to be called for the return of this call. */
	if (*file && strcmp(call->name, file))
		return 1;
	call->size = ftrace_regs_get_argument(fregs, 2);
	call->start = ktime_get_mono_fast_ns();
	return 0;
}

static void example_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			 struct ftrace_regs *fregs, void *data)
{
	struct call *call = data;
	u64 ns = ktime_get_mono_fast_ns() - call->start;

	atomic_long_inc(&calls);
	atomic64_add(ns, &total_ns);
	/* Printing in a handler is slow. If this races, one more call is reported. */
	if (report) {
		report--;
		pr_info("%ps(%s, %zu) = %ld, returns to %pS after %llu ns\n", (void *)ip,
			call->name, call->size, ftrace_regs_get_return_value(fregs),
			(void *)ret_ip, ns);
	}
}

static struct fprobe example = {
	.entry_handler		= example_entry,
	.exit_handler		= example_exit,
	.entry_data_size	= sizeof(struct call),
	.name			= "fgraph_example",
};

static int __init fgraph_example_init(void)
{
	int ret;

	/* The callbacks take the first argument for a file, whatever the function is. */
	if (strcmp(symbol, "vfs_read") && strcmp(symbol, "vfs_write")) {
		pr_err("symbol=%s: neither vfs_read nor vfs_write\n", symbol);
		return -EINVAL;
	}

	ret = register_fprobe(&example, symbol, NULL);
	if (ret)
		pr_err("register_fprobe of %s: %d\n", symbol, ret);
	return ret;
}

static void __exit fgraph_example_exit(void)
{
	/* Calls that are asleep in the function return later, without calling this module. */
	unregister_fprobe(&example);
	pr_info("%s: %ld calls, %lld ns, %lu missed\n", symbol, atomic_long_read(&calls),
		(s64)atomic64_read(&total_ns), example.nmissed);
}

module_init(fgraph_example_init);
module_exit(fgraph_example_exit);
MODULE_DESCRIPTION("Example of an fprobe that keeps data from entry to return");
MODULE_LICENSE("GPL");
