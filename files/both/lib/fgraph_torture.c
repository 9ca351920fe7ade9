// SPDX-License-Identifier: GPL-2.0
/*
 * Torture test of fgraph: hooked functions are called in all contexts while users come and go.
 * Like rcutorture, the test starts when the module is loaded, and prints SUCCESS or FAILURE when
 * it is removed.
 *
 * Tasks on all CPUs, timer interrupts and NMIs call functions that are leaves, recurse, sleep,
 * end in tail calls or cannot be called by ftrace. Some users of each kind stay registered: they
 * number their calls and must see each call once at entry and once at return, with its data.
 * Other users come and go: they have data of any size, refuse some calls, and are unregistered
 * and freed while tasks sleep in functions that are hooked for them.
 *
 * /sys/module/fgraph_torture/parameters/stats shows the progress.
 */
#define pr_fmt(fmt) "fgraph_torture: " fmt

#include <linux/delay.h>
#include <linux/fgraph.h>
#include <linux/fprobe.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>
#ifdef CONFIG_X86_64
#include <asm/apic.h>
#endif

#include "../kernel/trace/fgraph_internal.h"
#include "../kernel/trace/tests/fgraph_kunit_port.h"

static int callers = 3;
module_param(callers, int, 0444);
MODULE_PARM_DESC(callers, "tasks for each CPU that call hooked functions");

static int churners = 2;
module_param(churners, int, 0444);
MODULE_PARM_DESC(churners, "tasks that register and unregister users");

static int timer_us = 1000;
module_param(timer_us, int, 0444);
MODULE_PARM_DESC(timer_us, "minimum microseconds between calls in timer interrupts, 0 for none");

static int nmi_us = 1000;
module_param(nmi_us, int, 0444);
MODULE_PARM_DESC(nmi_us, "microseconds between calls in NMIs, 0 for none (x86_64)");

static int data = 4096;
module_param(data, int, 0444);
MODULE_PARM_DESC(data, "maximum bytes of private data of users that come and go");

/* The number of calls of functions that ftrace can call, and of the hidden function. */
static DEFINE_PER_CPU(unsigned long, calls);
static DEFINE_PER_CPU(unsigned long, hidden_calls);

typedef unsigned long (*target_t)(unsigned long n);

static noinline unsigned long fgraph_torture_leaf(unsigned long n)
{
	barrier();
	return n + 1;
}

static unsigned long fgraph_torture_nest(unsigned long n);
static target_t leaf = fgraph_torture_leaf, nest = fgraph_torture_nest;

/* Call a function that ftrace can call, and count the call. */
static unsigned long call(target_t *target, unsigned long n)
{
	this_cpu_inc(calls);
	return READ_ONCE(*target)(n);
}

static noinline unsigned long fgraph_torture_nest(unsigned long n)
{
	return n ? call(&nest, n - 1) + 1 : 0;
}

/* Ends in a tail call of the leaf, which the caller has to count. */
static noinline unsigned long fgraph_torture_tail(unsigned long n)
{
	return READ_ONCE(leaf)(n + 1);
}

static noinline unsigned long fgraph_torture_sleep(unsigned long n)
{
	if (n)
		usleep_range(n, 2 * n);
	else
		schedule();
	return n;
}

static noinline notrace unsigned long fgraph_torture_hidden(unsigned long n)
{
	return call(&leaf, n) + 1;
}

static target_t tail = fgraph_torture_tail, sleeper = fgraph_torture_sleep,
		hidden = fgraph_torture_hidden;

static char *names[] = {
	"fgraph_torture_leaf", "fgraph_torture_nest", "fgraph_torture_tail",
	"fgraph_torture_sleep", "fgraph_torture_hidden",
};

#define TRACED		4	/* ftrace can call the first ones of names[] */

static unsigned long addrs[TRACED];

/*
 * The private data of a call. @seq is the number of the call: if the sums of the numbers at all
 * entries and at all returns are equal, each call was almost certainly seen at both.
 */
struct note {
	struct torture_user	*user;
	unsigned long	*retp;
	u64		seq;
};

/**
 * struct torture_user - a user of any kind
 * @gops:	the user, if @kind is "graph"
 * @filter:	the filter of @gops, where that has none of its own
 * @fp:		the user, if @kind is "fprobe"
 * @rp:		the user, if @kind is "kretprobe", or "return" for one without entry handler
 * @kind:	only the first letter is compared
 * @name:	the first function that is hooked
 * @stays:	the user stays registered during the test
 * @refuse:	refuse each call whose number is a multiple of this, if it is not 0
 * @calls:	counts calls to be refused
 * @seq:	number of the last call that was not refused
 * @entries:	number of entries that were not refused
 * @returns:	number of returns
 * @seq_in:	sum of &note.seq at the entries
 * @seq_out:	sum of &note.seq at the returns
 */
struct torture_user {
	struct fgraph_ops	gops;
	struct ftrace_ops	filter;
	struct fprobe		fp;
	struct kretprobe	rp;
	const char		*kind;
	char			*name;
	bool			stays;
	u32			refuse;
	atomic64_t		calls, seq;
	atomic64_t		entries, returns;
	atomic64_t		seq_in, seq_out;
};

static atomic64_t wrong, registered, churn_returns;
static bool stopping;

static bool note_entry(struct torture_user *u, struct note *note, unsigned long *retp)
{
	/* get_random_u32() must not be called here, as this may be an NMI. */
	if (u->refuse && !(atomic64_inc_return(&u->calls) % u->refuse))
		return false;
	note->user = u;
	note->retp = retp;
	note->seq = atomic64_inc_return(&u->seq);
	atomic64_inc(&u->entries);
	atomic64_add(note->seq, &u->seq_in);
	return true;
}

static void note_return(struct torture_user *u, struct note *note, unsigned long *retp)
{
	if (note->user != u || note->retp != retp) {
		if (atomic64_inc_return(&wrong) < 10)
			pr_err("%s %s: data of another call\n", u->kind, u->name);
		return;
	}
	note->user = NULL;
	atomic64_inc(&u->returns);
	atomic64_add(note->seq, &u->seq_out);
	if (!u->stays)
		atomic64_inc(&churn_returns);
}

static int graph_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
		       void *data, struct ftrace_regs *fregs)
{
	struct torture_user *u = container_of(gops, struct torture_user, gops);
	int i = 0;

	/* The call to ftrace may be a few bytes behind the function's address. */
	while (i < TRACED && frame->func - addrs[i] >= 16)
		i++;
	if (i == TRACED && atomic64_inc_return(&wrong) < 10)
		pr_err("%s %s: called for another function\n", u->kind, u->name);
	return note_entry(u, data, frame->retp);
}

static void graph_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct fgraph_regs *regs)
{
	note_return(container_of(gops, struct torture_user, gops), data, frame->retp);
}

static int kret_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct torture_user *u = container_of(get_kretprobe(ri), struct torture_user, rp);

	return !note_entry(u, (struct note *)ri->data, NULL);
}

static int kret_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct torture_user *u = container_of(get_kretprobe(ri), struct torture_user, rp);

	note_return(u, (struct note *)ri->data, NULL);
	return 0;
}

static int only_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct torture_user *u = container_of(get_kretprobe(ri), struct torture_user, rp);

	atomic64_inc(&u->entries);
	atomic64_inc(&u->returns);
	return 0;
}

static FPROBE_ENTRY_TYPE fp_entry(FPROBE_PARAMS)
{
	note_entry(container_of(fp, struct torture_user, fp), data, NULL);
	return FPROBE_WANT_EXIT;
}

static void fp_return(FPROBE_PARAMS)
{
	note_return(container_of(fp, struct torture_user, fp), data, NULL);
}

/*
 * Register a user of @nr functions from names[@first] on. @size is the size of its private data
 * in bytes, in addition to struct note.
 */
static int add_user(struct torture_user *u, const char *kind, int first, int nr, size_t size)
{
	int i, ret = 0;

	u->kind = kind;
	u->name = names[first];
	switch (kind[0]) {
	case 'g':
		use_filter(&u->gops, &u->filter);
		u->gops.entryfunc = graph_entry;
		u->gops.retfunc = graph_return;
		u->gops.data_size = min(sizeof(struct note) + size, (size_t)FGRAPH_MAX_DATA_SIZE);
		u->gops.flags = size & 1 ? FGRAPH_FULL_REGS : 0;
		u->gops.name = "torture";
		for (i = first; i < first + nr && !ret; i++)
			ret = ftrace_set_filter(own_filter(u), names[i], strlen(names[i]),
						i == first);
		if (!ret)
			ret = register_ftrace_graph(&u->gops);
		if (ret)
			ftrace_free_filter(own_filter(u));
		break;
	case 'k':
		u->rp.kp.symbol_name = names[first];
		u->rp.entry_handler = kret_entry;
		u->rp.handler = kret_return;
		u->rp.data_size = min(sizeof(struct note) + size, (size_t)KRETPROBE_MAX_DATA_SIZE);
		ret = register_kretprobe(&u->rp);
		break;
	case 'r':
		u->rp.kp.symbol_name = names[first];
		u->rp.handler = only_return;
		ret = register_kretprobe(&u->rp);
		break;
	case 'f':
		u->refuse = 0;
		u->fp.entry_handler = fp_entry;
		u->fp.exit_handler = fp_return;
		u->fp.entry_data_size = min(sizeof(struct note) + size,
					    (size_t)FPROBE_MAX_DATA_SIZE);
		ret = register_fprobe_ips(&u->fp, &addrs[first], nr);
		break;
	}
	if (!ret)
		atomic64_inc(&registered);
	return ret;
}

static void del_user(struct torture_user *u)
{
	switch (u->kind[0]) {
	case 'g':
		unregister_ftrace_graph(&u->gops);
		ftrace_free_filter(own_filter(u));
		break;
	case 'k':
	case 'r':
		unregister_kretprobe(&u->rp);
		break;
	case 'f':
		unregister_fprobe(&u->fp);
		break;
	}
}

static unsigned long missed(struct torture_user *u)
{
	switch (u->kind[0]) {
	case 'g':
		return fgraph_missed(&u->gops, FGRAPH_MISS_MEMORY) +
		       fgraph_missed(&u->gops, FGRAPH_MISS_NESTED);
	case 'k':
	case 'r': return u->rp.nmissed + u->rp.kp.nmissed;
	default: return u->fp.nmissed;
	}
}

/*
 * Make some calls that do not sleep, in any context. Calls nest less than @depth deep: in an
 * interrupt all chunks come from the reserve, which is not refilled meanwhile and suffices for 16
 * calls of a user with much data.
 */
static void call_some(u32 random, unsigned int depth)
{
	unsigned long n = random % depth;

	switch (random >> 8 & 7) {
	case 0:
	case 1:
		if (call(&leaf, n) != n + 1)
			atomic64_inc(&wrong);
		break;
	case 2:
		if (call(&nest, n) != n)
			atomic64_inc(&wrong);
		break;
	case 3:
	case 4:
		this_cpu_inc(calls);
		if (call(&tail, n) != n + 2)
			atomic64_inc(&wrong);
		break;
	default:
		this_cpu_inc(hidden_calls);
		if (READ_ONCE(hidden)(n) != n + 2)
			atomic64_inc(&wrong);
		break;
	}
}

static int caller(void *unused)
{
	/* Other tasks must make progress on a slow machine. */
	set_user_nice(current, 10);
	while (!kthread_should_stop()) {
		u32 random = get_random_u32();
		int i;

		for (i = random % 50; i; i--)
			call_some(get_random_u32(), 20);
		if (call(&sleeper, random >> 8 & 0x1ff) != (random >> 8 & 0x1ff))
			atomic64_inc(&wrong);
		/* Some calls nest 60 deep, which leaves room on the kernel stack for callbacks. */
		if (!(random >> 28) && call(&nest, 60) != 60)
			atomic64_inc(&wrong);
		cond_resched();
	}
	return 0;
}

/* Allow or forbid failslab and fail_page_alloc to make allocations of this task fail. */
static void let_fail(bool yes)
{
#ifdef CONFIG_FAULT_INJECTION
	current->make_it_fail = yes;
#endif
}

static int churner(void *unused)
{
	static const char * const kinds[] = { "graph", "kretprobe", "fprobe" };

	while (!kthread_should_stop()) {
		struct torture_user *u = kzalloc(sizeof(*u), GFP_KERNEL);
		u32 random = get_random_u32();
		int kind = random % 3, first, ret;

		if (!u) {
			msleep(20);
			continue;
		}
		first = (random >> 4) % (kind == 1 ? TRACED + 1 : TRACED);
		u->refuse = random & BIT(8) ? 3 : 0;
		let_fail(true);
		ret = add_user(u, kinds[kind], first, (random >> 9) % (TRACED - first + 1) ?: 1,
			       random & BIT(16) ? (random >> 17) % (data + 1) : 0);
		let_fail(false);
		if (!ret) {
			usleep_range(100, 20000);
			del_user(u);
			/* Poison the user, so that a late call of it is noticed. */
			memset(u, 0x6b, sizeof(*u));
		} else if (ret != -ENOMEM && THIS_MODULE->state == MODULE_STATE_LIVE) {
			/* While the module is removed, its functions cannot be hooked. */
			atomic64_inc(&wrong);
			pr_err("%s of %s: %d\n", u->kind, u->name, ret);
		}
		kfree(u);
	}
	return 0;
}

/*
 * A random number for the interrupt of this number. get_random_u32() must not be called in NMIs,
 * nor in interrupts with PREEMPT_RT, as its lock sleeps there.
 */
static u32 random_of(u64 interrupt)
{
	return interrupt * 2654435761U;
}

static DEFINE_PER_CPU(struct hrtimer, timers);
static atomic64_t ticks;

/*
 * A timer interrupt. On a debug kernel the calls may take longer than the time between two
 * interrupts, so the pause is at least four times as long as the calls. It is at most 100 ms, as
 * the time may also have passed because a virtual machine was stopped.
 */
static enum hrtimer_restart tick(struct hrtimer *timer)
{
	ktime_t before = ktime_get(), after;
	u32 random = random_of(atomic64_inc_return(&ticks));
	u32 ns = 1000 * timer_us;
	u64 pause;

	call_some(random, 5);
	if (READ_ONCE(stopping))
		return HRTIMER_NORESTART;
	after = ktime_get();
	pause = min_t(u64, 4 * ktime_sub(after, before), NSEC_PER_SEC / 10);
	pause = max_t(u64, ns / 2 + random % ns, pause);
	hrtimer_set_expires(timer, ktime_add_ns(after, pause));
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&timers);

	setup_timer(timer, tick, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, ns_to_ktime(1000L * timer_us), HRTIMER_MODE_REL_PINNED_HARD);
}

static atomic64_t nmis;

#ifdef CONFIG_X86_64
static struct cpumask nmi_cpus;

static int nmi(unsigned int type, struct pt_regs *regs)
{
	if (!cpumask_test_and_clear_cpu(raw_smp_processor_id(), &nmi_cpus))
		return NMI_DONE;
	call_some(random_of(atomic64_inc_return(&nmis)), 5);
	return NMI_HANDLED;
}

static int nmi_sender(void *unused)
{
	while (!kthread_should_stop()) {
		int cpu = cpumask_next((unsigned int)get_random_u32() % nr_cpu_ids - 1,
				       cpu_online_mask);

		preempt_disable();
		if (cpu < nr_cpu_ids && cpu_online(cpu) && cpu != smp_processor_id() &&
		    !cpumask_test_and_set_cpu(cpu, &nmi_cpus))
			apic->send_IPI(cpu, NMI_VECTOR);
		preempt_enable();
		usleep_range(nmi_us, 2 * nmi_us);
	}
	return 0;
}
#endif

static struct torture_user staying[] = {
	{ .kind = "graph" }, { .kind = "graph" }, { .kind = "fprobe" },
	{ .kind = "kretprobe" }, { .kind = "kretprobe" }, { .kind = "kretprobe" },
	{ .kind = "return" },
};

static struct task_struct **tasks;
static int nr_tasks;

static void start_task(int (*fn)(void *), const char *name)
{
	struct task_struct *t = kthread_run(fn, NULL, "torture_%s", name);

	if (!IS_ERR(t))
		tasks[nr_tasks++] = t;
}

static void stop_tasks(void)
{
	int cpu;

	while (nr_tasks)
		kthread_stop(tasks[--nr_tasks]);
	kfree(tasks);
	WRITE_ONCE(stopping, true);
	if (timer_us) {
		for_each_possible_cpu(cpu) {
			if (per_cpu(timers, cpu).base)
				hrtimer_cancel(per_cpu_ptr(&timers, cpu));
		}
	}
#ifdef CONFIG_X86_64
	if (nmi_us)
		unregister_nmi_handler(NMI_LOCAL, "fgraph_torture");
#endif
}

static unsigned long all_calls(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(calls, cpu);
	return sum;
}

/* The number of calls that a user should have seen or missed. */
static unsigned long calls_for(struct torture_user *u)
{
	unsigned long sum = 0;
	int cpu;

	if (u->kind[0] == 'g')
		return all_calls();
	for_each_possible_cpu(cpu)
		sum += per_cpu(hidden_calls, cpu);
	return sum;
}

static int get_stats(char *buf, const struct kernel_param *kp)
{
	int len = scnprintf(buf, PAGE_SIZE,
			    "calls %lu registered %lld ticks %lld nmis %lld wrong %lld\n",
			    all_calls(), atomic64_read(&registered), atomic64_read(&ticks),
			    atomic64_read(&nmis), atomic64_read(&wrong));
	int i;

	for (i = 0; i < ARRAY_SIZE(staying); i++) {
		struct torture_user *u = &staying[i];

		len += scnprintf(buf + len, PAGE_SIZE - len,
				 "%s %s entries %lld returns %lld missed %lu\n", u->kind, u->name,
				 atomic64_read(&u->entries), atomic64_read(&u->returns), missed(u));
	}
	return len;
}

static const struct kernel_param_ops stats_ops = { .get = get_stats };
module_param_cb(stats, &stats_ops, NULL, 0444);
MODULE_PARM_DESC(stats, "progress of the test (read only)");

static int __init fgraph_torture_init(void)
{
	int i, ret = 0;

	tasks = kcalloc(num_online_cpus() * callers + churners + 1, sizeof(*tasks), GFP_KERNEL);
	if (!tasks)
		return -ENOMEM;
	addrs[0] = (unsigned long)leaf;
	addrs[1] = (unsigned long)nest;
	addrs[2] = (unsigned long)tail;
	addrs[3] = (unsigned long)sleeper;
	for (i = 0; i < ARRAY_SIZE(staying) && !ret; i++) {
		struct torture_user *u = &staying[i];

		u->stays = true;
		/* The three kretprobes hook the leaf, the tail call and the hidden function. */
		if (u->kind[0] == 'k')
			ret = add_user(u, u->kind, (i - 3) * 2, 1, 0);
		else if (u->kind[0] == 'r')
			ret = add_user(u, u->kind, TRACED, 1, 0);
		else
			ret = add_user(u, u->kind, 0, TRACED, i * 200);
	}
	if (ret) {
		pr_err("%s: %d\n", staying[--i].kind, ret);
		while (i--)
			del_user(&staying[i]);
		kfree(tasks);
		return ret;
	}

	for (i = num_online_cpus() * callers; i > 0; i--)
		start_task(caller, "caller");
	for (i = churners; i > 0; i--)
		start_task(churner, "churner");
	if (timer_us)
		on_each_cpu(start_timer, NULL, 1);
#ifdef CONFIG_X86_64
	if (nmi_us && !register_nmi_handler(NMI_LOCAL, nmi, 0, "fgraph_torture"))
		start_task(nmi_sender, "nmi");
#else
	if (nmi_us)
		pr_info("no NMIs: they cannot be sent on this architecture\n");
#endif
	pr_info("started: %d tasks, timers each %d us\n", nr_tasks, timer_us);
	return 0;
}

static void __exit fgraph_torture_exit(void)
{
	bool bad;
	int i;

	stop_tasks();
	bad = atomic64_read(&wrong);
	for (i = 0; i < ARRAY_SIZE(staying); i++) {
		struct torture_user *u = &staying[i];

		/* All calls have returned, so the sums at entries and at returns must be equal. */
		del_user(u);
		pr_info("%s %s: entries %lld, returns %lld, missed %lu\n", u->kind, u->name,
			atomic64_read(&u->entries), atomic64_read(&u->returns), missed(u));
		if (atomic64_read(&u->entries) != atomic64_read(&u->returns) ||
		    atomic64_read(&u->seq_in) != atomic64_read(&u->seq_out)) {
			pr_err("%s %s: entries and returns do not match\n", u->kind, u->name);
			bad = true;
		}
		/*
		 * The users of the other kinds do not count misses exactly. A kretprobe
		 * without an entry handler misses hardly any call.
		 */
		if ((u->kind[0] == 'g' || u->kind[0] == 'r') &&
		    atomic64_read(&u->entries) + missed(u) != calls_for(u)) {
			pr_err("%s %s: neither saw nor missed some calls\n", u->kind, u->name);
			bad = true;
		}
	}
	pr_info("%s: calls %lu, registered %lld, returns to users that went %lld, ticks %lld, nmis %lld, wrong %lld\n",
		bad ? "FAILURE" : "SUCCESS", all_calls(), atomic64_read(&registered),
		atomic64_read(&churn_returns), atomic64_read(&ticks), atomic64_read(&nmis),
		atomic64_read(&wrong));
}

module_init(fgraph_torture_init);
module_exit(fgraph_torture_exit);
MODULE_DESCRIPTION("Torture of the return hook fgraph");
MODULE_LICENSE("GPL");
