// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what a hooked call costs: clock ticks for each call, less those of an empty loop.
 *
 * It is meant for an emulator whose clock counts instructions, see scripts/bench. It builds for
 * any kernel since 6.1 and uses exported functions, except for register_ftrace_graph() of kernels
 * that do not export it.
 *
 *   echo ROW > /sys/module/fgraph_bench/parameters/row
 *
 * registers the users of a row, measures, and unregisters them; the result is printed to the
 * log. There is no figure if the callbacks did not see each call exactly once.
 */
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/version.h>

static unsigned long calls = 2000;
module_param(calls, ulong, 0644);
MODULE_PARM_DESC(calls, "how many calls to measure; three times as many are made");

static unsigned long ticks(void)
{
#ifdef CONFIG_X86_64
	return rdtsc();
#else
	unsigned long t;

	asm volatile("isb; mrs %0, cntvct_el0" : "=r"(t) :: "memory");
	/* An instruction takes a nanosecond, and a tick may be 16 of these. */
	return t * (NSEC_PER_SEC / read_sysreg(cntfrq_el0));
#endif
}

/* The function that ftrace can call, and a notrace function that has room for a jump. */
noinline unsigned long *fgraph_bench_target(unsigned long *p);
noinline unsigned long *fgraph_bench_target(unsigned long *p)
{
	asm volatile("" :: "r"(p) : "memory");
	return p;
}

noinline notrace unsigned long *fgraph_bench_hidden(unsigned long *p);
noinline notrace unsigned long *fgraph_bench_hidden(unsigned long *p)
{
	asm volatile("nop; nop; nop; nop; nop; nop" :: "r"(p) : "memory");
	return p;
}

/* Another function, for users that must not see calls of the target. */
noinline void fgraph_bench_other(unsigned long *p);
noinline void fgraph_bench_other(unsigned long *p)
{
	asm volatile("" :: "r"(p) : "memory");
}

static unsigned long *(*target)(unsigned long *) = fgraph_bench_target;
static unsigned long entries, returns;

static noinline notrace unsigned long run(unsigned long n)
{
	unsigned long t, x = 0, flags, i;
	unsigned long *(*f)(unsigned long *) = READ_ONCE(target);

	local_irq_save(flags);
	t = ticks();
	for (i = 0; i < n; i++)
		f(&x);
	t = ticks() - t;
	local_irq_restore(flags);
	return t;
}

/* The cost of the empty loop, with either function. */
static unsigned long empty[2];

/* The cost of a call, in hundredths of a tick. */
static unsigned long per_call(void)
{
	unsigned long few, many;

	run(100);
	few = run(calls);
	many = run(2 * calls);
	return (many - few) * 100 / calls;
}

/* Measure a row, whose callbacks must see that many entries and returns of each call. */
static void measure(const char *row, unsigned long want_entries, unsigned long want_returns)
{
	unsigned long cost, made = 3 * calls + 100;

	entries = 0;
	returns = 0;
	cost = per_call() - empty[target == fgraph_bench_hidden];
	if (entries == want_entries * made && returns == want_returns * made)
		pr_info("fgraph_bench: = %s %lu.%02lu\n", row, cost / 100, cost % 100);
	else
		pr_info("fgraph_bench: = %s void: %lu entries, %lu returns of %lu calls\n",
			row, entries, returns, made);
}

static char target_name[] = "fgraph_bench_target";

/* ftrace */
static void ftrace_entry(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	entries++;
}

static void row_ftrace(const char *row, int nr, bool regs)
{
	struct ftrace_ops *ops;
	int i;

	/* ftrace refuses the flag then. */
	if (regs && !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		return;
	ops = kcalloc(nr, sizeof(*ops), GFP_KERNEL);
	for (i = 0; ops && i < nr; i++) {
		ops[i].func = ftrace_entry;
		ops[i].flags = regs ? FTRACE_OPS_FL_SAVE_REGS : 0;
		ftrace_set_filter(&ops[i], target_name, strlen(target_name), 1);
		register_ftrace_function(&ops[i]);
	}
	if (ops)
		measure(row, nr, 0);
	for (i = 0; ops && i < nr; i++) {
		unregister_ftrace_function(&ops[i]);
		ftrace_free_filter(&ops[i]);
	}
	kfree(ops);
}

/* kprobes */
static int kprobe_entry(struct kprobe *kp, struct pt_regs *regs)
{
	entries++;
	return 0;
}

static void row_kprobe(const char *row)
{
	struct kprobe kp = { .symbol_name = target_name, .pre_handler = kprobe_entry };

	if (!register_kprobe(&kp)) {
		measure(row, 1, 0);
		unregister_kprobe(&kp);
	}
}

static int kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	entries++;
	*(unsigned long *)ri->data = entries;
	return 0;
}

static int kretprobe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returns++;
	return 0;
}

/* The first one keeps @first_size bytes for each call, and does not need an entry handler. */
static struct kretprobe *add_kretprobes(int nr, const char *name, bool data, size_t first_size)
{
	struct kretprobe *rp = kcalloc(nr, sizeof(*rp), GFP_KERNEL);
	int i;

	for (i = 0; rp && i < nr; i++) {
		rp[i].kp.symbol_name = name;
		rp[i].handler = kretprobe_exit;
		rp[i].maxactive = 64;
		if (!i)
			rp[i].data_size = first_size;
		if (data) {
			rp[i].entry_handler = kretprobe_entry;
			rp[i].data_size = 8;
		}
		if (register_kretprobe(&rp[i]))
			pr_info("fgraph_bench: no kretprobe of %s\n", name);
	}
	return rp;
}

static void del_kretprobes(struct kretprobe *rp, int nr)
{
	int i;

	for (i = 0; rp && i < nr; i++)
		unregister_kretprobe(&rp[i]);
	kfree(rp);
}

static void row_kretprobe(const char *row, int nr, bool hidden, bool data, unsigned int wait)
{
	struct kretprobe *rp = add_kretprobes(nr, hidden ? "fgraph_bench_hidden" : target_name,
					      data, 0);

	/* The breakpoint is replaced by a jump some time later. */
	msleep(wait);
	if (hidden)
		target = fgraph_bench_hidden;
	measure(row, data ? nr : 0, nr);
	target = fgraph_bench_target;
	del_kretprobes(rp, nr);
}

/* One of the users keeps 32 bytes for each call, with those that kretprobes keep themselves. */
static void row_mixed(const char *row, int nr)
{
	struct kretprobe *rp = add_kretprobes(nr, target_name, false, 16);

	measure(row, 0, nr);
	del_kretprobes(rp, nr);
}

/* fprobe */
#ifdef CONFIG_FPROBE
/* The parameters of handlers differ, and whether an entry handler can refuse a call. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define FPROBE_ARGS	struct fprobe *fp, unsigned long ip, unsigned long ret_ip, \
			struct ftrace_regs *fregs, void *data
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define FPROBE_ARGS	struct fprobe *fp, unsigned long ip, unsigned long ret_ip, \
			struct pt_regs *regs, void *data
#else
#define FPROBE_ARGS	struct fprobe *fp, unsigned long ip, struct pt_regs *regs, void *data
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
static int fprobe_entry(FPROBE_ARGS)
{
	entries++;
	return 0;
}
#else
static void fprobe_entry(FPROBE_ARGS)
{
	entries++;
}
#endif

static void fprobe_exit(FPROBE_ARGS)
{
	returns++;
}

/* The handler of a call makes another call, which is hooked, too. */
static void fprobe_exit_nested(FPROBE_ARGS)
{
	returns++;
	fgraph_bench_other(&returns);
}

static struct fprobe *add_fprobes(int nr, char *name, bool entry, bool exit, size_t data)
{
	struct fprobe *fp = kcalloc(nr, sizeof(*fp), GFP_KERNEL);
	int i;

	for (i = 0; fp && i < nr; i++) {
		fp[i].entry_handler = entry ? fprobe_entry : NULL;
		fp[i].exit_handler = exit ? fprobe_exit : NULL;
		fp[i].entry_data_size = data;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
		fp[i].nr_maxactive = 64;
#endif
		if (register_fprobe(&fp[i], name, NULL))
			pr_info("fgraph_bench: no fprobe\n");
	}
	return fp;
}

static void del_fprobes(struct fprobe *fp, int nr)
{
	int i;

	for (i = 0; fp && i < nr; i++)
		unregister_fprobe(&fp[i]);
	kfree(fp);
}

static void row_fprobe(const char *row, int nr, bool entry, bool exit, size_t data)
{
	struct fprobe *fp = add_fprobes(nr, target_name, entry, exit, data);

	measure(row, entry ? nr : 0, exit ? nr : 0);
	del_fprobes(fp, nr);
}

static void row_nested(const char *row, int nr)
{
	struct fprobe *inner = add_fprobes(nr, "fgraph_bench_other", false, true, 0);
	struct fprobe *outer = kzalloc(sizeof(*outer), GFP_KERNEL);

	if (outer) {
		outer->exit_handler = fprobe_exit_nested;
		if (!register_fprobe(outer, target_name, NULL)) {
			measure(row, 0, 1 + nr);
			unregister_fprobe(outer);
		}
	}
	kfree(outer);
	del_fprobes(inner, nr);
}
#endif

/* A stack trace, from inside many calls or from a callback. */
static unsigned long walk[512];
static unsigned int walked;
static unsigned long walk_ticks;
static bool walk_at_return;

static __always_inline void take_trace(void)
{
	walk_ticks = ticks();
	walked = stack_trace_save(walk, ARRAY_SIZE(walk), 0);
	walk_ticks = ticks() - walk_ticks;
}

/* function graph */
static bool refuse;

#ifdef CONFIG_FGRAPH
#include <linux/fgraph.h>

#define ENTRY_ARGS	struct fgraph_ops *gops, const struct fgraph_frame *frame, \
			void *data, struct ftrace_regs *fregs
#define RETURN_ARGS	struct fgraph_ops *gops, const struct fgraph_frame *frame, \
			void *data, struct fgraph_regs *regs
#endif

/* The series for 6.1 exports the functions. */
#if defined(CONFIG_FGRAPH) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
static void graph_find(void) { }

static int graph_register(struct fgraph_ops *gops, size_t data)
{
	gops->data_size = data;
	return register_ftrace_graph(gops);
}

static void graph_filter(struct fgraph_ops *gops, char *name)
{
	gops->filter = kzalloc(sizeof(*gops->filter), GFP_KERNEL);
	if (gops->filter)
		ftrace_set_filter(gops->filter, name, strlen(name), 1);
}

static void graph_free(struct fgraph_ops *gops)
{
	if (gops->filter)
		ftrace_free_filter(gops->filter);
	kfree(gops->filter);
}

#define graph_unregister	unregister_ftrace_graph
#else
static void *symbol(const char *name)
{
	struct kprobe kp = { .symbol_name = name };
	void *addr;

	if (register_kprobe(&kp))
		return NULL;
	addr = kp.addr;
	unregister_kprobe(&kp);
#ifdef CONFIG_X86_KERNEL_IBT
	addr -= 4;
#endif
	return addr;
}

static int (*do_register)(struct fgraph_ops *gops);
static void (*do_unregister)(struct fgraph_ops *gops);
static void *(*do_reserve)(int idx, int size);

#ifdef ENTRY_ARGS
/* The series has its own. */
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define ENTRY_ARGS	struct ftrace_graph_ent *ent, struct fgraph_ops *gops, \
			struct ftrace_regs *fregs
#define RETURN_ARGS	struct ftrace_graph_ret *ret, struct fgraph_ops *gops, \
			struct ftrace_regs *fregs
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define ENTRY_ARGS	struct ftrace_graph_ent *ent, struct fgraph_ops *gops
#define RETURN_ARGS	struct ftrace_graph_ret *ret, struct fgraph_ops *gops
#else
/* This user obeys set_ftrace_filter. */
#define ENTRY_ARGS	struct ftrace_graph_ent *ent
#define RETURN_ARGS	struct ftrace_graph_ret *ret
#endif

static void graph_find(void)
{
	do_register = symbol("register_ftrace_graph");
	do_unregister = symbol("unregister_ftrace_graph");
	do_reserve = symbol("fgraph_reserve_data");
}

static int graph_register(struct fgraph_ops *gops, size_t data)
{
#ifdef CONFIG_FGRAPH
	gops->data_size = data;
#endif
	return do_register && do_unregister ? do_register(gops) : -ENOENT;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define graph_filter(gops, name) ftrace_set_filter(&(gops)->ops, name, strlen(name), 1)
#define graph_free(gops)	ftrace_free_filter(&(gops)->ops)
#ifndef CONFIG_FGRAPH
/* Data are asked for at entry. */
#define graph_reserve(gops)	do_reserve((gops)->idx, 8)
#endif
#else
#define graph_filter(gops, name)
#define graph_free(gops)
#endif
#define graph_unregister	do_unregister
#endif

static int fgraph_entry(ENTRY_ARGS)
{
	entries++;
	return !refuse;
}

#ifdef graph_reserve
static int fgraph_entry_data(ENTRY_ARGS)
{
	entries++;
	return !!graph_reserve(gops);
}
#else
#define fgraph_entry_data	fgraph_entry
#endif

static void fgraph_return(RETURN_ARGS)
{
	returns++;
}

/* Apart from fgraph_return(), which is measured. */
static void fgraph_return_walk(RETURN_ARGS)
{
	if (walk_at_return) {
		walk_at_return = false;
		take_trace();
	}
}

static struct fgraph_ops *new_graphs(int nr, char *name)
{
	struct fgraph_ops *gops = kcalloc(nr, sizeof(*gops), GFP_KERNEL);
	int i;

	for (i = 0; gops && i < nr; i++)
		graph_filter(&gops[i], name);
	return gops;
}

/* Users that cannot be registered have no callback afterwards. */
static void register_graphs(struct fgraph_ops *gops, int nr, size_t data)
{
	int i;

	for (i = 0; gops && i < nr; i++) {
		gops[i].entryfunc = data ? fgraph_entry_data : fgraph_entry;
		gops[i].retfunc = walk_at_return ? fgraph_return_walk : fgraph_return;
		if (graph_register(&gops[i], data)) {
			pr_info("fgraph_bench: only %d users of function graph\n", i);
			gops[i].entryfunc = NULL;
			break;
		}
	}
}

static void unregister_graphs(struct fgraph_ops *gops, int nr)
{
	int i;

	for (i = 0; gops && i < nr; i++) {
		if (gops[i].entryfunc)
			graph_unregister(&gops[i]);
	}
}

static void free_graphs(struct fgraph_ops *gops, int nr)
{
	int i;

	for (i = 0; gops && i < nr; i++)
		graph_free(&gops[i]);
	kfree(gops);
}

static struct fgraph_ops *add_graphs(int nr, char *name, size_t data)
{
	struct fgraph_ops *gops = new_graphs(nr, name);

	register_graphs(gops, nr, data);
	return gops;
}

static void del_graphs(struct fgraph_ops *gops, int nr)
{
	unregister_graphs(gops, nr);
	free_graphs(gops, nr);
}

static void row_graph(const char *row, int nr, size_t data, bool no, int others)
{
	struct fgraph_ops *other = add_graphs(others, "fgraph_bench_other", 0);
	struct fgraph_ops *gops = add_graphs(nr, target_name, data);

	refuse = no;
	if (gops && gops[nr - 1].entryfunc)
		measure(row, nr, no ? 0 : nr);
	refuse = false;
	del_graphs(gops, nr);
	del_graphs(other, others);
}

/* Users of several kinds on one function. */
static void row_kinds(const char *row, bool kretprobe, bool fprobe, bool graph)
{
	struct kretprobe *rp = add_kretprobes(kretprobe, target_name, false, 0);
#ifdef CONFIG_FPROBE
	struct fprobe *fp = add_fprobes(fprobe, target_name, false, true, 0);
#endif
	struct fgraph_ops *gops = add_graphs(graph, target_name, 0);

	if (!fprobe || IS_ENABLED(CONFIG_FPROBE))
		measure(row, graph, kretprobe + fprobe + graph);
	del_graphs(gops, graph);
#ifdef CONFIG_FPROBE
	del_fprobes(fp, fprobe);
#endif
	del_kretprobes(rp, kretprobe);
}

noinline unsigned long fgraph_bench_nest(int depth);
static unsigned long (*nest)(int depth) = fgraph_bench_nest;
noinline unsigned long fgraph_bench_nest(int depth)
{
	if (depth > 1)
		return READ_ONCE(nest)(depth - 1) + 1;
	take_trace();
	return 1;
}

/* How many callers in the trace are nested calls, and how many come behind the last of them? */
static void count_callers(unsigned int *nested, unsigned int *behind)
{
	unsigned int i;

	*nested = 0;
	*behind = 0;
	for (i = 0; i < walked; i++) {
		if (walk[i] - (unsigned long)fgraph_bench_nest <= 200) {
			(*nested)++;
			*behind = 0;
		} else {
			(*behind)++;
		}
	}
}

/*
 * A stack trace from inside so many calls, which must have the callers that it has without
 * hooks. @at_return takes it from the return callback of the innermost call instead, where
 * that call is over.
 */
static void row_unwind(const char *row, bool hooked, bool at_return, int depth)
{
	unsigned int plain, plain_behind, nested, behind;
	struct fgraph_ops *gops = NULL;
	unsigned long flags;

	nest(depth);
	count_callers(&plain, &plain_behind);
	walk_at_return = at_return;
	if (hooked)
		gops = add_graphs(1, "fgraph_bench_nest", 0);
	local_irq_save(flags);
	nest(depth);
	walk_at_return = at_return;
	nest(depth);
	walk_at_return = false;
	local_irq_restore(flags);
	count_callers(&nested, &behind);
	if ((!hooked || (gops && gops->entryfunc)) &&
	    nested == plain - at_return && behind == plain_behind)
		pr_info("fgraph_bench: = %s %lu.00\n", row, walk_ticks);
	else
		pr_info("fgraph_bench: = %s void: %u calls found of %u, and %u callers of %u\n",
			row, nested, plain - at_return, behind, plain_behind);
	del_graphs(gops, 1);
}

static void print_register(const char *row, unsigned long begin, int nr)
{
	pr_info("fgraph_bench: = %s %lu.00\n", row, (ticks() - begin) / nr);
}

/* So many users come and go, each of the target: in ticks a user. */
static void row_register_kretprobe(const char *row, int nr)
{
	unsigned long begin = ticks();

	del_kretprobes(add_kretprobes(nr, target_name, false, 0), nr);
	print_register(row, begin, nr);
}

/* 500 functions. */
#define FUNC(n)		static noinline void fgraph_bench_func##n(void)		\
			{							\
				asm volatile("" : : "i"(1##n));			\
			}
#define TEN(of, n)	of(n##0) of(n##1) of(n##2) of(n##3) of(n##4)		\
			of(n##5) of(n##6) of(n##7) of(n##8) of(n##9)
#define FUNCS(n)	TEN(FUNC, n)
#define HUNDRED(of, n)	of(n##0) of(n##1) of(n##2) of(n##3) of(n##4)		\
			of(n##5) of(n##6) of(n##7) of(n##8) of(n##9)
HUNDRED(FUNCS, 0) HUNDRED(FUNCS, 1) HUNDRED(FUNCS, 2) HUNDRED(FUNCS, 3) HUNDRED(FUNCS, 4)
#define NAME(n)		fgraph_bench_func##n,
#define NAMES(n)	TEN(NAME, n)
static void (*const funcs[])(void) = {
	HUNDRED(NAMES, 0) HUNDRED(NAMES, 1) HUNDRED(NAMES, 2) HUNDRED(NAMES, 3) HUNDRED(NAMES, 4)
};

/* An array of kretprobes comes or goes, each of a function of its own: in ticks a kretprobe. */
static void row_array(const char *row, bool unregister)
{
	int nr = ARRAY_SIZE(funcs), i, ret;
	struct kretprobe *rp = kcalloc(nr, sizeof(*rp), GFP_KERNEL);
	struct kretprobe **rps = kcalloc(nr, sizeof(*rps), GFP_KERNEL);
	unsigned long begin;

	for (i = 0; rp && rps && i < nr; i++) {
		rps[i] = &rp[i];
		rp[i].kp.addr = (void *)funcs[i];
		rp[i].handler = kretprobe_exit;
		rp[i].maxactive = 1;
	}
	begin = ticks();
	ret = rp && rps ? register_kretprobes(rps, nr) : -ENOMEM;
	if (!ret) {
		if (!unregister)
			print_register(row, begin, nr);
		begin = ticks();
		unregister_kretprobes(rps, nr);
		if (unregister)
			print_register(row, begin, nr);
	}
	kfree(rps);
	kfree(rp);
}

/* Their filters are set before, by name. Kernels with one user have no filter to set. */
static void row_register_graph(const char *row, int nr)
{
	struct fgraph_ops *gops = new_graphs(nr, target_name);
	unsigned long begin = ticks();

	register_graphs(gops, nr, 0);
	unregister_graphs(gops, nr);
	if (gops && gops[nr - 1].entryfunc)
		print_register(row, begin, nr);
	free_graphs(gops, nr);
}

static int set_row(const char *val, const struct kernel_param *param)
{
	char row[64];
	int nr = 1, others;

	strscpy(row, val, sizeof(row));
	strim(row);
	if (!strcmp(row, "plain"))
		measure(row, 0, 0);
	else if (sscanf(row, "ftrace*%d", &nr) == 1 || !strcmp(row, "ftrace"))
		row_ftrace(row, nr, false);
	else if (!strcmp(row, "ftrace-regs"))
		row_ftrace(row, 1, true);
	else if (!strcmp(row, "kprobe"))
		row_kprobe(row);
	else if (!strcmp(row, "kretprobe-hidden"))
		row_kretprobe(row, 1, true, false, 1000);
	else if (!strcmp(row, "kretprobe-data"))
		row_kretprobe(row, 1, false, true, 0);
	else if (sscanf(row, "kretprobe-mixed*%d", &nr) == 1)
		row_mixed(row, nr);
	else if (sscanf(row, "kretprobe*%d", &nr) == 1 || !strcmp(row, "kretprobe"))
		row_kretprobe(row, nr, false, false, 0);
#ifdef CONFIG_FPROBE
	else if (!strcmp(row, "fprobe-entry"))
		row_fprobe(row, 1, true, false, 0);
	else if (!strcmp(row, "fprobe-exit"))
		row_fprobe(row, 1, false, true, 0);
	else if (!strcmp(row, "fprobe-both"))
		row_fprobe(row, 1, true, true, 0);
	else if (!strcmp(row, "fprobe-data"))
		row_fprobe(row, 1, true, true, 8);
	else if (sscanf(row, "fprobe-nested*%d", &nr) == 1)
		row_nested(row, nr);
	else if (sscanf(row, "fprobe*%d", &nr) == 1)
		row_fprobe(row, nr, false, true, 0);
#endif
	else if (sscanf(row, "graph+%d", &others) == 1)
		row_graph(row, 1, 0, false, others);
	else if (!strcmp(row, "graph-refused"))
		row_graph(row, 1, 0, true, 0);
	else if (!strcmp(row, "graph-data"))
		row_graph(row, 1, 8, false, 0);
	else if (sscanf(row, "graph*%d", &nr) == 1 || !strcmp(row, "graph"))
		row_graph(row, nr, 0, false, 0);
	else if (!strcmp(row, "kretprobe+fprobe"))
		row_kinds(row, true, true, false);
	else if (!strcmp(row, "kretprobe+graph"))
		row_kinds(row, true, false, true);
	else if (!strcmp(row, "all-three"))
		row_kinds(row, true, true, true);
	else if (sscanf(row, "unwind*%d", &nr) == 1)
		row_unwind(row, true, false, nr);
	else if (sscanf(row, "unwind-callback*%d", &nr) == 1)
		row_unwind(row, true, true, nr);
	else if (sscanf(row, "unwind-plain*%d", &nr) == 1)
		row_unwind(row, false, false, nr);
	else if (sscanf(row, "register-kretprobe*%d", &nr) == 1)
		row_register_kretprobe(row, nr);
	else if (!strcmp(row, "register-array") || !strcmp(row, "unregister-array"))
		row_array(row, row[0] == 'u');
	else if (sscanf(row, "register-graph*%d", &nr) == 1)
		row_register_graph(row, nr);
	else
		return -EINVAL;
	return 0;
}

/* Tasks that sleep and never meet a hook. */
static struct task_struct **sleepers;
static unsigned int nr_sleepers;

static int sleeper(void *unused)
{
	while (!kthread_should_stop())
		schedule_timeout_interruptible(MAX_SCHEDULE_TIMEOUT);
	return 0;
}

static void stop_sleepers(void)
{
	while (nr_sleepers)
		kthread_stop(sleepers[--nr_sleepers]);
	kvfree(sleepers);
	sleepers = NULL;
}

static int set_tasks(const char *val, const struct kernel_param *param)
{
	unsigned int nr;
	int ret = kstrtouint(val, 0, &nr);

	if (ret)
		return ret;
	stop_sleepers();
	sleepers = kvcalloc(nr, sizeof(*sleepers), GFP_KERNEL);
	if (!sleepers)
		return -ENOMEM;
	while (nr_sleepers < nr) {
		struct task_struct *task = kthread_run(sleeper, NULL, "bench%u", nr_sleepers);

		if (IS_ERR(task))
			return PTR_ERR(task);
		sleepers[nr_sleepers++] = task;
	}
	return 0;
}

static const struct kernel_param_ops tasks_ops = { .set = set_tasks };
module_param_cb(tasks, &tasks_ops, NULL, 0200);
MODULE_PARM_DESC(tasks, "how many tasks to have that sleep");

static const struct kernel_param_ops row_ops = { .set = set_row };
module_param_cb(row, &row_ops, NULL, 0200);
MODULE_PARM_DESC(row, "what to measure");

static int __init fgraph_bench_init(void)
{
	graph_find();
	empty[0] = per_call();
	target = fgraph_bench_hidden;
	empty[1] = per_call();
	target = fgraph_bench_target;
	return 0;
}

static void __exit fgraph_bench_exit(void)
{
	stop_sleepers();
}

module_init(fgraph_bench_init);
module_exit(fgraph_bench_exit);
MODULE_DESCRIPTION("What a hooked call costs");
MODULE_LICENSE("GPL");
