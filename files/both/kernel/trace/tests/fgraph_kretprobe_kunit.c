// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of kretprobes as users of fgraph, beside those of lib/test_kprobes.c. */
#include <kunit/test.h>
#include <linux/context_tracking.h>
#include <linux/delay.h>
#include <linux/error-injection.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>

#include "fgraph_kunit_hook.h"

/* A kretprobe and another user share a frame, in either order of registration. */
static void hook_join_kretprobe(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct hook_user *u = users;
	int round;

	for (round = 0; round < 2; round++) {
		if (round == 0)
			hook(test, u, t->add);
		KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
		if (round == 1)
			hook(test, u, t->add);
		hooked(test);
		KUNIT_EXPECT_EQ(test, t->add(3, round), 3 + round);
		unhook(u);
		unregister_kretprobe(&seen->rp);

		KUNIT_EXPECT_EQ(test, u->value, 3 + round);
		KUNIT_EXPECT_EQ(test, u->frames, 1);
		KUNIT_EXPECT_EQ(test, u->joined, 1);
		KUNIT_EXPECT_TRUE(test, u->full);
		KUNIT_EXPECT_EQ(test, seen->entries, round + 1);
		KUNIT_EXPECT_EQ(test, seen->returns, round + 1);
		KUNIT_EXPECT_EQ(test, seen->wrong, 0);
		KUNIT_EXPECT_EQ(test, seen->value, 3 + round);
		KUNIT_EXPECT_EQ(test, seen->ret, u->ret);
		KUNIT_EXPECT_EQ(test, seen->rp.nmissed, 0);
		memset(&seen->rp.kp, 0, sizeof(seen->rp.kp));
		seen->rp.kp.addr = (void *)t->add;
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), 2);
}

/* What the entry handler of a kretprobe has seen. */
static struct entry_found {
	unsigned int	entries;
	unsigned int	returns;
	unsigned int	wrong;
	unsigned long	ip;
	struct kprobe	*running;
} found;

static const struct fgraph_kunit_targets *found_by;

static int found_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	found.entries++;
	found.ip = instruction_pointer(regs);
	found.running = kprobe_running();
	if (user_mode(regs) || regs_get_kernel_argument(regs, 1) != 2 ||
	    fgraph_is_trampoline(get_kretprobe_retaddr(ri)))
		found.wrong++;
	/* The kretprobe on nest() misses this call, as a handler makes it. */
	found_by->nest(found_by, 0);
	memset(ri->data, 0xa5, rp->data_size);
	/* Refuse the return of all calls but add(1, 2). */
	return regs_get_kernel_argument(regs, 0) != 1;
}

static int found_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	found.returns++;
	if (memchr_inv(ri->data, 0xa5, get_kretprobe(ri)->data_size) ||
	    regs_return_value(regs) != 3)
		found.wrong++;
	return 0;
}

/* An entry handler sees the same state whether a kprobe (round 0) or ftrace calls it. */
static void hook_kretprobe_entry(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe *skipped = &kretprobe(test, t->nest)->rp;
	unsigned long by_kprobe_ip = 0;
	static struct kprobe kp;
	int round;

	found_by = t;
	KUNIT_EXPECT_EQ(test, register_kretprobe(skipped), 0);
	for (round = 0; round < 2; round++) {
		struct kretprobe *rp = &kretprobe(test, t->add)->rp;

		memset(&found, 0, sizeof(found));
		memset(&kp, 0, sizeof(kp));
		kp.addr = (void *)t->add;
		kp.post_handler = user_post_handler;
		if (round == 0)
			KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
		rp->entry_handler = found_entry;
		rp->handler = found_handler;
		KUNIT_EXPECT_EQ(test, register_kretprobe(rp), 0);
		hooked(test);
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
		KUNIT_EXPECT_EQ(test, t->add(2, 2), 4);
		KUNIT_EXPECT_NOT_NULL(test, found.running);
		if (round == 1 && via_of(test) == VIA_FTRACE && IS_ENABLED(CONFIG_HAVE_FGRAPH) &&
		    IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS)) {
			KUNIT_EXPECT_TRUE(test, rp->kp.flags & KPROBE_FLAG_RETURN);
			KUNIT_EXPECT_PTR_EQ(test, found.running, &rp->kp);
		}
		expect_stack_empty(test);
		unregister_kretprobe(rp);
		KUNIT_EXPECT_EQ(test, rp->nmissed, 0);
		KUNIT_EXPECT_EQ(test, found.entries, 2);
		KUNIT_EXPECT_EQ(test, found.returns, 1);
		KUNIT_EXPECT_EQ(test, found.wrong, 0);
		if (round == 0) {
			unregister_kprobe(&kp);
			by_kprobe_ip = found.ip;
		}
	}
	KUNIT_EXPECT_EQ(test, found.ip, by_kprobe_ip);
	unregister_kretprobe(skipped);
	KUNIT_EXPECT_EQ(test, skipped->nmissed + skipped->kp.nmissed, 4);
}

static unsigned int rcu_returns;

static int rcu_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	rcu_returns++;
	return 0;
}

/*
 * A kretprobe on rcu_is_watching(), the function that tells whether RCU watches, must not recurse
 * when its own handler needs to know that.
 */
static void hook_kretprobe_rcu(struct kunit *test)
{
	struct kretprobe *rp;
	int i;

	if (IS_ENABLED(CONFIG_PROVE_RCU) || !IS_ENABLED(CONFIG_TREE_RCU))
		kunit_skip(test, "rcu_is_watching() is called by each breakpoint or is inline");
	rp = &kretprobe(test, (void *)rcu_is_watching)->rp;
	rp->entry_handler = NULL;
	rp->handler = rcu_return;
	rcu_returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(rp), 0);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, rcu_is_watching());
	unregister_kretprobe(rp);
	KUNIT_EXPECT_GE(test, rcu_returns, 10);
}

#ifdef CONFIG_CONTEXT_TRACKING_IDLE
static unsigned long unwatched_call(void *unused)
{
	ct_idle_enter();
	return 0;
}

/* A call begins where RCU watches and returns where it does not: the kretprobe misses it. */
static void hook_kretprobe_unwatched(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned long flags, value;
	struct kretprobe *rp;

	rp = &kretprobe(test, (void *)t->call)->rp;
	rp->entry_handler = NULL;
	rp->handler = rcu_return;
	rcu_returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(rp), 0);
	hooked(test);
	local_irq_save(flags);
	value = t->call(unwatched_call, NULL);
	ct_idle_exit();
	local_irq_restore(flags);
	unregister_kretprobe(rp);
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_EXPECT_EQ(test, rcu_returns, 0);
	KUNIT_EXPECT_EQ(test, rp->nmissed, 1);
}
#endif

#ifdef CONFIG_PREEMPT_RCU
/* A task that keeps a grace period of RCU from ending, for at most 15 seconds. */
struct rcu_holder {
	struct task_struct	*task;
	struct completion	began;
	bool			done;
	bool			gave_up;
};

static int rcu_holder_fn(void *arg)
{
	unsigned long end = jiffies + 15 * HZ;
	struct rcu_holder *h = arg;

	set_user_nice(current, MAX_NICE);
	rcu_read_lock();
	complete(&h->began);
	while (!READ_ONCE(h->done) && time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(h->gave_up, !READ_ONCE(h->done));
	rcu_read_unlock();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Make the task. Ends the test if it cannot, so call this before a probe is registered. */
static void rcu_holder_make(struct kunit *test, struct rcu_holder *h)
{
	/* A task that is not preempted would keep everything else from its CPU. */
	if (!preempt_model_preemptible())
		kunit_skip(test, "tasks in the kernel are not preempted");
	*h = (struct rcu_holder) {};
	init_completion(&h->began);
	h->task = kthread_create(rcu_holder_fn, h, "fgraph_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(h->task));
}

/* Let it hold RCU. */
static void rcu_hold(struct rcu_holder *h)
{
	/*
	 * The optimizer waits for RCU with kprobe_mutex held, also if it has nothing to do. It
	 * begins a few jiffies after a probe was registered or unregistered.
	 */
	msleep(100);
	wait_for_kprobe_optimizer();
	wake_up_process(h->task);
	wait_for_completion(&h->began);
}

/* Returns whether the task held RCU until now. */
static bool rcu_held(struct rcu_holder *h)
{
	WRITE_ONCE(h->done, true);
	kthread_stop(h->task);
	return !h->gave_up;
}

/* unregister_kretprobe() returns while a task keeps a grace period of RCU from ending. */
static void hook_kretprobe_unregister(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct rcu_holder holder;

	rcu_holder_make(test, &holder);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	rcu_hold(&holder);
	unregister_kretprobe(&seen->rp);
	KUNIT_EXPECT_TRUE(test, rcu_held(&holder));
	KUNIT_EXPECT_EQ(test, seen->returns, 1);
}

#if defined(CONFIG_PERF_EVENTS) && defined(CONFIG_KPROBE_EVENTS)
/* A return probe of perf is closed while a task keeps a grace period of RCU from ending. */
static void hook_kretprobe_perf_close(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct rcu_holder holder;
	struct perf_event *event;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "perf takes functions that ftrace can call");
	event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.kprobe_addr = (unsigned long)t->add;
	rcu_holder_make(test, &holder);
	KUNIT_ASSERT_EQ(test, perf_kprobe_init(event, true), 0);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	rcu_hold(&holder);
	perf_kprobe_destroy(event);
	KUNIT_EXPECT_TRUE(test, rcu_held(&holder));
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
}
#endif
#endif /* CONFIG_PREEMPT_RCU */

/* For probes that are hit while the handler of another probe runs. */
static struct {
	struct irq_work			work;
	const struct fgraph_kunit_targets *t;
	unsigned int			outer;
	unsigned int			returns;
	bool				done;
} nested;

/* Call both functions that have kretprobes. */
static void nested_call(void)
{
	nested.t->nest(nested.t, 0);
	nested.t->add(1, 2);
}

static void nested_interrupt(struct irq_work *work)
{
	nested_call();
	WRITE_ONCE(nested.done, true);
}

/* Calls the functions from a handler, and waits for an interrupt that does so, too. */
static int nested_outer(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	int ms;

	/* A recursion that does not end by itself is told by the number of calls. */
	if (nested.outer++ >= 10)
		return 0;
	nested_call();
	irq_work_queue(&nested.work);
	for (ms = 0; ms < 1000 && !READ_ONCE(nested.done); ms++)
		mdelay(1);
	return 0;
}

static int nested_inner(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	/* A recursion that does not end by itself is told by the number of returns. */
	if (nested.returns++ < 10)
		nested.t->nest(nested.t, 0);
	return 0;
}

/*
 * Kretprobes miss, and count, calls that a handler of theirs or of another one makes, and calls
 * that an interrupt of the handler makes: no handler is called within a handler.
 */
static void hook_kretprobe_nested(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *outer = kretprobe(test, t->add), *inner = kretprobe(test, t->nest);

	outer->rp.handler = nested_outer;
	inner->rp.handler = nested_inner;
	inner->rp.entry_handler = NULL;
	nested.work = IRQ_WORK_INIT_HARD(nested_interrupt);
	nested.t = t;
	nested.outer = 0;
	nested.returns = 0;
	nested.done = false;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&outer->rp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&inner->rp), 0);
	hooked(test);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	irq_work_sync(&nested.work);
	expect_stack_empty(test);
	unregister_kretprobe(&inner->rp);
	unregister_kretprobe(&outer->rp);
	KUNIT_EXPECT_TRUE(test, nested.done);
	KUNIT_EXPECT_EQ(test, nested.outer, 1);
	KUNIT_EXPECT_EQ(test, nested.returns, 0);
	/* The calls by nested_outer() were missed, and those by the interrupt. */
	KUNIT_EXPECT_EQ(test, outer->rp.kp.nmissed + outer->rp.nmissed, 2);
	KUNIT_EXPECT_EQ(test, inner->rp.kp.nmissed + inner->rp.nmissed, 2);
}

static int nested_pre(struct kprobe *p, struct pt_regs *regs)
{
	nested.t->nest(nested.t, 0);
	return 0;
}

static void nested_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	nested.t->nest(nested.t, 0);
}

static void hidden_interrupt(struct irq_work *work)
{
	fgraph_kunit_hidden.add(1, 2);
}

/*
 * A kretprobe misses calls by the handlers of a breakpoint, although that counts as an NMI, and
 * also if the breakpoint is hit in an interrupt.
 */
static void hook_kretprobe_in_handlers(struct kunit *test)
{
	struct kretprobe_seen *inner;
	struct kprobe *kp = kunit_kzalloc(test, sizeof(*kp), GFP_KERNEL);

	nested.t = targets(test);
	nested.returns = 0;
	inner = kretprobe(test, nested.t->nest);
	inner->rp.handler = nested_inner;
	inner->rp.entry_handler = NULL;
	nested.work = IRQ_WORK_INIT_HARD(hidden_interrupt);
	KUNIT_ASSERT_NOT_NULL(test, kp);
	kp->addr = (void *)fgraph_kunit_hidden.add;
	kp->pre_handler = nested_pre;
	kp->post_handler = nested_post;
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&inner->rp), 0);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_hidden.add(1, 2), 3);
	irq_work_queue(&nested.work);
	irq_work_sync(&nested.work);
	KUNIT_EXPECT_EQ(test, nested.returns, 0);
	KUNIT_EXPECT_EQ(test, inner->rp.kp.nmissed + inner->rp.nmissed, 4);
	unregister_kretprobe(&inner->rp);
	unregister_kprobe(kp);
}

/* Many kretprobes of one function: each is called once, while others come, go and are disabled. */
static void hook_chain(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	unsigned int i, nr = ARRAY_SIZE(chain);

	memset(chain, 0, sizeof(chain));
	for (i = 0; i < nr; i++) {
		chain[i].rp.kp.addr = (void *)t->add;
		chain[i].rp.handler = chain_handler;
		/* These need all registers at entry. */
		if (i % 3 == 1)
			chain[i].rp.entry_handler = chain_entry;
		/* The data of some fit into a slot, others take more. */
		chain[i].rp.data_size = i % 7 ? i % 5 ? 0 : 8 : 100;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	users[0].gops.entryfunc = count_entry;
	users[0].gops.retfunc = count_return;
	hook(test, &users[0], t->add);
	chain_call(test, nr);
	chain_call(test, nr);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, chain[i].returns, 2);

	/* Every third one is disabled, then enabled again. */
	for (i = 0; i < nr; i += 3)
		KUNIT_EXPECT_EQ(test, disable_kretprobe(&chain[i].rp), 0);
	chain_call(test, nr - DIV_ROUND_UP(nr, 3));
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, chain[i].returns, i % 3 ? 3 : 2);
	for (i = 0; i < nr; i += 3)
		KUNIT_EXPECT_EQ(test, enable_kretprobe(&chain[i].rp), 0);
	chain_call(test, nr);

	/* Every second one goes; some of them come back as the newest. */
	for (i = 1; i < nr; i += 2)
		unregister_kretprobe(&chain[i].rp);
	chain_call(test, nr - nr / 2);
	for (i = 1; i < nr; i += 4) {
		memset(&chain[i].rp.kp, 0, sizeof(chain[i].rp.kp));
		chain[i].rp.kp.addr = (void *)t->add;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	chain_call(test, nr - nr / 4);
	for (i = 0; i < nr; i++) {
		if (i % 4 != 3)
			unregister_kretprobe(&chain[i].rp);
	}
	chain_call(test, 0);
	expect_calls(test, &users[0], 7);
}

/* A callback calls its function, which has kretprobes, too: the recursion ends. */
static void hook_chain_in_callback(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	int i;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "callers of fgraph_hook() must prevent recursion");
	memset(chain, 0, sizeof(chain));
	for (i = 0; i < 3; i++) {
		chain[i].rp.kp.addr = (void *)t->add;
		chain[i].rp.handler = chain_handler;
		KUNIT_ASSERT_EQ(test, register_kretprobe(&chain[i].rp), 0);
	}
	again_start(t);
	users[0].gops.entryfunc = NULL;
	users[0].gops.retfunc = again_return;
	hook(test, &users[0], t->add);
	hooked(test);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	expect_stack_empty(test);
	unhook(&users[0]);
	for (i = 0; i < 3; i++) {
		unregister_kretprobe(&chain[i].rp);
		KUNIT_EXPECT_EQ(test, chain[i].wrong, 0);
	}
	/* The call by the callback is hooked; a call by a callback of that one is missed. */
	KUNIT_EXPECT_GE(test, again.max, 1);
	KUNIT_EXPECT_LE(test, again.max, 2);
}

#ifdef CONFIG_FUNCTION_ERROR_INJECTION
/* Return from the function before it has begun, like error injection does. */
static int override_handler(struct kprobe *kp, struct pt_regs *regs)
{
	regs_set_return_value(regs, 99);
	override_function_with_return(regs);
	return 1;
}

/* With a post_handler the breakpoint is not replaced by a jump, which cannot override. */
static void override_post_handler(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

/* A kretprobe sees the return of a function that is overridden, and no frame is left. */
static void hook_override(struct kunit *test)
{
	const struct fgraph_kunit_targets *t = targets(test);
	struct kretprobe_seen *seen = kretprobe(test, t->add);
	struct kprobe *kp = kunit_kzalloc(test, sizeof(*kp), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, kp);
	kp->addr = (void *)t->add;
	kp->pre_handler = override_handler;
	kp->post_handler = override_post_handler;
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	/* The newest probe is called first: the call is hooked before it is overridden. */
	KUNIT_ASSERT_EQ(test, register_kretprobe(&seen->rp), 0);
	hooked(test);
	for (i = 1; i <= 100; i++)
		KUNIT_EXPECT_EQ(test, t->add(1, 2), 99);
	KUNIT_EXPECT_EQ(test, seen->returns, 100);
	KUNIT_EXPECT_EQ(test, seen->value, 99);
	expect_stack_empty(test);
	unregister_kprobe(kp);
	KUNIT_EXPECT_EQ(test, t->add(1, 2), 3);
	unregister_kretprobe(&seen->rp);
	KUNIT_EXPECT_EQ(test, seen->returns, 101);
}
#endif

/* A breakpoint at the head of a loop is hit in each turn, but the call has one entry. */
static void hook_loop(struct kunit *test)
{
	unsigned long slot[2] = { (unsigned long)hook_loop };
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users;
	struct pt_regs regs = { };
	int i;

	stack_pointer(&regs) = (unsigned long)slot;
	u->gops.user.once = true;
	hook(test, u, t->add);
	*fgraph_entry_place(&regs) = (unsigned long)hook_loop;
	preempt_disable();
	for (i = 0; i < 1000; i++)
		fgraph_hook(&u->gops, (unsigned long)hook_loop, &regs);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), 1);
	KUNIT_EXPECT_EQ(test, user_missed(u), 0);
	KUNIT_EXPECT_TRUE(test, fgraph_is_trampoline(*fgraph_entry_place(&regs)));
	fgraph_abandon_calls(slot + 1);
	expect_stack_empty(test);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Counts calls in maxactive, which the kernel does not use. */
static int late_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	rp->maxactive++;
	return 0;
}

/*
 * A kretprobe hooks a call when functions that lead to its handler are hooked already. Their
 * frames are below that of the call, but they return first.
 */
static void hook_late(struct kunit *test)
{
	static const char * const on_the_way[] = {
		BREAKPOINT_HANDLER,
#ifdef CONFIG_ARM64
		"brk_handler", "do_debug_exception", "kprobe_handler",
#else
		"kprobe_ftrace_handler", "do_int3", "aggr_pre_handler",
#endif
	};
	static struct kretprobe rp[2];
	static struct kprobe kp;
	const struct fgraph_kunit_targets *t = targets(test);
	struct hook_user *u = users, *way = users + 1;
	int i, hidden;

	if (via_of(test) != VIA_FTRACE)
		kunit_skip(test, "this hooks functions by ftrace");
	for (hidden = 0; hidden < 2; hidden++) {
		const struct fgraph_kunit_targets *of = hidden ? &fgraph_kunit_hidden : t;

		memset(rp, 0, sizeof(rp));
		/*
		 * With a kprobe at the same place, ftrace does not call the kretprobes. With
		 * its post_handler, the breakpoint is not replaced by a jump.
		 */
		memset(&kp, 0, sizeof(kp));
		kp.addr = (void *)of->add;
		kp.post_handler = user_post_handler;
		KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
		for (i = 0; i < 2; i++) {
			rp[i].kp.addr = (void *)of->add;
			rp[i].handler = late_handler;
			KUNIT_ASSERT_EQ(test, register_kretprobe(&rp[i]), 0);
		}
		clear(u, 2);
		/* Some of the functions may be inlined, but not the first one. */
		for (i = 0; i < ARRAY_SIZE(on_the_way); i++)
			ftrace_set_filter(own_filter(way), (char *)on_the_way[i],
					  strlen(on_the_way[i]), 0);
		way->gops.entryfunc = count_entry;
		way->gops.retfunc = count_return;
		way->gops.data_size = 100;
		hook(test, way, t->inner);
		hook(test, u, t->call, t->add);
		for (i = 0; i < 10; i++)
			KUNIT_EXPECT_EQ(test, of->add(1, 2), 3);
		KUNIT_EXPECT_EQ(test, rp[0].maxactive, 10);
		KUNIT_EXPECT_EQ(test, rp[1].maxactive, 10);
		KUNIT_EXPECT_GE(test, atomic_read(&way->entries), 10);
		KUNIT_EXPECT_EQ(test, atomic_read(&way->entries), atomic_read(&way->returns));
		KUNIT_EXPECT_EQ(test, atomic_read(&way->wrong), 0);
		expect_calls(test, u, hidden ? 0 : 10);
		expect_stack_empty(test);
		unhook(u);
		unhook(way);
		for (i = 0; i < 2; i++)
			unregister_kretprobe(&rp[i]);
		unregister_kprobe(&kp);
	}
}
#endif

static struct kunit_case kretprobe_cases[] = {
	KUNIT_CASE_PARAM(hook_join_kretprobe, via_gen),
	KUNIT_CASE_PARAM(hook_kretprobe_entry, via_gen),
	KUNIT_CASE_PARAM(hook_kretprobe_rcu, via_gen),
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	KUNIT_CASE_PARAM(hook_kretprobe_unwatched, via_gen),
#endif
#ifdef CONFIG_PREEMPT_RCU
	KUNIT_CASE_PARAM(hook_kretprobe_unregister, via_gen),
#if defined(CONFIG_PERF_EVENTS) && defined(CONFIG_KPROBE_EVENTS)
	KUNIT_CASE_PARAM(hook_kretprobe_perf_close, via_gen),
#endif
#endif
	KUNIT_CASE_PARAM(hook_kretprobe_nested, via_gen),
	KUNIT_CASE_PARAM(hook_kretprobe_in_handlers, via_gen),
	KUNIT_CASE_PARAM(hook_chain, via_gen),
	KUNIT_CASE_PARAM(hook_chain_in_callback, via_gen),
#ifdef CONFIG_FUNCTION_ERROR_INJECTION
	KUNIT_CASE_PARAM(hook_override, via_gen),
#endif
	KUNIT_CASE_PARAM(hook_loop, via_gen),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE_PARAM(hook_late, via_gen),
#endif
	{}
};

static struct kunit_suite kretprobe_suite = {
	.name = "fgraph_kretprobe",
	.init = hook_init,
	.exit = hook_exit,
	.test_cases = kretprobe_cases,
};

kunit_test_suite(kretprobe_suite);
