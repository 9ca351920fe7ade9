// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the stubs of functions, beside those of all ways to hook a call. */
#include <kunit/test.h>
#include <linux/fgraph_stubs.h>
#include <linux/hrtimer.h>
#include <linux/stacktrace.h>
#include <linux/text-patching.h>

#include <asm/irq_regs.h>

#include "../fgraph_stubs.h"
#include "fgraph_kunit_hook.h"

static const struct fgraph_kunit_targets *const t = &fgraph_kunit_traced;

/*
 * These must not have a stub: they have arguments on the stack. Their names must be theirs alone,
 * as the pahole of this kernel may be one that takes prototypes by name.
 */
static noinline long fgraph_kunit_on_stack(long a, long b, long c, long d, long e, long f, long g)
{
	barrier();
	return a + b + c + d + e + f + g;
}

static noinline long fgraph_kunit_variadic(int nr, ...)
{
	va_list args;
	long sum = 0;

	va_start(args, nr);
	while (nr--)
		sum += va_arg(args, long);
	va_end(args);
	return sum;
}

/* Is a function sent to its stub? */
static bool has_stub(void *func)
{
	unsigned long site = ftrace_location((unsigned long)func);
	union text_poke_insn insn;

	if (copy_from_kernel_nofault(&insn, (void *)site, sizeof(insn.text)))
		return false;
	return insn.opcode == JMP32_INSN_OPCODE &&
	       is_fgraph_stub(site + JMP32_INSN_SIZE + insn.disp);
}

/* Does a function call ftrace, or fgraph's trampoline of ftrace? */
static bool has_call(void *func)
{
	return *(u8 *)ftrace_location((unsigned long)func) == CALL_INSN_OPCODE;
}

static void hook_func(struct kunit *test, struct hook_user *u, void *func)
{
	u->via = VIA_FTRACE;
	KUNIT_ASSERT_EQ(test, try_hook(u, (void *[]) { func, NULL, NULL }), 0);
}

static int mode_before;

/*
 * Use stubs. The first call of a task replaces its return address, as the task has no shadow stack
 * yet. An fgraph user of another function keeps the stack until the test is over.
 */
static int stub_init(struct kunit *test)
{
	hook_init(test);
	mode_before = fgraph_stubs_mode;
	WRITE_ONCE(fgraph_stubs_mode, FGRAPH_STUBS_ON);
	hook_func(test, &users[MAX_USERS - 1], t->pair);
	t->pair(1, 2);
	KUNIT_ASSERT_NOT_NULL(test, current->fgraph_stack);
	return 0;
}

static void stub_exit(struct kunit *test)
{
	WRITE_ONCE(fgraph_stubs_mode, mode_before);
	if (plain_ops.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&plain_ops);
	hook_exit(test);
}

/* A kretprobe and a graph user on one function, in either order of registration. */
static void stub_shared(struct kunit *test)
{
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct hook_user *u = users;
	int round;

	/* An entry handler would need all registers at entry. */
	seen->rp.entry_handler = NULL;
	seen->rp.data_size = 0;
	for (round = 0; round < 2; round++) {
		if (round == 0)
			hook_func(test, u, t->add);
		KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
		if (round == 1)
			hook_func(test, u, t->add);
		KUNIT_EXPECT_TRUE(test, has_stub(t->add));
		KUNIT_EXPECT_EQ(test, t->add(3, round), 3 + round);
		KUNIT_EXPECT_FALSE(test, fgraph_is_trampoline(*u->retp));
		unhook(u);
		KUNIT_EXPECT_TRUE(test, has_stub(t->add));
		KUNIT_EXPECT_EQ(test, t->add(4, round), 4 + round);
		unregister_kretprobe(&seen->rp);

		KUNIT_EXPECT_EQ(test, atomic_read(&u->first), round + 1);
		KUNIT_EXPECT_EQ(test, u->value, 3 + round);
		KUNIT_EXPECT_EQ(test, u->frames, 1);
		KUNIT_EXPECT_EQ(test, u->joined, 1);
		KUNIT_EXPECT_TRUE(test, u->full);
		KUNIT_EXPECT_EQ(test, instruction_pointer(&u->regs), u->ret);
		KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)u->regs.sp, u->retp + 1);
		KUNIT_EXPECT_EQ(test, seen->returns, 2 * round + 2);
		KUNIT_EXPECT_EQ(test, seen->value, 4 + round);
		KUNIT_EXPECT_EQ(test, seen->rp.nmissed, 0);
		memset(&seen->rp.kp, 0, sizeof(seen->rp.kp));
		seen->rp.kp.addr = (void *)t->add;
	}
	expect_calls(test, u, 2);
	expect_stack_empty(test);
}

/* A return handler changes what is returned. */
static void stub_value(struct kunit *test)
{
	struct kretprobe_seen *seen = kretprobe(test, t->add);

	seen->rp.entry_handler = NULL;
	seen->rp.data_size = 0;
	seen->new_value = 77;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
	KUNIT_EXPECT_TRUE(test, has_stub(t->add));
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 77);
	unregister_kretprobe(&seen->rp);
	KUNIT_EXPECT_EQ(test, seen->value, 3);
}

/* Functions with arguments on the stack get them, as they have no stub. */
static void stub_refused(struct kunit *test)
{
	hook_func(test, users, fgraph_kunit_on_stack);
	hook_func(test, users + 1, fgraph_kunit_variadic);
	KUNIT_EXPECT_TRUE(test, has_call(fgraph_kunit_on_stack));
	KUNIT_EXPECT_TRUE(test, has_call(fgraph_kunit_variadic));
	KUNIT_EXPECT_EQ(test, fgraph_kunit_on_stack(1, 2, 4, 8, 16, 32, 64), 127);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_variadic(7, 1L, 2L, 4L, 8L, 16L, 32L, 64L), 127);
	expect_calls(test, users, 1);
	expect_calls(test, users + 1, 1);
}

/* The user does not want the return, or changes its mind. */
static void stub_veto(struct kunit *test)
{
	struct hook_user *u = users;
	int i;

	hook_func(test, u, t->add);
	for (i = 0; i < 4; i++) {
		u->veto = !(i % 2);
		KUNIT_EXPECT_EQ(test, t->add(i, 1), i + 1);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 2);
	expect_stack_empty(test);
}

/* The first call of a task would not use a stub. */
static int warm_sleeper_fn(void *arg)
{
	t->pair(1, 2);
	return sleeper_fn(arg);
}

static void start_traced_sleeper(struct kunit *test, struct sleeper *s)
{
	s->t = t;
	init_completion(&s->began);
	init_completion(&s->go);
	init_completion(&s->done);
	s->task = kthread_run(warm_sleeper_fn, s, "fgraph_kunit");
	if (IS_ERR(s->task))
		s->task = NULL;
	KUNIT_ASSERT_NOT_NULL(test, s->task);
	wait_for_completion(&s->began);
	msleep(20);
}

static void wake_checked(struct kunit *test, struct sleeper *s)
{
	complete_all(&s->go);
	wait_for_completion(&s->done);
	KUNIT_EXPECT_EQ(test, s->value, 42);
	wake(s);
}

/* Another ops comes and goes while calls of either kind sleep. */
static void stub_changes(struct kunit *test)
{
	struct hook_user *u = users;
	int round;

	for (round = 0; round < 2; round++) {
		hook_func(test, u, t->sleep);
		KUNIT_EXPECT_TRUE(test, has_stub(t->sleep));
		start_traced_sleeper(test, &sleepers[0]);
		KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&plain_ops, (unsigned long)t->sleep,
							   0, 0), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&plain_ops), 0);
		KUNIT_EXPECT_TRUE(test, has_call(t->sleep));
		start_traced_sleeper(test, &sleepers[1]);
		if (round == 0)
			wake_checked(test, &sleepers[0]);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&plain_ops), 0);
		ftrace_free_filter(&plain_ops);
		KUNIT_EXPECT_TRUE(test, has_stub(t->sleep));
		wake_checked(test, &sleepers[1]);
		if (round == 1)
			wake_checked(test, &sleepers[0]);
		expect_calls(test, u, 2);
		unhook(u);
		clear(u, 1);
	}
}

/* A user goes while a call of it sleeps, and another one comes. */
static void stub_unregister(struct kunit *test)
{
	hook_func(test, users, t->sleep);
	start_traced_sleeper(test, &sleepers[0]);
	unhook(users);
	KUNIT_EXPECT_FALSE(test, has_stub(t->sleep));
	hook_func(test, users + 1, t->sleep);
	KUNIT_EXPECT_TRUE(test, has_stub(t->sleep));
	wake_checked(test, &sleepers[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&users[0].entries), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&users[0].returns), 0);
	expect_calls(test, users + 1, 0);
}

/* Both functions of a tail call are hooked, by stubs or one by ftrace_caller. */
static void stub_tail(struct kunit *test)
{
	struct hook_user *tail = users, *add = users + 1;
	int round;

	for (round = 0; round < 2; round++) {
		hook_func(test, tail, t->tail);
		hook_func(test, add, t->add);
		KUNIT_EXPECT_TRUE(test, has_stub(t->tail));
		KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&plain_ops, (unsigned long)t->add,
							   0, 0), 0);
		if (round == 1)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&plain_ops), 0);
		KUNIT_EXPECT_EQ(test, has_stub(t->add), round == 0);
		KUNIT_EXPECT_EQ(test, t->tail(t, 3, 4), 7);
		if (round == 1)
			KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&plain_ops), 0);
		ftrace_free_filter(&plain_ops);
		KUNIT_EXPECT_EQ(test, add->ret, tail->ret);
		KUNIT_EXPECT_TRUE(test, core_kernel_text(add->ret));
		KUNIT_EXPECT_PTR_EQ(test, add->retp, tail->retp - 1);
		KUNIT_EXPECT_EQ(test, add->value, 7);
		KUNIT_EXPECT_EQ(test, tail->value, 7);
		expect_calls(test, tail, 1);
		expect_calls(test, add, 1);
		expect_stack_empty(test);
		unhook(tail);
		unhook(add);
		clear(users, 2);
	}
	hook_func(test, users, t->tail_self);
	KUNIT_EXPECT_EQ(test, t->tail_self(t, 40), 7);
	expect_calls(test, users, 41);
	expect_stack_empty(test);
}

static unsigned long other_add(unsigned long a, unsigned long b)
{
	return 1000 + a + b;
}

static int override_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			  struct ftrace_regs *fregs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)other_add);
	arch_ftrace_regs(fregs)->regs.si = 5;
	note_entry(gops, frame, data, fregs);
	return !u->veto;
}

/* An entry callback makes another function be called, with another argument. */
static void stub_override(struct kunit *test)
{
	struct hook_user *u = users;
	int round;

	for (round = 0; round < 4; round++) {
		u->gops.entryfunc = override_entry;
		u->veto = round % 2;
		hook_func(test, u, t->add);
		if (round >= 2)
			hook_func(test, u + 1, t->add);
		KUNIT_EXPECT_TRUE(test, has_stub(t->add));
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 1006);
		KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), !u->veto);
		if (round >= 2) {
			expect_calls(test, u + 1, 1);
			unhook(u + 1);
		}
		expect_stack_empty(test);
		unhook(u);
		clear(users, 2);
	}
}

static void again_entry_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			       void *data, struct fgraph_regs *regs)
{
	note_return(gops, frame, data, regs);
	again_call();
}

/* A return callback calls the function that it is called for. */
static void stub_recursion(struct kunit *test)
{
	struct hook_user *u = users;

	again_start(t);
	u->gops.retfunc = again_entry_return;
	hook_func(test, u, t->add);
	KUNIT_EXPECT_TRUE(test, has_stub(t->add));
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	KUNIT_EXPECT_EQ(test, again.max, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 2);
	KUNIT_EXPECT_EQ(test, fgraph_missed(&u->gops, FGRAPH_MISS_NESTED), 1);
	expect_stack_empty(test);
}

/* A stack trace. */
struct trace {
	unsigned long	addr[32];
	unsigned int	nr;
};

static unsigned long save_trace(void *arg)
{
	struct trace *trace = arg;

	trace->nr = stack_trace_save(trace->addr, ARRAY_SIZE(trace->addr), 0);
	return 0;
}

/* All calls have one return address here. */
static noinline void call_save_trace(struct trace *trace)
{
	t->call(save_trace, trace);
	barrier();
}

static int trace_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		       struct ftrace_regs *fregs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	note_entry(gops, frame, data, fregs);
	u->depth = stack_trace_save(u->trace, MAX_TRACE, 0);
	return 1;
}

static void trace_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			 struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	note_return(gops, frame, data, regs);
	u->depth = stack_trace_save(u->trace, MAX_TRACE, 0);
}

static int find_in(const unsigned long *trace, unsigned int nr, unsigned long from,
		   unsigned long to)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (trace[i] >= from && trace[i] < to)
			return i;
	}
	return -1;
}

/* Traces from the function, the entry and the return callback show the callers as they are. */
static void stub_traces(struct kunit *test)
{
	struct hook_user *in = users, *out = users + 1;
	struct trace trace[2] = { };
	int i, at, bad = 0;

	call_save_trace(&trace[0]);
	hook_func(test, in, t->call);
	call_save_trace(&trace[1]);
	KUNIT_EXPECT_TRUE(test, has_stub(t->call));
	KUNIT_ASSERT_GT(test, trace[0].nr, 3);
	KUNIT_EXPECT_EQ(test, trace[0].nr, trace[1].nr);
	/* But for the two calls in this function, they are the same. */
	for (i = 0; i < trace[0].nr; i++)
		bad += trace[0].addr[i] != trace[1].addr[i];
	KUNIT_EXPECT_EQ(test, bad, 1);
	bad = 0;
	unhook(in);
	clear(users, 2);

	in->gops.entryfunc = trace_entry;
	hook_func(test, in, t->outer);
	out->gops.retfunc = trace_return;
	hook_func(test, out, t->middle);
	KUNIT_EXPECT_EQ(test, t->outer(t, 0), 111);
	KUNIT_EXPECT_TRUE(test, has_stub(t->outer) && has_stub(t->middle));
	at = find_in(in->trace, in->depth, in->ret, in->ret + 1);
	KUNIT_EXPECT_GT(test, at, 0);
	/* The function is right below its caller, as if it were calling. */
	KUNIT_EXPECT_EQ(test, find_in(in->trace, in->depth, (unsigned long)t->outer,
				      (unsigned long)t->outer + 16), at - 1);
	at = find_in(out->trace, out->depth, out->ret, out->ret + 1);
	KUNIT_EXPECT_GT(test, at, 0);
	/* The caller of middle() is outer(), whose caller must come next. */
	KUNIT_EXPECT_EQ(test, find_in(out->trace, out->depth, in->ret, in->ret + 1), at + 1);
	for (i = 0; i < MAX_TRACE; i++)
		bad += is_fgraph_stub(in->trace[i]) || is_fgraph_stub(out->trace[i]);
	KUNIT_EXPECT_EQ(test, bad, 0);
}

/* Compare traces from the entry of each tail call in a row with one from here. */
static void stub_tail_traces(struct kunit *test)
{
	struct hook_user *u = users;
	unsigned long trace[32];
	int nr, at, depth, i, bad;

	u->gops.entryfunc = trace_entry;
	hook_func(test, u, t->tail_self);
	KUNIT_EXPECT_TRUE(test, has_stub(t->tail_self));
	nr = stack_trace_save(trace, ARRAY_SIZE(trace), 0);
	KUNIT_ASSERT_GT(test, nr, 2);
	for (depth = 0; depth < 4; depth++) {
		KUNIT_EXPECT_EQ(test, t->tail_self(t, depth), 7);
		at = find_in(u->trace, u->depth, u->ret, u->ret + 1);
		KUNIT_ASSERT_GT(test, at, 0);
		bad = 0;
		for (i = 1; i < nr && at + i < u->depth; i++)
			bad += u->trace[at + i] != trace[i];
		KUNIT_EXPECT_EQ_MSG(test, bad, 0, "after %d tail calls", depth);
		KUNIT_EXPECT_EQ_MSG(test, u->depth, at + nr, "after %d tail calls", depth);
	}
	expect_stack_empty(test);
}

/* A trace of a task that sleeps is reliable, and has the function and its caller. */
static void stub_remote(struct kunit *test)
{
	unsigned long trace[32];
	int nr;

	hook_func(test, users, t->sleep);
	start_traced_sleeper(test, &sleepers[0]);
	KUNIT_EXPECT_TRUE(test, has_stub(t->sleep));
	if (IS_ENABLED(CONFIG_HAVE_RELIABLE_STACKTRACE))
		nr = stack_trace_save_tsk_reliable(sleepers[0].task, trace, ARRAY_SIZE(trace));
	else
		nr = stack_trace_save_tsk(sleepers[0].task, trace, ARRAY_SIZE(trace), 0);
	KUNIT_ASSERT_GT(test, nr, 2);
	KUNIT_EXPECT_GT(test, find_in(trace, nr, (unsigned long)t->sleep,
				      (unsigned long)t->sleep + 64), 0);
	KUNIT_EXPECT_GT(test, find_in(trace, nr, users[0].ret, users[0].ret + 1), 0);
	wake_checked(test, &sleepers[0]);
}

/* For interrupts at any instruction of a stub and of what it calls. */
static struct {
	struct hrtimer		timer;
	struct task_struct	*task;
	unsigned long		from, to;
	bool			on;
	unsigned int		traces, wrong, inside;
	struct trace		wrong_trace;
} tick;

static enum hrtimer_restart tick_fn(struct hrtimer *timer)
{
	struct pt_regs *regs = get_irq_regs();
	struct trace trace;

	if (current == tick.task && READ_ONCE(tick.on) && regs && !user_mode(regs)) {
		trace.nr = stack_trace_save_regs(regs, trace.addr, ARRAY_SIZE(trace.addr), 0);
		tick.traces++;
		tick.inside += is_fgraph_stub(regs->ip);
		if (find_in(trace.addr, trace.nr, tick.from, tick.to) < 0) {
			tick.wrong++;
			tick.wrong_trace = trace;
		}
	}
	hrtimer_forward_now(timer, ns_to_ktime(150 * NSEC_PER_USEC + (get_cycles() & 0x3fff)));
	return HRTIMER_RESTART;
}

/* Each trace that is taken while this runs must have it. */
static noinline unsigned int call_for(unsigned long jiffies_end)
{
	unsigned int wrong = 0;

	WRITE_ONCE(tick.on, true);
	while (time_before(jiffies, jiffies_end))
		wrong += t->add(1, 2) != 3;
	WRITE_ONCE(tick.on, false);
	return wrong;
}

/* Interrupts take traces anywhere in a stub, and in enter and leave. */
static void stub_interrupted(struct kunit *test)
{
	unsigned long size, offset;
	char name[KSYM_NAME_LEN];
	unsigned int i;

	hook_func(test, users, t->add);
	KUNIT_EXPECT_TRUE(test, has_stub(t->add));
	memset(&tick, 0, sizeof(tick));
	KUNIT_ASSERT_NOT_NULL(test, kallsyms_lookup((unsigned long)call_for, &size, &offset, NULL,
						    name));
	tick.from = (unsigned long)call_for;
	tick.to = tick.from + size;
	tick.task = current;
	hrtimer_setup(&tick.timer, tick_fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&tick.timer, ns_to_ktime(150 * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_PINNED_HARD);
	KUNIT_EXPECT_EQ(test, call_for(jiffies + HZ), 0);
	hrtimer_cancel(&tick.timer);
	KUNIT_EXPECT_GT(test, tick.traces, 0);
	KUNIT_EXPECT_EQ(test, tick.wrong, 0);
	kunit_info(test, "%u traces, %u from a stub\n", tick.traces, tick.inside);
	for (i = 0; i < tick.wrong_trace.nr; i++)
		kunit_info(test, "%pS in a wrong one\n", (void *)tick.wrong_trace.addr[i]);
	expect_stack_empty(test);
}

/* Names of stubs, and whether they are text. */
static void stub_names(struct kunit *test)
{
	unsigned long site = ftrace_location((unsigned long)t->add), stub;
	char name[KSYM_SYMBOL_LEN];

	hook_func(test, users, t->add);
	KUNIT_ASSERT_TRUE(test, has_stub(t->add));
	stub = site + JMP32_INSN_SIZE + ((union text_poke_insn *)site)->disp;
	KUNIT_EXPECT_TRUE(test, kernel_text_address(stub));
	sprint_symbol(name, stub + 5);
	KUNIT_EXPECT_STREQ(test, name, "fgraph_stub.fgraph_kunit_traced_add+0x5/0x40");
}

/* Many functions come and go while others call them. */
static int caller_fn(void *arg)
{
	unsigned long *wrong = arg;

	t->pair(1, 2);
	while (!kthread_should_stop()) {
		*wrong += t->add(1, 2) != 3;
		*wrong += t->outer(t, 5) != 116;
		*wrong += t->tail(t, 3, 4) != 7;
		*wrong += t->tail_self(t, 3) != 7;
		*wrong += t->nest(t, 5) != 5;
		cond_resched();
	}
	return 0;
}

static void stub_load(struct kunit *test)
{
	void *funcs[] = { t->add, t->outer, t->middle, t->inner, t->tail, t->tail_self, t->nest };
	static unsigned long wrong[2];
	struct task_struct *task[2];
	unsigned long end;
	int i, n = 0;

	for (i = 0; i < 2; i++) {
		wrong[i] = 0;
		task[i] = kthread_run(caller_fn, &wrong[i], "fgraph_kunit");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
	}
	for (end = jiffies + 2 * HZ; time_before(jiffies, end); n++) {
		for (i = 0; i < ARRAY_SIZE(funcs); i++) {
			users[i].gops.entryfunc = count_entry;
			users[i].gops.retfunc = count_return;
			hook_func(test, &users[i], funcs[i]);
		}
		ftrace_set_filter_ip(&plain_ops, (unsigned long)funcs[n % ARRAY_SIZE(funcs)], 0, 0);
		register_ftrace_function(&plain_ops);
		unregister_ftrace_function(&plain_ops);
		ftrace_free_filter(&plain_ops);
		for (i = 0; i < ARRAY_SIZE(funcs); i++)
			unhook(&users[i]);
	}
	for (i = 0; i < 2; i++) {
		kthread_stop(task[i]);
		KUNIT_EXPECT_EQ(test, wrong[i], 0);
	}
	for (i = 0; i < ARRAY_SIZE(funcs); i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].wrong), 0);
	kunit_info(test, "%d rounds\n", n);
}

static struct kunit_case stub_cases[] = {
	KUNIT_CASE(stub_shared),
	KUNIT_CASE(stub_value),
	KUNIT_CASE(stub_refused),
	KUNIT_CASE(stub_veto),
	KUNIT_CASE(stub_changes),
	KUNIT_CASE(stub_unregister),
	KUNIT_CASE(stub_tail),
	KUNIT_CASE(stub_override),
	KUNIT_CASE(stub_recursion),
	KUNIT_CASE(stub_traces),
	KUNIT_CASE(stub_tail_traces),
	KUNIT_CASE(stub_remote),
	KUNIT_CASE(stub_interrupted),
	KUNIT_CASE(stub_names),
	KUNIT_CASE_SLOW(stub_load),
	{}
};

static struct kunit_suite stub_suite = {
	.name = "fgraph_stub",
	.init = stub_init,
	.exit = stub_exit,
	.test_cases = stub_cases,
};

kunit_test_suite(stub_suite);
