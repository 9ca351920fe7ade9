// SPDX-License-Identifier: GPL-2.0
/*
 * Random sequences of all that can happen: a byte of the input says what to do next, and some
 * actions take more bytes. The core is compared with the model of model.c.
 *
 * Built for libFuzzer, or with REPLAY as a program: its arguments are files with sequences to be
 * replayed, and the number of random sequences to run after them.
 */
#include <stdio.h>

#include "model.h"

#define CONTEXTS	3
/* There are few users, so that they often join each other's frames. */
#define USERS		8
#define CONTEXT_CALLS	12
#define CONTEXT_STACK	(PLACE_WORDS * (CONTEXTS * CONTEXT_CALLS + 16))

static const unsigned char *input, *input_end;
static const char *input_name;

/* The interrupts that are running, each with what it interrupted. */
static struct {
	/* The number of calls of the task at that time. */
	int		calls;
	int		context;
	unsigned long	*sp;
} contexts[CONTEXTS];

static int nr_contexts;
/* Machine stacks of interrupts. Newer ones are lower, so that an outer call is never below. */
static unsigned long context_stack[CONTEXTS + 1][CONTEXT_STACK];

/* How many more callbacks make a call. */
static int in_callbacks;
/* How many callbacks that make a call are nested. */
static int callback_depth;

void fake_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	if (input_name)
		fprintf(stderr, "not ok replay: %s\n", input_name);
	abort();
}

/* The next byte of the input, as a number below @below; 0 behind the end. */
static unsigned int get(unsigned int below)
{
	return input < input_end ? *input++ % below : 0;
}

/* The number of calls that the current context has made. */
static int calls_here(void)
{
	return model_now->nr_calls - (nr_contexts ? contexts[nr_contexts - 1].calls : 0);
}

/* May the current context make another call? */
static bool room(void)
{
	if (model_now->nr_calls >= MAX_CALLS - 12)
		return false;
	return !nr_contexts || calls_here() < CONTEXT_CALLS;
}

/* Hook a call for one user, or for that user and all linked behind it. */
static void hook(struct call *c)
{
	unsigned int i = get(2 * USERS);

	if (i < USERS)
		model_hook(c, &model_user[i]);
	else
		model_hook_linked(c, &model_user[i - USERS]);
}

/*
 * A callback is interrupted, or calls a function, which is hooked. The callback may only abandon
 * its call if @drops: otherwise the record would stay on top and say that a callback runs.
 */
static void in_callback(bool drops)
{
	struct task *t = model_now;
	unsigned long *sp = t->sp;
	int context = fake_context, i;
	unsigned int how;
	struct call *c;

	if (!in_callbacks || callback_depth > 2 || t->nr_calls >= MAX_CALLS - 4)
		return;
	in_callbacks--;
	callback_depth++;
	how = get(4);
	if (how & 1) {
		fake_context = fake_context < 3 ? fake_context + 1 : 3;
		t->sp = context_stack[0] + CONTEXT_STACK -
			PLACE_WORDS * (1 + 4 * callback_depth);
	}
	c = model_call(get(256));
	for (i = get(3); i >= 0; i--)
		hook(c);
	model_body(c);
	if (how == 2 && drops)
		model_abandon(1);
	else
		model_leave(c);
	t->sp = sp;
	fake_context = context;
	callback_depth--;
}

static void do_register(void)
{
	static const size_t sizes[] = {
		0, 8, 24, 25, 32, 40, 48, 64, 72, 100, 256, 1000, 2000, 3904, 3912, 4000,
		FGRAPH_MAX_DATA_SIZE, FGRAPH_MAX_DATA_SIZE + 1,
	};
	unsigned int flags;
	struct user *u;
	size_t size;
	bool traced;
	int ret;

	if (nr_contexts)
		return;
	u = &model_user[get(USERS)];
	size = sizes[get(ARRAY_SIZE(sizes))];
	flags = get(16);
	traced = flags & 8;
	if (u->gops.user.tag) {
		expect(fgraph_user_add(&u->gops) == -EBUSY);
		return;
	}
	flags = flags & 1 ? FGRAPH_FULL_REGS : 0;
	u->veto = get(4) ? 0 : get(256);
	u->ask = get(2);
	u->silent = get(2);
	/* The id of an unregistered user is used again, or not. */
	fake_lowest_id = 64 * get(3) + get(2);
	ret = model_register(u, size, flags, traced);
	if (size > FGRAPH_MAX_DATA_SIZE)
		expect(ret == -E2BIG);
	else
		expect(!ret || (ret == -ENOMEM && fake_memory_left >= 0));
}

/* Link users in any order, some of which may not be registered. */
static void do_link(void)
{
	struct user *users[USERS];
	unsigned int linked = 0;
	int i, nr = 0;

	for (i = get(USERS + 1); i > 0; i--) {
		struct user *u = &model_user[get(USERS)];

		if (!(linked & 1 << (u - model_user)))
			users[nr++] = u;
		linked |= 1 << (u - model_user);
	}
	model_link(users, nr);
}

static void do_unregister(void)
{
	struct user *u;

	if (nr_contexts)
		return;
	u = &model_user[get(USERS)];
	model_check_missed(u);
	if (u->gops.user.tag) {
		expect(!model_unregister(u));
		return;
	}
	expect(fgraph_user_retire(&u->gops) == -ENOENT);
	fgraph_user_remove(&u->gops);
}

static void do_call(void)
{
	struct call *c;
	int i;

	if (!room())
		return;
	c = model_call(get(256));
	for (i = get(5); i > 0; i--)
		hook(c);
	model_body(c);
}

/* Make many nested calls, so that chunks are filled. */
static void do_recurse(void)
{
	struct user *u = &model_user[get(USERS)];
	int n = get(70);

	while (n-- && room()) {
		model_hook(model_call(n & 3), u);
		model_body(model_top());
	}
}

static void do_tail(void)
{
	struct call *c = model_top();
	int i;

	if (calls_here() <= 0)
		return;
	model_tail(c, get(4) ? get(256) : c->func);
	for (i = get(4); i > 0; i--)
		hook(c);
	model_body(c);
}

static void do_return(int n)
{
	while (n-- && calls_here() > 0)
		model_leave(model_top());
}

static void do_abandon(void)
{
	int n = get(40);

	if (n > calls_here())
		n = calls_here();
	model_abandon(n);
	/* An idle task whose CPU comes up again resets its stack. */
	if (!model_now->nr_calls && n && fgraph_nr_users && get(2)) {
		fgraph_reset_task(fake_current);
		expect(!fake_current->fgraph_stack ||
		       fgraph_stack_empty(fake_current->fgraph_stack));
		model_now->nr_dead = 0;
	}
}

static void do_interrupt(void)
{
	if (nr_contexts == CONTEXTS)
		return;
	contexts[nr_contexts].calls = model_now->nr_calls;
	contexts[nr_contexts].context = fake_context;
	contexts[nr_contexts].sp = model_now->sp;
	if (fake_context < 3)
		fake_context++;
	if (get(2))
		model_now->sp = context_stack[CONTEXTS - nr_contexts] + CONTEXT_STACK - PLACE_WORDS;
	nr_contexts++;
}

static void do_interrupt_end(void)
{
	if (!nr_contexts)
		return;
	do_return(calls_here());
	nr_contexts--;
	model_now->sp = contexts[nr_contexts].sp;
	fake_context = contexts[nr_contexts].context;
}

static void do_cpu(void)
{
	int cpu = get(2);

	if (nr_contexts)
		return;
	fake_cpu = cpu;
	fake_set_online(1, cpu || get(2));
}

static void do_memory(void)
{
	static const int left[] = { -1, -1, -1, 0, 1, 5, 17, 20 };

	fake_memory_left = left[get(ARRAY_SIZE(left))];
}

static void do_drain(void)
{
	size_t size = get(2) ? FGRAPH_CHUNK_SIZE : FGRAPH_BIG_CHUNK_SIZE;
	int n = get(40);
	void *chunk;

	fake_preempt_count++;
	while (n-- && (chunk = fgraph_chunk_take(size)))
		fgraph_chunk_give(chunk, size);
	fake_preempt_count--;
}

static void do_works(void)
{
	if (fake_context < 2)
		fake_run_irq_works();
	if (!nr_contexts && get(2))
		fake_run_works();
}

static void do_unwind(void)
{
	struct task *t = &model_task[get(MAX_TASKS)];

	model_unwind(t, 0, get(8), get(FGRAPH_TRAMPOLINE_SPAN + 1));
	model_check(t);
}

static void do_return_one(void)
{
	do_return(1);
}

static void do_return_many(void)
{
	do_return(get(80));
}

static void do_switch(void)
{
	if (!nr_contexts)
		model_switch(get(MAX_TASKS));
}

static void do_exit(void)
{
	int i = get(MAX_TASKS);

	if (&model_task[i] != model_now)
		model_exit_task(i);
}

static void do_in_callbacks(void)
{
	in_callbacks = get(8);
}

/* Actions that are more interesting are there more than once. */
static void (*const actions[])(void) = {
	[0 ... 1] = do_register,
	[2] = do_unregister,
	[3 ... 7] = do_call,
	[8] = do_recurse,
	[9] = do_tail,
	[10 ... 11] = do_return_one,
	[12] = do_return_many,
	[13] = do_abandon,
	[14] = do_interrupt,
	[15] = do_interrupt_end,
	[16] = do_switch,
	[17] = do_exit,
	[18] = do_cpu,
	[19] = do_memory,
	[20] = do_drain,
	[21] = do_works,
	[22 ... 24] = do_link,
	[25] = do_in_callbacks,
};

/* Runs one sequence. libFuzzer calls it by the name LLVMFuzzerTestOneInput. */
int fuzz(const unsigned char *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

int fuzz(const unsigned char *data, size_t size)
{
	static bool ready;

	if (!ready)
		model_init();
	ready = true;
	input = data;
	input_end = data + size;
	nr_contexts = 0;
	in_callbacks = 0;
	model_start();
	model_in_callback = in_callback;

	while (input < input_end) {
		actions[get(ARRAY_SIZE(actions))]();
		do_unwind();
		model_check_memory();
	}
	in_callbacks = 0;
	while (nr_contexts)
		do_interrupt_end();
	model_end();
	return 0;
}

#ifdef REPLAY
static unsigned char buffer[1 << 16];

static void replay(const char *name)
{
	FILE *f = fopen(name, "r");
	size_t size;

	input_name = name;
	expect(f);
	size = fread(buffer, 1, sizeof(buffer), f);
	fclose(f);
	fuzz(buffer, size);
}

static unsigned long random_number(void)
{
	static unsigned long x = 88172645463325252UL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static void replay_random(int runs)
{
	int i;

	input_name = "random";
	for (i = 0; i < runs; i++) {
		size_t size = random_number() % 1000, j;

		for (j = 0; j < size; j++)
			buffer[j] = random_number() >> 11;
		fuzz(buffer, size);
	}
}

int main(int argc, char **argv)
{
	int i, n = 0, runs = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 1; i < argc; i++) {
		if (argv[i][0] >= '0' && argv[i][0] <= '9') {
			runs = atoi(argv[i]);
		} else {
			replay(argv[i]);
			n++;
		}
	}
	printf("ok 1 replay: corpus # %d files\n", n);
	replay_random(runs);
	printf("ok 2 replay: random # %d runs, %lu checks\n", runs, model_checks);
	return 0;
}
#endif
