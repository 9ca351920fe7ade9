// SPDX-License-Identifier: GPL-2.0
/* The scenarios of step.c: calls are hooked and return, in each state of a stack. */
#include <string.h>

#include "step.h"

/* Make calls until only @slots slots are left in the first chunk. */
static void fill(int slots)
{
	struct fgraph_stack *st;

	for (;;) {
		struct call *c = model_call(2 * model_now->nr_calls);
		int left;

		st = fake_current->fgraph_stack;
		left = st ? 63 - ((unsigned long)st->top % FGRAPH_CHUNK_SIZE) / FGRAPH_SLOT : 62;
		if (left <= slots) {
			model_leave(c);
			break;
		}
		hook(c, left - slots > 17 ? LARGE : SHORT);
		model_body(c);
	}
}

static void setup_one(void)
{
	call(2, SHORT);
	model_body(model_top());
}

static void setup_none(void)
{
}

static void setup_full(void)
{
	fill(0);
}

static void setup_nearly_full(void)
{
	fill(1);
}

/* One slot is left in the first chunk, and the next chunk is linked and empty. */
static void setup_next_chunk(void)
{
	fill(1);
	by_large();
}

/* One slot is left in the first chunk; a big chunk and usual ones are linked and empty. */
static void setup_small_chunks(void)
{
	fill(1);
	by_big();
	by_large();
	by_large();
}

/* One slot is left in the first chunk; chunks that cannot hold a big record are linked. */
static void setup_before_small(void)
{
	fill(1);
	by_large();
	by_large();
}

static void run_one(void)
{
	struct call *c = call(10, SHORT);

	model_body(c);
	model_leave(c);
}

static void run_full_regs(void)
{
	struct call *c = call(10, FULL);

	model_body(c);
	model_leave(c);
}

static void run_join(void)
{
	struct call *c = call(10, SHORT);

	hook(c, FULL);
	hook(c, ASK);
	hook(c, NONE);
	model_body(c);
	model_leave(c);
}

static void run_data(void)
{
	struct call *c = call(10, DATA), *d;

	hook(c, LARGE);
	model_body(c);
	d = call(12, ASK);
	hook(d, DATA);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

static void run_big(void)
{
	struct call *c = call(10, BIG), *d;

	model_body(c);
	d = call(12, SHORT);
	hook(d, BIG);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

static void run_tail(void)
{
	struct call *c = call(10, SHORT);

	hook(c, DATA);
	model_body(c);
	/* A tail call of another function, for another user. */
	model_tail(c, 12);
	hook(c, FULL);
	model_body(c);
	/* A tail call of the function to itself. */
	model_tail(c, 12);
	hook(c, FULL);
	hook(c, ASK);
	model_body(c);
	model_leave(c);
}

static void run_veto(void)
{
	struct call *c = call(11, VETO);

	hook(c, SHORT);
	hook(c, VETO);
	hook(c, DATA);
	model_body(c);
	model_tail(c, 13);
	hook(c, VETO);
	model_body(c);
	model_leave(c);
	c = call(15, VETO);
	model_body(c);
	model_leave(c);
}

/* Abandoned calls fill the chunk. */
static void setup_reap(void)
{
	model_leave(model_call(0));
	setup_one();
	fill(0);
	model_abandon(model_now->nr_calls - 1);
}

/* Abandoned calls lead into another chunk. */
static void setup_reap_above(void)
{
	fill(2);
	call(6, DATA);
	model_body(model_top());
	hook(model_call(8), DATA);
	hook(model_top(), FULL);
	model_abandon(2);
}

/* Abandoned calls with data fill the second chunk, so interrupts drop them, too. */
static void setup_large_above(void)
{
	fill(2);
	call(6, LARGE);
	call(8, LARGE);
	call(10, LARGE);
	model_abandon(3);
}

/* Abandoned calls with entries, in slots where interrupts later have their data. */
static void setup_entries_above(void)
{
	int i;

	fill(2);
	call(6, LARGE);
	call(8, LARGE);
	call(10, MANY);
	for (i = 1; i < 13; i++)
		hook(model_top(), MANY + i);
	model_abandon(3);
}

static void run_return_below(void)
{
	model_leave(model_top());
	run_one();
}

static void run_join_below(void)
{
	struct call *c = call(10, SHORT);

	/* Calls above the one that is joined are abandoned before that. */
	model_call(12);
	model_hook(model_top(), &model_user[DATA]);
	model_call(14);
	model_hook(model_top(), &model_user[LARGE]);
	model_hook(model_top(), &model_user[SHORT]);
	model_abandon(2);
	hook(c, FULL);
	model_body(c);
	model_leave(c);
}

static void run_simple(void)
{
	struct call *c = call(10, SIMPLE), *d;

	model_body(c);
	/* A user joins a frame that takes two slots. */
	d = call(12, CHAIN_32);
	hook(d, SIMPLE);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* Users join that are older or newer than the last one, some with slots of data. */
static void run_simple_join(void)
{
	struct call *c = call(10, CHAIN_24), *d;

	hook(c, CHAIN_0);
	hook(c, SIMPLE);
	hook(c, CHAIN_16);
	model_body(c);
	d = call(12, CHAIN_16);
	hook(d, CHAIN_24);
	hook(d, CHAIN_DATA);
	hook(d, CHAIN_0);
	model_body(d);
	model_leave(d);
	model_leave(c);
	/* The frame has slots of data, the entries have none. */
	c = call(10, CHAIN_DATA);
	hook(c, CHAIN_24);
	hook(c, CHAIN_0);
	model_body(c);
	model_leave(c);
}

/* The linked users are simple, and each is older than the one before. */
static void setup_by_age(void)
{
	setup_one();
	link(CHAIN_16, CHAIN_8, CHAIN_24, CHAIN_0);
}

/* The first linked user fits into the first chunk, the others do not. */
static void setup_by_age_full(void)
{
	fill(2);
	link(CHAIN_16, CHAIN_8, CHAIN_24, CHAIN_0);
}

static void setup_chain_full(void)
{
	fill(4);
}

/* The first linked user and others are unregistered while a call is hooked for them. */
static void setup_chain_gone(void)
{
	model_body(call_chain(2, CHAIN_16));
	expect(!model_unregister(&model_user[CHAIN_16]));
	expect(!model_unregister(&model_user[CHAIN_DATA]));
	expect(!model_unregister(&model_user[CHAIN_24]));
}

/* All linked users are unregistered while two calls are hooked for them. */
static void setup_chain_all_gone(void)
{
	int i;

	setup_one();
	link(CHAIN_16, CHAIN_8, CHAIN_DATA, CHAIN_0);
	model_body(call_chain(10, CHAIN_16));
	link(CHAIN_16, CHAIN_8, CHAIN_24, CHAIN_0);
	model_body(call_chain(12, CHAIN_16));
	for (i = CHAIN_0; i <= CHAIN_16; i++)
		expect(!model_unregister(&model_user[i]));
	/* One of them comes back, with a newer tag than the others had. */
	model_user[CHAIN_0].silent = true;
	expect(!model_register(&model_user[CHAIN_0], 0, FGRAPH_FULL_REGS, false));
}

static void run_chain_all_gone(void)
{
	struct call *c = model_top();

	/* The frame below has an entry with the user's old tag. */
	model_tail(c, 12);
	hook_chain(c, CHAIN_16);
	model_body(c);
	model_leave(c);
	model_leave(model_top());
	model_leave(model_top());
}

static void run_chain(void)
{
	struct call *c = call_chain(10, CHAIN_16);

	model_body(c);
	model_leave(c);
}

/* One of the linked users refuses the call. */
static void run_chain_veto(void)
{
	struct call *c = call_chain(11, CHAIN_16), *d;

	model_body(c);
	d = call_chain(13, CHAIN_VETO);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* The call is hooked already, also for a user that does not need all registers. */
static void run_chain_hooked(void)
{
	struct call *c = call(10, SIMPLE), *d;

	hook_chain(c, CHAIN_16);
	model_body(c);
	d = call(12, FULL);
	hook(d, DATA);
	hook_chain(d, CHAIN_8);
	hook(d, SIMPLE);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* The linked users before the first that joins refuse the call or are unregistered. */
static void run_chain_not_first(void)
{
	struct call *c = call(11, SIMPLE), *d;

	hook_chain(c, CHAIN_VETO);
	model_body(c);
	d = call(13, SHORT);
	hook_chain(d, CHAIN_16);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* Some linked users need all registers at return, others do not. */
static void setup_flags_differ(void)
{
	setup_one();
	link(SIMPLE, CHAIN_16, SHORT, CHAIN_8, CHAIN_24);
}

static void run_flags_differ(void)
{
	struct call *c = call_chain(10, SIMPLE);

	model_body(c);
	model_leave(c);
}

/* A tail call of a function to itself: the frame has all or some of the linked users. */
static void run_chain_tail(void)
{
	struct call *c = call_chain(10, CHAIN_16), *d;

	model_body(c);
	model_tail(c, 10);
	hook_chain(c, CHAIN_16);
	model_body(c);
	d = call(12, CHAIN_8);
	hook_chain(d, CHAIN_16);
	model_body(d);
	model_tail(d, 12);
	hook(d, CHAIN_0);
	hook_chain(d, CHAIN_16);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* The ids of some linked users differ by a multiple of 64. */
static void setup_ids_64(void)
{
	struct user *u = &model_user[CHAIN_16];

	setup_one();
	expect(!model_unregister(u));
	fake_lowest_id = (model_user[CHAIN_0].gops.user.tag & FGRAPH_ID_MASK) + 64;
	expect(!model_register(u, 16, FGRAPH_FULL_REGS, false));
	u = &model_user[CHAIN_8];
	expect(!model_unregister(u));
	fake_lowest_id = (model_user[CHAIN_24].gops.user.tag & FGRAPH_ID_MASK) + 64;
	expect(!model_register(u, 8, FGRAPH_FULL_REGS, false));
	fake_lowest_id = 0;
	link(CHAIN_8, CHAIN_16, CHAIN_24, CHAIN_0);
}

static void run_ids_64(void)
{
	struct call *c = call_chain(10, CHAIN_8), *d;

	model_body(c);
	d = call_chain(12, CHAIN_24);
	hook_chain(d, CHAIN_16);
	model_body(d);
	model_leave(d);
	model_leave(c);
	/* Users that have joined have ids that differ by a multiple of 64 from others. */
	c = call(10, CHAIN_0);
	hook(c, CHAIN_24);
	hook(c, CHAIN_16);
	hook_chain(c, CHAIN_8);
	model_body(c);
	model_leave(c);
}

static void setup_few(void)
{
	setup_one();
	link(CHAIN_0, CHAIN_16, CHAIN_24);
}

/* Of the linked users only one is called at the entry of a tail call. */
static void run_one_tail(void)
{
	struct call *c = call(10, CHAIN_0), *d;

	hook(c, CHAIN_16);
	hook(c, CHAIN_24);
	model_body(c);
	model_tail(c, 10);
	hook(c, CHAIN_0);
	model_body(c);
	d = call_chain(12, CHAIN_0);
	model_body(d);
	model_tail(d, 12);
	hook(d, CHAIN_0);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* Make calls until only @slots slots are left in the first half of a big chunk. */
static void fill_half(int slots)
{
	int i;

	fill(1);
	by_big();
	for (i = 0; i < 2; i++)
		model_body(call(4, SHORT));
	fill(slots);
}

static void setup_half(void)
{
	fill_half(2);
}

static void run_half(void)
{
	static const int users[] = { CHAIN_0, CHAIN_24 };
	int i;

	/* One of the users is in the frame already, the other is not. */
	for (i = 0; i < ARRAY_SIZE(users); i++) {
		struct call *c = call(10, CHAIN_0);

		hook(c, CHAIN_16);
		hook(c, CHAIN_24);
		model_body(c);
		model_tail(c, 10);
		hook(c, users[i]);
		model_body(c);
		model_leave(c);
	}
}

static void setup_half_data(void)
{
	fill_half(4);
}

static void run_half_data(void)
{
	struct call *c = call(10, CHAIN_0);

	hook(c, CHAIN_DATA);
	hook(c, CHAIN_24);
	model_body(c);
	model_leave(c);
}

/* The top record is of another function, or of an abandoned call of this function. */
static void run_chain_not_there(void)
{
	struct call *c = call(11, CHAIN_24);

	model_body(c);
	model_tail(c, 13);
	hook_chain(c, CHAIN_VETO);
	model_body(c);
	/* This call is abandoned above the one that is joined. */
	call(13, CHAIN_0);
	model_abandon(1);
	model_tail(c, 13);
	hook_chain(c, CHAIN_VETO);
	model_body(c);
	model_leave(c);
}

static void setup_first_gone(void)
{
	expect(!model_unregister(&model_user[CHAIN_16]));
}

/* The top record is of an abandoned call with the place and function of the next call. */
static void setup_abandoned_same(void)
{
	setup_one();
	link(CHAIN_16, CHAIN_8, CHAIN_24, CHAIN_0);
	call(10, SIMPLE);
	model_abandon(1);
	expect(!model_unregister(&model_user[CHAIN_16]));
}

/* The newest of the linked users refuses calls of odd functions. */
static void setup_veto_tail(void)
{
	setup_one();
	link(CHAIN_VETO, CHAIN_8, CHAIN_32, CHAIN_0);
}

static void run_veto_tail(void)
{
	struct call *c = call_chain(11, CHAIN_VETO);

	model_body(c);
	model_user[CHAIN_VETO].veto = 0;
	model_tail(c, 11);
	/* It was not in the frame, but the others are: this is another call. */
	hook_chain(c, CHAIN_VETO);
	model_body(c);
	model_leave(c);
}

/* More users are linked than fit into a chunk, the newest first. */
static void setup_many(void)
{
	int users[MANY_END - MANY], i;

	setup_one();
	for (i = 0; i < ARRAY_SIZE(users); i++)
		users[i] = MANY_END - 1 - i;
	link_users(users, ARRAY_SIZE(users));
}

static void run_many(void)
{
	struct call *c = call_chain(10, MANY_END - 1);

	model_body(c);
	/* The user is among the entries of the frame. */
	model_tail(c, 10);
	hook(c, MANY + 33);
	model_body(c);
	model_leave(c);
}

/* Empty the reserve, and let all allocations fail. */
static void no_memory(void)
{
	void *chunk;

	fake_memory_left = 0;
	fake_preempt_count++;
	while ((chunk = fgraph_chunk_take(FGRAPH_CHUNK_SIZE)))
		fgraph_chunk_give(chunk, FGRAPH_CHUNK_SIZE);
	fake_preempt_count--;
	model_no_memory = true;
}

static void setup_no_memory(void)
{
	fill(1);
	no_memory();
}

/* Some of the linked users miss the call. */
static void setup_chain_no_memory(void)
{
	fill(5);
	no_memory();
}

static void run_no_memory(void)
{
	struct call *c = call(10, SHORT);

	/* There is no room for the second user. */
	hook(c, DATA);
	model_body(c);
	model_leave(c);
}

static void run_refill(void)
{
	fake_preempt_count++;
	fgraph_chunk_refill();
	fake_preempt_count--;
	STEP(({ fake_run_irq_works(); 0; }));
}

static void setup_refill(void)
{
	fill(0);
	by_large();
}

/* The irq_work found no memory, so a work has to refill the reserve. */
static void setup_refill_slow(void)
{
	no_memory();
	by_refill();
	fake_memory_left = -1;
}

static void run_refill_slow(void)
{
	STEP(({ fake_run_works(); 0; }));
	expect(!fake_memory_left || fake_allocs >= 16);
}

static void setup_deep(void)
{
	int i;

	fill(1);
	for (i = 0; i < 6; i++) {
		call(20 + i, LARGE);
		hook(model_top(), SHORT);
		model_body(model_top());
	}
	model_tail(model_top(), 30);
	hook(model_top(), DATA);
	model_body(model_top());
}

static void run_unwind(void)
{
	STEP(({ model_unwind(model_now, 0, 0, 0); 0; }));
	/* Another unwinder begins in the middle, with a cursor of another place. */
	STEP(({ model_unwind(model_now, model_now->stale, 3, 4); 0; }));
}

/* All users are unregistered while a call is hooked: its return frees the memory. */
static void setup_gone(void)
{
	int i;

	setup_one();
	hook(model_call(10), DATA);
	hook(model_top(), FULL);
	model_body(model_top());
	for (i = 0; i < MAX_USERS; i++) {
		if (model_user[i].gops.user.tag)
			expect(!model_unregister(&model_user[i]));
	}
}

static void run_gone(void)
{
	model_leave(model_top());
	model_leave(model_top());
}

/* The CPU of the return goes down before it can run what was queued. */
static void run_gone_cpu_down(void)
{
	fake_online[1] = true;
	fake_cpu = 1;
	run_gone();
	fake_cpu = 0;
	fake_set_online(1, false);
	fake_run_irq_works();
	fake_run_works();
	expect(!fake_current->fgraph_stack);
}

/* Users are unregistered while a call is hooked, and one of them comes back. */
static void setup_slot_taken(void)
{
	struct user *u = &model_user[SHORT];

	setup_one();
	hook(model_call(10), DATA);
	hook(model_top(), SHORT);
	hook(model_top(), FULL);
	model_body(model_top());
	expect(!model_unregister(u));
	expect(!model_register(u, 8, 0, false));
	expect(!model_unregister(&model_user[DATA]));
}

/*
 * A kprobe's handler hooks a call late: functions that lead to the handler are hooked already,
 * and return first. The model has no such calls. They are made here, and the model takes their
 * frames for those of abandoned calls.
 */
static struct late {
	struct fgraph_ops	gops;
	struct ftrace_regs	fregs;
	unsigned long		*retp;
	unsigned long		func;
	int			returned;
} late[3];

/* Fills the data so that each slot looks like a frame. */
static int late_entered(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			struct ftrace_regs *fregs)
{
	size_t i;

	for (i = 0; i < gops->data_size; i += FGRAPH_SLOT)
		*(unsigned long *)(data + i) = FGRAPH_FRAME;
	return 1;
}

static int refuse(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		  struct ftrace_regs *fregs)
{
	return 0;
}

static void ignored(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		    struct fgraph_regs *regs)
{
}

static void late_returned(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			  struct fgraph_regs *regs)
{
	struct late *l = container_of(gops, struct late, gops);

	expect(frame->retp == l->retp && frame->func == l->func);
	expect(frame->ret == 0x6000000 + l->func);
	l->returned++;
}

/* Hook a call whose return address is @place places above the stack pointer. */
static void late_hook(int i, unsigned long func, int place)
{
	struct late *l = &late[i];
	unsigned long *slot;

	l->retp = model_now->sp + place * PLACE_WORDS;
	l->func = func;
	l->fregs.regs.sp = (unsigned long)l->retp;
	slot = fgraph_entry_place(&l->fregs.regs);
	*slot = 0x6000000 + func;
	model_now->dead[model_now->nr_dead++] = (struct dead) { l->retp, *slot, func };
	preempt_disable_notrace();
	STEP((fgraph_hook(&l->gops, func, &l->fregs.regs), 0));
	preempt_enable_notrace();
	expect(fgraph_is_trampoline(*slot));
	/* The function begins, see model_body(). */
	*fgraph_record_place(l->retp) = *slot;
}

static void late_return(int i)
{
	struct fgraph_regs regs = { };
	struct late *l = &late[i];
	unsigned long cursor = 0;

	expect(!l->returned);
	expect(fgraph_ret_addr(fake_current, &cursor, *fgraph_record_place(l->retp), l->retp,
			       l->retp) == 0x6000000 + l->func);
	expect(STEP(fgraph_return_light(l->retp, &regs)) == 0x6000000 + l->func);
	expect(l->returned == 1);
}

static void setup_late(void)
{
	int i;

	if (!fake_current->fgraph_stack)
		setup_one();
	model_now->sp -= ARRAY_SIZE(late) * PLACE_WORDS;
	memset(late, 0, sizeof(late));
	for (i = 0; i < ARRAY_SIZE(late); i++) {
		late[i].gops.entryfunc = late_entered;
		late[i].gops.retfunc = late_returned;
		late[i].gops.data_size = i == 1 ? 100 : 0;
		expect(!fgraph_user_add(&late[i].gops));
	}
}

static void late_unregister(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(late); i++) {
		expect(!fgraph_user_retire(&late[i].gops));
		fgraph_synchronize();
		fgraph_user_remove(&late[i].gops);
	}
}

/* No late call is hooked any more. */
static void late_forget(void)
{
	model_now->nr_dead = 0;
	model_now->sp += ARRAY_SIZE(late) * PLACE_WORDS;
}

static void late_end(void)
{
	late_unregister();
	late_forget();
}

static void setup_late_nearly_full(void)
{
	fill(1);
	setup_late();
}

/* A return callback that leaves an abandoned call on top. */
static void late_abandons(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			  struct fgraph_regs *regs)
{
	unsigned long *retp = model_now->sp - 20 * PLACE_WORDS, *slot;
	static struct ftrace_regs fregs;

	late_returned(gops, frame, data, regs);
	fregs.regs.sp = (unsigned long)retp;
	slot = fgraph_entry_place(&fregs.regs);
	*slot = 0x6000000 + 77;
	model_now->dead[model_now->nr_dead++] = (struct dead) { retp, *slot, 77 };
	fgraph_hook(&late[0].gops, 77, &fregs.regs);
}

static void setup_late_abandons(void)
{
	fill(5);
	setup_late();
	late[1].gops.entryfunc = late_entered;
	late[1].gops.retfunc = late_abandons;
}

static void run_late_abandons(void)
{
	late_hook(1, 31, 1);
	late_hook(2, 32, 2);
	late_return(1);
	/* If the frame of the abandoned call were there, it would say that a callback runs. */
	expect(!(fgraph_head(fake_current->fgraph_stack->top) & FGRAPH_CONTEXT));
	late_return(2);
	late_end();
}

static void run_late(void)
{
	void *top = fake_current->fgraph_stack->top;

	late_hook(1, 31, 1);
	late_hook(2, 32, 2);
	late_return(1);
	late_hook(0, 30, 0);
	late_return(0);
	late_return(2);
	expect(fake_current->fgraph_stack->top == top);
	late_end();
}

/* A call that was hooked late returns above a live one, then the users are unregistered. */
static void setup_late_gone(void)
{
	fill(3);
	setup_late();
	late_hook(1, 31, 1);
	late_hook(2, 32, 2);
	late_return(1);
	late_unregister();
}

/* The return drops the record of the other late call, too. */
static void run_late_gone(void)
{
	struct fgraph_regs regs = { };

	expect(STEP(fgraph_return_light(late[2].retp, &regs)) == 0x6000000 + late[2].func);
	expect(!late[2].returned);
	late_forget();
}

/* The last user is unregistered while the task is between two operations. */
static void setup_last(void)
{
	int i;

	setup_one();
	model_leave(model_top());
	for (i = 0; i < MAX_USERS; i++) {
		if (model_user[i].gops.user.tag)
			expect(!model_unregister(&model_user[i]));
	}
	expect(!fake_current->fgraph_stack);
	memset(&last_user, 0, sizeof(last_user));
	last_user.retfunc = late_returned;
	expect(!fgraph_user_add(&last_user));
	/* The task has an empty stack. */
	preempt_disable_notrace();
	expect(fgraph_stack_make());
	preempt_enable_notrace();
}

static void run_last(void)
{
	struct call *c = model_call(10);
	int i;

	model_now->dead[model_now->nr_dead++] = (struct dead) { c->retp, c->ret, 10 };
	for (i = 0; i < 2; i++) {
		last_user.entryfunc = i ? late_entered : refuse;
		last_user.retfunc = late_returned;
		preempt_disable_notrace();
		STEP((model_hook_one(&last_user, 10, &c->fregs), 0));
		preempt_enable_notrace();
	}
	if (fgraph_is_trampoline(*c->slot)) {
		struct fgraph_regs regs = { };

		last_user.entryfunc = late_entered;
		last_user.retfunc = ignored;
		model_body(c);
		expect(STEP(fgraph_return_light(c->retp, &regs)) == c->ret);
	}
	model_leave(c);
	model_now->nr_dead = 0;
	if (last_user.user.tag)
		by_last();
}

/* An idle task whose CPU comes up again resets its stack, with abandoned calls on it. */
static void setup_reset(void)
{
	fill(2);
	call(6, DATA);
	hook(model_top(), FULL);
	call(8, LARGE);
	model_abandon(model_now->nr_calls);
}

static void run_reset(void)
{
	STEP(({ fgraph_reset_task(fake_current); 0; }));
	expect(fgraph_stack_empty(fake_current->fgraph_stack));
	model_now->nr_dead = 0;
	run_one();
}

/* The callbacks of the first user make calls. */
static void run_callback_calls(void)
{
	struct call *c = model_call(10);

	link(BATCH_0, BATCH_1, BATCH_2, BATCH_3);
	call_in_callback();
	hook_chain(c, BATCH_0);
	model_body(c);
	call_in_callback();
	model_leave(c);
}

/* Nested calls with so many users that each chunk has room for one call and most of another. */
#define NESTED_USERS	32

static void setup_many_nested(void)
{
	struct fgraph_chunk *c;
	int users[NESTED_USERS], i;

	for (i = 0; i < NESTED_USERS; i++)
		users[i] = MANY + NESTED_USERS - 1 - i;
	link_users(users, NESTED_USERS);
	for (i = 0; i < 6; i++)
		model_body(call_chain(20 + 2 * i, users[0]));
	/* There are 6 * 32 records, and a chunk has room for 62 of them. */
	for (i = 0, c = fake_current->fgraph_stack->first; c; c = c->next)
		i++;
	expect(i <= 4);
}

static void run_many_nested(void)
{
	struct call *c = call_chain(10, MANY + NESTED_USERS - 1);

	model_body(c);
	while ((c = model_top()))
		model_leave(c);
}

const struct scenario scenarios[] = {
	{ "push, pop", setup_one, run_one },
	{ "first push of a task", setup_none, run_one },
	{ "all registers", setup_one, run_full_regs },
	{ "join", setup_one, run_join },
	{ "data", setup_one, run_data },
	{ "push into a new chunk", setup_full, run_one },
	{ "join into a new chunk", setup_nearly_full, run_join },
	{ "data into a new chunk", setup_nearly_full, run_data },
	{ "into the next chunk", setup_next_chunk, run_join },
	{ "big record", setup_one, run_big, true },
	{ "past small chunks", setup_before_small, run_big, true },
	{ "past big chunks", setup_small_chunks, run_data, true },
	{ "tail call", setup_one, run_tail },
	{ "tail call into a new chunk", setup_nearly_full, run_tail },
	{ "veto", setup_one, run_veto },
	{ "veto in a new chunk", setup_nearly_full, run_veto },
	{ "reap", setup_reap, run_one },
	{ "reap in a later chunk", setup_reap_above, run_data },
	{ "return below abandoned", setup_reap_above, run_return_below },
	{ "return below abandoned with data", setup_large_above, run_return_below },
	{ "join below abandoned", setup_one, run_join_below },
	{ "join below abandoned, new chunk", setup_nearly_full, run_join_below },
	{ "late hook", setup_late, run_late },
	{ "late hook in a new chunk", setup_late_nearly_full, run_late },
	{ "late hook, users gone", setup_late_gone, run_late_gone },
	{ "stack is reset", setup_reset, run_reset },
	{ "last user goes", setup_last, run_last },
	{ "no memory", setup_no_memory, run_no_memory },
	{ "no memory for a stack", no_memory, run_one },
	{ "refill", setup_refill, run_refill },
	{ "refill by a task", setup_refill_slow, run_refill_slow },
	{ "unwind", setup_deep, run_unwind },
	{ "users gone", setup_gone, run_gone },
	{ "users gone, CPU goes down", setup_gone, run_gone_cpu_down },
	{ "user's slot taken", setup_slot_taken, run_gone },
	{ "simple user", setup_one, run_simple },
	{ "simple user's first push", setup_none, run_simple },
	{ "simple user in a new chunk", setup_full, run_simple },
	{ "simple users join", setup_one, run_simple_join },
	{ "simple users join, new chunk", setup_nearly_full, run_simple_join },
	{ "chain", setup_by_age, run_chain },
	{ "chain of all kinds", setup_one, run_chain },
	{ "first push of a task by a chain", setup_none, run_chain },
	{ "chain into a new chunk", setup_by_age_full, run_chain },
	{ "chain of all kinds into a new chunk", setup_chain_full, run_chain },
	{ "chain with a veto", setup_one, run_chain_veto },
	{ "chain on a hooked call", setup_by_age, run_chain_hooked },
	{ "chain of all kinds on a hooked call", setup_one, run_chain_hooked },
	{ "chain on a hooked call, new chunk", setup_by_age_full, run_chain_hooked },
	{ "chain with users gone", setup_chain_gone, run_chain_veto },
	{ "chain without its first user", setup_chain_gone, run_chain_not_first },
	{ "chain whose users all go", setup_chain_all_gone, run_chain_all_gone },
	{ "chain, flags differ", setup_flags_differ, run_flags_differ },
	{ "chain, tail call to itself", setup_by_age, run_chain_tail },
	{ "chain of all kinds, tail call to itself", setup_one, run_chain_tail },
	{ "chain, tail call to itself after a veto", setup_veto_tail, run_veto_tail },
	{ "chain, no memory", setup_chain_no_memory, run_chain },
	{ "ids differ by 64", setup_ids_64, run_ids_64 },
	{ "chain, tail call for one of its users", setup_few, run_one_tail },
	{ "join into the second half of a chunk", setup_half, run_half, true },
	{ "join with data into the second half", setup_half_data, run_half_data, true },
	{ "chain where another frame is on top", setup_one, run_chain_not_there },
	{ "first push of a task by a chain, first gone", setup_first_gone, run_chain },
	{ "chain above the same call, abandoned, first gone", setup_abandoned_same, run_chain },
	{ "return below abandoned entries", setup_entries_above, run_return_below, .many = true },
	{ "push above abandoned entries", setup_entries_above, run_one, .many = true },
	{ "large push above abandoned entries", setup_entries_above, run_data, .many = true },
	{ "chain above abandoned entries", setup_entries_above, run_chain_veto, .many = true },
	{ "late hook, abandoned in a callback", setup_late_abandons, run_late_abandons },
	{ "callbacks call", setup_one, run_callback_calls },
	{ "callbacks call, new chunk", setup_nearly_full, run_callback_calls },
	{ "many users", setup_many, run_many, .many = true },
	{ "many users of nested calls", setup_many_nested, run_many_nested, .many = true },
};

const int nr_scenarios = ARRAY_SIZE(scenarios);
