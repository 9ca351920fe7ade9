// SPDX-License-Identifier: GPL-2.0
/*
 * The tracefs files fgraph_users, which has the users of fgraph and how many calls each has
 * missed, and fgraph_memory, which has the memory of shadow stacks. In enabled_functions: the users
 * of each function. In kprobe_profile: why a return event has missed calls.
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

/* Returns the row of the first user at or behind *@pos, which is its id plus 1, or NULL. */
static struct fgraph_row *users_find(loff_t *pos)
{
	struct fgraph_row *row;

	for (; *pos <= FGRAPH_MAX_USERS; ++*pos) {
		if (!READ_ONCE(fgraph_table[(*pos - 1) >> FGRAPH_PAGE_BITS]))
			break;
		row = fgraph_row(*pos - 1);
		/* The owner of a retired user, and the name, may be gone. */
		if (row->gops && fgraph_row_is_valid(row))
			return row;
	}
	return NULL;
}

/* No user goes while lines are written. Between two reads of the file, users may come and go. */
static void *users_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&fgraph_mutex);
	return *pos ? users_find(pos) : SEQ_START_TOKEN;
}

static void *users_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return users_find(pos);
}

static void users_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&fgraph_mutex);
}

static int users_show(struct seq_file *m, void *v)
{
	struct fgraph_row *row = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# id kind name data_size no_memory nested bpf_busy\n");
		return 0;
	}
	seq_printf(m, "%llu ", row->tag & FGRAPH_ID_MASK);
	show_name(m, row->gops);
	seq_printf(m, " %zu %lu %lu %lu\n", row->gops->data_size,
		   fgraph_missed(row->gops, FGRAPH_MISS_MEMORY),
		   fgraph_missed(row->gops, FGRAPH_MISS_NESTED),
		   fgraph_missed(row->gops, FGRAPH_MISS_BPF));
	return 0;
}

static const struct seq_operations fgraph_users_seq_ops = {
	.start	= users_start,
	.next	= users_next,
	.stop	= users_stop,
	.show	= users_show,
};

static int fgraph_memory_show(struct seq_file *m, void *v)
{
	struct fgraph_usage u;

	fgraph_usage(&u);
	seq_printf(m, "stacks %lu\nchunks %lu\nbytes %lu\nreserve_chunks %lu\nreserve_bytes %lu\n",
		   u.stacks, u.chunks, u.bytes, u.reserve_chunks, u.reserve_bytes);
	return 0;
}

/**
 * fgraph_show_misses() - print how many calls a user has missed, by cause
 * @m:		the file kprobe_profile
 * @gops:	the user of a return event
 *
 * Context: process.
 */
void fgraph_show_misses(struct seq_file *m, const struct fgraph_ops *gops)
{
	seq_printf(m, " %15lu %15lu %15lu", fgraph_missed(gops, FGRAPH_MISS_MEMORY),
		   fgraph_missed(gops, FGRAPH_MISS_NESTED), fgraph_missed(gops, FGRAPH_MISS_BPF));
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

	return ret ?: seq_open(file, &fgraph_users_seq_ops);
}

static const struct file_operations fgraph_users_fops = {
	.open		= fgraph_users_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

static int fgraph_memory_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, fgraph_memory_show, NULL);
}

static const struct file_operations fgraph_memory_fops = {
	.open		= fgraph_memory_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static __init int fgraph_tracefs_init(void)
{
	if (tracing_init_dentry())
		return 0;
	trace_create_file("fgraph_users", TRACE_MODE_READ, NULL, NULL, &fgraph_users_fops);
	trace_create_file("fgraph_memory", TRACE_MODE_READ, NULL, NULL, &fgraph_memory_fops);
	return 0;
}
fs_initcall(fgraph_tracefs_init);
