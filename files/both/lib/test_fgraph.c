// SPDX-License-Identifier: GPL-2.0
/*
 * Functions to be hooked, and users that hook them, for the kselftests of fgraph in
 * tools/testing/selftests/ftrace/test.d/fgraph/.
 *
 * Parameters of the module, which are also files in /sys/module/test_fgraph/parameters/:
 *
 *   test=NAME		runs a test, see tests[] at the end. The test prints "ok" and "not ok"
 *			lines; to write the parameter fails if there is a "not ok"
 *   call="NAME [N]"	calls test_fgraph_NAME(N); reading gives the value that it returned
 *   sleepers=N		starts N tasks that sleep in test_fgraph_sleep(); 0 wakes all of them and
 *			waits until they have returned
 *   func=NAME		the function that test=inflight hooks
 *   kretprobes=N	how many kretprobes test=many registers
 *   users=N		how many users test=many registers
 *   entries, returns	reading gives the number of entries and returns that the users of the
 *			last test have seen
 *   joined		reading gives the number of users that the last frame had
 *   wrong		reading gives the number of returns with a wrong value or wrong data
 */
#define pr_fmt(fmt) "test_fgraph: " fmt

#include <linux/delay.h>
#include <linux/fgraph.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "../kernel/trace/fgraph_internal.h"
#include "../kernel/trace/tests/fgraph_kunit_port.h"

static atomic_t entries = ATOMIC_INIT(0);
static atomic_t returns = ATOMIC_INIT(0);
static atomic_t wrong = ATOMIC_INIT(0);
static atomic_t joined = ATOMIC_INIT(0);
static bool failed;

#define check(good, fmt, ...)						\
do {									\
	bool __good = (good);						\
	pr_info("%s - " fmt "\n", __good ? "ok" : "not ok", ##__VA_ARGS__); \
	failed |= !__good;						\
} while (0)

/*
 * The functions to be hooked. Probes name them, so the names have the prefix test_fgraph_. They
 * are called through pointers, so that the compiler cannot inline them, and makes a tail call
 * of a call at the end of a function.
 */
typedef unsigned long (*target_t)(unsigned long n);

static noinline unsigned long test_fgraph_add(unsigned long n)
{
	barrier();
	return n + 1;
}

static target_t target_add = test_fgraph_add;

static noinline unsigned long test_fgraph_tail(unsigned long n)
{
	return READ_ONCE(target_add)(n + 10);
}

static unsigned long test_fgraph_tail_self(unsigned long n);
static target_t target_tail_self = test_fgraph_tail_self;

static noinline unsigned long test_fgraph_tail_self(unsigned long n)
{
	return n ? READ_ONCE(target_tail_self)(n - 1) : 7;
}

static unsigned long test_fgraph_nest(unsigned long n);
static target_t target_nest = test_fgraph_nest;

static noinline unsigned long test_fgraph_nest(unsigned long n)
{
	return n ? READ_ONCE(target_nest)(n - 1) + 1 : 0;
}

static noinline unsigned long test_fgraph_inner(unsigned long n)
{
	barrier();
	return n + 100;
}

static target_t target_inner = test_fgraph_inner;

static noinline unsigned long test_fgraph_middle(unsigned long n)
{
	return READ_ONCE(target_inner)(n) + 10;
}

static target_t target_middle = test_fgraph_middle;

static noinline unsigned long test_fgraph_outer(unsigned long n)
{
	return READ_ONCE(target_middle)(n) + 1;
}

static target_t target_outer = test_fgraph_outer;

/* Keeps interrupts disabled for @n milliseconds, for the latency tracers. */
static noinline unsigned long test_fgraph_irqs_off(unsigned long n)
{
	unsigned long flags, ret;

	local_irq_save(flags);
	mdelay(n);
	ret = READ_ONCE(target_outer)(n);
	local_irq_restore(flags);
	return ret;
}

/* notrace: ftrace cannot call this, so kprobes use a breakpoint. */
static noinline notrace unsigned long test_fgraph_hidden(unsigned long n)
{
	return READ_ONCE(target_inner)(n) + 20;
}

static target_t target_hidden = test_fgraph_hidden;

static noinline unsigned long test_fgraph_path(unsigned long n)
{
	return READ_ONCE(target_hidden)(n) + 2;
}

/*
 * Functions with arguments and return values of each kind that tracers print. They are called
 * through pointers, so that the compiler cannot change their calling conventions.
 */
enum test_fgraph_color { TEST_FGRAPH_RED = 1, TEST_FGRAPH_GREEN = 7 };

struct test_fgraph_pair {
	unsigned long	first;
	unsigned long	second;
};

struct test_fgraph_large {
	unsigned long	part[3];
};

static noinline int test_fgraph_kinds(bool yes, s8 small, enum test_fgraph_color color,
				      const char *name, u16 port, long amount)
{
	barrier();
	return -ENOENT;
}

/* It has more arguments than there are registers, and one that is never in registers. */
static noinline u8 test_fgraph_many_args(unsigned long a, int b, int c, int d, int e, int f,
					 int g, int h, short i, struct test_fgraph_large j, u8 k)
{
	barrier();
	return a + k;
}

static noinline struct test_fgraph_pair test_fgraph_structs(struct test_fgraph_pair pair,
							    struct test_fgraph_large large,
							    int last)
{
	barrier();
	return (struct test_fgraph_pair){ pair.second, last };
}

static noinline void test_fgraph_void(void)
{
	barrier();
}

static noinline void *test_fgraph_pointer(void *pointer)
{
	barrier();
	return pointer ? NULL : ERR_PTR(-ENOMEM);
}

static noinline bool test_fgraph_bool(unsigned int n, ...)
{
	barrier();
	return n & 1;
}

/* On x86_64 the first register has the address of the structure that is returned. */
static noinline struct test_fgraph_large test_fgraph_memory(int first, long second)
{
	barrier();
	return (struct test_fgraph_large){ { first, second } };
}

struct test_fgraph_table {
	char			text[2][8];
	char			(*rows)[8];
	const char		*names[2];
	struct test_fgraph_pair	pairs[2];
	struct test_fgraph_pair	*others[2];
	u16			numbers[];
};

struct test_fgraph_incomplete;

static noinline u16 *test_fgraph_table(struct test_fgraph_table *table, const char * const *names,
				       void *nothing, struct test_fgraph_incomplete *incomplete)
{
	table->numbers[0]++;
	return table->numbers;
}

static typeof(test_fgraph_kinds) *target_kinds = test_fgraph_kinds;
static typeof(test_fgraph_many_args) *target_many_args = test_fgraph_many_args;
static typeof(test_fgraph_structs) *target_structs = test_fgraph_structs;
static typeof(test_fgraph_void) *target_void = test_fgraph_void;
static typeof(test_fgraph_pointer) *target_pointer = test_fgraph_pointer;
static typeof(test_fgraph_bool) *target_bool = test_fgraph_bool;
static typeof(test_fgraph_memory) *target_memory = test_fgraph_memory;
static typeof(test_fgraph_table) *target_table = test_fgraph_table;

static unsigned long test_fgraph_types(unsigned long n)
{
	struct test_fgraph_large large = { { 21, 22, 23 } };
	struct test_fgraph_pair pair = { 31, 32 };

	READ_ONCE(target_kinds)(n & 1, -n, TEST_FGRAPH_GREEN, "name", 0xffff,
				(long)-1000000000000);
	READ_ONCE(target_kinds)(false, -n, 3, NULL, n, n);
	READ_ONCE(target_many_args)(n, -2, 3, 4, 5, 6, 7, 8, -9, large, 11);
	READ_ONCE(target_structs)(pair, large, -33);
	READ_ONCE(target_void)();
	READ_ONCE(target_pointer)((void *)n);
	READ_ONCE(target_pointer)(NULL);
	large = READ_ONCE(target_memory)(-5, large.part[2]);
	return READ_ONCE(target_bool)(n, pair);
}

static unsigned long test_fgraph_tables(unsigned long n)
{
	static struct test_fgraph_table table = {
		.text = { "first", "second" },
		.rows = table.text,
		.names = { "red", "green" },
		.pairs = { { 11, 12 }, { 13, 14 } },
		.others = { &table.pairs[1], &table.pairs[0] },
		.numbers = { 0, 20, 30 },
	};

	table.numbers[0] = n;
	return *READ_ONCE(target_table)(&table, table.names, NULL, NULL);
}

/* @last is the last byte of a page, behind which nothing can be read. */
static noinline unsigned long test_fgraph_edge(const u8 *last)
{
	return *last;
}

static typeof(test_fgraph_edge) *target_edge = test_fgraph_edge;

static unsigned long test_fgraph_at_edge(unsigned long n)
{
	u8 *page = vmalloc(PAGE_SIZE);
	unsigned long ret;

	if (!page)
		return 0;
	page[PAGE_SIZE - 1] = n;
	ret = READ_ONCE(target_edge)(&page[PAGE_SIZE - 1]);
	vfree(page);
	return ret;
}

/* What @word points to changes all the time: the name of its symbol is short or long. */
static noinline unsigned long test_fgraph_flip(unsigned long *word)
{
	return READ_ONCE(*word);
}

static typeof(test_fgraph_flip) *target_flip = test_fgraph_flip;

static int flipper(void *word)
{
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++) {
			WRITE_ONCE(*(unsigned long *)word, 1);
			cpu_relax();
			WRITE_ONCE(*(unsigned long *)word, (unsigned long)test_fgraph_flip + 1);
			cpu_relax();
		}
		cond_resched();
	}
	return 0;
}

/* Calls test_fgraph_flip() @n times while another task changes the word. */
static unsigned long test_fgraph_flips(unsigned long n)
{
	unsigned long i, word = 1, changes = 0, last = 0, now;
	struct task_struct *task;

	task = kthread_run(flipper, &word, "test_fgraph/flip");
	if (IS_ERR(task))
		return 0;
	for (i = 0; i < n; i++) {
		now = READ_ONCE(target_flip)(&word);
		changes += now != last;
		last = now;
		cond_resched();
	}
	kthread_stop(task);
	return changes;
}

/* The sleepers wait on this until wakeups has changed. */
static DECLARE_WAIT_QUEUE_HEAD(sleepers_wait);
/* Woken when the number of tasks, or of those that sleep, has changed. */
static DECLARE_WAIT_QUEUE_HEAD(sleepers_change);
static atomic_t sleeping = ATOMIC_INIT(0);
static atomic_t tasks = ATOMIC_INIT(0);
static unsigned long wakeups;

static noinline unsigned long test_fgraph_sleep(unsigned long n)
{
	unsigned long now = READ_ONCE(wakeups);

	atomic_inc(&sleeping);
	wake_up(&sleepers_change);
	/* Idle, as a slow machine may let the tasks sleep longer than a hung task does. */
	wait_event_idle(sleepers_wait, READ_ONCE(wakeups) != now);
	atomic_dec(&sleeping);
	return n + 1000;
}

static target_t target_sleep = test_fgraph_sleep;

static int sleeper(void *arg)
{
	unsigned long n = (unsigned long)arg;

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	/* Each task inherits how long its parents were asleep: that can be more than the clock. */
	current->ftrace_sleeptime = 1ULL << 61;
#endif
	if (READ_ONCE(target_sleep)(n) != n + 1000)
		atomic_inc(&wrong);
	if (atomic_dec_and_test(&tasks))
		wake_up(&sleepers_change);
	module_put_and_kthread_exit(0);
}

static int wake_sleepers(void)
{
	WRITE_ONCE(wakeups, wakeups + 1);
	wake_up_all(&sleepers_wait);
	wait_event(sleepers_change, !atomic_read(&tasks));
	return 0;
}

static int start_sleepers(unsigned long nr)
{
	struct task_struct *task;
	unsigned long i;

	for (i = 0; i < nr; i++) {
		__module_get(THIS_MODULE);
		atomic_inc(&tasks);
		task = kthread_run(sleeper, (void *)i, "test_fgraph/%lu", i);
		if (IS_ERR(task)) {
			atomic_dec(&tasks);
			module_put(THIS_MODULE);
			return PTR_ERR(task);
		}
	}
	wait_event(sleepers_change, atomic_read(&sleeping) == atomic_read(&tasks));
	return 0;
}

static int sleepers_set(const char *val, const struct kernel_param *kp)
{
	unsigned long nr;
	int ret = kstrtoul(val, 0, &nr);

	if (ret)
		return ret;
	return nr ? start_sleepers(nr) : wake_sleepers();
}

static int sleepers_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&sleeping));
}

static const struct kernel_param_ops sleepers_ops = {
	.set	= sleepers_set,
	.get	= sleepers_get,
};
module_param_cb(sleepers, &sleepers_ops, NULL, 0644);

static const struct {
	const char	*name;
	target_t	func;
} targets[] = {
	{ "add",	test_fgraph_add },
	{ "tail",	test_fgraph_tail },
	{ "tail_self",	test_fgraph_tail_self },
	{ "nest",	test_fgraph_nest },
	{ "outer",	test_fgraph_outer },
	{ "irqs_off",	test_fgraph_irqs_off },
	{ "path",	test_fgraph_path },
	{ "types",	test_fgraph_types },
	{ "table",	test_fgraph_tables },
	{ "edge",	test_fgraph_at_edge },
	{ "flip",	test_fgraph_flips },
};

static unsigned long call_value;

static int call_set(const char *val, const struct kernel_param *kp)
{
	unsigned long n = 0;
	char name[32];
	int i;

	if (sscanf(val, "%31s %lu", name, &n) < 1)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		if (!strcmp(name, targets[i].name)) {
			call_value = targets[i].func(n);
			return 0;
		}
	}
	return -ENOENT;
}

static int call_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lu\n", call_value);
}

static const struct kernel_param_ops call_ops = {
	.set	= call_set,
	.get	= call_get,
};
module_param_cb(call, &call_ops, NULL, 0644);

static int count_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops count_ops = {
	.get	= count_get,
};
module_param_cb(entries, &count_ops, &entries, 0444);
module_param_cb(returns, &count_ops, &returns, 0444);
module_param_cb(wrong, &count_ops, &wrong, 0444);
module_param_cb(joined, &count_ops, &joined, 0444);

static char *func = "hrtimer_nanosleep";
module_param(func, charp, 0444);

static int kretprobes = 10000;
module_param(kretprobes, int, 0444);

static int users = 1000;
module_param(users, int, 0444);

/**
 * struct test_user - a user and what it has seen
 * @gops:	the user
 * @filter:	the user's filter
 * @frame:	frame of the last call
 * @retp:	&fgraph_frame.retp of the last call
 * @value:	value that the last call returned
 * @entries:	number of entries
 * @returns:	number of returns
 * @first:	number of entries at which the return address had not been replaced
 */
struct test_user {
	struct fgraph_ops	gops;
	struct ftrace_ops	filter;
	const struct fgraph_frame *frame;
	unsigned long		*retp;
	unsigned long		value;
	unsigned int		entries;
	unsigned int		returns;
	unsigned int		first;
};

static int user_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
		      void *data, struct ftrace_regs *fregs)
{
	struct test_user *u = container_of(gops, struct test_user, gops);
	/* An architecture that passes no registers has the return address on the stack. */
	unsigned long *place = fregs ? fgraph_entry_place((struct pt_regs *)fregs) : frame->retp;

	atomic_inc(&entries);
	u->entries++;
	u->first += *place == frame->ret;
	u->frame = frame;
	u->retp = frame->retp;
	memset(data, (unsigned long)u >> 4 & 0xff, gops->data_size);
	return 1;
}

static void user_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			void *data, struct fgraph_regs *regs)
{
	struct test_user *u = container_of(gops, struct test_user, gops);

	atomic_inc(&returns);
	u->returns++;
	u->value = fgraph_return_value(regs);
	atomic_set(&joined, fgraph_frame_users(frame, NULL, 0));
	if (memchr_inv(data, (unsigned long)u >> 4 & 0xff, gops->data_size))
		atomic_inc(&wrong);
}

static void init_user(struct test_user *u, const char *name)
{
	memset(u, 0, sizeof(*u));
	use_filter(&u->gops, &u->filter);
	u->gops.entryfunc = user_entry;
	u->gops.retfunc = user_return;
	u->gops.data_size = 16;
	u->gops.name = name;
}

static int hook_user(struct test_user *u, char *name)
{
	int ret = ftrace_set_filter(own_filter(u), name, strlen(name), 1);

	return ret ?: register_ftrace_graph(&u->gops);
}

static int unhook_user(struct test_user *u)
{
	int ret = unregister_ftrace_graph(&u->gops);

	ftrace_free_filter(own_filter(u));
	return ret;
}

static void init_kretprobe(struct kretprobe *rp, const char *name, kretprobe_handler_t handler)
{
	memset(rp, 0, sizeof(*rp));
	rp->kp.symbol_name = name;
	rp->handler = handler;
}

static int count_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&returns);
	return 0;
}

static unsigned long new_value;

static int change_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&returns);
	if (new_value)
		regs_set_return_value(regs, new_value);
	return 0;
}

/* A call has one frame for all of its users, also for a kretprobe. */
static void test_join(void)
{
	static struct test_user u[4];
	static struct kretprobe rp;
	bool same = true;
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(u); i++) {
		init_user(&u[i], "join");
		ret = ret ?: hook_user(&u[i], "test_fgraph_add");
	}
	init_kretprobe(&rp, "test_fgraph_add", count_kretprobe);
	ret = ret ?: register_kretprobe(&rp);
	check(!ret, "four users and a kretprobe of one function: %d", ret);
	check(READ_ONCE(target_add)(1) == 2, "the call returns what it should");
	for (i = 0; i < ARRAY_SIZE(u); i++)
		same &= u[i].frame == u[0].frame && u[i].entries == 1 && u[i].returns == 1;
	check(same, "each was called once, with the same frame");
	check(atomic_read(&returns) == 5, "5 returns: %d", atomic_read(&returns));
	check(atomic_read(&joined) >= 5, "%d users in the frame", atomic_read(&joined));
	unregister_kretprobe(&rp);
	for (i = 0; i < ARRAY_SIZE(u); i++)
		unhook_user(&u[i]);
}

/* A tail call has a frame of its own, and both functions are seen to return. */
static void test_tail(void)
{
	static struct test_user tail, add, self;
	int ret;

	init_user(&tail, "tail");
	init_user(&add, "tail");
	init_user(&self, "tail");
	ret = hook_user(&tail, "test_fgraph_tail") ?: hook_user(&add, "test_fgraph_add") ?:
	      hook_user(&self, "test_fgraph_tail_self");
	check(!ret, "three users: %d", ret);
	check(test_fgraph_tail(1) == 12, "the value of a tail call");
	check(tail.entries == 1 && tail.returns == 1 && tail.value == 12, "the caller returned");
	check(add.entries == 1 && add.returns == 1 && add.value == 12, "the callee returned");
	/* Without tail calls this is no failure, as the compiler decides. */
	pr_info("%s tail call\n", tail.retp == add.retp ? "was a" : "was no");
	check(add.frame != tail.frame, "each of the two has a frame");
	check(test_fgraph_tail_self(50) == 7, "the value of 50 jumps to oneself");
	check(self.entries == 51 && self.returns == 51, "51 returns: %u of %u",
	      self.returns, self.entries);
	pr_info("%s tail call\n", self.first == 1 ? "was a" : "was no");
	unhook_user(&tail);
	unhook_user(&add);
	unhook_user(&self);
}

/* A kretprobe's handler changes the return value, next to another user of the function. */
static void test_retval(void)
{
	static struct test_user u;
	static struct kretprobe rp;
	int ret;

	init_user(&u, "retval");
	init_kretprobe(&rp, "test_fgraph_add", change_kretprobe);
	ret = hook_user(&u, "test_fgraph_add") ?: register_kretprobe(&rp);
	check(!ret, "a user and a kretprobe: %d", ret);
	check(READ_ONCE(target_add)(1) == 2, "the value that the function returns");
	new_value = 123456789;
	check(READ_ONCE(target_add)(1) == 123456789, "the value that the handler writes");
	check(test_fgraph_tail(1) == 123456789, "the handler's value, in a tail call");
	new_value = 0;
	check(READ_ONCE(target_add)(1) == 2, "the value that the function returns, again");
	check(u.entries == 4 && u.returns == 4, "the other user has seen all calls");
	unregister_kretprobe(&rp);
	check(!rp.nmissed, "the kretprobe has missed no call");
	unhook_user(&u);
}

static int try_kretprobe(const char *symbol, unsigned int offset, size_t data_size)
{
	static struct kretprobe rp;
	int ret;

	init_kretprobe(&rp, symbol, count_kretprobe);
	rp.kp.offset = offset;
	rp.data_size = data_size;
	ret = register_kretprobe(&rp);
	if (!ret)
		unregister_kretprobe(&rp);
	return ret;
}

#define check_error(call, error)					\
do {									\
	int __ret = (call);						\
	check(__ret == (error), "%s: %d", #call " is " #error, __ret);	\
} while (0)

/* Wrong parameters give the documented errors, and registered users are not affected. */
static void test_errors(void)
{
	static struct test_user u;

	init_user(&u, "errors");
	check_error(unregister_ftrace_graph(&u.gops), -ENOENT);
	u.gops.data_size = FGRAPH_MAX_DATA_SIZE + 1;
	check_error(register_ftrace_graph(&u.gops), -E2BIG);
	u.gops.data_size = 16;
	u.gops.entryfunc = NULL;
	u.gops.retfunc = NULL;
	check_error(register_ftrace_graph(&u.gops), -EINVAL);
	check_error(unregister_ftrace_graph(&u.gops), -ENOENT);

	init_user(&u, "errors");
	check_error(ftrace_set_filter(own_filter(&u), "no_such_function_at_all", 23, 1), -EINVAL);
	check_error(hook_user(&u, "test_fgraph_add"), 0);
	check_error(register_ftrace_graph(&u.gops), -EBUSY);
	check_error(READ_ONCE(target_add)(1), 2);
	check_error(READ_ONCE(target_inner)(1), 101);
	check(u.entries == 1 && u.returns == 1, "the filter is as it was");
	check_error(unregister_ftrace_graph(&u.gops), 0);
	check_error(unregister_ftrace_graph(&u.gops), -ENOENT);
	ftrace_free_filter(own_filter(&u));

	check_error(try_kretprobe("no_such_function_at_all", 0, 0), -ENOENT);
	check_error(try_kretprobe("test_fgraph_outer", 8, 0), -EINVAL);
	check_error(try_kretprobe("test_fgraph_add", 0, KRETPROBE_MAX_DATA_SIZE + 1), -E2BIG);
	check_error(try_kretprobe("test_fgraph_add", 0, KRETPROBE_MAX_DATA_SIZE), 0);

	check_error(hook_user(&u, "test_fgraph_add"), 0);
	check_error(READ_ONCE(target_add)(1), 2);
	check(u.entries == 2 && u.returns == 2, "the user works as before");
	check_error(unhook_user(&u), 0);
}

static bool saw(const struct test_user *u, unsigned int calls)
{
	return u->entries == calls && u->returns == calls;
}

static void call_add_inner(void)
{
	check(READ_ONCE(target_add)(1) == 2 && READ_ONCE(target_inner)(1) == 101,
	      "add and inner return what they should");
}

/* Each user is called for the functions of its own filter only. */
static void test_filters(void)
{
	static struct test_user u[4];
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(u); i++) {
		init_user(&u[i], "filters");
		ret = ret ?: hook_user(&u[i], i & 1 ? "test_fgraph_inner" : "test_fgraph_add");
	}
	check(!ret, "four users of two functions: %d", ret);
	call_add_inner();
	check(saw(&u[0], 1) && saw(&u[1], 1) && saw(&u[2], 1) && saw(&u[3], 1),
	      "each was called once");
	unhook_user(&u[2]);
	unhook_user(&u[3]);
	call_add_inner();
	check(saw(&u[0], 2) && saw(&u[1], 2), "two are left: each was called once");
	unhook_user(&u[1]);
	call_add_inner();
	check(saw(&u[0], 3), "one is left: it was called once");
	check(saw(&u[1], 2) && saw(&u[2], 1) && saw(&u[3], 1), "the others were not called");
	unhook_user(&u[0]);
	call_add_inner();
	check(saw(&u[0], 3), "none is left: none was called");

	/* The new filter counts, not that of the last user. */
	ret = hook_user(&u[0], "test_fgraph_inner");
	check(!ret, "the first one with another filter: %d", ret);
	call_add_inner();
	check(saw(&u[0], 4), "it was called once");
	unhook_user(&u[0]);
	ret = hook_user(&u[3], "test_fgraph_add");
	check(!ret, "another one: %d", ret);
	call_add_inner();
	check(saw(&u[0], 4) && saw(&u[3], 2), "it was called once");
	unhook_user(&u[3]);
}

/* The functions for test_many(). */
#define MANY(n)								\
	static noinline unsigned long test_fgraph_many_##n(unsigned long x) \
	{								\
		barrier();						\
		return x + (n);						\
	}

MANY(0)
MANY(1)
MANY(2)
MANY(3)
MANY(4)
MANY(5)
MANY(6)
MANY(7)
MANY(8)
MANY(9)

static const target_t many[] = {
	test_fgraph_many_0, test_fgraph_many_1, test_fgraph_many_2, test_fgraph_many_3,
	test_fgraph_many_4, test_fgraph_many_5, test_fgraph_many_6, test_fgraph_many_7,
	test_fgraph_many_8, test_fgraph_many_9,
};

/* The milliseconds since @start, which is set to the current time. */
static s64 ms_since(ktime_t *start)
{
	ktime_t now = ktime_get();
	s64 ms = ktime_ms_delta(now, *start);

	*start = now;
	return ms;
}

/**
 * struct many_users - the kretprobes and users of test_many()
 * @rp:		the kretprobes
 * @rps:	pointers to them, for unregister_kretprobes()
 * @u:		the users
 * @registered:	number of kretprobes that are registered
 * @hooked:	number of users that are registered
 * @start:	when the current phase began
 */
struct many_users {
	struct kretprobe	*rp;
	struct kretprobe	**rps;
	struct test_user	*u;
	int			registered;
	int			hooked;
	ktime_t			start;
};

static void many_register_kretprobes(struct many_users *m)
{
	int i, ret = 0;

	for (i = 0; i < kretprobes && !ret; i++) {
		m->rps[i] = &m->rp[i];
		m->rp[i].kp.addr = (void *)many[i % ARRAY_SIZE(many)];
		m->rp[i].handler = count_kretprobe;
		ret = register_kretprobe(&m->rp[i]);
		cond_resched();
	}
	m->registered = i - !!ret;
	check(!ret, "%d kretprobes registered in %lld ms: %d", m->registered,
	      ms_since(&m->start), ret);
}

static void many_hook_users(struct many_users *m)
{
	int i, ret = 0;

	for (i = 0; i < users && !ret; i++) {
		init_user(&m->u[i], "many");
		ret = ftrace_set_filter_ip(own_filter(&m->u[i]),
					   (unsigned long)many[i % ARRAY_SIZE(many)], 0, 1);
		ret = ret ?: register_ftrace_graph(&m->u[i].gops);
		cond_resched();
	}
	m->hooked = i - !!ret;
	check(!ret, "%d users registered in %lld ms: %d", m->hooked, ms_since(&m->start), ret);
}

/* Call each function once. */
static void many_call(struct many_users *m)
{
	unsigned int i, bad_values = 0;

	for (i = 0; i < ARRAY_SIZE(many); i++) {
		target_t call = READ_ONCE(many[i]);

		bad_values += call(5) != i + 5;
		cond_resched();
	}
	check(!bad_values, "%zu calls, %lld us each",
	      ARRAY_SIZE(many), ms_since(&m->start) * 1000 / (s64)ARRAY_SIZE(many));
}

/* Each user and each kretprobe has seen one call, and missed none. */
static void many_check(const struct many_users *m)
{
	unsigned int good_returns = 0;
	unsigned long nmissed = 0;
	int i;

	for (i = 0; i < m->hooked; i++) {
		good_returns += m->u[i].entries == 1 && m->u[i].returns == 1;
		nmissed += fgraph_missed(&m->u[i].gops, FGRAPH_MISS_MEMORY) +
			   fgraph_missed(&m->u[i].gops, FGRAPH_MISS_NESTED);
	}
	for (i = 0; i < m->registered; i++)
		nmissed += m->rp[i].nmissed;
	check(good_returns == m->hooked, "each user was called once: %u of %d", good_returns,
	      m->hooked);
	check(atomic_read(&returns) == m->hooked + m->registered && !nmissed,
	      "%d returns, %lu missed", atomic_read(&returns), nmissed);
	check(!atomic_read(&wrong), "each user found its own data");
}

static void many_unregister(struct many_users *m)
{
	int i;

	ms_since(&m->start);
	for (i = 0; i < m->hooked; i++)
		unhook_user(&m->u[i]);
	pr_info("%d users unregistered in %lld ms\n", m->hooked, ms_since(&m->start));
	unregister_kretprobes(m->rps, m->registered);
	pr_info("%d kretprobes unregistered in %lld ms\n", m->registered, ms_since(&m->start));
}

/* Thousands of kretprobes and users are registered at once, hundreds of them per function. */
static void test_many(void)
{
	struct many_users m = {
		.rp = kvcalloc(kretprobes + 1, sizeof(*m.rp), GFP_KERNEL),
		.rps = kvcalloc(kretprobes + 1, sizeof(*m.rps), GFP_KERNEL),
		.u = kvcalloc(users + 1, sizeof(*m.u), GFP_KERNEL),
		.start = ktime_get(),
	};

	if (m.rp && m.rps && m.u) {
		many_register_kretprobes(&m);
		many_hook_users(&m);
		many_call(&m);
		many_check(&m);
		many_unregister(&m);
	} else {
		check(false, "no memory");
	}
	kvfree(m.u);
	kvfree(m.rps);
	kvfree(m.rp);
}

/* test_fgraph_path() calls test_fgraph_inner() through a function that needs a breakpoint. */
static struct kretprobe int3_rp;
static bool int3_probed;

static void test_int3(void)
{
	int ret;

	init_kretprobe(&int3_rp, "test_fgraph_hidden", count_kretprobe);
	ret = register_kretprobe(&int3_rp);
	check(!ret, "a kretprobe of test_fgraph_hidden: %d", ret);
	int3_probed = !ret;
}

static void test_int3_exit(void)
{
	if (int3_probed)
		unregister_kretprobe(&int3_rp);
}

/* These stay registered until the module goes, while tasks sleep in the function they hook. */
static struct test_user inflight_user;
static struct kretprobe inflight_rp;
static bool inflight_hooked, inflight_probed;

static void test_inflight(void)
{
	int ret;

	init_user(&inflight_user, "inflight");
	ret = hook_user(&inflight_user, func);
	inflight_hooked = !ret;
	check(!ret, "a user of %s: %d", func, ret);
	init_kretprobe(&inflight_rp, func, count_kretprobe);
	inflight_rp.data_size = 64;
	ret = register_kretprobe(&inflight_rp);
	inflight_probed = !ret;
	check(!ret, "a kretprobe of %s: %d", func, ret);
}

static void test_inflight_exit(void)
{
	if (inflight_probed)
		unregister_kretprobe(&inflight_rp);
	if (inflight_hooked)
		unhook_user(&inflight_user);
	pr_info("inflight: %d entries, %d returns, %d wrong\n", atomic_read(&entries),
		atomic_read(&returns), atomic_read(&wrong));
}

static const struct {
	const char	*name;
	void		(*init)(void);
	void		(*exit)(void);
} tests[] = {
	{ "join",	test_join },
	{ "tail",	test_tail },
	{ "retval",	test_retval },
	{ "errors",	test_errors },
	{ "filters",	test_filters },
	{ "many",	test_many },
	{ "int3",	test_int3,	test_int3_exit },
	{ "inflight",	test_inflight,	test_inflight_exit },
};

/* Unregisters what the last test left registered, before another test or at exit. */
static void (*test_exit)(void);

static int run_test(const char *name)
{
	int i;

	if (test_exit)
		test_exit();
	test_exit = NULL;
	failed = false;
	atomic_set(&entries, 0);
	atomic_set(&returns, 0);
	atomic_set(&wrong, 0);
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!sysfs_streq(name, tests[i].name))
			continue;
		tests[i].init();
		test_exit = tests[i].exit;
		pr_info("%s %s\n", tests[i].name, failed ? "failed" : "passed");
		return failed ? -EIO : 0;
	}
	if (sysfs_streq(name, ""))
		return 0;
	pr_err("there is no test %s\n", name);
	return -EINVAL;
}

static char test_at_load[16];
static bool loaded;

static int test_set(const char *val, const struct kernel_param *kp)
{
	if (loaded)
		return run_test(val);
	return strscpy(test_at_load, val, sizeof(test_at_load)) < 0 ? -EINVAL : 0;
}

static const struct kernel_param_ops test_ops = {
	.set	= test_set,
};
module_param_cb(test, &test_ops, NULL, 0200);

static void test_fgraph_exit(void)
{
	if (test_exit)
		test_exit();
}

static int __init test_fgraph_init(void)
{
	int ret = run_test(test_at_load);

	loaded = !ret;
	if (ret)
		test_fgraph_exit();
	return ret;
}

module_init(test_fgraph_init);
module_exit(test_fgraph_exit);
MODULE_DESCRIPTION("Functions to be hooked, and users that hook them");
MODULE_LICENSE("GPL");
