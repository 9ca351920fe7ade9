// SPDX-License-Identifier: GPL-2.0
/* The users of step.c, and the kinds of interrupts. */
#include "step.h"

void link_users(const int *users, int nr)
{
	struct user *u[MAX_USERS];
	int i;

	for (i = 0; i < nr; i++)
		u[i] = &model_user[users[i]];
	model_link(u, nr);
}

static void register_many(void)
{
	int i;

	for (i = MANY; i < MANY_END; i++) {
		model_user[i].silent = true;
		expect(!model_register(&model_user[i], i % 4 * 8, FGRAPH_FULL_REGS, false));
	}
}

void register_users(bool big, bool many)
{
	static const struct {
		size_t		size;
		unsigned int	flags;
		/* The user is called by a kprobe, not by ftrace. */
		bool		probe;
		bool		silent;
	} users[] = {
		[SHORT] = { 8, 0 },
		[DATA] = { 100, 0, true },
		[FULL] = { 24, FGRAPH_FULL_REGS, true },
		[ASK] = { 40, 0 },
		[VETO] = { 72, FGRAPH_FULL_REGS },
		[BIG] = { FGRAPH_MAX_DATA_SIZE, 0 },
		[LARGE] = { 1000, 0 },
		[NONE] = { 0, 0, true },
		[SIMPLE] = { 16, 0, false, true },
		[CHAIN_0] = { 0, FGRAPH_FULL_REGS, true, true },
		[CHAIN_24] = { 24, FGRAPH_FULL_REGS, true, true },
		[CHAIN_ENTRY] = { 8, FGRAPH_FULL_REGS, true },
		[CHAIN_DATA] = { 100, FGRAPH_FULL_REGS, true, true },
		/* It has no return callback. */
		[CHAIN_NEVER] = { 8, 0, true },
		/* Its data need one slot. */
		[CHAIN_32] = { 32, FGRAPH_FULL_REGS, true, true },
		[CHAIN_8] = { 8, FGRAPH_FULL_REGS, true, true },
		[CHAIN_VETO] = { 8, FGRAPH_FULL_REGS, true },
		[CHAIN_16] = { 16, FGRAPH_FULL_REGS, true, true },
		[BATCH_0] = { 16 },
		[BATCH_1] = { 24 },
		[BATCH_2] = { 8 },
		[BATCH_3] = { 24 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(users); i++) {
		struct user *u = &model_user[i];

		if (i == BIG && !big)
			continue;
		u->silent = users[i].silent;
		u->veto = i == VETO || i == CHAIN_VETO ? 0xaa : i == CHAIN_NEVER ? 0xff : 0;
		expect(!model_register(u, users[i].size, users[i].flags, !users[i].probe));
		u->ask = i == ASK || i == CHAIN_24;
	}
	link(CHAIN_16, CHAIN_VETO, CHAIN_8, CHAIN_32, CHAIN_NEVER, CHAIN_DATA, CHAIN_ENTRY,
	     CHAIN_24, CHAIN_0);
	if (many)
		register_many();
}

void hook(struct call *c, int user)
{
	model_hook(c, &model_user[user]);
}

struct call *call(unsigned long func, int user)
{
	struct call *c = model_call(func);

	hook(c, user);
	return c;
}

/* Hook a call for a user and all that are linked behind it. */
void hook_chain(struct call *c, int user)
{
	model_hook_linked(c, &model_user[user]);
}

struct call *call_chain(unsigned long func, int user)
{
	struct call *c = model_call(func);

	hook_chain(c, user);
	return c;
}

static void by_one(void)
{
	struct call *c = call(100, SHORT);

	model_body(c);
	model_leave(c);
}

static void by_join(void)
{
	struct call *c = call(102, FULL);

	hook(c, DATA);
	model_body(c);
	model_leave(c);
}

/* The records need another chunk, if there is anything in the first one. */
void by_large(void)
{
	struct call *c[4];
	int i;

	for (i = 0; i < 4; i++) {
		c[i] = call(104 + 2 * i, LARGE);
		model_body(c[i]);
	}
	while (i--)
		model_leave(c[i]);
}

void by_big(void)
{
	struct call *c = call(112, SHORT);

	hook(c, BIG);
	model_body(c);
	model_leave(c);
}

static void by_tail(void)
{
	struct call *c = call(114, SHORT);

	model_body(c);
	model_tail(c, 116);
	hook(c, SHORT);
	hook(c, ASK);
	model_body(c);
	model_leave(c);
}

static void by_veto(void)
{
	struct call *c = call(117, VETO);

	hook(c, SHORT);
	hook(c, VETO);
	model_body(c);
	model_leave(c);
}

static void by_simple(void)
{
	struct call *c = call(118, SIMPLE);

	hook(c, CHAIN_0);
	model_body(c);
	model_leave(c);
}

/* An interrupt that leaves calls in which several users have data. */
static void by_throw(void)
{
	struct call *c = call(122, DATA);

	hook(c, FULL);
	model_body(c);
	c = call(124, SHORT);
	hook(c, LARGE);
	model_body(c);
	model_throw(2);
}

/* The scenario says which users are linked. */
static void by_chain(void)
{
	struct call *c = call_chain(120, CHAIN_16);

	model_body(c);
	model_leave(c);
	/* A user has joined already that may be among the linked ones. */
	c = call(121, CHAIN_8);
	hook_chain(c, CHAIN_VETO);
	model_body(c);
	model_leave(c);
}

static void callback_calls(bool drops)
{
	struct call *c;

	model_in_callback = model_no_callback;
	c = call(126, SHORT);
	model_body(c);
	model_leave(c);
}

void call_in_callback(void)
{
	model_in_callback = callback_calls;
}

/* The return callback makes a call. The callback that is interrupted may be about to make one. */
static void by_nested(void)
{
	void (*in_callback)(bool drops) = model_in_callback;
	struct call *c;

	model_in_callback = model_no_callback;
	c = call(128, SHORT);
	model_body(c);
	call_in_callback();
	model_leave(c);
	model_in_callback = in_callback;
}

void by_refill(void)
{
	fake_preempt_count++;
	fgraph_chunk_refill();
	fake_preempt_count--;
	STEP(({ fake_run_irq_works(); 0; }));
}

/* Another task unregisters the last user, so that the memory is freed. */
struct fgraph_ops last_user;

void by_last(void)
{
	if (fake_preempt_count || !last_user.user.tag)
		return;
	expect(!fgraph_user_retire(&last_user));
	fgraph_synchronize();
	fgraph_user_remove(&last_user);
}

const struct kind kinds[] = {
	{ "one", by_one, true },
	{ "join", by_join },
	{ "large", by_large },
	{ "big", by_big, .big = true },
	{ "tail", by_tail, true },
	{ "veto", by_veto },
	{ "refill", by_refill, .irq = true },
	{ "large, same stack", by_large, true },
	{ "last user gone", by_last, .irq = true },
	{ "simple", by_simple },
	{ "chain", by_chain, true },
	{ "throw", by_throw },
	{ "throw, same stack", by_throw, true },
	{ "nested", by_nested },
};

const int nr_kinds = ARRAY_SIZE(kinds);
