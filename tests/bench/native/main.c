// SPDX-License-Identifier: GPL-2.0
/*
 * What a hooked call costs on this machine's own CPU.
 *
 *   PROGRAM [ROUNDS]
 *
 * Checks first that each way to hook a call tells users what it should. Then measures all ways in
 * turn, ROUNDS times, and prints for the minimum of each a line
 * "RET LOOP DEPTH KIND USERS WAY NS INSTRUCTIONS":
 *
 *   RET    how functions return: plain, thunk or srso
 *   LOOP   loop: the CPU may overlap one call with the next; apart: it may not
 *   DEPTH  how many callers there are between the loop and the function's caller
 *   KIND   kretprobe: a user of returns that wants all registers; graph: of entries and returns
 *   WAY    see ways[] and timed[]
 *   NS     nanoseconds above a call that is not hooked; of C-hijack and C-stub: of the C code alone
 *   INSTRUCTIONS  more than a call has that is not hooked
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "native.h"

#define CALLS		1000

/* One task for each copy of the core, as each has shadow stacks of its own. */
static struct task_struct tasks[2];
static const struct core *const cores[] = { &hijack_core, &jmp_core };

/* Callbacks do not align the stack for the C library. */
__attribute__((force_align_arg_pointer))
void __noreturn fake_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, RET_NAME ": %s:%d: %s\n", file, line, what);
	exit(1);
}

static unsigned long random_word(void)
{
	static unsigned long x = 88172645463325252UL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* Every way that hooks: its copy of the core, and its function for light and for full users. */
static const struct way {
	const char	*name;
	int		core;
	native_fn	*light, *full;
} ways[] = {
	{ "hijack", 0, f_hijack, f_hijack },
	{ "jmp", 1, f_jmp, f_jmp },
	{ "stub", 0, f_stub, f_stub_full },
};

static void want(const struct way *w, int kind, int nr)
{
	bool full = kind == KRETPROBE || kind == CHECK_FULL;

	cores[w->core]->want((unsigned long)(full ? w->full : w->light), users_of(w->core, kind),
			     nr);
	fake_current = &tasks[w->core];
}

static void check_one(int core, native_fn *f, int nr, struct check extra)
{
	unsigned long args[6], entries, returns;
	int i;

	for (i = 0; i < 200; i++) {
		int n;

		users_check = extra;
		for (n = 0; n < 6; n++)
			args[n] = random_word();
		memcpy(users_check.args, args, sizeof(args));
		users_check.value = args[0] + args[1] + args[2] + args[3] + args[4] + args[5];
		users_check.value_high = args[0] ^ args[5];
		entries = users_entries;
		returns = users_returns;
		expect(check_call(f, args));
		expect(args[0] == users_check.value && args[1] == users_check.value_high);
		entries = users_entries - entries;
		returns = users_returns - returns;
		/* Each callback, at entry and return, makes a call with one user. */
		expect(entries == nr * (extra.nested ? extra.refuse ? 2 : 3 : 1));
		expect(returns == entries - (extra.refuse ? nr : 0));
		expect(!fake_preempt_count);
		/* The first call makes the stack. */
		expect(cores[core]->empty(tasks[core].fgraph_stack));
	}
}

static void check_way(const struct way *w, int kind, int nr)
{
	native_fn *f = kind == CHECK_FULL ? w->full : w->light;
	native_fn *other = kind == CHECK_FULL ? w->light : w->full;
	struct check extra = { .func = (unsigned long)f };

	want(w, kind, nr);
	check_one(w->core, f, nr, extra);
	extra.refuse = true;
	check_one(w->core, f, nr, extra);
	if (f == other)
		return;
	/* Callbacks call a function that is hooked in the same way. */
	want(w, kind == CHECK_FULL ? CHECK_LIGHT : CHECK_FULL, 1);
	extra.nested = other;
	check_one(w->core, f, nr, extra);
	extra.refuse = false;
	check_one(w->core, f, nr, extra);
}

/* Functions that end in a tail call, and ones whose frames do not fit into a chunk. */
static void check_chains(int nr)
{
	native_fn *first[] = { f_stub_tail, f_hijack_tail };
	native_fn *deep[] = { f_deep_stub, f_deep_hijack };
	struct fgraph_ops **users = users_of(0, CHECK_LIGHT);
	/* No interrupt refills the reserve meanwhile. */
	unsigned long args[6], depth = nr > 2 ? 50 : 200;
	unsigned int i;

	fake_current = &tasks[0];
	for (i = 0; i < ARRAY_SIZE(first); i++) {
		cores[0]->want((unsigned long)f_stub, users, nr);
		cores[0]->want((unsigned long)first[i], users, nr);
		check_one(0, first[i], 2 * nr, (struct check) { });
	}
	users_check = (struct check) { .any_call = true };
	for (i = 0; i < ARRAY_SIZE(deep); i++) {
		unsigned long returns = users_returns;

		cores[0]->want((unsigned long)deep[i], users, nr);
		args[0] = depth;
		expect(check_call(deep[i], args));
		expect(args[0] == depth && users_returns == returns + (depth + 1) * nr);
		expect(cores[0]->empty(tasks[0].fgraph_stack));
		fake_run_irq_works();
		fake_run_works();
	}
}

static void check(void)
{
	static const int numbers[] = { 1, 2, 16 };
	unsigned int i, w;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (w = 0; w < ARRAY_SIZE(ways); w++) {
			check_way(&ways[w], CHECK_LIGHT, numbers[i]);
			check_way(&ways[w], CHECK_FULL, numbers[i]);
		}
		check_chains(numbers[i]);
	}
}

/* What is timed: the ways, the C code alone of two of them, a floor for each kind, a plain call. */
enum { HIJACK, JMP, STUB, FLOOR, C_HIJACK, C_STUB, PLAIN, NR_TIMED };

static const char *const timed[] = { "hijack", "jmp", "stub", "floor", "C-hijack", "C-stub" };

/* Where stub_enter returns to in the stub of f_stub, and of f_stub_full. */
#define STUB_AT(n)	((unsigned long)stubs_start + ((n) << STUB_SHIFT) + 5)

struct config {
	int		kind;
	int		nr;
	int		depth;
	bool		apart;
};

static native_fn *function_of(int what, int kind)
{
	bool full = kind == KRETPROBE;

	if (what == PLAIN)
		return f_plain;
	if (what == FLOOR)
		return full ? f_floor : f_floor_both;
	return full ? ways[what].full : ways[what].light;
}

static unsigned long steps;

static void count_step(int sig)
{
	WRITE_ONCE(steps, steps + 1);
}

/* The instructions of a call. The first one makes the shadow stack. */
static unsigned long count(int what, const struct config *c)
{
	native_fn *f = function_of(what, c->kind);

	fake_current = &tasks[what == JMP];
	f(1, 2, 3, 4, 5, 6);
	WRITE_ONCE(steps, 0);
	caller_step(f);
	return READ_ONCE(steps);
}

static unsigned long time_function(native_fn *f, const struct config *c)
{
	return c->apart ? caller_run_apart(f, c->depth, CALLS) : caller_run(f, c->depth, CALLS);
}

static unsigned long time_one(int what, const struct config *c)
{
	bool full = c->kind == KRETPROBE;

	fake_current = &tasks[what == JMP];
	switch (what) {
	case C_HIJACK:
		return caller_run_hijack((unsigned long)f_hijack, CALLS, full);
	case C_STUB:
		return caller_run_stub(STUB_AT(full ? 2 : 1), CALLS, full);
	default:
		return time_function(function_of(what, c->kind), c);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Nanoseconds of a tick of the TSC. */
static double ns_per_tick(void)
{
	unsigned long ticks = __builtin_ia32_rdtsc();
	double start = now(), end;

	do
		end = now();
	while (end < start + 1e8);
	return (end - start) / (__builtin_ia32_rdtsc() - ticks);
}

/* How many returns users are told of in one measurement. */
static int returns_of(int what, const struct config *c)
{
	return CALLS * (what == PLAIN ? 0 : what == FLOOR ? 1 : c->nr);
}

static void measure(const struct config *c, int rounds, double ns)
{
	unsigned long best[NR_TIMED];
	int what, round;

	memset(best, 0xff, sizeof(best));
	for (what = 0; what < ARRAY_SIZE(ways); what++)
		want(&ways[what], c->kind, c->nr);
	for (round = 0; round < rounds; round++) {
		for (what = 0; what < NR_TIMED; what++) {
			unsigned long returns = users_returns, t = time_one(what, c);

			expect(users_returns - returns == returns_of(what, c));
			best[what] = min(best[what], t);
		}
	}
	for (what = 0; what < PLAIN; what++) {
		bool alone = what == C_HIJACK || what == C_STUB;
		long net = best[what] - (alone ? 0 : best[PLAIN]);
		long more = alone ? 0 : count(what, c) - count(PLAIN, c);

		printf("%s %s %d %s %d %s %.2f %ld\n", RET_NAME, c->apart ? "apart" : "loop",
		       c->depth, c->kind == KRETPROBE ? "kretprobe" : "graph", c->nr, timed[what],
		       net * ns / CALLS, more);
	}
}

static void measure_all(int rounds)
{
	static const int numbers[] = { 1, 2, 16 };
	double ns = ns_per_tick();
	struct config c;
	int i;

	for (c.kind = KRETPROBE; c.kind <= GRAPH; c.kind++) {
		c.apart = false;
		for (i = 0; i < ARRAY_SIZE(numbers); i++) {
			c.nr = numbers[i];
			for (c.depth = 0; c.depth <= 8; c.depth += 8)
				measure(&c, rounds, ns);
		}
		c.apart = true;
		c.nr = 1;
		for (c.depth = 0; c.depth <= 8; c.depth += 8)
			measure(&c, rounds, ns);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	int core;

	fake_init();
	for (core = 0; core < ARRAY_SIZE(cores); core++)
		users_init(core, cores[core]);
	check();
	signal(SIGTRAP, count_step);
	if (rounds)
		measure_all(rounds);
	return 0;
}
