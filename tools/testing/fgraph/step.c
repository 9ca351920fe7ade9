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

#include "step.h"

#define LEVELS		2
#define CONTEXT_STACK	(PLACE_WORDS * 24)

#ifdef STEP_TRAP
#define STEP_NAME	"trap"
#else
#define STEP_NAME	"step"
#endif

/* step_point() is called before as many instructions as this; 0: never. */
unsigned long step_left;

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

static void interrupt(const struct kind *kind)
{
	struct task *t = model_now;
	struct fgraph_stack *st = t->t.fgraph_stack;
	void *top = st ? st->top : NULL;
	unsigned long *sp = t->sp;
	int context = fake_context, preempt = fake_preempt_count, calls = t->nr_calls;

	if ((kind->irq && fake_context >= 2) ||
	    (kind->big && !model_user[BIG].gops.user.tag))
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
	const int nr = nr_kinds;
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
		printf("1..%d\n", nr_scenarios);
	for (i = 0; i < nr_scenarios; i++) {
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
