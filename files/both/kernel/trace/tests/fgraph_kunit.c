// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of fgraph.c: hooking calls, and their returns. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>

#include "fgraph_kunit_hook.h"

static void hook_one(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct fgraph_kunit_pair pair;
	struct hook_user *u = users;
	int i;

	KUNIT_EXPECT_NULL(test, current->fgraph_stack);
	hook(test, u, t->add, t->pair);
	hooked(test);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, t->add(i, 5), i + 5);
		KUNIT_EXPECT_EQ(test, u->value, i + 5);
	}
	expect_calls(test, u, 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->first), 10);
	KUNIT_EXPECT_EQ(test, u->frames, 1);
	KUNIT_EXPECT_EQ(test, u->joined, 0);
	KUNIT_EXPECT_FALSE(test, u->full);
	KUNIT_EXPECT_TRUE(test, kernel_text_address(u->ret));
	KUNIT_EXPECT_FALSE(test, fgraph_is_trampoline(u->ret));
	KUNIT_EXPECT_TRUE(test, u->func - (unsigned long)t->add < 16);
	KUNIT_EXPECT_NULL(test, u->parent);
	/* Both return registers come through. */
	pair = t->pair(123, 456);
	KUNIT_EXPECT_EQ(test, pair.lo, 123);
	KUNIT_EXPECT_EQ(test, pair.hi, 456);
	expect_stack_empty(test);
	unhook(u);
	KUNIT_EXPECT_EQ(test, t->add(1, 5), 6);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 11);
	KUNIT_EXPECT_NULL(test, current->fgraph_stack);
}

static void hook_full_regs(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *full = &users[0], *light = &users[1];
	struct fgraph_kunit_pair pair;

	need_own_trampolines(test, "return_to_handler does not save all registers");
	full->gops.flags = FGRAPH_FULL_REGS;
	hook(test, full, t->pair, t->add);
	hooked(test);
	pair = t->pair(123, 456);
	KUNIT_EXPECT_EQ(test, pair.lo, 123);
	KUNIT_EXPECT_EQ(test, pair.hi, 456);
	KUNIT_EXPECT_TRUE(test, full->full);
	KUNIT_EXPECT_EQ(test, instruction_pointer(&full->regs), full->ret);
#ifdef CONFIG_X86_64
	KUNIT_EXPECT_EQ(test, full->regs.ax, 123);
	KUNIT_EXPECT_EQ(test, full->regs.dx, 456);
	KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)full->regs.sp, full->retp + 1);
	KUNIT_EXPECT_EQ(test, full->regs.cs, __KERNEL_CS);
#elif defined(CONFIG_ARM64)
	KUNIT_EXPECT_EQ(test, full->regs.regs[0], 123);
	KUNIT_EXPECT_EQ(test, full->regs.regs[1], 456);
	KUNIT_EXPECT_EQ(test, full->regs.regs[30], full->ret);
	KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)full->regs.sp, full->retp);
	KUNIT_EXPECT_EQ(test, full->regs.pstate & PSR_MODE_MASK,
			is_kernel_in_hyp_mode() ? PSR_MODE_EL2h : PSR_MODE_EL1h);
#endif
	KUNIT_EXPECT_EQ(test, t->add(100, 23), 123);
	KUNIT_EXPECT_EQ(test, regs_return_value(&full->regs), 123);
	/* If one user of a call needs all registers, the other users get them, too. */
	hook(test, light, t->pair, t->add);
	hooked(test);
	pair = t->pair(12, 45);
	KUNIT_EXPECT_EQ(test, pair.lo, 12);
	KUNIT_EXPECT_EQ(test, pair.hi, 45);
	KUNIT_EXPECT_TRUE(test, light->full);
	unhook(full);
	pair = t->pair(12, 45);
	KUNIT_EXPECT_EQ(test, pair.lo, 12);
	KUNIT_EXPECT_EQ(test, pair.hi, 45);
	KUNIT_EXPECT_FALSE(test, light->full);
	KUNIT_EXPECT_EQ(test, t->add(4, 8), 12);
	KUNIT_EXPECT_EQ(test, light->value, 12);
	expect_calls(test, full, 3);
	expect_calls(test, light, 3);
	expect_stack_empty(test);
}

/* All users of a call are in one frame, even if their entries do not fit into one chunk. */
static void hook_join(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	int i, alone = 0, good = 0;

	for (i = 0; i < MAX_USERS; i++)
		hook(test, &users[i], t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(3, 4), 7);
	KUNIT_EXPECT_EQ(test, t->add(3, 5), 8);
	for (i = 0; i < MAX_USERS; i++) {
		struct hook_user *u = &users[i];

		good += atomic_read(&u->entries) == 2 && atomic_read(&u->returns) == 2 &&
			!atomic_read(&u->wrong) && u->value == 8;
		alone += u->frame != users[0].frame || u->frames != 1 ||
			 u->joined != MAX_USERS - 1;
	}
	KUNIT_EXPECT_EQ(test, good, MAX_USERS);
	KUNIT_EXPECT_EQ(test, alone, 0);
	expect_stack_empty(test);
}

#if FGRAPH_KUNIT_FTRACE && defined(CONFIG_DYNAMIC_FTRACE)
/* Several users have filters on the same functions, and the filters change. */
static void hook_filters(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add, pair = (unsigned long)t->pair;
	struct hook_user *u = users;
	char name[KSYM_NAME_LEN];

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "only users that ftrace calls have filters");
	hook(test, &u[0], t->add);
	hook(test, &u[1], t->add, t->pair);
	hook(test, &u[2], t->add);
	/* These stay, so that both functions always have several users. */
	hook(test, &u[3], t->add, t->pair);
	hook(test, &u[4], t->add, t->pair);
	t->add(1, 2);
	t->pair(1, 2);
	expect_calls(test, &u[0], 1);
	expect_calls(test, &u[1], 2);
	expect_calls(test, &u[2], 1);
	/* One filter loses a function, another one gets one. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(own_filter(&u[1]), add, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(own_filter(&u[2]), pair, 0, 0), 0);
	t->add(1, 2);
	t->pair(1, 2);
	expect_calls(test, &u[0], 2);
	expect_calls(test, &u[1], 3);
	expect_calls(test, &u[2], 3);
	/* A function in the filter and in the notrace filter is not traced. */
	snprintf(name, sizeof(name), "%ps", t->add);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(own_filter(&u[2]), name, strlen(name), 1), 0);
	t->add(1, 2);
	t->pair(1, 2);
	expect_calls(test, &u[0], 3);
	expect_calls(test, &u[1], 4);
	expect_calls(test, &u[2], 4);
	/* An unregistered user is not called, nor is another ftrace_ops affected. */
	unhook(&u[1]);
	plain_calls = 0;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&plain_ops, add, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&plain_ops), 0);
	t->add(1, 2);
	KUNIT_EXPECT_EQ(test, plain_calls, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&plain_ops), 0);
	ftrace_free_filter(&plain_ops);
	t->add(1, 2);
	KUNIT_EXPECT_EQ(test, plain_calls, 1);
	t->pair(1, 2);
	expect_calls(test, &u[0], 5);
	expect_calls(test, &u[1], 4);
	expect_calls(test, &u[2], 5);
	expect_calls(test, &u[3], 9);
	expect_calls(test, &u[4], 9);
	expect_stack_empty(test);
}
#endif

#if defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) && FGRAPH_KUNIT_FTRACE
static int check_location(SYMBOL_PARAMS)
{
	struct kunit *test = data;
	unsigned long site = ftrace_location(addr);

	if (site && !in_range(site, addr, 16))
		KUNIT_FAIL(test, "%s: site of another function, at +%lu", name,
			   site - addr);
	return 0;
}

/* ftrace_location() never gives the call to ftrace of another function. */
static void hook_locations(struct kunit *test)
{
	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "this needs ftrace");
	kallsyms_on_each_symbol(check_location, test);
}
#endif

static void hook_change_value(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct hook_user *u = users;

	seen->new_value = LONG_MAX - 12345;
	hook(test, u, t->add);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), LONG_MAX - 12345);
	seen->new_value = 0;
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unregister_kretprobe(&seen->rp);
	KUNIT_EXPECT_EQ(test, seen->returns, 2);
	expect_calls(test, u, 2);
}

/*
 * The callbacks that hook_order() has seen, one letter for each: 'A' is the entry of users[0] and
 * 'a' its return, and so on; 'x' and 'y' are the returns of the first and the second kretprobe.
 */
static char called[16];

static void note_call(char letter)
{
	size_t n = strlen(called);

	if (n < sizeof(called) - 1)
		called[n] = letter;
}

static int order_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
		       void *data, struct ftrace_regs *fregs)
{
	note_call('A' + (container_of(gops, struct hook_user, gops) - users));
	return 1;
}

static void order_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct fgraph_regs *regs)
{
	note_call('a' + (container_of(gops, struct hook_user, gops) - users));
}

static int order_first_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	note_call('x');
	return 0;
}

static int order_second_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	note_call('y');
	return 0;
}

/* An entry calls users and kretprobes newest first, a return calls them oldest first. */
static void hook_order(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe *first = &kretprobe(test, t->add)->rp;
	struct kretprobe *second = &kretprobe(test, t->add)->rp;
	int i;

	need_own_trampolines(test, "kretprobes are not called by ftrace");
	first->entry_handler = NULL;
	first->handler = order_first_handler;
	second->entry_handler = NULL;
	second->handler = order_second_handler;
	for (i = 0; i < 4; i++) {
		users[i].gops.entryfunc = order_entry;
		users[i].gops.retfunc = order_return;
	}
	memset(called, 0, sizeof(called));
	hook(test, &users[0], t->add);
	hook(test, &users[1], t->add);
	KUNIT_ASSERT_EQ(test, register_kretprobe(first), 0);
	hook(test, &users[2], t->add);
	KUNIT_ASSERT_EQ(test, register_kretprobe(second), 0);
	hook(test, &users[3], t->add);
	unhook(&users[1]);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unregister_kretprobe(second);
	unregister_kretprobe(first);
	KUNIT_EXPECT_STREQ(test, called, "DCAaxcyd");
	expect_stack_empty(test);
}

/* The return callback of a user whose entry callback returns 0 is not called. */
static void hook_veto(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *no = &users[0], *yes = &users[1], *no2 = &users[2];

	no->veto = true;
	no2->veto = true;
	no->gops.data_size = 200;
	no2->gops.data_size = FGRAPH_MAX_DATA_SIZE;
	hook(test, no, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	hook(test, yes, t->add);
	hook(test, no2, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);

	KUNIT_EXPECT_EQ(test, atomic_read(&no->entries), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&no->returns), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&no2->entries), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&no2->returns), 0);
	KUNIT_EXPECT_EQ(test, yes->joined, 0);
	expect_calls(test, yes, 1);
	expect_stack_empty(test);
}

static void hook_data(struct kunit *test)
{
	static const size_t sizes[] = {
		1, 24, 25, 40, 41, 64, 500, 3000, 4032, 4096, FGRAPH_MAX_DATA_SIZE
	};
	const struct fgraph_kunit_targets *t = targets(test);
	int i, j;

	/* First three users with data of the same size, then one user of each size. */
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		clear(users, 3);
		for (j = 0; j < 3; j++) {
			users[j].gops.data_size = sizes[i];
			hook(test, &users[j], t->add);
		}
		hooked(test);
		KUNIT_EXPECT_EQ(test, t->add(1, i), 1 + i);
		for (j = 0; j < 3; j++) {
			expect_calls(test, &users[j], 1);
			unhook(&users[j]);
		}
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		clear(&users[i], 1);
		users[i].gops.data_size = sizes[i];
		hook(test, &users[i], t->add);
	}
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 9), 10);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		expect_calls(test, &users[i], 1);
	expect_stack_empty(test);
}

/* fgraph_parent_data() finds a user's data of the surrounding call among those of others. */
static void hook_parent_data(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *a = &users[0], *b = &users[1], *c = &users[2];

	a->gops.data_size = 8;
	b->gops.data_size = 300;
	c->gops.data_size = 8;
	/* @c always joins, so its data are in an entry. Those of @a are in the frame. */
	hook(test, a, t->outer, t->inner);
	hook(test, b, t->outer, t->middle, t->inner);
	hook(test, c, t->outer, t->inner);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->outer(t, 0), 111);
	expect_calls(test, a, 2);
	expect_calls(test, b, 3);
	expect_calls(test, c, 2);
	/* The last entry was that of inner(): the data found are those of outer(). */
	KUNIT_EXPECT_NOT_NULL(test, a->parent);
	KUNIT_EXPECT_NOT_NULL(test, b->parent);
	KUNIT_EXPECT_NOT_NULL(test, c->parent);
	KUNIT_EXPECT_PTR_NE(test, a->parent, c->parent);
	KUNIT_EXPECT_EQ(test, t->inner(t, 0), 100);
	KUNIT_EXPECT_NULL(test, a->parent);
	KUNIT_EXPECT_NULL(test, b->parent);
	KUNIT_EXPECT_NULL(test, c->parent);
	expect_stack_empty(test);
}

/* Each call of nest() finds the data of its caller, at entry and at return. */
static int parent_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			void *data, struct ftrace_regs *fregs)
{
	unsigned long *parent = fgraph_parent_data(gops, frame);

	atomic_inc(&container_of(gops, struct hook_user, gops)->entries);
	*(unsigned long *)data = parent ? *parent + 1 : 0;
	return 1;
}

static void parent_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			  void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);
	unsigned long *parent = fgraph_parent_data(gops, frame);
	unsigned long level = *(unsigned long *)data;

	atomic_inc(&u->returns);
	if (parent ? *parent + 1 != level : level)
		atomic_inc(&u->wrong);
	/* nest(0) returns 0 and is at level 200. */
	if (fgraph_return_value(regs) + level != 200)
		atomic_inc(&u->wrong);
}

/* Calls nest 200 deep, with three users whose data differ in size. */
static void hook_recursion(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	int i;

	for (i = 0; i < 3; i++) {
		users[i].gops.entryfunc = parent_entry;
		users[i].gops.retfunc = parent_return;
		users[i].gops.data_size = 8 + 100 * i;
		hook(test, &users[i], t->nest);
	}
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->nest(t, 200), 200);
	KUNIT_EXPECT_EQ(test, t->nest(t, 200), 200);
	for (i = 0; i < 3; i++)
		expect_calls(test, &users[i], 2 * 201);
	expect_stack_empty(test);
}

static void hook_tail_call(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *jumper = &users[0], *callee = &users[1], *both = &users[2];

	hook(test, jumper, t->tail);
	hook(test, callee, t->add);
	hook(test, both, t->tail, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->tail(t, 20, 22), 42);
	if (jumper->retp != callee->retp)
		kunit_skip(test, "the compiler made no tail call");
	expect_calls(test, jumper, 1);
	expect_calls(test, callee, 1);
	expect_calls(test, both, 2);
	/* The callee's frame is above that of the caller that jumped, and has the real address. */
	KUNIT_EXPECT_EQ(test, callee->frames, 2);
	KUNIT_EXPECT_EQ(test, jumper->frames, 1);
	KUNIT_EXPECT_EQ(test, callee->joined, 1);
	KUNIT_EXPECT_EQ(test, jumper->joined, 1);
	KUNIT_EXPECT_EQ(test, callee->ret, jumper->ret);
	KUNIT_EXPECT_FALSE(test, fgraph_is_trampoline(callee->ret));
	KUNIT_EXPECT_EQ(test, jumper->value, 42);
	KUNIT_EXPECT_EQ(test, callee->value, 42);
	KUNIT_EXPECT_EQ(test, atomic_read(&callee->first), 0);
	expect_stack_empty(test);
}

/* A function ends in tail calls of itself, so many that the frames need another chunk. */
static void hook_tail_self(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = &users[0], *full = &users[1];

	hook(test, u, t->tail_self);
	full->gops.flags = FGRAPH_FULL_REGS;
	full->gops.data_size = 100;
	hook(test, full, t->tail_self);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->tail_self(t, 100), 7);
	expect_calls(test, u, 101);
	expect_calls(test, full, 101);
	if (atomic_read(&u->first) + atomic_read(&full->first) != 1)
		kunit_skip(test, "the compiler made no tail call");
	KUNIT_EXPECT_EQ(test, u->frames, 1);
	KUNIT_EXPECT_EQ(test, u->joined, 1);
	expect_stack_empty(test);
}

static unsigned long function_of(unsigned long addr)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr - 1, &size, &offset))
		return 0;
	return addr - 1 - offset;
}

/* The trace goes from @func[0] to its callers, with nothing between them. */
static void expect_callers(struct kunit *test, unsigned long *trace, unsigned int depth,
			   void *func[], int nr)
{
	int i, j;

	for (i = 0; i < depth && function_of(trace[i]) != (unsigned long)func[0]; i++)
		;
	KUNIT_ASSERT_LT_MSG(test, i, depth, "no %ps in the trace", func[0]);
	for (j = 0; j < nr && i + j < depth; j++)
		KUNIT_EXPECT_EQ_MSG(test, function_of(trace[i + j]), (unsigned long)func[j],
				    "%pS instead of %ps", (void *)trace[i + j], func[j]);
	KUNIT_EXPECT_EQ(test, j, nr);
	for (i = 0; i < depth; i++)
		KUNIT_EXPECT_FALSE(test, fgraph_is_trampoline(trace[i]));
}

static void trace_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	note_return(gops, frame, data, regs);
	if (u->frame == frame)
		u->depth = stack_trace_save(u->trace, MAX_TRACE, 0);
}

/* A stack trace from a return callback has the real callers, with either trampoline. */
static void hook_stack_trace(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = &users[0], *other = &users[1];
	int round;

	u->gops.entryfunc = NULL;
	u->gops.retfunc = trace_return;
	for (round = 0; round < 2; round++) {
		u->gops.flags = round ? FGRAPH_FULL_REGS : 0;
		hook(test, u, t->inner, t->middle);
		hook(test, other, t->outer, t->middle);
		hooked(test);
		u->depth = 0;
		KUNIT_EXPECT_EQ(test, t->outer(t, 0), 111);
		unhook(u);
		unhook(other);
		expect_callers(test, u->trace, u->depth,
			       (void *[]){ t->middle, t->outer, hook_stack_trace }, 3);
	}
}

struct trace_arg {
	unsigned long	trace[MAX_TRACE];
	unsigned int	depth;
	int		reliable;
};

static noinline unsigned long take_trace(void *arg)
{
	struct trace_arg *a = arg;

	a->depth = stack_trace_save(a->trace, MAX_TRACE, 0);
	return a->depth;
}

static noinline unsigned long take_trace_reliable(void *arg)
{
	struct trace_arg *a = arg;

	a->reliable = stack_trace_save_tsk_reliable(current, a->trace, MAX_TRACE);
	a->depth = max(a->reliable, 0);
	return a->depth;
}

/* Stack traces from within hooked calls, and of a task that sleeps in one, are complete. */
static void hook_stack_trace_below(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct trace_arg *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct hook_user *u = &users[0];
	struct sleeper *s = sleepers;

	KUNIT_ASSERT_NOT_NULL(test, a);
	hook(test, u, t->call, t->sleep);
	hooked(test);
	t->call(take_trace, a);
	expect_callers(test, a->trace, a->depth,
		       (void *[]){ take_trace, t->call, hook_stack_trace_below }, 3);

	if (!IS_ENABLED(CONFIG_HAVE_RELIABLE_STACKTRACE))
		return;
	t->call(take_trace_reliable, a);
	KUNIT_EXPECT_GT(test, a->reliable, 0);
	expect_callers(test, a->trace, a->depth,
		       (void *[]){ take_trace_reliable, t->call, hook_stack_trace_below }, 3);

	start_sleeper(test, s);
	a->reliable = stack_trace_save_tsk_reliable(s->task, a->trace, MAX_TRACE);
	KUNIT_ASSERT_GT(test, a->reliable, 0);
	expect_callers(test, a->trace, a->reliable, (void *[]){ t->sleep, sleeper_fn }, 2);
	wake(s);
	expect_calls(test, u, 3);
}

/*
 * The registers that perf takes for a software event have the return address of the function that
 * reports it as the pc. If its call is hooked, the trace begins with its real caller.
 */
static void hook_stack_trace_regs(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct trace_arg *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	struct hook_user *u = &users[0];

	if (!IS_ENABLED(CONFIG_ARM64) || !IS_ENABLED(CONFIG_PERF_EVENTS))
		kunit_skip(test, "perf takes a trace from such registers only on arm64");
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, regs);
	hook(test, u, t->trace_regs);
	hooked(test);
	a->depth = t->trace_regs(regs, a->trace, MAX_TRACE);
	expect_callers(test, a->trace, a->depth, (void *[]){ hook_stack_trace_regs }, 1);
	expect_calls(test, u, 1);
}

/*
 * A user is unregistered and freed while a call that is hooked for it is asleep, and the next
 * user gets the same id. The call returns to its caller, and does not call the next user.
 */
static void hook_unregister_in_flight(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *gone = kzalloc(sizeof(*gone), GFP_KERNEL), *next = &users[0];
	struct sleeper *s = sleepers;
	unsigned long id;

	KUNIT_ASSERT_NOT_NULL(test, gone);
	hook(test, gone, t->sleep);
	hooked(test);
	start_sleeper(test, s);
	id = gone->gops.user.tag & FGRAPH_ID_MASK;
	unhook(gone);
	KUNIT_EXPECT_EQ(test, atomic_read(&gone->entries), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&gone->returns), 0);
	memset(gone, 0x6b, sizeof(*gone));
	kfree(gone);

	/* The task keeps its stack, although there is no user. */
	KUNIT_EXPECT_NOT_NULL(test, s->task->fgraph_stack);
	hook(test, next, t->sleep);
	hooked(test);
	KUNIT_EXPECT_EQ(test, next->gops.user.tag & FGRAPH_ID_MASK, id);
	complete_all(&s->go);
	wait_for_completion(&s->done);
	KUNIT_EXPECT_EQ(test, s->value, 42);
	KUNIT_EXPECT_EQ(test, atomic_read(&next->entries), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&next->returns), 0);
	unhook(next);
	/* The stack is freed when it is empty, although the task lives on. */
	KUNIT_EXPECT_NULL(test, s->task->fgraph_stack);
}

/* The stack of a task that is asleep is freed when its last call returns after all users went. */
static void hook_return_without_users(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct fgraph_usage usage;
	struct hook_user *u = users;
	struct sleeper *s = sleepers, *never = sleepers + 1;

	if (fgraph_nr_users)
		kunit_skip(test, "there are other users");
	start_sleeper(test, never);
	hook(test, u, t->sleep);
	hooked(test);
	start_sleeper(test, s);
	KUNIT_EXPECT_NULL(test, never->task->fgraph_stack);
	unhook(u);
	fgraph_usage(&usage);
	KUNIT_EXPECT_EQ(test, usage.stacks, 1);
	KUNIT_EXPECT_EQ(test, usage.bytes, FGRAPH_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, usage.reserve_bytes, 0);
	complete_all(&s->go);
	wait_for_completion(&s->done);
	KUNIT_EXPECT_TRUE(test, wait_no_memory());
	KUNIT_EXPECT_NULL(test, s->task->fgraph_stack);
	KUNIT_EXPECT_EQ(test, s->value, 42);
}

/* Frames of abandoned calls are dropped when a call below them returns. */
static void hook_abandoned(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	u->gops.data_size = 100;
	hook(test, u, t->call, t->add);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->call(abandon, u), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 1);
	expect_stack_empty(test);
	KUNIT_EXPECT_EQ(test, abandon(u), 1);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, t->call(abandon, u), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->wrong), 0);
	fgraph_abandon_calls(__builtin_frame_address(0));
	expect_stack_empty(test);
}

/* Frames of abandoned calls are dropped before another chunk is taken. */
static void hook_abandoned_many(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct fgraph_usage usage;
	struct hook_user *u = users;
	int i;

	/* With a function tracer, fgraph_hook() keeps frames that are above its own place. */
	if (IS_ENABLED(CONFIG_FUNCTION_TRACER) && !IS_ENABLED(CONFIG_FGRAPH_FTRACE))
		kunit_skip(test, "hook_now() does not take the way of ftrace");
	hook(test, u, t->add);
	hooked(test);
	for (i = 0; i < 1000; i++)
		abandon(u);
	fgraph_usage(&usage);
	KUNIT_EXPECT_LE(test, usage.chunks, 2);
	KUNIT_EXPECT_EQ(test, user_missed(u), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 1);
	fgraph_abandon_calls(__builtin_frame_address(0));
	expect_stack_empty(test);
}

/* An interrupt that abandons calls on its own machine stack, and what it found. */
static struct {
	struct irq_work		work;
	struct hook_user	*user;
	/* The interrupt has a stack of its own. */
	bool			own_stack;
	/* How often a call was hooked, and frames were left. */
	int			hooked, left;
} abandoning;

/* Like abandon(), and has the frame dropped before this function's stack frame is gone. */
static noinline void abandon_and_drop(struct hook_user *u, void *dead_below)
{
	unsigned long slot[2] = { (unsigned long)abandon_and_drop };
	struct pt_regs regs = { };
	void *top = current->fgraph_stack->top;

	stack_pointer(&regs) = (unsigned long)slot;
	*fgraph_entry_place(&regs) = (unsigned long)abandon_and_drop;
	hook_now(u, (unsigned long)abandon_and_drop, &regs);
	abandoning.hooked += current->fgraph_stack->top != top;
	fgraph_abandon_calls(dead_below);
	abandoning.left += current->fgraph_stack->top != top;
	abandoning.own_stack = !object_is_on_stack(slot);
}

static void abandon_in_interrupt(struct irq_work *work)
{
	if (current->fgraph_stack)
		abandon_and_drop(abandoning.user, __builtin_frame_address(0));
}

/* Frames of calls that are abandoned on the stack of an interrupt are dropped, too. */
static void hook_abandoned_interrupt(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct fgraph_usage usage;
	struct hook_user *u = users;
	int i;

	u->gops.data_size = 100;
	hook(test, u, t->add);
	hooked(test);
	memset(&abandoning, 0, sizeof(abandoning));
	abandoning.user = u;
	abandoning.work = IRQ_WORK_INIT_HARD(abandon_in_interrupt);
	/* The task gets its shadow stack. */
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	for (i = 0; i < 100; i++) {
		irq_work_queue(&abandoning.work);
		irq_work_sync(&abandoning.work);
	}
	/* On 32-bit x86, only interrupts of devices have a stack of their own. */
	KUNIT_EXPECT_EQ(test, abandoning.own_stack, !IS_ENABLED(CONFIG_X86_32));
	KUNIT_EXPECT_GT(test, abandoning.hooked, 50);
	KUNIT_EXPECT_EQ(test, abandoning.left, 0);
	fgraph_usage(&usage);
	KUNIT_EXPECT_LE(test, usage.chunks, 2);
	expect_stack_empty(test);
}

#define MAX_TAKEN	2048

/* Take all chunks from the reserve, which is not refilled while interrupts are disabled. */
static int take_all(struct kunit *test, void **taken)
{
	int nr = 0;

	while (nr < MAX_TAKEN && (taken[nr] = fgraph_chunk_take(FGRAPH_CHUNK_SIZE)))
		nr++;
	return nr;
}

/* Without memory a call is missed, and the miss is counted for each user. */
static void hook_missed(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	void **taken = kunit_kcalloc(test, MAX_TAKEN, sizeof(*taken), GFP_KERNEL);
	struct hook_user *u = users, *small = users + 1;
	unsigned long flags, value;
	int nr, calls;

	KUNIT_ASSERT_NOT_NULL(test, taken);
	u->gops.data_size = 200;
	hook(test, u, t->add, t->nest);
	hook(test, small, t->nest);
	hooked(test);

	/* There is no chunk to make a stack for this task. */
	local_irq_save(flags);
	nr = take_all(test, taken);
	value = t->add(1, 2);
	local_irq_restore(flags);
	while (nr)
		fgraph_chunk_give(taken[--nr], FGRAPH_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, value, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 0);
	KUNIT_EXPECT_EQ(test, user_missed(u), 1);
	KUNIT_EXPECT_NULL(test, current->fgraph_stack);

	/* The interrupt that refills the reserve came when interrupts were enabled. */
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 1);

	/* The stack cannot grow: outer calls are hooked, inner ones missed. */
	local_irq_save(flags);
	nr = take_all(test, taken);
	value = t->nest(t, 50);
	local_irq_restore(flags);
	while (nr)
		fgraph_chunk_give(taken[--nr], FGRAPH_CHUNK_SIZE);
	KUNIT_EXPECT_EQ(test, value, 50);
	calls = atomic_read(&u->entries) - 1;
	KUNIT_EXPECT_GT(test, calls, 5);
	KUNIT_EXPECT_LT(test, calls, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), calls + 1);
	KUNIT_EXPECT_EQ(test, user_missed(u), 1 + 51 - calls);
	calls = atomic_read(&small->entries);
	KUNIT_EXPECT_EQ(test, atomic_read(&small->returns), calls);
	KUNIT_EXPECT_EQ(test, user_missed(small), 51 - calls);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->wrong) + atomic_read(&small->wrong), 0);
	expect_stack_empty(test);
}

#if FGRAPH_KUNIT_FTRACE

/* A callback calls the function that it is called for: the recursion ends. */
static void hook_callback_hooked(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "kprobes prevent recursion themselves");
	u->gops.entryfunc = count_entry;
	u->gops.retfunc = call_hooked_return;
	hook(test, u, t->add, t->call);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_GE(test, u->value, 1);
	KUNIT_EXPECT_LE(test, u->value, 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	expect_stack_empty(test);
}

static int call_inner_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			    void *data, struct ftrace_regs *fregs)
{
	fgraph_kunit_traced.inner(&fgraph_kunit_traced, 2);
	return count_entry(gops, frame, data, fregs);
}

/* These tell a user of all functions which calls the test has made. */
static struct task_struct *own_task;
static unsigned long own_add, own_inner;

static void own_calls(const struct fgraph_kunit_targets *t)
{
	own_task = current;
	own_add = ftrace_location((unsigned long)t->add);
	own_inner = ftrace_location((unsigned long)t->inner);
}

static bool own_call(const struct fgraph_frame *frame)
{
	return current == own_task && (frame->func == own_add || frame->func == own_inner);
}

static int call_own_inner_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				void *data, struct ftrace_regs *fregs)
{
	return own_call(frame) && call_inner_entry(gops, frame, data, fregs);
}

/*
 * A user of all functions: calls that its callbacks make are hooked, calls of callbacks of
 * these are missed. With another ftrace_ops registered, ftrace prevents recursion before that.
 */
static void hook_unfiltered(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "only ftrace calls users of all functions");
	own_calls(t);
	u->gops.entryfunc = call_own_inner_entry;
	u->gops.retfunc = count_return;
	hook(test, u);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&plain_ops), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_GE(test, atomic_read(&u->entries), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&plain_ops), 0);
	atomic_set(&u->entries, 0);
	atomic_set(&u->returns, 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unhook(u);
	KUNIT_EXPECT_GE(test, atomic_read(&u->entries), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	KUNIT_EXPECT_GE(test, user_missed(u), 1);
}

static int call_breakpoint_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				 void *data, struct ftrace_regs *fregs)
{
	/* A kprobe that is hit while another one is single-stepped is fatal. */
	if (!kprobe_running())
		fgraph_kunit_hidden.add(1, 1);
	return count_entry(gops, frame, data, fregs);
}

/*
 * A callback calls a function with a breakpoint, and the handler of breakpoints is hooked for
 * the same user. The recursion ends, although each breakpoint counts as a further NMI.
 */
static void hook_callback_breakpoint(struct kunit *test)
{
	static struct kprobe kp;
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "kprobes prevent recursion themselves");
	need_own_trampolines(test, "ftrace does not call the handler of breakpoints");
	memset(&kp, 0, sizeof(kp));
	kp.addr = (void *)fgraph_kunit_hidden.add;
	kp.post_handler = user_post_handler;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	u->gops.entryfunc = call_breakpoint_entry;
	u->gops.retfunc = count_return;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(own_filter(u), BREAKPOINT_HANDLER,
						strlen(BREAKPOINT_HANDLER), 0), 0);
	hook(test, u, t->add);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_GE(test, atomic_read(&u->entries), 2);
	KUNIT_EXPECT_LE(test, atomic_read(&u->entries), 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), atomic_read(&u->returns));
	expect_stack_empty(test);
}

static void hook_register_errors(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;
	unsigned int nr = fgraph_nr_users;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "this tests register_ftrace_graph()");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_graph(&u->gops), -ENOENT);
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&u->gops), -EINVAL);
	u->gops.data_size = FGRAPH_MAX_DATA_SIZE + 1;
	u->gops.entryfunc = NULL;
	u->gops.retfunc = note_return;
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&u->gops), -E2BIG);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_graph(&u->gops), -ENOENT);
	/* The address of a variable, not of a function. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(own_filter(u), (unsigned long)users, 0, 0),
			-EINVAL);
	u->gops.data_size = 0;
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, nr);

	hook(test, u, t->add);
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&u->gops), -EBUSY);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, nr + 1);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, t->inner(t, 2), 102);
	expect_calls(test, u, 1);
	unhook(u);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_graph(&u->gops), -ENOENT);
	KUNIT_EXPECT_EQ(test, fgraph_nr_users, nr);
}

#endif /* FGRAPH_KUNIT_FTRACE */

/* A timer whose interrupts call hooked functions. */
struct hammer {
	struct hrtimer		timer;
	const struct fgraph_kunit_targets *t;
	unsigned int		calls;
	unsigned int		wrong;
};

static enum hrtimer_restart hammer_fn(struct hrtimer *timer)
{
	struct hammer *h = container_of(timer, struct hammer, timer);

	h->calls++;
	if (h->t->add(h->calls, 1) != h->calls + 1 || h->t->nest(h->t, 3) != 3)
		h->wrong++;
	hrtimer_forward_now(timer, ns_to_ktime(50 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* Interrupts push and pop frames while the task they interrupt does. */
static void hook_interrupted(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hammer *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	unsigned long end, wrong = 0, n = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	for (i = 0; i < 3; i++) {
		users[i].gops.entryfunc = count_entry;
		users[i].gops.retfunc = count_return;
		users[i].gops.data_size = 8 + 300 * i;
		users[i].gops.flags = i == 1 ? FGRAPH_FULL_REGS : 0;
		hook(test, &users[i], t->nest, t->add);
	}
	hooked(test);
	h->t = t;
	setup_timer(&h->timer, hammer_fn, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&h->timer, ns_to_ktime(50 * NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_HARD);
	for (end = jiffies + HZ / 2; time_before(jiffies, end); n++) {
		wrong += t->nest(t, 30) != 30;
		wrong += t->add(n, n) != 2 * n;
	}
	hrtimer_cancel(&h->timer);
	KUNIT_EXPECT_EQ(test, wrong + h->wrong, 0);
	KUNIT_EXPECT_GT(test, h->calls, 50);
	for (i = 0; i < 3; i++) {
		int calls = 32 * n + 5 * h->calls;

		/* Calls in an interrupt of the kprobe's own handler are missed by the kprobe. */
		if (users[i].via != VIA_FTRACE)
			calls -= users[i].kp[0].kp.nmissed + users[i].kp[1].kp.nmissed;
		expect_calls(test, &users[i], calls);
	}
	expect_stack_empty(test);
}

static noinline int caller_fn(void *arg)
{
	struct sleeper *s = arg;

	while (!kthread_should_stop()) {
		if (s->t->outer(s->t, 5) != 116 || s->t->tail(s->t, 3, 4) != 7 ||
		    s->t->nest(s->t, 70) != 70)
			s->value++;
		/* The optimizer of kprobes waits for this. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* Users come and go while tasks call their functions: each call returns to its caller. */
static void hook_come_and_go(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *stays = &users[4], *u;
	int i;

	stays->gops.entryfunc = count_entry;
	stays->gops.retfunc = count_return;
	stays->gops.flags = FGRAPH_FULL_REGS;
	stays->gops.data_size = 50;
	hook(test, stays, t->middle);
	for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
		sleepers[i].t = t;
		init_completion(&sleepers[i].go);
		sleepers[i].task = kthread_run(caller_fn, &sleepers[i], "fgraph_kunit");
		KUNIT_ASSERT_FALSE(test, IS_ERR(sleepers[i].task));
	}
	for (i = 0; i < 24; i++) {
		u = &users[i % 4];
		unhook(u);
		clear(u, 1);
		u->gops.entryfunc = count_entry;
		u->gops.retfunc = count_return;
		u->gops.data_size = i * 40;
		u->gops.flags = i % 3 ? 0 : FGRAPH_FULL_REGS;
		if (i % 2)
			hook(test, u, t->outer, t->middle, t->nest);
		else
			hook(test, u, t->nest, t->tail, t->add);
		msleep(20);
	}
	for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
		wake(&sleepers[i]);
		KUNIT_EXPECT_EQ(test, sleepers[i].value, 0);
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].entries),
				atomic_read(&users[i].returns));
		KUNIT_EXPECT_GT(test, atomic_read(&users[i].entries), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].wrong), 0);
	}
	expect_calls(test, stays, atomic_read(&stays->entries));
}

/* Without a frame there is no real return address for a trampoline. */
static void unwind_unknown(struct kunit *test)
{
	unsigned long light = (unsigned long)fgraph_trampoline_light, cursor = 0, word;
	unsigned long full = (unsigned long)fgraph_trampoline_full;

	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(current, &cursor, light, &word, &word), 0);
	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(current, &cursor, full, &word, &word), 0);
	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(&init_task, &cursor, full, &word, &word), 0);
	KUNIT_EXPECT_EQ(test, cursor, 0);
	word = (unsigned long)unwind_unknown;
	KUNIT_EXPECT_EQ(test, fgraph_ret_addr(current, &cursor, word, &word, &word), word);
}

static struct kunit_case hook_cases[] = {
	KUNIT_CASE_PARAM(hook_one, via_gen),
	KUNIT_CASE_PARAM(hook_full_regs, via_gen),
	KUNIT_CASE_PARAM(hook_join, via_gen),
#if FGRAPH_KUNIT_FTRACE && defined(CONFIG_DYNAMIC_FTRACE)
	KUNIT_CASE_PARAM(hook_filters, via_gen),
#endif
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) && FGRAPH_KUNIT_FTRACE
	KUNIT_CASE_PARAM(hook_locations, via_gen),
#endif
	KUNIT_CASE_PARAM(hook_change_value, via_gen),
	KUNIT_CASE_PARAM(hook_order, via_gen),
	KUNIT_CASE_PARAM(hook_veto, via_gen),
	KUNIT_CASE_PARAM(hook_data, via_gen),
	KUNIT_CASE_PARAM(hook_parent_data, via_gen),
	KUNIT_CASE_PARAM(hook_recursion, via_gen),
	KUNIT_CASE_PARAM(hook_tail_call, via_gen),
	KUNIT_CASE_PARAM(hook_tail_self, via_gen),
	KUNIT_CASE_PARAM(hook_stack_trace, via_gen),
	KUNIT_CASE_PARAM(hook_stack_trace_below, via_gen),
	KUNIT_CASE_PARAM(hook_stack_trace_regs, via_gen),
	KUNIT_CASE_PARAM(hook_unregister_in_flight, via_gen),
	KUNIT_CASE_PARAM(hook_return_without_users, via_gen),
	KUNIT_CASE_PARAM(hook_abandoned, via_gen),
	KUNIT_CASE_PARAM(hook_abandoned_many, via_gen),
	KUNIT_CASE_PARAM(hook_abandoned_interrupt, via_gen),
	KUNIT_CASE_PARAM(hook_missed, via_gen),
#if FGRAPH_KUNIT_FTRACE
	KUNIT_CASE_PARAM(hook_callback_hooked, via_gen),
	KUNIT_CASE_PARAM(hook_unfiltered, via_gen),
	KUNIT_CASE_PARAM(hook_callback_breakpoint, via_gen),
	KUNIT_CASE_PARAM(hook_register_errors, via_gen),
#endif
	KUNIT_CASE_PARAM(hook_interrupted, via_gen),
	KUNIT_CASE_PARAM(hook_come_and_go, via_gen),
	KUNIT_CASE(unwind_unknown),
	{}
};

static struct kunit_suite hook_suite = {
	.name = "fgraph_hook",
	.init = hook_init,
	.exit = hook_exit,
	.test_cases = hook_cases,
};

kunit_test_suite(hook_suite);
