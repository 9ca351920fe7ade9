// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: how often functions are called and, with the function graph
 * tracer, how long they take. Each instance can have one, on the functions of its
 * set_ftrace_filter.
 *
 * A profile has, for each CPU, records of the functions that were called there. Callbacks
 * write those of their own CPU, with interrupts disabled; so only an NMI can come between,
 * and then a count may be lost, but no record. Records are not freed while the profiler
 * is on, as callbacks run where RCU does not watch. Files read them meanwhile.
 *
 * It was part of ftrace.c: Copyright (C) 2007-2008 Steven Rostedt and others.
 */
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/trace_clock.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "ftrace_internal.h"
#include "trace.h"
#include "trace_stat.h"

#define PROFILE_HASH_BITS	10
#define PROFILE_HASH_SIZE	BIT(PROFILE_HASH_BITS)

/* How many free records a CPU has at first; fewer if the filter has fewer functions. */
#define PROFILE_SPARE		2048

/* How long calls of a function took, in nanoseconds. */
struct profile_times {
	/* How many calls have returned. */
	unsigned long	calls;
	u64		total;
	/* The sum of the squares, in two words. */
	u64		squares;
	u64		squares_high;
	u64		min;
	u64		max;
};

/* A function on a CPU. */
struct profile_record {
	struct hlist_node	node;
	unsigned long		ip;
	/* How often it was called. */
	unsigned long		hits;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	struct profile_times	times;
#endif
};

struct profile_page {
	struct profile_page	*next;
	unsigned long		used;
	struct profile_record	records[];
};

#define PROFILE_RECORDS_SIZE	(PAGE_SIZE - offsetof(struct profile_page, records))
#define PROFILE_PER_PAGE	(PROFILE_RECORDS_SIZE / sizeof(struct profile_record))

/**
 * struct profile_cpu - the records of a CPU
 * @busy:	not 0 while the records are changed other than by counting: an NMI must
 *		keep off
 * @hash:	the records by function
 * @first:	the pages of records
 * @last:	the last one of them. For profile_add_pages() alone
 * @page:	where the next record comes from. For this CPU alone
 * @pages:	how many pages there are
 * @used:	records that are taken
 * @missed:	calls that were not counted, as no record was free
 * @stat:	the CPU's file in trace_stat, for the top level
 */
struct profile_cpu {
	atomic_t		busy;
	struct hlist_head	*hash;
	struct profile_page	*first;
	struct profile_page	*last;
	struct profile_page	*page;
	unsigned long		pages;
	unsigned long		used;
	unsigned long		missed;
	struct tracer_stat	stat;
};

/**
 * struct func_profile - the profiler of an instance, or of the top level
 * @tr:		the instance
 * @gops:	what is called at entry and return
 * @flags:	the options of function_graph in the instance, while the profiler is on
 * @ops:	what is called at entry, if functions have no return hooks
 * @lock:	protects the memory of the records, and clearing them
 * @enabled:	callbacks may run. Written with trace_types_lock and @lock held
 * @cleared:	when the records were cleared last, by trace_clock_local()
 * @spare:	how many free records a CPU has at first
 * @cpus:	the records
 * @refilling:	@refill_work is under way. So @refill is an interrupt for each lot of
 *		records, and not for each call that finds none: the interrupt calls
 *		functions, too
 * @refill:	asks for more records, from any context
 * @refill_work: gets them
 */
struct func_profile {
	struct trace_array		*tr;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	struct fgraph_ops		gops;
	const struct tracer_flags	*flags;
#else
	struct ftrace_ops		ops;
#endif
	struct mutex			lock;	/* of the records */
	bool				enabled;
	u64				cleared;
	unsigned long			spare;
	struct profile_cpu __percpu	*cpus;
	atomic_t			refilling;
	struct irq_work			refill;
	struct work_struct		refill_work;
};

static struct hlist_head *profile_bucket(struct profile_cpu *pc, unsigned long ip)
{
	return &pc->hash[hash_long(ip, PROFILE_HASH_BITS)];
}

/* On the CPU itself with interrupts disabled, or with the profile's lock held. */
static struct profile_record *profile_find(struct profile_cpu *pc, unsigned long ip)
{
	struct profile_record *rec;

	hlist_for_each_entry_rcu_notrace(rec, profile_bucket(pc, ip), node) {
		if (rec->ip == ip)
			return rec;
	}
	return NULL;
}

static unsigned long profile_free_records(struct profile_cpu *pc)
{
	return READ_ONCE(pc->pages) * PROFILE_PER_PAGE - READ_ONCE(pc->used);
}

/* How many free records a refill leaves to a CPU. Below half of that, it asks for more. */
static unsigned long profile_wanted_records(struct func_profile *profile, struct profile_cpu *pc)
{
	return READ_ONCE(profile->spare) + READ_ONCE(pc->used) / 2;
}

/* The next free record of this CPU, zeroed, or NULL. With &profile_cpu.busy taken. */
static struct profile_record *profile_take(struct profile_cpu *pc)
{
	struct profile_page *page = pc->page;
	struct profile_record *rec;

	if (page->used == PROFILE_PER_PAGE) {
		/* Pairs with profile_add_pages(): the page is zeroed. */
		page = smp_load_acquire(&page->next);
		if (!page)
			return NULL;
		pc->page = page;
	}
	/* Here and not when records are cleared, which would zero all of them in one go. */
	rec = &page->records[page->used];
	memset(rec, 0, sizeof(*rec));
	page->used++;
	WRITE_ONCE(pc->used, pc->used + 1);
	return rec;
}

/* The record of a function that is called for the first time on this CPU, or NULL. */
static noinline struct profile_record *
profile_add(struct func_profile *profile, struct profile_cpu *pc, unsigned long ip)
{
	struct profile_record *rec = NULL;

	if (atomic_inc_return(&pc->busy) != 1)
		goto out;

	/* An NMI may have added it. */
	rec = profile_find(pc, ip);
	if (rec)
		goto out;

	rec = profile_take(pc);
	if (rec) {
		rec->ip = ip;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
		rec->times.min = U64_MAX;
#endif
		hlist_add_head_rcu(&rec->node, profile_bucket(pc, ip));
	}
	/* A CPU that is offline would keep the work: see queue_irq_work() in fgraph_reserve.c. */
	if (profile_free_records(pc) < profile_wanted_records(profile, pc) / 2 &&
	    cpu_online(smp_processor_id()) &&
	    !atomic_read(&profile->refilling) && !atomic_xchg(&profile->refilling, 1))
		irq_work_queue(&profile->refill);
out:
	if (!rec)
		pc->missed++;
	atomic_dec(&pc->busy);
	return rec;
}

/*
 * The record of a function on this CPU, or NULL: the call is then counted as missed. With
 * interrupts disabled.
 */
static __always_inline struct profile_record *
profile_get(struct func_profile *profile, unsigned long ip)
{
	struct profile_cpu *pc = this_cpu_ptr(profile->cpus);

	/* This is an NMI, and what it interrupted is clearing the records. */
	if (unlikely(atomic_read(&pc->busy))) {
		pc->missed++;
		return NULL;
	}
	return profile_find(pc, ip) ?: profile_add(profile, pc, ip);
}

/*
 * A function is called. Returns true if that was counted. Any context, RCU may not watch. raw_, as
 * the latency tracers and events would see interrupts disabled in each call.
 */
static __always_inline bool profile_hit(struct func_profile *profile, unsigned long ip)
{
	struct profile_record *rec;
	unsigned long flags;

	raw_local_irq_save(flags);
	rec = profile_get(profile, ip);
	if (rec)
		rec->hits++;
	raw_local_irq_restore(flags);
	return rec;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * What the profiler knows of a call, as its private data. They fit into the slot of a frame: users
 * with more data take the general paths of fgraph.
 */
struct profile_call {
	u64	calltime;
	/* The task's ftrace_sleeptime at entry. */
	u64	sleeptime : 63;
	/* The call is among the hits of the function. */
	u64	counted : 1;
	/* Time spent in calls from this one. */
	u64	subtime;
};

/* A function is entered whose return is hooked. */
static __always_inline void profile_begin(struct func_profile *profile, unsigned long ip,
					  struct profile_call *call)
{
	call->counted = profile_hit(profile, ip);
	call->subtime = 0;
	call->sleeptime = current->ftrace_sleeptime;
	call->calltime = trace_clock_local();
}

static void profile_add_time(struct profile_times *times, u64 time)
{
	u64 square = time * time, squares = times->squares + square;

	times->calls++;
	times->total += time;
	times->squares = squares;
	times->squares_high += mul_u64_u64_shr(time, time, 64) + (squares < square);
	times->min = min(times->min, time);
	times->max = max(times->max, time);
}

/* How long a call took that returns now. */
static u64 profile_duration(struct func_profile *profile, struct profile_call *call)
{
	u64 time = trace_clock_local() - call->calltime;

	if (!(READ_ONCE(profile->flags->val) & TRACE_GRAPH_SLEEP_TIME))
		time -= current->ftrace_sleeptime - call->sleeptime;
	/* The clocks of two CPUs may differ a little. */
	return (s64)time < 0 ? 0 : time;
}

/* The part of a call's duration that was not spent in calls. It is for the caller to subtract. */
static u64 profile_own_time(struct profile_call *call, struct profile_call *parent, u64 time)
{
	if (parent)
		parent->subtime += time;
	return call->subtime < time ? time - call->subtime : 0;
}

/* Add the time of a call that returns to the function's record. */
static void profile_end(struct func_profile *profile, unsigned long ip, struct profile_call *call,
			u64 time)
{
	struct profile_record *rec;
	unsigned long flags;

	/* It has no hit: it was missed at entry, or that was cleared since. */
	if (!call->counted || call->calltime < READ_ONCE(profile->cleared))
		return;

	raw_local_irq_save(flags);
	/*
	 * The task may have moved to a CPU on which the function was not called yet: then
	 * this is where its time goes.
	 */
	rec = profile_get(profile, ip);
	if (rec)
		profile_add_time(&rec->times, time);
	raw_local_irq_restore(flags);
}
#else
static void profile_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	profile_hit(container_of(ops, struct func_profile, ops), ip);
}

static int profile_register(struct func_profile *profile)
{
	return register_ftrace_function(&profile->ops);
}

static void profile_unregister(struct func_profile *profile)
{
	unregister_ftrace_function(&profile->ops);
}

static void profile_free_ops(struct func_profile *profile) { }
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#include "func_profile_port.h"

/* Append pages until the CPU has @free records to take. Only one at a time does so. */
static int profile_add_pages(struct func_profile *profile, struct profile_cpu *pc,
			     unsigned long free)
{
	struct profile_page *page;

	lockdep_assert_held(&profile->lock);

	while (profile_free_records(pc) < free) {
		page = (void *)get_zeroed_page(GFP_KERNEL);
		if (!page)
			return -ENOMEM;
		if (pc->last) {
			/* Pairs with profile_take(). */
			smp_store_release(&pc->last->next, page);
		} else {
			pc->page = page;
			/* Pairs with profile_stat_start(): the page is zeroed. */
			smp_store_release(&pc->first, page);
		}
		pc->last = page;
		WRITE_ONCE(pc->pages, pc->pages + 1);
		cond_resched();
	}
	return 0;
}

/* How many free records a CPU has at first, by the filter as it is now. */
static void profile_set_spare(struct func_profile *profile)
{
	WRITE_ONCE(profile->spare,
		   min_t(unsigned long, profile_functions(profile), PROFILE_SPARE / 2) * 2);
}

static void profile_refill(struct work_struct *work)
{
	struct func_profile *profile = container_of(work, struct func_profile, refill_work);
	struct profile_cpu *pc;
	int cpu;

	mutex_lock(&profile->lock);
	profile_set_spare(profile);
	/* Without memory, calls are missed; the next new function tries again. */
	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(profile->cpus, cpu);
		profile_add_pages(profile, pc, profile_wanted_records(profile, pc));
	}
	mutex_unlock(&profile->lock);
	atomic_set(&profile->refilling, 0);
}

static void profile_queue_refill(struct irq_work *work)
{
	struct func_profile *profile = container_of(work, struct func_profile, refill);

	schedule_work(&profile->refill_work);
}

/* Forget all functions; on the CPU with interrupts disabled, or nobody counts there. */
static void profile_clear_cpu(void *cpu)
{
	struct profile_cpu *pc = cpu;
	struct profile_page *page;

	atomic_inc(&pc->busy);
	/* An NMI that is a callback sees that first. */
	barrier();
	if (pc->hash)
		memset(pc->hash, 0, PROFILE_HASH_SIZE * sizeof(pc->hash[0]));
	for (page = pc->first; page && page->used; page = page->next)
		page->used = 0;
	pc->page = pc->first;
	pc->missed = 0;
	WRITE_ONCE(pc->used, 0);
	barrier();
	atomic_dec(&pc->busy);
}

/* The profile's lock keeps off readers of the records; disabled interrupts, callbacks. */
static void profile_clear(struct func_profile *profile)
{
	struct profile_cpu *pc;
	int cpu;

	lockdep_assert_held(&profile->lock);

	WRITE_ONCE(profile->cleared, trace_clock_local());
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(profile->cpus, cpu);
		if (profile->enabled && cpu_online(cpu))
			smp_call_function_single(cpu, profile_clear_cpu, pc, 1);
		else
			profile_clear_cpu(pc);
	}
	cpus_read_unlock();
}

/* Memory to begin with. What is there is kept until the instance is removed. */
static int profile_get_memory(struct func_profile *profile)
{
	struct profile_cpu *pc;
	int cpu, ret;

	profile_set_spare(profile);
	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(profile->cpus, cpu);
		if (!pc->hash)
			pc->hash = kcalloc(PROFILE_HASH_SIZE, sizeof(*pc->hash), GFP_KERNEL);
		if (!pc->hash)
			return -ENOMEM;
		ret = profile_add_pages(profile, pc, profile->spare);
		if (ret)
			return ret;
	}
	return 0;
}

static void profile_free_memory(struct func_profile *profile)
{
	struct profile_page *page, *next;
	struct profile_cpu *pc;
	int cpu;

	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(profile->cpus, cpu);
		for (page = pc->first; page; page = next) {
			next = page->next;
			free_page((unsigned long)page);
		}
		kfree(pc->hash);
	}
	free_percpu(profile->cpus);
}

static void profile_set_enabled(struct func_profile *profile, bool enabled)
{
	mutex_lock(&profile->lock);
	profile->enabled = enabled;
	mutex_unlock(&profile->lock);
}

/*
 * To register and to unregister wait for other CPUs. That is done without the profile's lock,
 * which the refill needs meanwhile.
 */
static int profile_enable(struct func_profile *profile, bool enable)
{
	int ret;

	lockdep_assert_held(&trace_types_lock);

	if (profile->enabled == enable)
		return 0;
	if (!enable) {
		/* No callback runs any more when it returns. */
		profile_unregister(profile);
		profile_set_enabled(profile, false);
		return 0;
	}
	mutex_lock(&profile->lock);
	ret = profile_get_memory(profile);
	if (!ret) {
		profile_clear(profile);
		profile->enabled = true;
	}
	mutex_unlock(&profile->lock);
	if (ret)
		return ret;
	ret = profile_register(profile);
	if (ret)
		profile_set_enabled(profile, false);
	return ret;
}

static ssize_t profile_enabled_write(struct file *file, const char __user *ubuf, size_t cnt,
				     loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;

	mutex_lock(&trace_types_lock);
	ret = profile_enable(tr->profile, val);
	mutex_unlock(&trace_types_lock);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static ssize_t profile_enabled_read(struct file *file, char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	struct trace_array *tr = file->private_data;

	return simple_read_from_buffer(ubuf, cnt, ppos, tr->profile->enabled ? "1\n" : "0\n", 2);
}

static const struct file_operations profile_enabled_fops = {
	.open		= tracing_open_generic_tr,
	.read		= profile_enabled_read,
	.write		= profile_enabled_write,
	.llseek		= default_llseek,
	.release	= tracing_release_generic_tr,
};

/*
 * The function_stats file: a line for each function, of all CPUs, as it was when the
 * file was opened.
 */
struct profile_line {
	unsigned long		ip;
	unsigned long		hits;
	struct profile_times	times;
};

/**
 * struct profile_lines - what function_stats shows to one reader
 * @nr:		the number of lines
 * @missed:	calls that were not counted
 * @thresh:	tracing_thresh: functions whose average is below are not shown
 * @lines:	the lines, as they are to be shown
 */
struct profile_lines {
	unsigned long		nr;
	unsigned long		missed;
	unsigned long		thresh;
	struct profile_line	lines[];
};

static int profile_compare_ip(const void *a, const void *b)
{
	unsigned long ip_a = (*(struct profile_record **)a)->ip;
	unsigned long ip_b = (*(struct profile_record **)b)->ip;

	return ip_a < ip_b ? -1 : ip_a > ip_b;
}

/* The longest total first, where that is not known the most hits. */
static int profile_compare_lines(const void *a, const void *b)
{
	const struct profile_line *line_a = a, *line_b = b;

	if (line_a->times.total != line_b->times.total)
		return line_a->times.total < line_b->times.total ? 1 : -1;
	return line_a->hits < line_b->hits ? 1 : -(line_a->hits > line_b->hits);
}

/* Records of a CPU, which may add others meanwhile: no more than @max, and how many. */
static unsigned long profile_collect(struct profile_cpu *pc, struct profile_record **records,
				     unsigned long max)
{
	struct profile_record *rec;
	unsigned long i, nr = 0;

	for (i = 0; pc->hash && i < PROFILE_HASH_SIZE; i++) {
		/* Only profile_clear() removes, with the profile's lock held. */
		hlist_for_each_entry_rcu_notrace(rec, &pc->hash[i], node) {
			if (nr == max)
				return nr;
			records[nr++] = rec;
		}
	}
	return nr;
}

/* Add up what a CPU has counted. It goes on counting. */
static void profile_add_record(struct profile_line *line, const struct profile_record *rec)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	struct profile_times *sum = &line->times;
	struct profile_times times;

	/* data_race: a call that returns meanwhile may be in some of the sums only. */
	data_race(times = rec->times);
	sum->calls += times.calls;
	sum->total += times.total;
	sum->squares += times.squares;
	sum->squares_high += times.squares_high + (sum->squares < times.squares);
	sum->min = min(sum->min, times.min);
	sum->max = max(sum->max, times.max);
	line->hits = sum->calls;
#else
	line->hits += READ_ONCE(rec->hits);
#endif
}

/* Of the records, sorted by function, a line for each function that has a hit. */
static void profile_make_lines(struct profile_lines *lines, struct profile_record **records,
			       unsigned long nr)
{
	struct profile_line *line = NULL;
	unsigned long i;

	for (i = 0; i < nr; i++) {
		if (!line || line->ip != records[i]->ip) {
			if (!line || line->hits)
				line = &lines->lines[lines->nr++];
			memset(line, 0, sizeof(*line));
			line->ip = records[i]->ip;
			line->times.min = U64_MAX;
		}
		profile_add_record(line, records[i]);
	}
	if (line && !line->hits)
		lines->nr--;
	sort_nonatomic(lines->lines, lines->nr, sizeof(*lines->lines), profile_compare_lines, NULL);
}

/* How many functions the records are for, which are sorted by function. */
static unsigned long profile_count_functions(struct profile_record **records, unsigned long nr)
{
	unsigned long i, functions = 0;

	for (i = 0; i < nr; i++)
		functions += !i || records[i]->ip != records[i - 1]->ip;
	return functions;
}

static struct profile_lines *profile_read(struct func_profile *profile)
{
	struct profile_record **records;
	struct profile_lines *lines;
	unsigned long max = 0, nr = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		max += READ_ONCE(per_cpu_ptr(profile->cpus, cpu)->used);
	records = kvmalloc_array(max, sizeof(*records), GFP_KERNEL);
	if (!records)
		return NULL;
	for_each_possible_cpu(cpu)
		nr += profile_collect(per_cpu_ptr(profile->cpus, cpu), records + nr, max - nr);
	sort_nonatomic(records, nr, sizeof(*records), profile_compare_ip, NULL);

	lines = kvmalloc(struct_size(lines, lines, profile_count_functions(records, nr)),
			 GFP_KERNEL);
	if (lines) {
		lines->nr = 0;
		lines->missed = 0;
		lines->thresh = *trace_array_thresh(profile->tr);
		for_each_possible_cpu(cpu)
			lines->missed += per_cpu_ptr(profile->cpus, cpu)->missed;
		profile_make_lines(lines, records, nr);
	}
	kvfree(records);
	return lines;
}

static void *profile_seq_start(struct seq_file *m, loff_t *pos)
{
	struct profile_lines *lines = m->private;

	if (!*pos)
		return SEQ_START_TOKEN;
	return *pos <= lines->nr ? &lines->lines[*pos - 1] : NULL;
}

static void *profile_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return profile_seq_start(m, pos);
}

static void profile_seq_stop(struct seq_file *m, void *v)
{
}

/* A name without spaces: of a function of a module, MODULE:FUNCTION. */
static void profile_show_name(struct seq_file *m, unsigned long ip)
{
	char name[KSYM_NAME_LEN];
	const char *function;
	char *module = NULL;

	/* The name of the module is in the module, which cannot go meanwhile. */
	preempt_disable();
	function = kallsyms_lookup(ip, NULL, NULL, &module, name);
	if (function)
		seq_printf(m, "%s%s%s", module ?: "", module ? ":" : "", function);
	else
		seq_printf(m, "0x%lx", ip);
	preempt_enable();
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * The standard deviation of the sample, in ns: the square root of
 * (sum of squares - total^2 / n) / (n - 1). Squares that fill more than one word lose their lowest
 * bits.
 */
static u64 profile_stddev(const struct profile_times *times, unsigned long n)
{
	unsigned int shift = 0;
	u64 squares, mean_part, total;

	if (n < 2)
		return 0;
	/* Even, as half of it is for the root. */
	if (times->squares_high)
		shift = round_up(fls64(times->squares_high), 2);
	squares = shift < 64 ? times->squares >> shift : 0;
	if (shift)
		squares |= times->squares_high << (64 - shift);
	total = times->total >> (shift / 2);
	/*
	 * The sums were not read at one instant. If the quotient does not fit into a word, it
	 * is larger than the sum of the squares; x86_64 faults where that is divided.
	 */
	if (mul_u64_u64_shr(total, total, 64) >= n)
		return 0;
	mean_part = mul_u64_u64_div_u64(total, total, n);
	squares = squares > mean_part ? div64_ul(squares - mean_part, n - 1) : 0;
	return (u64)int_sqrt64(squares) << (shift / 2);
}

static void profile_show_times(struct seq_file *m, const struct profile_line *line)
{
	const struct profile_times *times = &line->times;

	/* The minimum of a call that returned meanwhile may have been read before it was set. */
	seq_printf(m, " %llu %llu %llu %llu %llu", times->total,
		   div64_ul(times->total, line->hits), min(times->min, times->max), times->max,
		   profile_stddev(times, line->hits));
}

static void profile_show_header(struct seq_file *m)
{
	seq_puts(m, "# function hits total average min max stddev\n");
}
#else
static void profile_show_times(struct seq_file *m, const struct profile_line *line) { }

static void profile_show_header(struct seq_file *m)
{
	seq_puts(m, "# function hits\n");
}
#endif

static int profile_seq_show(struct seq_file *m, void *v)
{
	struct profile_lines *lines = m->private;
	struct profile_line *line = v;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "# missed %lu\n", lines->missed);
		profile_show_header(m);
		return 0;
	}
	if (IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER) &&
	    div64_ul(line->times.total, line->hits) < lines->thresh)
		return SEQ_SKIP;
	profile_show_name(m, line->ip);
	seq_printf(m, " %lu", line->hits);
	profile_show_times(m, line);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations profile_seq_ops = {
	.start	= profile_seq_start,
	.next	= profile_seq_next,
	.stop	= profile_seq_stop,
	.show	= profile_seq_show,
};

static int profile_open_lines(struct file *file, struct func_profile *profile)
{
	struct profile_lines *lines;
	int ret;

	mutex_lock(&profile->lock);
	lines = profile_read(profile);
	mutex_unlock(&profile->lock);
	if (!lines)
		return -ENOMEM;
	ret = seq_open(file, &profile_seq_ops);
	if (ret)
		kvfree(lines);
	else
		((struct seq_file *)file->private_data)->private = lines;
	return ret;
}

static int profile_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	if (file->f_mode & FMODE_READ)
		ret = profile_open_lines(file, tr->profile);
	if (ret)
		trace_array_put(tr);
	return ret;
}

/* Whatever is written clears the profile. */
static ssize_t profile_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	struct func_profile *profile = tr->profile;

	mutex_lock(&profile->lock);
	profile_clear(profile);
	mutex_unlock(&profile->lock);

	*ppos += cnt;
	return cnt;
}

static int profile_release(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;

	if (file->f_mode & FMODE_READ) {
		kvfree(((struct seq_file *)file->private_data)->private);
		seq_release(inode, file);
	}
	trace_array_put(tr);
	return 0;
}

static const struct file_operations profile_fops = {
	.open		= profile_open,
	.read		= seq_read,
	.write		= profile_write,
	.llseek		= tracing_lseek,
	.release	= profile_release,
};

/**
 * func_profile_create_files() - the files of a profiler
 * @tr:		the instance, or the top level
 * @parent:	its directory
 */
void func_profile_create_files(struct trace_array *tr, struct dentry *parent)
{
	if (!tr->profile)
		return;
	trace_create_file("function_profile_enabled", TRACE_MODE_WRITE, parent, tr,
			  &profile_enabled_fops);
	trace_create_file("function_stats", TRACE_MODE_WRITE, parent, tr, &profile_fops);
}

/**
 * func_profile_allocate() - give an instance a profiler, which is off
 * @tr:		the instance, which has its name and filters; or the top level
 *
 * Return: 0 or -ENOMEM.
 */
int func_profile_allocate(struct trace_array *tr)
{
	struct func_profile *profile;

	if (!(tr->flags & TRACE_ARRAY_FL_GLOBAL) && !PROFILE_INSTANCES)
		return 0;

	profile = kzalloc_obj(*profile);
	if (!profile)
		return -ENOMEM;
	profile->tr = tr;
	mutex_init(&profile->lock);
	init_irq_work(&profile->refill, profile_queue_refill);
	INIT_WORK(&profile->refill_work, profile_refill);
	profile->cpus = alloc_percpu(struct profile_cpu);
	if (!profile->cpus)
		goto out;
	if (profile_init_ops(profile, tr))
		goto out_cpus;
	tr->profile = profile;
	return 0;

out_cpus:
	free_percpu(profile->cpus);
out:
	kfree(profile);
	return -ENOMEM;
}

/**
 * func_profile_free() - undo func_profile_allocate()
 * @tr:		an instance of which no file is open
 *
 * Context: process, trace_types_lock held.
 */
void func_profile_free(struct trace_array *tr)
{
	struct func_profile *profile = tr->profile;

	if (!profile)
		return;

	profile_enable(profile, false);
	/* No callback runs any more that asks for records. Wait for the last request. */
	irq_work_sync(&profile->refill);
	cancel_work_sync(&profile->refill_work);

	profile_free_ops(profile);
	profile_free_memory(profile);
	kfree(profile);
	tr->profile = NULL;
}

/* The files in trace_stat: the profile of the top level, one for each CPU. */
static void *profile_stat_next(void *v, int idx)
{
	struct profile_record *rec = v;
	struct profile_page *page = (void *)((unsigned long)rec & PAGE_MASK);

	if (idx)
		rec++;
	for (;;) {
		/* Free records, and functions that only returned on this CPU, have no hits. */
		for (; rec < &page->records[page->used]; rec++) {
			if (rec->hits)
				return rec;
		}
		/* Pairs with profile_add_pages(): the page is zeroed. */
		page = smp_load_acquire(&page->next);
		if (!page)
			return NULL;
		rec = page->records;
	}
}

static void *profile_stat_start(struct tracer_stat *stat)
{
	struct profile_cpu *pc = container_of(stat, struct profile_cpu, stat);
	/* Acquire pairs with profile_add_pages(): the page is zeroed. */
	struct profile_page *first = smp_load_acquire(&pc->first);

	return first ? profile_stat_next(first->records, 0) : NULL;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* function graph compares on total time */
static int profile_stat_cmp(const void *p1, const void *p2)
{
	const struct profile_record *a = p1;
	const struct profile_record *b = p2;

	return a->times.total < b->times.total ? -1 : a->times.total > b->times.total;
}

static int profile_stat_headers(struct seq_file *m)
{
	seq_printf(m, "  %-39s%-7s%-16s%-16s%s\n", "Function", "Hit", "Time", "Avg", "s^2");
	seq_printf(m, "  %-39s%-7s%-16s%-16s%s\n", "--------", "---", "----", "---", "---");
	return 0;
}

static void profile_stat_show_times(struct seq_file *m, const struct profile_record *rec)
{
	static struct trace_seq s;
	const struct profile_times *times = &rec->times;
	unsigned long long stddev = 0;
	unsigned long long denom;

	/*
	 * Variance formula:
	 * s^2 = 1 / (n * (n-1)) * (n * \Sum (x_i)^2 - (\Sum x_i)^2)
	 * Divide only by 1000 for ns^2 -> us^2 conversion.
	 * trace_print_graph_duration will divide by 1000 again.
	 */
	denom = rec->hits * (rec->hits - 1) * 1000;
	if (denom)
		stddev = div64_ul(rec->hits * times->squares - times->total * times->total, denom);

	seq_puts(m, "    ");
	trace_seq_init(&s);
	trace_print_graph_duration(times->total, &s);
	trace_seq_puts(&s, "    ");
	trace_print_graph_duration(div64_ul(times->total, rec->hits), &s);
	trace_seq_puts(&s, "    ");
	trace_print_graph_duration(stddev, &s);
	trace_print_seq(m, &s);
}

static bool profile_stat_hides(const struct profile_record *rec)
{
	return tracing_thresh && div64_ul(rec->times.total, rec->hits) < tracing_thresh;
}
#else
/* not function graph compares against hits */
static int profile_stat_cmp(const void *p1, const void *p2)
{
	const struct profile_record *a = p1;
	const struct profile_record *b = p2;

	return a->hits < b->hits ? -1 : a->hits > b->hits;
}

static int profile_stat_headers(struct seq_file *m)
{
	seq_printf(m, "  %-39s%s\n", "Function", "Hit");
	seq_printf(m, "  %-39s%s\n", "--------", "---");
	return 0;
}

static void profile_stat_show_times(struct seq_file *m, const struct profile_record *rec) { }
static bool profile_stat_hides(const struct profile_record *rec) { return false; }
#endif

static int profile_stat_show(struct seq_file *m, void *v)
{
	struct func_profile *profile = profile_top();
	struct profile_record rec;
	int ret = 0;

	mutex_lock(&profile->lock);

	/*
	 * A copy, as profile_take() can zero the record under us: the profile may have been
	 * cleared since the file was opened.
	 */
	data_race(memcpy(&rec, v, sizeof(rec)));
	if (!rec.hits) {
		ret = -EBUSY;
	} else if (!profile_stat_hides(&rec)) {
		profile_stat_show_name(m, rec.ip);
		seq_printf(m, "  %10lu", rec.hits);
		profile_stat_show_times(m, &rec);
		seq_putc(m, '\n');
	}

	mutex_unlock(&profile->lock);
	return ret;
}

static const struct tracer_stat profile_stats __initconst = {
	.name		= "functions",
	.stat_start	= profile_stat_start,
	.stat_next	= profile_stat_next,
	.stat_cmp	= profile_stat_cmp,
	.stat_headers	= profile_stat_headers,
	.stat_show	= profile_stat_show
};

static int __init profile_create_stat(struct profile_cpu *pc, int cpu)
{
	char *name = kasprintf(GFP_KERNEL, "function%d", cpu);
	int ret;

	if (!name)
		return -ENOMEM;
	pc->stat = profile_stats;
	pc->stat.name = name;
	ret = register_stat_tracer(&pc->stat);
	if (ret)
		kfree(name);
	return ret;
}

/**
 * func_profile_init_top() - the profiler of the top level
 * @tr:		the top level
 * @parent:	its directory
 *
 * The files stay until the kernel is shut down.
 */
void __init func_profile_init_top(struct trace_array *tr, struct dentry *parent)
{
	int cpu, ret;

	ret = func_profile_allocate(tr);
	for_each_possible_cpu(cpu) {
		if (ret)
			break;
		ret = profile_create_stat(per_cpu_ptr(tr->profile->cpus, cpu), cpu);
	}
	if (WARN(ret, "Could not make the function profiler (error %d)\n", ret))
		return;
	func_profile_create_files(tr, parent);
}
