/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by KUnit tests that hook real calls. Each test runs once for each way in which a user
 * learns of a call (enum via). Each file that includes this header has users of its own.
 */
#ifndef _FGRAPH_KUNIT_HOOK_H
#define _FGRAPH_KUNIT_HOOK_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/fgraph.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../fgraph_hook.h"
#include "../fgraph_internal.h"
#include "fgraph_kunit.h"

/* How a user learns that a function was entered. */
enum via {
	VIA_FTRACE,	/* ftrace calls fgraph, by the user's filter */
	VIA_KPROBE,	/* a kprobe on ftrace */
	VIA_INT3,	/* a kprobe's breakpoint */
	VIA_JUMP,	/* a kprobe's breakpoint that was replaced by a jump */
};

static const struct via_param {
	const char	*name;
	enum via	via;
	bool		there;
} via_params[] = {
	{ "ftrace",	VIA_FTRACE,	FGRAPH_KUNIT_FTRACE },
	{ "kprobe",	VIA_KPROBE,	IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) },
	{ "int3",	VIA_INT3,	true },
	{ "jump",	VIA_JUMP,	IS_ENABLED(CONFIG_OPTPROBES) },
};

/* The generator of parameters for KUNIT_CASE_PARAM(): the next way that this kernel has. */
static __maybe_unused const void *via_gen(GENERATOR_PARAMS)
{
	const struct via_param *p = prev ? (const struct via_param *)prev + 1 : via_params;

	for (; p < via_params + ARRAY_SIZE(via_params); p++) {
		if (p->there) {
			strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
			return p;
		}
	}
	return NULL;
}

#define MAX_FUNCS	3
#define MAX_USERS	80
#define MAX_TRACE	48

/**
 * struct hook_user - a user and what it has seen
 * @gops:	the user
 * @filter:	the user's filter, if @via is VIA_FTRACE
 * @kp:		the user's kprobes, with a pointer to the user behind each, for other @via
 * @via:	how the user learns of calls
 * @hooked:	the user is registered
 * @veto:	make the entry callback return 0
 * @entries:	number of calls of the entry callback
 * @returns:	number of calls of the return callback
 * @first:	number of entries at which the return address had not been replaced
 * @wrong:	number of returns with other data than at entry
 * @frame:	frame of the last call
 * @func:	&fgraph_frame.func of the last call
 * @ret:	&fgraph_frame.ret of the last call
 * @retp:	&fgraph_frame.retp of the last call
 * @value:	value that the last call returned
 * @regs:	registers at the last return, if @full
 * @full:	the last return had all registers
 * @frames:	number of frames of the same place on the shadow stack at the last return
 * @joined:	number of entries of the last call's frame at its return
 * @parent:	fgraph_parent_data() at the last entry
 * @trace:	stack trace of the return callback
 * @depth:	number of elements in @trace
 */
struct hook_user {
	struct fgraph_ops	gops;
#ifdef CONFIG_FUNCTION_TRACER
	struct ftrace_ops	filter;
#endif
	struct {
		struct kprobe	kp;
		struct hook_user	*user;
	}			kp[MAX_FUNCS];
	enum via		via;
	bool			hooked;

	bool			veto;
	atomic_t		entries;
	atomic_t		returns;
	atomic_t		first;
	atomic_t		wrong;
	const struct fgraph_frame *frame;
	unsigned long		func;
	unsigned long		ret;
	unsigned long		*retp;
	unsigned long		value;
	struct pt_regs		regs;
	bool			full;
	unsigned int		frames;
	unsigned int		joined;
	void			*parent;
	unsigned long		trace[MAX_TRACE];
	unsigned int		depth;
};

static __maybe_unused struct hook_user users[MAX_USERS];

/* A thread that sleeps in a function, or calls functions. @value is for its result. */
struct sleeper {
	const struct fgraph_kunit_targets *t;
	struct task_struct	*task;
	struct completion	began;
	struct completion	go;
	struct completion	done;
	unsigned long		value;
};

static __maybe_unused struct sleeper sleepers[2];

static __maybe_unused enum via via_of(struct kunit *test)
{
	return ((const struct via_param *)test->param_value)->via;
}

/* Skip a test of what ftrace only does where fgraph has trampolines of its own. */
static __maybe_unused void need_own_trampolines(struct kunit *test, const char *otherwise)
{
	if (!IS_ENABLED(CONFIG_HAVE_FGRAPH) && via_of(test) == VIA_FTRACE)
		kunit_skip(test, "%s", otherwise);
}

static __maybe_unused const struct fgraph_kunit_targets *targets(struct kunit *test)
{
	enum via via = via_of(test);

	return via == VIA_FTRACE || via == VIA_KPROBE ? &fgraph_kunit_traced :
							&fgraph_kunit_hidden;
}

/* A byte to fill private data with, which differs between users and nested calls. */
static __maybe_unused int fill_of(struct hook_user *u, const struct fgraph_frame *frame)
{
	return ((unsigned long)u / sizeof(*u) * 7 + (unsigned long)frame->retp / 16) & 0xff;
}

/* An entry callback that records all of struct hook_user. */
static __maybe_unused int note_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				     void *data, struct ftrace_regs *fregs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);
	/* An architecture that passes no registers has the return address on the stack. */
	unsigned long *place = fregs ? fgraph_entry_place((struct pt_regs *)fregs) : frame->retp;

	atomic_inc(&u->entries);
	if (!fgraph_is_trampoline(*place))
		atomic_inc(&u->first);
	u->frame = frame;
	u->func = frame->func;
	u->ret = frame->ret;
	u->retp = frame->retp;
	u->parent = fgraph_parent_data(gops, frame);
	memset(data, fill_of(u, frame), gops->data_size);
	return !u->veto;
}

/* A return callback that records all of struct hook_user. */
static __maybe_unused void note_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				       void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);
	struct fgraph_stack *st = current->fgraph_stack;
	void *rec;

	atomic_inc(&u->returns);
	if ((unsigned long)data % sizeof(long) ||
	    memchr_inv(data, fill_of(u, frame), gops->data_size))
		atomic_inc(&u->wrong);
	u->value = fgraph_return_value(regs);
	u->full = fgraph_get_regs(regs);
	if (u->full)
		u->regs = *fgraph_get_regs(regs);
	u->frames = 0;
	u->joined = 0;
	for (rec = st->top; rec; rec = fgraph_older(rec)) {
		enum fgraph_kind kind = fgraph_kind(fgraph_head(rec));

		if (kind == FGRAPH_FRAME && ((struct fgraph_frame *)rec)->retp == frame->retp)
			u->frames++;
		if (kind == FGRAPH_ENTRY && ((struct fgraph_entry *)rec)->frame == frame)
			u->joined++;
	}
}

/* An entry callback that only counts, for calls in several contexts at once. */
static __maybe_unused int count_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
				      void *data, struct ftrace_regs *fregs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	atomic_inc(&u->entries);
	memset(data, fill_of(u, frame), gops->data_size);
	return 1;
}

/* A return callback that only counts and checks the data. */
static __maybe_unused void count_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
					void *data, struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	atomic_inc(&u->returns);
	if (memchr_inv(data, fill_of(u, frame), gops->data_size))
		atomic_inc(&u->wrong);
}

static __maybe_unused int user_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	struct hook_user *u = *(struct hook_user **)(kp + 1);

	fgraph_hook(&u->gops, (unsigned long)kp->addr, regs);
	return 0;
}

/* A kprobe with a post_handler is not replaced by a jump. */
static __maybe_unused void user_post_handler(struct kprobe *kp, struct pt_regs *regs,
					     unsigned long flags)
{
}

static __maybe_unused void unhook(struct hook_user *u)
{
	int i;

	if (!u->hooked)
		return;
	u->hooked = false;
#if FGRAPH_KUNIT_FTRACE
	if (u->via == VIA_FTRACE) {
		unregister_ftrace_graph(&u->gops);
		ftrace_free_filter(own_filter(u));
		return;
	}
#endif
	for (i = 0; i < MAX_FUNCS; i++) {
		if (u->kp[i].user)
			unregister_kprobe(&u->kp[i].kp);
		u->kp[i].user = NULL;
	}
	remove_user(&u->gops);
}

struct funcs {
	void	*func[MAX_FUNCS];
};

static __maybe_unused int try_hook(struct hook_user *u, void **func)
{
	int i, ret;

	u->gops.entryfunc = u->gops.entryfunc ?: note_entry;
	u->gops.retfunc = u->gops.retfunc ?: note_return;
	u->gops.name = "kunit";
#if FGRAPH_KUNIT_FTRACE
	if (u->via == VIA_FTRACE) {
		/* register_ftrace_graph() refuses it elsewhere. */
		if (!IS_ENABLED(CONFIG_HAVE_FGRAPH))
			u->gops.flags &= ~FGRAPH_FULL_REGS;
		use_filter(&u->gops, own_filter(u));
		for (i = 0; i < MAX_FUNCS && func[i]; i++) {
			ret = ftrace_set_filter_ip(own_filter(u), (unsigned long)func[i], 0, 0);
			if (ret)
				return ret;
		}
		ret = register_ftrace_graph(&u->gops);
		u->hooked = !ret;
		return ret;
	}
#endif
	ret = fgraph_user_add(&u->gops);
	if (ret)
		return ret;
	u->hooked = true;
	for (i = 0; i < MAX_FUNCS && func[i]; i++) {
		memset(&u->kp[i], 0, sizeof(u->kp[i]));
		u->kp[i].kp.addr = func[i];
		u->kp[i].kp.pre_handler = user_pre_handler;
		if (u->via == VIA_INT3)
			u->kp[i].kp.post_handler = user_post_handler;
		u->kp[i].user = u;
		ret = register_kprobe(&u->kp[i].kp);
		if (ret) {
			u->kp[i].user = NULL;
			break;
		}
	}
	return ret;
}

static __maybe_unused void hook_funcs(struct kunit *test, struct hook_user *u, struct funcs funcs)
{
	u->via = via_of(test);
	KUNIT_ASSERT_EQ(test, try_hook(u, funcs.func), 0);
}

/* Hook up to MAX_FUNCS functions for a user, in the way of this test. */
#define hook(test, u, list...)	\
	hook_funcs(test, u, (struct funcs) { .func = { list } })

/* To be called after the last hook(): waits until kprobes have become jumps. */
static __maybe_unused void hooked(struct kunit *test)
{
	if (via_of(test) == VIA_JUMP)
		wait_for_kprobe_optimizer();
}

static __maybe_unused unsigned long user_missed(struct hook_user *u)
{
	return fgraph_missed(&u->gops, FGRAPH_MISS_MEMORY) +
	       fgraph_missed(&u->gops, FGRAPH_MISS_NESTED);
}

/* Expect that a user has seen that many calls, each at entry and at return. */
static __maybe_unused void expect_calls(struct kunit *test, struct hook_user *u, int calls)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&u->entries), calls);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->returns), calls);
	KUNIT_EXPECT_EQ(test, atomic_read(&u->wrong), 0);
	KUNIT_EXPECT_EQ(test, user_missed(u), 0);
}

static __maybe_unused void expect_stack_empty(struct kunit *test)
{
	KUNIT_ASSERT_NOT_NULL(test, current->fgraph_stack);
	KUNIT_EXPECT_TRUE(test, fgraph_stack_empty(current->fgraph_stack));
	check_clean(test, current->fgraph_stack);
}

static __maybe_unused void clear(struct hook_user *u, int nr)
{
	memset(u, 0, nr * sizeof(*u));
}

static __maybe_unused int hook_init(struct kunit *test)
{
	clear(users, MAX_USERS);
	memset(sleepers, 0, sizeof(sleepers));
	return 0;
}

static __maybe_unused void wake(struct sleeper *s)
{
	if (!s->task)
		return;
	complete_all(&s->go);
	kthread_stop(s->task);
	s->task = NULL;
}

/* Clean up after a test, also after one that stopped half way. */
static __maybe_unused void hook_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sleepers); i++)
		wake(&sleepers[i]);
	for (i = 0; i < MAX_USERS; i++)
		unhook(&users[i]);
	if (!fgraph_nr_users)
		KUNIT_EXPECT_TRUE(test, wait_no_memory());
}

static __maybe_unused noinline int sleeper_fn(void *arg)
{
	struct sleeper *s = arg;

	s->value = s->t->sleep(&s->began, &s->go);
	complete(&s->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 100 + 1);
	return 0;
}

/* Start a thread that sleeps in sleep(). */
static __maybe_unused void start_sleeper(struct kunit *test, struct sleeper *s)
{
	s->t = targets(test);
	init_completion(&s->began);
	init_completion(&s->go);
	init_completion(&s->done);
	s->task = kthread_run(sleeper_fn, s, "fgraph_kunit");
	if (IS_ERR(s->task))
		s->task = NULL;
	KUNIT_ASSERT_NOT_NULL(test, s->task);
	wait_for_completion(&s->began);
	msleep(20);
}

/* A kretprobe and what it has seen. If @new_value is not 0, it changes the return value. */
struct kretprobe_seen {
	struct kretprobe	rp;
	unsigned int		entries;
	unsigned int		returns;
	unsigned int		wrong;
	unsigned long		value;
	unsigned long		ret;
	unsigned long		new_value;
};

static __maybe_unused int rp_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	container_of(rp, struct kretprobe_seen, rp)->entries++;
	memset(ri->data, 0xa5, rp->data_size);
	return 0;
}

static __maybe_unused int rp_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct kretprobe_seen *seen = container_of(rp, struct kretprobe_seen, rp);

	seen->returns++;
	seen->value = regs_return_value(regs);
	seen->ret = get_kretprobe_retaddr(ri);
	if (memchr_inv(ri->data, 0xa5, rp->data_size))
		seen->wrong++;
	if (seen->new_value)
		regs_set_return_value(regs, seen->new_value);
	return 0;
}

/* Make a kretprobe of a function, which is not registered yet. */
static __maybe_unused struct kretprobe_seen *kretprobe(struct kunit *test, void *func)
{
	struct kretprobe_seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->rp.kp.addr = func;
	seen->rp.entry_handler = rp_entry;
	seen->rp.handler = rp_handler;
	seen->rp.data_size = 100;
	return seen;
}

/* Kretprobes of one function, more than fit into a chunk. */
static __maybe_unused struct chain_seen {
	struct kretprobe	rp;
	unsigned int		returns;
	unsigned int		wrong;
} chain[70];

/* The number of calls of chain_handler(). */
static __maybe_unused unsigned int chain_told;

static __maybe_unused int chain_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct chain_seen *seen = container_of(get_kretprobe(ri), struct chain_seen, rp);

	if (regs_get_kernel_argument(regs, 1) != 2)
		seen->wrong++;
	return 0;
}

static __maybe_unused int chain_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct chain_seen *seen = container_of(get_kretprobe(ri), struct chain_seen, rp);

	seen->returns++;
	chain_told++;
	if (!regs || regs_return_value(regs) != 3)
		seen->wrong++;
	return 0;
}

/* Call add() and expect that @on kretprobes of the chain are called, without a miss. */
static __maybe_unused void chain_call(struct kunit *test, unsigned int on)
{
	unsigned int i, before = chain_told, wrong = 0;

	hooked(test);
	KUNIT_EXPECT_EQ(test, targets(test)->add(1, 2), 3);
	expect_stack_empty(test);
	KUNIT_EXPECT_EQ(test, chain_told - before, on);
	for (i = 0; i < ARRAY_SIZE(chain); i++)
		wrong += chain[i].wrong + chain[i].rp.nmissed + chain[i].rp.kp.nmissed;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* For callbacks that call the function they are called for, at most 20 times nested. */
static struct {
	const struct fgraph_kunit_targets *t;
	unsigned int depth, max;
} again;

static __maybe_unused void again_start(const struct fgraph_kunit_targets *t)
{
	again.t = t;
	again.depth = 0;
	again.max = 0;
}

static __maybe_unused void again_call(void)
{
	if (again.depth == 20)
		return;
	again.depth++;
	again.max = max(again.max, again.depth);
	again.t->add(1, 2);
	again.depth--;
}

static __maybe_unused void again_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
					void *data, struct fgraph_regs *regs)
{
	again_call();
}

/*
 * Hook a call at @regs. If ftrace calls fgraph, use its way: fgraph_hook() assumes that hooked
 * functions may lie between the call and itself.
 */
static __maybe_unused void hook_now(struct hook_user *u, unsigned long func, struct pt_regs *regs)
{
#if defined(CONFIG_FGRAPH_FTRACE)
	struct fgraph_ops *users[] = { &u->gops };
	struct fgraph_call call;

	fgraph_begin_call(&call, users, 1, func, fgraph_entry_place(regs), fgraph_retp(regs), regs);
	fgraph_hook_next(&call, users[0]);
#else
	fgraph_hook(&u->gops, func, regs);
#endif
}

/* Hook a call that will never return, whose return address is in this function's frame. */
static __maybe_unused noinline unsigned long abandon(void *arg)
{
	unsigned long slot[2] = { (unsigned long)abandon };
	struct hook_user *u = arg;
	struct pt_regs regs = { };

	stack_pointer(&regs) = (unsigned long)slot;
	*fgraph_entry_place(&regs) = (unsigned long)abandon;
	preempt_disable();
	hook_now(u, (unsigned long)abandon, &regs);
	preempt_enable();
	return fgraph_is_trampoline(READ_ONCE(*fgraph_entry_place(&regs)));
}

#if FGRAPH_KUNIT_FTRACE
/* An ftrace_ops that has nothing to do with fgraph. */
static __maybe_unused unsigned int plain_calls;

static __maybe_unused void plain_func(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	plain_calls++;
}

static __maybe_unused struct ftrace_ops plain_ops = { .func = plain_func };

/* A return callback that calls a hooked function. */
static __maybe_unused void call_hooked_return(struct fgraph_ops *gops,
					      const struct fgraph_frame *frame, void *data,
					      struct fgraph_regs *regs)
{
	struct hook_user *u = container_of(gops, struct hook_user, gops);

	count_return(gops, frame, data, regs);
	u->value = fgraph_kunit_traced.add(u->value, 1);
}
#endif

#endif /* _FGRAPH_KUNIT_HOOK_H */
