// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of fprobes as users of fgraph, in addition to those of lib/test_fprobe.c. */
#include <kunit/test.h>
#include <linux/error-injection.h>
#include <linux/fprobe.h>

#include "fgraph_kunit_hook.h"

/* The generator of parameters: fprobes are only called by ftrace. */
static const void *via_ftrace(GENERATOR_PARAMS)
{
	if (prev)
		return NULL;
	strscpy(desc, via_params[VIA_FTRACE].name, KUNIT_PARAM_DESC_SIZE);
	return &via_params[VIA_FTRACE];
}

struct fprobe_seen {
	struct fprobe	fp;
	unsigned int	entries;
	unsigned int	exits;
};

static FPROBE_ENTRY_TYPE seen_entry(FPROBE_PARAMS)
{
	container_of(fp, struct fprobe_seen, fp)->entries++;
	return FPROBE_WANT_EXIT;
}

static void seen_exit(FPROBE_PARAMS)
{
	container_of(fp, struct fprobe_seen, fp)->exits++;
}

static unsigned int wrong_args;

static FPROBE_ENTRY_TYPE check_entry(FPROBE_PARAMS)
{
	wrong_args += fprobe_argument(regs, 0) != 1 || fprobe_argument(regs, 1) != 2;
	container_of(fp, struct fprobe_seen, fp)->entries++;
	return FPROBE_WANT_EXIT;
}

static void check_exit(FPROBE_PARAMS)
{
	wrong_args += fprobe_return_value(regs) != 3;
	container_of(fp, struct fprobe_seen, fp)->exits++;
}

/*
 * A static fprobe, for whose ops ftrace may keep a trampoline, is registered again with other
 * handlers: each handler gets the right registers.
 */
static void hook_fprobe_again(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add;
	static struct fprobe_seen seen;
	int i;

	wrong_args = 0;
	memset(&seen, 0, sizeof(seen));
	for (i = 0; i < 8; i++) {
		/* All transitions between an entry handler, an exit handler and both. */
		unsigned int handlers = "\1\2\3\1\3\2\1\2"[i];

		seen.entries = 0;
		seen.exits = 0;
		seen.fp.entry_handler = handlers & 1 ? check_entry : NULL;
		seen.fp.exit_handler = handlers & 2 ? check_exit : NULL;
		KUNIT_ASSERT_EQ(test, register_fprobe_ips(&seen.fp, &add, 1), 0);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen.fp), 0);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
		KUNIT_EXPECT_EQ(test, seen.entries, handlers & 1);
		KUNIT_EXPECT_EQ(test, seen.exits, handlers >> 1);
	}
	KUNIT_EXPECT_EQ(test, wrong_args, 0);
}

/* Many fprobes of one function: each is called once per call, unless it is disabled. */
static void hook_fprobes(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add;
	struct fprobe_seen *seen;
	int i, nr = 40;

	seen = kunit_kcalloc(test, nr, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < nr; i++) {
		seen[i].fp.entry_handler = seen_entry;
		seen[i].fp.exit_handler = seen_exit;
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen[i].fp, &add, 1), 0);
		/* Register other users of the same function in between. */
		if (i % 8 == 5)
			hook(test, &users[i], t->add);
	}
	/* One fprobe is registered again, without an exit handler. */
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen[3].fp), 0);
	seen[3].fp.exit_handler = NULL;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen[3].fp, &add, 1), 0);
	for (i = 0; i < nr; i += 4)
		disable_fprobe(&seen[i].fp);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	for (i = 0; i < nr; i++) {
		if (i % 2)
			disable_fprobe(&seen[i].fp);
		else
			enable_fprobe(&seen[i].fp);
	}
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	for (i = 0; i < nr; i++) {
		unsigned int calls = i % 4 == 2 ? 2 : 1;

		KUNIT_EXPECT_EQ(test, seen[i].entries, calls);
		KUNIT_EXPECT_EQ(test, seen[i].exits, i == 3 ? 0 : calls);
		KUNIT_EXPECT_EQ(test, seen[i].fp.nmissed, 0);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen[i].fp), 0);
		if (i % 8 == 5)
			expect_calls(test, &users[i], 2);
	}
	expect_stack_empty(test);
}

#ifdef FPROBE_SESSION_PARAMS
/* An fprobe that wants the return of every other call, with private data of each call. */
struct fprobe_session {
	struct fprobe	fp;
	unsigned int	entries;
	unsigned int	exits;
	unsigned int	wrong;
	unsigned long	ret_ip;
};

/* As much private data as fits into the record of a call, and a little more than fits. */
static const size_t session_sizes[] = { sizeof(unsigned long), 8 * sizeof(unsigned long) };

static int every_other_entry(FPROBE_SESSION_PARAMS)
{
	struct fprobe_session *s = container_of(fp, struct fprobe_session, fp);
	unsigned long *last = data + fp->entry_data_size - sizeof(*last);

	s->ret_ip = ret_ip;
	s->wrong += fprobe_argument(regs, 0) != s->entries;
	*last = s->entries++;
	return *last & 1;
}

static void every_other_exit(FPROBE_SESSION_PARAMS)
{
	struct fprobe_session *s = container_of(fp, struct fprobe_session, fp);
	unsigned long *last = data + fp->entry_data_size - sizeof(*last);

	s->wrong += ret_ip != s->ret_ip || *last != s->entries - 1 || *last & 1;
	s->wrong += fprobe_return_value(regs) != *last + 2;
	s->exits++;
}

/*
 * The entry handler of an fprobe refuses the return of calls, also of a call whose return another
 * user wants. Both handlers are given the address that the call returns to.
 */
static void hook_fprobe_session(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add;
	struct fprobe_session *s;
	int i, n;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	s->fp.session_entry = every_other_entry;
	s->fp.session_exit = every_other_exit;
	for (i = 0; i < 2 * ARRAY_SIZE(session_sizes); i++) {
		s->entries = 0;
		s->exits = 0;
		s->fp.entry_data_size = session_sizes[i / 2];
		KUNIT_ASSERT_EQ(test, register_fprobe_ips(&s->fp, &add, 1), 0);
		if (i % 2)
			hook(test, &users[i], t->add);
		for (n = 0; n < 10; n++)
			KUNIT_EXPECT_EQ(test, t->add(n, 2), n + 2);
		expect_stack_empty(test);
		KUNIT_EXPECT_EQ(test, s->entries, 10);
		KUNIT_EXPECT_EQ(test, s->exits, 5);
		KUNIT_EXPECT_EQ(test, s->wrong, 0);
		if (s->ret_ip - (unsigned long)hook_fprobe_session >= 16384)
			KUNIT_FAIL(test, "returns to %pS", (void *)s->ret_ip);
		if (i % 2) {
			expect_calls(test, &users[i], 10);
			unhook(&users[i]);
		}
		KUNIT_EXPECT_EQ(test, s->fp.nmissed, 0);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&s->fp), 0);
	}
}

/* Handlers of which one would never be called are refused. */
static void hook_fprobe_both_kinds(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add;
	struct fprobe_seen *seen;

	seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->fp.session_entry = every_other_entry;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen->fp, &add, 1), -EINVAL);
	seen->fp.exit_handler = seen_exit;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen->fp, &add, 1), -EINVAL);
	seen->fp.session_exit = every_other_exit;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen->fp, &add, 1), -EINVAL);
	seen->fp.exit_handler = NULL;
	seen->fp.entry_handler = seen_entry;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen->fp, &add, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen->fp), -EINVAL);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
}
#endif

static unsigned int again_exits;

static FPROBE_ENTRY_TYPE again_enter(FPROBE_PARAMS)
{
	again_call();
	return FPROBE_WANT_EXIT;
}

static void again_exit(FPROBE_PARAMS)
{
	again_exits++;
}

/* An fprobe with FPROBE_FL_KPROBE_SHARED hooks the function that its own handling calls. */
static void hook_fprobe_shared(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long sites[] = { ftrace_location((unsigned long)t->add),
				  ftrace_location((unsigned long)kprobe_busy_begin) };
	struct fprobe_seen *seen;

	seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->fp.entry_handler = seen_entry;
	seen->fp.exit_handler = seen_exit;
	seen->fp.flags = FPROBE_FL_KPROBE_SHARED;
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&seen->fp, sites, ARRAY_SIZE(sites)), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen->fp), 0);
	/* There was recursion, and it ended. */
	KUNIT_EXPECT_GE(test, seen->fp.nmissed, 1);
	KUNIT_EXPECT_GE(test, seen->entries, 2);
	KUNIT_EXPECT_EQ(test, seen->entries, seen->exits);
}

/* The handler of an fprobe calls its function, also in a task without a stack: recursion ends. */
static void hook_fprobe_in_handler(struct kunit *test)
{
	static struct fprobe fp = { .entry_handler = again_enter, .exit_handler = again_exit };
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long site = ftrace_location((unsigned long)t->add);

	again_start(t);
	again_exits = 0;
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&fp, &site, 1), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	unregister_fprobe(&fp);
	/* The call by a handler is hooked, a call by the handler of that one is missed. */
	KUNIT_EXPECT_GE(test, again.max, 1);
	KUNIT_EXPECT_LE(test, again.max, 2);
	KUNIT_EXPECT_EQ(test, again_exits, again.max);
	KUNIT_EXPECT_EQ(test, fp.nmissed, 1);
}

#if defined(CONFIG_FUNCTION_ERROR_INJECTION) && defined(CONFIG_FUNCTION_GRAPH_TRACER)
static FPROBE_ENTRY_TYPE override_entry(FPROBE_PARAMS)
{
	fprobe_set_return_value(regs, 99);
	fprobe_override(regs);
	return FPROBE_WANT_EXIT;
}

/* An fprobe overrides the function, which other users have hooked before or hook after it. */
static void hook_override_fprobe(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	unsigned long add = (unsigned long)t->add;
	struct fprobe_seen *fps;
	int i;

	need_own_trampolines(test, "a function that is overridden does not return");
	fps = kunit_kcalloc(test, 2, sizeof(*fps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fps);
	for (i = 0; i < 2; i++) {
		fps[i].fp.entry_handler = override_entry;
		if (i)
			fps[i].fp.exit_handler = seen_exit;
		KUNIT_ASSERT_EQ(test, register_fprobe_ips(&fps[i].fp, &add, 1), 0);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
		hook(test, &users[i], t->add);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
		expect_calls(test, &users[i], 1);
		/* A kretprobe that was unregistered is marked as disabled. */
		seen->rp.kp.flags = 0;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
		expect_stack_empty(test);
		unregister_kretprobe(&seen->rp);
		KUNIT_EXPECT_EQ(test, seen->returns, i + 1);
		expect_calls(test, &users[i], 2);
		unhook(&users[i]);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&fps[i].fp), 0);
	}
	KUNIT_EXPECT_EQ(test, fps[1].exits, 3);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
}
#endif

#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_CONTEXT_TRACKING_IDLE)
static void expect_seen(struct kunit *test, struct fprobe_seen *seen, unsigned int exits,
			unsigned long missed)
{
	KUNIT_EXPECT_EQ(test, seen->exits, exits);
	KUNIT_EXPECT_EQ(test, seen->entries, seen->fp.entry_handler ? exits : 0);
	KUNIT_EXPECT_EQ(test, seen->fp.nmissed, missed);
}

/* Call add() where RCU does not watch, as in the idle loop. */
static int call_idle(const struct fgraph_kunit_targets *t)
{
	int value;

	local_irq_disable();
	ct_idle_enter();
	value = t->add(1, 2);
	ct_idle_exit();
	local_irq_enable();
	return value;
}

static unsigned long leave_nothing(void *unused)
{
	return 0;
}

static unsigned long leave_rcu(void *unused)
{
	ct_idle_enter();
	return 0;
}

/* A call begins where RCU watches and returns where it does not: the fprobe misses it. */
static void hook_fprobe_unwatched(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long call = (unsigned long)t->call, flags, value;
	struct fprobe_seen *seen;

	seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->fp.exit_handler = seen_exit;
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&seen->fp, &call, 1), 0);
	local_irq_save(flags);
	value = t->call(leave_rcu, NULL);
	ct_idle_exit();
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, value, 1);
	expect_seen(test, seen, 0, FPROBE_IDLE_MISSES(1));
	KUNIT_EXPECT_EQ(test, t->call(leave_nothing, NULL), 1);
	expect_seen(test, seen, 1, FPROBE_IDLE_MISSES(1));
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen->fp), 0);
}

/* hook_batch() has so many fprobes and other users, and so many kretprobes, of add(). */
#define BATCH_USERS		4
#define BATCH_KRETPROBES	2

/*
 * Does a breakpoint hook the calls for this kretprobe? Calls that a callback makes are then not
 * missed. Calls where RCU does not watch are missed at the return.
 */
static bool hooked_by_breakpoint(const struct kretprobe *rp)
{
	return !IS_ENABLED(CONFIG_HAVE_FGRAPH) ||
	       (rp->entry_handler && !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS));
}

/* Register them. The first two fprobes have no entry handler, nor has the first kretprobe. */
static struct fprobe_seen *batch_register(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add;
	struct fprobe_seen *seen;
	int i;

	seen = kunit_kcalloc(test, BATCH_USERS, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < BATCH_USERS; i++) {
		seen[i].fp.entry_handler = i < 2 ? NULL : seen_entry;
		seen[i].fp.exit_handler = seen_exit;
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen[i].fp, &add, 1), 0);
		users[i].gops.entryfunc = i % 2 ? count_entry : NULL;
		users[i].gops.retfunc = count_return;
		hook(test, &users[i], t->add);
	}
	memset(chain, 0, sizeof(chain));
	for (i = 0; i < BATCH_KRETPROBES; i++) {
		chain[i].rp.kp.addr = (void *)t->add;
		chain[i].rp.handler = chain_handler;
		chain[i].rp.entry_handler = i ? chain_entry : NULL;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	return seen;
}

/* Call add() in four ways, after which each user has seen @rounds rounds of such calls. */
static void batch_round(struct kunit *test, struct fprobe_seen *seen, unsigned int rounds)
{
	const struct fgraph_kunit_targets *t = targets(test);
	int i;

	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	/* This only concerns graph tracers. */
	pause_graph_tracing();
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unpause_graph_tracing();
	/* Fprobes and kretprobes miss this, as their handlers may rely on RCU. */
	KUNIT_EXPECT_EQ(test, call_idle(t), 3);
	for (i = 1; i < 3; i++)
		disable_fprobe(&seen[i].fp);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	for (i = 1; i < 3; i++)
		enable_fprobe(&seen[i].fp);
	for (i = 0; i < BATCH_USERS; i++) {
		expect_seen(test, &seen[i], (i % 3 ? 2 : 3) * rounds, FPROBE_IDLE_MISSES(rounds));
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].returns), 4 * rounds);
	}
	for (i = 0; i < BATCH_KRETPROBES; i++) {
		KUNIT_EXPECT_EQ(test, chain[i].returns, 3 * rounds);
		KUNIT_EXPECT_EQ(test, chain[i].rp.nmissed, rounds);
		KUNIT_EXPECT_EQ(test, chain[i].wrong, 0);
	}
}

/*
 * After two rounds, a callback calls add() when it returns, and so does the callback of that
 * call: all users see the first two calls and miss the third. A disabled fprobe misses nothing.
 */
static void batch_nested(struct kunit *test, struct fprobe_seen *seen)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *calls = &users[BATCH_USERS];

	calls->gops.entryfunc = count_entry;
	calls->gops.retfunc = call_hooked_return;
	hook(test, calls, t->add);
	disable_fprobe(&seen[1].fp);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_seen(test, &seen[0], 8, FPROBE_IDLE_MISSES(2) + 1);
	expect_seen(test, &seen[1], 4, FPROBE_IDLE_MISSES(2));
	expect_seen(test, &seen[2], 6, FPROBE_IDLE_MISSES(2) + 1);
	expect_seen(test, &seen[3], 8, FPROBE_IDLE_MISSES(2) + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&calls->returns), 2);
}

/* Unregister all, and expect what they have seen in batch_round() and batch_nested(). */
static void batch_unregister(struct kunit *test, struct fprobe_seen *seen)
{
	int i;

	for (i = 0; i < BATCH_USERS; i++) {
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen[i].fp), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].returns), 10);
		KUNIT_EXPECT_EQ(test, user_missed(&users[i]), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&users[i].wrong), 0);
	}
	for (i = 0; i < BATCH_KRETPROBES; i++) {
		bool all = hooked_by_breakpoint(&chain[i].rp);

		unregister_kretprobe(&chain[i].rp);
		KUNIT_EXPECT_EQ(test, chain[i].returns, all ? 9 : 8);
		KUNIT_EXPECT_EQ(test, chain[i].rp.nmissed, all ? 2 : 3);
	}
}

/* Users of different kinds, which are hooked in one batch, each see what they would see alone. */
static void hook_batch(struct kunit *test)
{
	static struct ftrace_ops other = { .func = plain_func, .flags = FTRACE_OPS_FL_RECURSION };
	unsigned long add = (unsigned long)targets(test)->add;
	struct fprobe_seen *seen;

	need_own_trampolines(test, "there are no batches");
	seen = batch_register(test);
	plain_calls = 0;
	batch_round(test, seen, 1);
	/* The second round is next to an ftrace_ops that relies on ftrace against recursion. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&other, add, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&other), 0);
	batch_round(test, seen, 2);
	KUNIT_EXPECT_EQ(test, plain_calls, 4);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&other), 0);
	ftrace_free_filter(&other);

	batch_nested(test, seen);
	batch_unregister(test, seen);
	expect_stack_empty(test);
}

/*
 * A call was on its way to arch_ftrace_ops_list_func() when the first user that needs all
 * registers was registered. They have not been saved, so that user must not be called.
 */
static void hook_no_regs(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long add = (unsigned long)t->add, ret = _THIS_IP_;
	struct pt_regs regs = { };
	struct fprobe_seen *seen;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		kunit_skip(test, "ftrace cannot save all registers");
	seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->fp.entry_handler = seen_entry;
	seen->fp.exit_handler = seen_exit;
	if (FPROBE_NEEDS_ALL_REGS)
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&seen->fp, &add, 1), 0);
	memset(chain, 0, sizeof(chain));
	chain[0].rp.kp.addr = (void *)add;
	chain[0].rp.handler = chain_handler;
	chain[0].rp.entry_handler = chain_entry;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[0].rp), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);

	stack_pointer(&regs) = (unsigned long)&ret;
	*fgraph_entry_place(&regs) = ret;
	arch_ftrace_ops_list_func(ftrace_location(add), 0, NULL, (struct ftrace_regs *)&regs);
	KUNIT_EXPECT_EQ(test, *fgraph_entry_place(&regs), ret);
	KUNIT_EXPECT_EQ(test, chain[0].returns, 1);
	KUNIT_EXPECT_EQ(test, chain[0].wrong, 0);
	expect_seen(test, seen, FPROBE_NEEDS_ALL_REGS, 0);
	expect_stack_empty(test);
	unregister_kretprobe(&chain[0].rp);
	if (FPROBE_NEEDS_ALL_REGS)
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&seen->fp), 0);
}
#endif

static struct kunit_case fprobe_cases[] = {
	KUNIT_CASE_PARAM(hook_fprobes, via_ftrace),
	KUNIT_CASE_PARAM(hook_fprobe_again, via_ftrace),
#ifdef FPROBE_SESSION_PARAMS
	KUNIT_CASE_PARAM(hook_fprobe_session, via_ftrace),
	KUNIT_CASE_PARAM(hook_fprobe_both_kinds, via_ftrace),
#endif
	KUNIT_CASE_PARAM(hook_fprobe_shared, via_ftrace),
	KUNIT_CASE_PARAM(hook_fprobe_in_handler, via_ftrace),
#if defined(CONFIG_FUNCTION_ERROR_INJECTION) && defined(CONFIG_FUNCTION_GRAPH_TRACER)
	KUNIT_CASE_PARAM(hook_override_fprobe, via_ftrace),
#endif
#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_CONTEXT_TRACKING_IDLE)
	KUNIT_CASE_PARAM(hook_fprobe_unwatched, via_ftrace),
	KUNIT_CASE_PARAM(hook_batch, via_ftrace),
	KUNIT_CASE_PARAM(hook_no_regs, via_ftrace),
#endif
	{}
};

static struct kunit_suite fprobe_suite = {
	.name = "fgraph_fprobe",
	.init = hook_init,
	.exit = hook_exit,
	.test_cases = fprobe_cases,
};

kunit_test_suite(fprobe_suite);
