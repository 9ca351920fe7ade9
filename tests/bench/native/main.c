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
#include <sys/mman.h>
#include <time.h>

#include "kernel-c.h"
#include "native.h"

#define CALLS		1000

enum {
	HIJACK,
	JMP,
#ifdef CONFIG_FGRAPH_STUBS
	STUB,
#endif
	NR_CORES,
};

/* One task for each copy of the core, as each has shadow stacks of its own. */
static struct task_struct tasks[NR_CORES];
static const struct core *const cores[] = {
	&hijack_core,
	&jmp_core,
#ifdef CONFIG_FGRAPH_STUBS
	&stub_core,
#endif
};

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

/* Every way that hooks, by its copy of the core: two functions, and what it does. */
static const struct way {
	native_fn	*f, *other;
	int		address;
} ways[] = {
	{ f_hijack, f_other_hijack, REPLACED },
	{ f_jmp, f_other_jmp, REPLACED },
#ifdef CONFIG_FGRAPH_STUBS
	{ f_stub, f_other_stub, KEPT },
#endif
};

static void want(int core, native_fn *f, int kind, int nr)
{
	cores[core]->want((unsigned long)f, users_of(core, kind), nr);
	fake_current = &tasks[core];
}

#ifdef CONFIG_FGRAPH_STUBS
/* Text that is near enough for direct branches. Protections are those of the kernel. */
static void protect(const void *addr, size_t size, int prot)
{
	unsigned long start = (unsigned long)addr & PAGE_MASK;

	expect(!mprotect((void *)start, (unsigned long)addr + size - start, prot));
}

void *execmem_alloc_rw(int type, size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	expect(page != MAP_FAILED);
	return page;
}

void execmem_free(void *page)
{
	munmap(page, PAGE_SIZE);
}

int set_memory_rox(unsigned long addr, int pages)
{
	protect((void *)addr, pages * PAGE_SIZE, PROT_READ | PROT_EXEC);
	return 0;
}

void *text_poke_copy(void *addr, const void *opcode, size_t len)
{
	protect(addr, len, PROT_READ | PROT_WRITE);
	memcpy(addr, opcode, len);
	protect(addr, len, PROT_READ | PROT_EXEC);
	return addr;
}

/* As ftrace does when its ops is alone on a function. */
static void send_to_stub(native_fn *f)
{
	unsigned long ip = (unsigned long)f;
	char jmp[MCOUNT_INSN_SIZE] = { JMP32_INSN_OPCODE };
	int distance = cores[STUB]->stub(ip) - (ip + MCOUNT_INSN_SIZE);

	memcpy(jmp + 1, &distance, sizeof(distance));
	text_poke_copy((void *)f, jmp, sizeof(jmp));
}

static void send_to_stubs(void)
{
	send_to_stub(f_stub);
	send_to_stub(f_other_stub);
	send_to_stub(f_tail_stub);
	send_to_stub(f_deep_stub);
}
#else
static void send_to_stubs(void)
{
}
#endif

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

/* A task has no shadow stack before its first call, which is hooked in another way. */
static void make_stack(int core)
{
	unsigned long args[6] = { };

	want(core, ways[core].f, CHECK_LIGHT, 1);
	users_check = (struct check) { .any_call = true };
	expect(check_call(ways[core].f, args));
	expect(tasks[core].fgraph_stack);
}

static void check_way(int core, int kind, int nr)
{
	native_fn *f = ways[core].f;
	struct check extra = { .func = (unsigned long)f, .way = ways[core].address };

	want(core, f, kind, nr);
	check_one(core, f, nr, extra);
	extra.refuse = true;
	check_one(core, f, nr, extra);
	/* Callbacks call a function that is hooked in the same way. */
	extra.nested = ways[core].other;
	want(core, extra.nested, kind == CHECK_FULL ? CHECK_LIGHT : CHECK_FULL, 1);
	check_one(core, f, nr, extra);
	extra.refuse = false;
	check_one(core, f, nr, extra);
}

/* Functions that end in a tail call, and ones whose frames do not fit into a chunk. */
static const struct chain {
	int		core;
	native_fn	*tail, *deep;
} chains[] = {
	{ HIJACK, f_tail_hijack, f_deep_hijack },
#ifdef CONFIG_FGRAPH_STUBS
	{ STUB, f_tail_stub, f_deep_stub },
	{ STUB, f_mixed_tail, f_deep_stub },
#endif
};

static void check_chain(const struct chain *c, int nr)
{
	/* No interrupt refills the reserve meanwhile. */
	unsigned long args[6] = { nr > 2 ? 50 : 200 }, depth = args[0], returns;

	want(c->core, ways[c->core].f, CHECK_LIGHT, nr);
	want(c->core, c->tail, CHECK_LIGHT, nr);
	check_one(c->core, c->tail, 2 * nr, (struct check) { });

	want(c->core, c->deep, CHECK_LIGHT, nr);
	users_check = (struct check) { .any_call = true };
	returns = users_returns;
	expect(check_call(c->deep, args));
	expect(args[0] == depth && users_returns == returns + (depth + 1) * nr);
	expect(cores[c->core]->empty(tasks[c->core].fgraph_stack));
	fake_run_irq_works();
	fake_run_works();
}

static void check(void)
{
	static const int numbers[] = { 1, 2, 16 };
	unsigned int i, n;

	for (i = 0; i < NR_CORES; i++)
		make_stack(i);
	for (n = 0; n < ARRAY_SIZE(numbers); n++) {
		for (i = 0; i < NR_CORES; i++) {
			check_way(i, CHECK_LIGHT, numbers[n]);
			check_way(i, CHECK_FULL, numbers[n]);
		}
		for (i = 0; i < ARRAY_SIZE(chains); i++)
			check_chain(&chains[i], numbers[n]);
	}
}

/* What is timed: the ways, the C code alone of two of them, a floor for each kind, a plain call. */
enum {
	FLOOR = NR_CORES,
	C_HIJACK,
#ifdef CONFIG_FGRAPH_STUBS
	C_STUB,
#endif
	PLAIN,
	NR_TIMED,
};

static const char *const timed[] = {
	[HIJACK]	= "hijack",
	[JMP]		= "jmp",
	[FLOOR]		= "floor",
	[C_HIJACK]	= "C-hijack",
#ifdef CONFIG_FGRAPH_STUBS
	[STUB]		= "stub",
	[C_STUB]	= "C-stub",
#endif
};

struct config {
	int		kind;
	int		nr;
	int		depth;
	bool		apart;
};

static native_fn *function_of(int what, int kind)
{
	if (what == PLAIN)
		return f_plain;
	if (what == FLOOR)
		return kind == KRETPROBE ? f_floor : f_floor_both;
	return ways[what].f;
}

/* The core that a measurement uses, if any. */
static int core_of(int what)
{
#ifdef CONFIG_FGRAPH_STUBS
	if (what == C_STUB)
		return STUB;
#endif
	return what < NR_CORES ? what : HIJACK;
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

	fake_current = &tasks[core_of(what)];
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

	fake_current = &tasks[core_of(what)];
	switch (what) {
	case C_HIJACK:
		return caller_run_hijack((unsigned long)f_hijack, CALLS, full);
#ifdef CONFIG_FGRAPH_STUBS
	case C_STUB:
		return caller_run_stub((unsigned long)f_stub, CALLS, full);
#endif
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
	for (what = 0; what < NR_CORES; what++)
		want(what, ways[what].f, c->kind, c->nr);
	for (round = 0; round < rounds; round++) {
		for (what = 0; what < NR_TIMED; what++) {
			unsigned long returns = users_returns, t = time_one(what, c);

			expect(users_returns - returns == returns_of(what, c));
			best[what] = min(best[what], t);
		}
	}
	for (what = 0; what < PLAIN; what++) {
		bool alone = what > FLOOR;
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
	for (core = 0; core < NR_CORES; core++)
		users_init(core, cores[core]);
	send_to_stubs();
	check();
	signal(SIGTRAP, count_step);
	if (rounds)
		measure_all(rounds);
	return 0;
}
