// SPDX-License-Identifier: GPL-2.0
/*
 * The tracefs file fgraph_users: the users of fgraph, how many calls each has missed, and
 * how much memory shadow stacks take. In enabled_functions: the users of each function.
 */
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>

#include "fgraph_ftrace.h"
#include "fgraph_internal.h"
#include "ftrace_internal.h"
#include "trace.h"

/*
 * Print the kind and the name of a user. They are one word each, so no module name, but for the
 * instance of a tracer whose name has spaces.
 */
static void show_name(struct seq_file *m, const struct fgraph_ops *gops)
{
	const char *name = gops->name;
	char function[KSYM_NAME_LEN];

	/* The function's module may be gone. */
	if (!name && !lookup_symbol_name(fgraph_listed_function(gops), function))
		name = function;
	seq_printf(m, "%s %s", gops->user.kind ?: "other", name ?: "-");
}

static void show_user(struct seq_file *m, unsigned long id, struct fgraph_ops *gops)
{
	seq_printf(m, "%lu ", id);
	show_name(m, gops);
	seq_printf(m, " %zu %lu %lu %lu\n", gops->data_size,
		   fgraph_missed(gops, FGRAPH_MISS_MEMORY),
		   fgraph_missed(gops, FGRAPH_MISS_NESTED), fgraph_missed(gops, FGRAPH_MISS_BPF));
}

static int fgraph_users_show(struct seq_file *m, void *v)
{
	struct fgraph_usage u;
	struct fgraph_row *row;
	unsigned long id;

	seq_puts(m, "# id kind name data no-memory nested bpf-busy\n");

	mutex_lock(&fgraph_mutex);
	for (id = 0; id < FGRAPH_MAX_USERS; id++) {
		if (!READ_ONCE(fgraph_table[id >> FGRAPH_PAGE_BITS]))
			break;
		row = fgraph_row(id);
		/* The owner of a retired user, and the name, may be gone. */
		if (row->gops && row->tag)
			show_user(m, id, row->gops);
	}
	mutex_unlock(&fgraph_mutex);

	fgraph_usage(&u);
	seq_printf(m, "# in use: %lu stacks, %lu chunks, %lu bytes; in reserve: %lu chunks, %lu bytes\n",
		   u.stacks, u.chunks, u.bytes, u.reserve_chunks, u.reserve_bytes);
	return 0;
}

#ifdef CONFIG_FGRAPH_FTRACE
/**
 * fgraph_show_users() - print the users that want a function
 * @m:	the file enabled_functions
 * @ip:	the address of the function's call to ftrace
 *
 * Context: process, ftrace_lock held.
 */
void fgraph_show_users(struct seq_file *m, unsigned long ip)
{
	struct fgraph_ops *gops;
	unsigned int pos = 0;

	gops = fgraph_next_user(ip, &pos);
	if (!gops)
		return;
	seq_puts(m, "\tusers:");
	for (; gops; gops = fgraph_next_user(ip, &pos)) {
		seq_puts(m, " {");
		show_name(m, gops);
		seq_putc(m, '}');
	}
}
#endif

static int fgraph_users_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, fgraph_users_show, NULL);
}

static const struct file_operations fgraph_users_fops = {
	.open		= fgraph_users_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static __init int fgraph_tracefs_init(void)
{
	if (!tracing_init_dentry())
		trace_create_file("fgraph_users", TRACE_MODE_READ, NULL, NULL,
				  &fgraph_users_fops);
	return 0;
}
fs_initcall(fgraph_tracefs_init);
