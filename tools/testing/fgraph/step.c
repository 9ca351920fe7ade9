// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts the core at each instruction, by what hooks and returns itself,
 * and that by the same again; after each interrupt all rules must hold.
 *
 * How instructions are stepped: where the core is built from assembly with a
 * call before each instruction (see instrument.awk), that calls step_point().
 * With STEP_TRAP, the processor's trap flag does so on code as the compiler made
 * it, a hundred times slower; for an emulated processor qemu-trap.c has one.
 *
 * Interrupts come at each point of a run; then, in a run of its own, at a single
 * point, so that what later ones would find prepared (a chunk, a word) is not
 * there. The second level likewise.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"

#define LEVELS		2
#define CONTEXT_STACK	(PLACE_WORDS * 24)

#ifdef STEP_TRAP
#define STEP_NAME	"trap"
#else
#define STEP_NAME	"step"
#endif

/* step_point() is called before as many instructions as this; 0: never. */
unsigned long step_left;

struct kind {
	const char	*name;
	void		(*run)(void);
	/* On the stack of what it interrupts, or on its own. */
	bool		same_stack;
	/* Not from NMI. */
	bool		irq;
};

struct scenario {
	const char	*name;
	void		(*setup)(void);
	void		(*run)(void);
	bool		big;
	bool		many;
};

/* Shared with the process that runs a scenario. */
static struct counts {
	unsigned long	points[LEVELS + 1];
	unsigned long	interrupts[LEVELS + 1];
	unsigned long	checks;
	unsigned long	runs;
	char		what[160];
} *counts;

#ifdef STEP_TRAP
/* Of each instruction of the core, whether it was interrupted. */
static unsigned char *reached;
#endif

static const struct scenario *scenario;
/* Interrupted at which point, 0: at each, or each so many; by what. */
static unsigned long at[LEVELS];
static unsigned long every[LEVELS] = { 1, 1 };
static const struct kind *by[LEVELS];
static int max_level = LEVELS;

static int level;
static unsigned long point[LEVELS];
/* Newer ones are lower, as on a stack: a call further out is never below. */
static unsigned long context_stack[LEVELS + 1][CONTEXT_STACK];

void fake_fail(const char *file, int line, const char *what)
{
	snprintf(counts->what, sizeof(counts->what), "%s:%d: %s (by %s, %s at %lu, %lu)", file,
		 line, what, by[0] ? by[0]->name : "-", by[1] ? by[1]->name : "-", point[0],
		 point[1]);
	_exit(1);
}

/*
 * Users.
 */

enum {
	SHORT, DATA, FULL, ASK, VETO, BIG, LARGE, NONE,
	/* No entry callback; with those "simple" that have little data. */
	SIMPLE,
	/* As kretprobes of one function: a chain, the newest first. */
	CHAIN_0, CHAIN_24, CHAIN_ENTRY, CHAIN_DATA, CHAIN_NEVER, CHAIN_32, CHAIN_8, CHAIN_VETO,
	CHAIN_16,
	/* More than fit into a chunk. */
	MANY, MANY_END = MANY + 66,
};

static_assert(MANY_END <= MAX_USERS && MANY_END - MANY < MAX_ENTRIES);

/* These are a chain. */
#define link(...)								\
	link_users((const int[]){ __VA_ARGS__ },				\
		   sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

static void link_users(const int *users, int nr)
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

static void register_users(bool big, bool many)
{
	static const struct {
		size_t		size;
		unsigned int	flags;
		/* Not by way of ftrace. */
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
		/* Is told of entries alone. */
		[CHAIN_NEVER] = { 8, 0, true },
		/* Fits in an entry, but not in a frame. */
		[CHAIN_32] = { 32, FGRAPH_FULL_REGS, true, true },
		[CHAIN_8] = { 8, FGRAPH_FULL_REGS, true, true },
		[CHAIN_VETO] = { 8, FGRAPH_FULL_REGS, true },
		[CHAIN_16] = { 16, FGRAPH_FULL_REGS, true, true },
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

static void hook(struct call *c, int user)
{
	model_hook(c, &model_user[user]);
}

static struct call *call(unsigned long func, int user)
{
	struct call *c = model_call(func);

	hook(c, user);
	return c;
}

/* All that are linked from there on. */
static void hook_chain(struct call *c, int user)
{
	model_hook_linked(c, &model_user[user]);
}

static struct call *call_chain(unsigned long func, int user)
{
	struct call *c = model_call(func);

	hook_chain(c, user);
	return c;
}

/*
 * What interrupts.
 */

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

/* More than fits in a chunk, if the first has anything in it. */
static void by_large(void)
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

static void by_big(void)
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

/* What they are linked with is up to the scenario. */
static void by_chain(void)
{
	struct call *c = call_chain(120, CHAIN_16);

	model_body(c);
	model_leave(c);
	/* One joins, and the next may find itself there. */
	c = call(121, CHAIN_8);
	hook_chain(c, CHAIN_VETO);
	model_body(c);
	model_leave(c);
}

static void by_refill(void)
{
	fake_preempt_count++;
	fgraph_chunk_refill();
	fake_preempt_count--;
	STEP(({ fake_run_irq_works(); 0; }));
}

/* As another task: the last user goes, and with it the memory. */
static struct fgraph_ops last_user;

static void by_last(void)
{
	if (fake_preempt_count || !last_user.user.tag)
		return;
	expect(!fgraph_user_retire(&last_user));
	fgraph_synchronize();
	fgraph_user_remove(&last_user);
}

static const struct kind kinds[] = {
	{ "one", by_one, true },
	{ "join", by_join },
	{ "large", by_large },
	{ "big", by_big },
	{ "tail", by_tail, true },
	{ "veto", by_veto },
	{ "refill", by_refill, .irq = true },
	{ "large, same stack", by_large, true },
	{ "last user gone", by_last, .irq = true },
	{ "simple", by_simple },
	{ "chain", by_chain, true },
};

static void interrupt(const struct kind *kind)
{
	struct task *t = model_now;
	struct fgraph_stack *st = t->t.fgraph_stack;
	void *top = st ? st->top : NULL;
	unsigned long *sp = t->sp;
	int context = fake_context, preempt = fake_preempt_count, calls = t->nr_calls;

	if ((kind->irq && fake_context >= 2) ||
	    (kind->run == by_big && !model_user[BIG].gops.user.tag))
		return;
	level++;
	counts->interrupts[level]++;
	fake_context = level + 1;
	if (!kind->same_stack)
		t->sp = context_stack[LEVELS - level] + CONTEXT_STACK - PLACE_WORDS;

	if (level < LEVELS)
		point[level] = 0;
	kind->run();
	if (level < LEVELS)
		counts->points[level] += point[level];

	t->sp = sp;
	fake_context = context;
	level--;
	/* (1) Left as found. */
	expect(t->nr_calls == calls && fake_preempt_count == preempt);
	if (st && !t->nr_dead)
		expect(st->top == top);
	model_check(t);
}

/* So many instructions after a single interrupt are looked at. */
#define SETTLING	24
static int settling;

static void check_clean(const void *rec, const void *end)
{
	for (; rec < end; rec += FGRAPH_SLOT)
		expect(!fgraph_head(rec));
}

/* (2) Whoever was interrupted has seen what is gone: in this chunk, and the next. */
static void check_above(void)
{
	struct fgraph_stack *st = fake_current->fgraph_stack;
	void *top = st ? st->top : NULL;
	struct fgraph_chunk *c;

	for (c = st ? st->first : NULL; c; c = c->next) {
		if (top < (void *)c || top >= c->end)
			continue;
		check_clean(top + FGRAPH_SLOT, c->end);
		if (c->next)
			check_clean(c->next + 1, c->next->end);
		break;
	}
}

/* Before an instruction. */
void step_point(void)
{
	if (settling) {
		check_above();
		step_left = !!--settling;
		return;
	}
	if (at[level])
		point[level] = at[level];
	else
		point[level] += every[level];
	model_check(model_now);
	interrupt(by[level]);
	if (at[level] && !level)
		settling = SETTLING;
	step_left = at[level] ? !!settling : every[level];
}

#ifdef STEP_TRAP
#include <ucontext.h>

extern char __start_fgraph_text[], __stop_fgraph_text[];

#ifdef __x86_64__
#define TRAP_SIGNAL	SIGTRAP
#define trap_pc(uc)	((uc)->uc_mcontext.gregs[REG_RIP])

static void trap_flag(bool on)
{
	if (on)
		asm volatile("pushf; orl $0x100, (%%rsp); popf" : : : "memory", "cc");
	else
		asm volatile("pushf; andl $~0x100, (%%rsp); popf" : : : "memory", "cc");
}

/* The flag is off in the handler, and as before when that returns. */
static void trap_again(ucontext_t *uc, bool on)
{
	if (!on)
		uc->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}
#else
#define TRAP_SIGNAL	SIGUSR1
#define trap_pc(uc)	((uc)->uc_mcontext.pc)

/* qemu-trap.c knows them. */
noinline void trap_on(void)
{
	asm volatile("" : : : "memory");
}

noinline void trap_off(void)
{
	/* Not the same code, lest the two be merged. */
	asm volatile("nop" : : : "memory");
}

static void trap_flag(bool on)
{
	if (on)
		trap_on();
	else
		trap_off();
}

static void trap_again(ucontext_t *uc, bool on)
{
	if (on)
		trap_on();
}
#endif

/* Code that is not interrupted at all is that of registering and the like. */
static void print_reached(void)
{
	size_t i, nr = 0;

	for (i = 0; i < __stop_fgraph_text - __start_fgraph_text; i++)
		nr += reached[i];
	printf("# trap: %zu different instructions\n", nr);
	if (!getenv("REACHED"))
		return;
	for (i = 0; i < __stop_fgraph_text - __start_fgraph_text; i++) {
		if (reached[i])
			printf("# reached %p\n", __start_fgraph_text + i);
	}
}

static void trap(int sig, siginfo_t *info, void *context)
{
	unsigned long pc = trap_pc((ucontext_t *)context);

	if (pc < (unsigned long)__start_fgraph_text || pc >= (unsigned long)__stop_fgraph_text)
		return;
#ifndef __x86_64__
	trap_off();
#endif
	if (step_left && !--step_left) {
		reached[pc - (unsigned long)__start_fgraph_text] = 1;
		step_point();
	}
	trap_again(context, step_left);
}
#else
static void trap_flag(bool on)
{
}
#endif

static void step(bool on)
{
	static unsigned long start;

	if (level >= max_level || !by[level])
		return;
	if (on) {
		/* A single point may be over. */
		settling = 0;
		step_left = !at[level] ? every[level] :
			    at[level] > point[level] ? at[level] - point[level] : 0;
		start = step_left;
		if (step_left)
			trap_flag(true);
	} else {
		trap_flag(false);
		if (at[level] && step_left && !settling)
			point[level] += start - step_left;
		step_left = 0;
	}
}

/*
 * What is interrupted.
 */

/* Only so many slots are left in the first chunk. */
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

/* As above, but the next chunk is there already. */
static void setup_next_chunk(void)
{
	fill(1);
	by_large();
}

/* The next chunks are too small for a big record, and one is not. */
static void setup_small_chunks(void)
{
	fill(1);
	by_big();
	by_large();
	by_large();
}

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
	/* Not the same user: its frame is of another function. */
	model_tail(c, 12);
	hook(c, FULL);
	model_body(c);
	/* To itself. */
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

/* Calls that will not return fill the chunk. */
static void setup_reap(void)
{
	model_leave(model_call(0));
	setup_one();
	fill(0);
	model_abandon(model_now->nr_calls - 1);
}

static void setup_reap_above(void)
{
	fill(2);
	call(6, DATA);
	model_body(model_top());
	hook(model_call(8), DATA);
	hook(model_top(), FULL);
	model_abandon(2);
}

/* With data, up to the end of the chunk: interrupts drop them, too. */
static void setup_large_above(void)
{
	fill(2);
	call(6, LARGE);
	call(8, LARGE);
	call(10, LARGE);
	model_abandon(3);
}

/* With entries, which lie where the data of interrupts will. */
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

	/* Something above is abandoned: by a longjmp in an earlier instant. */
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
	/* As a frame, a second slot. */
	d = call(12, CHAIN_32);
	hook(d, SIMPLE);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* Each joins: older ones, newer ones, some with data below. */
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
	/* The frame's own data is below, all others' not. */
	c = call(10, CHAIN_DATA);
	hook(c, CHAIN_24);
	hook(c, CHAIN_0);
	model_body(c);
	model_leave(c);
}

/* All simple, each older than the one before. */
static void setup_falling(void)
{
	setup_one();
	link(CHAIN_16, CHAIN_8, CHAIN_24, CHAIN_0);
}

/* All simple, in another order. */
static void setup_mixed(void)
{
	setup_one();
	link(CHAIN_8, CHAIN_16, CHAIN_0, CHAIN_24);
}

/* The chain begins here, goes on in the next chunk, or all of it is there. */
static void setup_falling_full(void)
{
	fill(2);
	link(CHAIN_16, CHAIN_8, CHAIN_24, CHAIN_0);
}

static void setup_mixed_full(void)
{
	fill(3);
	link(CHAIN_8, CHAIN_16, CHAIN_0, CHAIN_24);
}

static void setup_chain_full(void)
{
	fill(4);
}

/* The first of a chain has gone, and one within it, while a call waits for them. */
static void setup_chain_gone(void)
{
	model_body(call_chain(2, CHAIN_16));
	expect(!model_unregister(&model_user[CHAIN_16]));
	expect(!model_unregister(&model_user[CHAIN_DATA]));
	expect(!model_unregister(&model_user[CHAIN_24]));
}

/* Nobody is left but in the call. */
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
	/* Now they are newer than those who were newer. */
	model_user[CHAIN_0].silent = true;
	expect(!model_register(&model_user[CHAIN_0], 0, FGRAPH_FULL_REGS, false));
}

static void run_chain_all_gone(void)
{
	struct call *c = model_top();

	/* It is not the one that is there. */
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

/* Is refused by the one who refuses. */
static void run_chain_veto(void)
{
	struct call *c = call_chain(11, CHAIN_16), *d;

	model_body(c);
	d = call_chain(13, CHAIN_VETO);
	model_body(d);
	model_leave(d);
	model_leave(c);
}

/* Others have hooked the call: also those who do not need all registers. */
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

/* The first to come refuses, and has gone. */
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

/* Those who need all registers and those who do not are in one chain. */
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

/* To itself: all are there, or some of them. */
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

/* Users who have the same bit of a run's users: those who are there and not. */
static void setup_same_bits(void)
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
	/* Falling, with all the same: then not. */
	link(CHAIN_8, CHAIN_16, CHAIN_24, CHAIN_0);
}

static void setup_same_bits_mixed(void)
{
	setup_same_bits();
	link(CHAIN_24, CHAIN_0, CHAIN_16, CHAIN_8);
}

static void run_same_bits(void)
{
	struct call *c = call_chain(10, CHAIN_8), *d;

	model_body(c);
	d = call_chain(12, CHAIN_24);
	hook_chain(d, CHAIN_16);
	model_body(d);
	model_leave(d);
	model_leave(c);
	/* In a run that does not fall, the oldest has the bit of the newest. */
	c = call(10, CHAIN_0);
	hook(c, CHAIN_24);
	hook(c, CHAIN_16);
	hook_chain(c, CHAIN_8);
	model_body(c);
	model_leave(c);
}

/* Each is older than the one before, but for one: the first is there already. */
static void setup_not_falling(void)
{
	setup_one();
	link(CHAIN_0, CHAIN_16, CHAIN_24);
}

static void run_not_falling(void)
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

/* Some slots are left in the first half of a big chunk, and the next one joins. */
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

	/* Who is there already is found. */
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

/* What the first of a chain leaves on top is not theirs, or not of this function. */
static void run_chain_not_there(void)
{
	struct call *c = call(11, CHAIN_24);

	model_body(c);
	model_tail(c, 13);
	hook_chain(c, CHAIN_VETO);
	model_body(c);
	/* As in run_join_below(). */
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

/* What is on top has the place of the call that is to come, and its function. */
static void setup_abandoned_same(void)
{
	setup_one();
	link(CHAIN_16, CHAIN_8, CHAIN_24, CHAIN_0);
	call(10, SIMPLE);
	model_abandon(1);
	expect(!model_unregister(&model_user[CHAIN_16]));
}

static int many_first;

/* The newest first. */
static void setup_many(void)
{
	int users[MANY_END - MANY], i;

	setup_one();
	for (i = 0; i < ARRAY_SIZE(users); i++)
		users[i] = MANY_END - 1 - i;
	link_users(users, ARRAY_SIZE(users));
	many_first = users[0];
}

static void setup_many_mixed(void)
{
	int users[MANY_END - MANY], i;

	setup_one();
	for (i = 0; i < ARRAY_SIZE(users); i++)
		users[i] = MANY + 29 * i % ARRAY_SIZE(users);
	link_users(users, ARRAY_SIZE(users));
	many_first = users[0];
}

static void run_many(void)
{
	struct call *c = call_chain(10, many_first);

	model_body(c);
	/* It is there, among all those. */
	model_tail(c, 10);
	hook(c, MANY + 33);
	model_body(c);
	model_leave(c);
}

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

/* Some of a chain miss the call. */
static void setup_chain_no_memory(void)
{
	fill(5);
	no_memory();
}

static void run_no_memory(void)
{
	struct call *c = call(10, SHORT);

	/* No room for it. */
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

/* Nothing to be had in the interrupt: a task has to do it. */
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
	/* From the middle, with a cursor that fits another place. */
	STEP(({ model_unwind(model_now, model_now->stale, 3, 4); 0; }));
}

/* All go while the call is hooked: its return has the memory given back. */
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

/* Some go, and one comes where another was. */
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
 * A kprobe's handler hooks a call late: what leads there is hooked already, and
 * returns first. The model has no such calls: all of it is here, and the frames
 * are to be taken for abandoned ones.
 */
static struct late {
	struct fgraph_ops	gops;
	struct ftrace_regs	fregs;
	unsigned long		*retp;
	unsigned long		func;
	int			returned;
} late[3];

/* Data that looks like a frame, as that of the model. */
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

/* What is called later has the lower place. */
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
	/* As in model_body(). */
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

static void late_end(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(late); i++) {
		expect(!fgraph_user_retire(&late[i].gops));
		fgraph_synchronize();
		fgraph_user_remove(&late[i].gops);
	}
	model_now->nr_dead = 0;
	model_now->sp += ARRAY_SIZE(late) * PLACE_WORDS;
}

static void setup_late_nearly_full(void)
{
	fill(1);
	setup_late();
}

/* It also leaves something on top that was abandoned. */
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
	late[1].gops.retfunc = late_abandons;
}

static void run_late_abandons(void)
{
	late_hook(1, 31, 1);
	late_hook(2, 32, 2);
	late_return(1);
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

/* Preempted where preemption is on, and all users go meanwhile. */
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
	/* A stack with nothing on it. */
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
		preempt_disable_notrace();
		STEP((fgraph_hook_one(&last_user, 10, &c->fregs), 0));
		preempt_enable_notrace();
	}
	if (fgraph_is_trampoline(*c->slot)) {
		struct fgraph_regs regs = { };

		last_user.retfunc = ignored;
		model_body(c);
		expect(STEP(fgraph_return_light(c->retp, &regs)) == c->ret);
	}
	model_leave(c);
	model_now->nr_dead = 0;
	if (last_user.user.tag)
		by_last();
}

/* As an idle task whose CPU comes up again: its stack starts anew. */
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

static const struct scenario scenarios[] = {
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
	{ "stack starts anew", setup_reset, run_reset },
	{ "last user goes", setup_last, run_last },
	{ "no memory", setup_no_memory, run_no_memory },
	{ "no memory for a stack", no_memory, run_one },
	{ "refill", setup_refill, run_refill },
	{ "refill by a task", setup_refill_slow, run_refill_slow },
	{ "unwind", setup_deep, run_unwind },
	{ "users gone", setup_gone, run_gone },
	{ "user's slot taken", setup_slot_taken, run_gone },
	{ "simple user", setup_one, run_simple },
	{ "simple user's first push", setup_none, run_simple },
	{ "simple user in a new chunk", setup_full, run_simple },
	{ "simple users join", setup_one, run_simple_join },
	{ "simple users join, new chunk", setup_nearly_full, run_simple_join },
	{ "chain", setup_falling, run_chain },
	{ "chain in another order", setup_mixed, run_chain },
	{ "chain of all kinds", setup_one, run_chain },
	{ "first push of a task by a chain", setup_none, run_chain },
	{ "chain into a new chunk", setup_falling_full, run_chain },
	{ "chain in another order into a new chunk", setup_mixed_full, run_chain },
	{ "chain of all kinds into a new chunk", setup_chain_full, run_chain },
	{ "chain with a veto", setup_one, run_chain_veto },
	{ "chain on a hooked call", setup_falling, run_chain_hooked },
	{ "chain of all kinds on a hooked call", setup_one, run_chain_hooked },
	{ "chain on a hooked call, new chunk", setup_falling_full, run_chain_hooked },
	{ "chain with users gone", setup_chain_gone, run_chain_veto },
	{ "chain without its first", setup_chain_gone, run_chain_not_first },
	{ "chain of which all go", setup_chain_all_gone, run_chain_all_gone },
	{ "chain, flags differ", setup_flags_differ, run_flags_differ },
	{ "chain, tail call to itself", setup_falling, run_chain_tail },
	{ "chain of all kinds, tail call to itself", setup_one, run_chain_tail },
	{ "chain, no memory", setup_chain_no_memory, run_chain },
	{ "users with the same bits", setup_same_bits, run_same_bits },
	{ "users with the same bits in another order", setup_same_bits_mixed, run_same_bits },
	{ "users fall, but for one", setup_not_falling, run_not_falling },
	{ "run into the second half of a chunk", setup_half, run_half, true },
	{ "run with data into the second half", setup_half_data, run_half_data, true },
	{ "chain where another frame is on top", setup_one, run_chain_not_there },
	{ "first push of a task by a chain, first gone", setup_first_gone, run_chain },
	{ "chain above the same call, abandoned, first gone", setup_abandoned_same, run_chain },
	{ "return below abandoned entries", setup_entries_above, run_return_below, .many = true },
	{ "push above abandoned entries", setup_entries_above, run_one, .many = true },
	{ "large push above abandoned entries", setup_entries_above, run_data, .many = true },
	{ "chain above abandoned entries", setup_entries_above, run_chain_veto, .many = true },
	{ "late hook, abandoned in a callback", setup_late_abandons, run_late_abandons },
	{ "many users", setup_many, run_many, .many = true },
	{ "many users in another order", setup_many_mixed, run_many, .many = true },
};

static void no_step(bool on)
{
}

/* Returns how many points there were. */
static unsigned long run(unsigned long at0, unsigned long at1)
{
	at[0] = at0;
	at[1] = at1;
	point[0] = 0;
	point[1] = 0;
	level = 0;
	model_start();
	model_stepped = true;
	register_users(scenario->big, scenario->many);
	scenario->setup();
	model_check(model_now);
	model_step = step;
	scenario->run();
	model_step = no_step;
	model_check(model_now);
	model_end();
	counts->runs++;
	counts->points[0] += point[0];
	return point[0];
}

/* How much is done: in seconds, in minutes, in hours. */
enum effort { QUICK, LONG, ALL };

/* Of each kind that interrupts, on the second level, when it is quick. */
#ifdef STEP_TRAP
#define QUICK_INTERRUPTS	1000
#else
#define QUICK_INTERRUPTS	12000
#endif

static void run_scenario(int n, enum effort effort)
{
	static const int nr = ARRAY_SIZE(kinds);
	unsigned long i, j, points, second, stride;
	int k, l;

	for (k = 0; k < nr; k++) {
#ifdef STEP_TRAP
		if (effort == QUICK && (n + k) % 4)
			continue;
#endif
		/* At each point; at a single one. */
		by[0] = &kinds[k];
		by[1] = NULL;
		points = run(0, 0);
		/* Of many, different ones for each kind. */
		stride = effort > QUICK ? 1 : points > 6000 ? points / 1500 : points > 600 ? 3 : 1;
		for (i = 1 + (n + k) % stride; i <= points; i += stride) {
#ifdef STEP_TRAP
			if (i > 3)
				break;
#endif
			run(i, 0);
		}
		if (max_level < 2)
			continue;
		/* At each, and there at each. */
		by[1] = &kinds[(n + k) % nr];
		run(1 + points / 2, ~0UL);
		second = point[1];
		if (effort == QUICK) {
			if (second > 400)
				every[1] = 7;
			every[0] = 1 + points * second / every[1] / QUICK_INTERRUPTS;
		}
		run(0, 0);
		every[0] = 1;
		every[1] = 1;
		if (effort < ALL)
			continue;
		/* At a single one, and there at a single one. */
		for (l = 0; l < nr; l++) {
			by[1] = &kinds[l];
			for (i = 1; i <= points; i++) {
				run(i, ~0UL);
				second = point[1];
				for (j = 1; j <= second; j++)
					run(i, j);
			}
		}
	}
}

static void print_counts(const struct counts *c)
{
	printf("%lu runs, instructions %lu + %lu, interrupts %lu + %lu, %lu checks\n", c->runs,
	       c->points[0], c->points[1], c->interrupts[1], c->interrupts[2], c->checks);
}

static void *shared(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* By its own time, five times what the longest takes: the machine may be busy. */
static void limit_time(rlim_t seconds)
{
	struct rlimit limit = { seconds, seconds };

	if (seconds)
		setrlimit(RLIMIT_CPU, &limit);
}

int main(int argc, char **argv)
{
	struct counts sum = { };
	enum effort effort = QUICK;
	bool failed = false, first = false;
	int i, opt, only = -1, n = 0;

	while ((opt = getopt(argc, argv, "1lafs:")) != -1) {
		if (opt == '1')
			max_level = 1;
		else if (opt == 'a')
			effort = ALL;
		else if (opt == 'l')
			effort = LONG;
		else if (opt == 'f')
			first = true;
		else if (opt == 's')
			only = atoi(optarg) - 1;
		else
			return 2;
	}
#ifdef STEP_TRAP
	sigaction(TRAP_SIGNAL, &(struct sigaction) {
		.sa_sigaction = trap, .sa_flags = SA_SIGINFO | SA_NODEFER,
	}, NULL);
#endif
	model_init();
	counts = shared(sizeof(*counts));
#ifdef STEP_TRAP
	reached = shared(__stop_fgraph_text - __start_fgraph_text);
#endif
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (only < 0)
		printf("1..%zu\n", ARRAY_SIZE(scenarios));
	for (i = 0; i < ARRAY_SIZE(scenarios); i++) {
		int status;

		if (only >= 0 && i != only)
			continue;
		memset(counts, 0, sizeof(*counts));
		if (!fork()) {
			limit_time(effort == QUICK ? 500 : effort == LONG ? 5 * 3600 : 0);
			scenario = &scenarios[i];
			run_scenario(i, effort);
			counts->checks = model_checks;
			_exit(0);
		}
		wait(&status);
		failed |= status;
		if (WIFSIGNALED(status))
			printf("# signal %d\n", WTERMSIG(status));
		if (counts->what[0])
			printf("# %s\n", counts->what);
		printf("%s %d %s: %s # ", status ? "not ok" : "ok", ++n, STEP_NAME,
		       scenarios[i].name);
		print_counts(counts);
		if (failed && first)
			return 1;
		sum.points[0] += counts->points[0];
		sum.points[1] += counts->points[1];
		sum.interrupts[1] += counts->interrupts[1];
		sum.interrupts[2] += counts->interrupts[2];
		sum.checks += counts->checks;
		sum.runs += counts->runs;
	}
	printf("# %s: ", STEP_NAME);
	print_counts(&sum);
#ifdef STEP_TRAP
	print_reached();
#endif
	return failed;
}
