// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts the core at each instruction. The interrupts hook calls themselves, and are
 * interrupted in the same way; after each interrupt all rules of the stack must hold.
 *
 * How instructions are stepped: the core is built from assembly with a call before each
 * instruction (see instrument.awk), which leads to step_point(). With STEP_TRAP the core is the
 * code that the compiler made, and the trap flag of the processor leads there, which is a hundred
 * times slower. qemu-trap.c is the trap flag of an emulated processor.
 *
 * First, interrupts come at each point of a run. Then there is a run for each point with an
 * interrupt at that point alone, as earlier interrupts may have prepared something that later ones
 * find, such as a chunk. The same is done on the second level.
 *
 * With -o, no interrupt comes: at each instruction, readers on other CPUs read the stack (order.c).
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "order.h"
#include "step.h"

#define LEVELS		2
#define CONTEXT_STACK	(PLACE_WORDS * 24)

#ifdef STEP_TRAP
#define STEP_NAME	"trap"
#else
#define STEP_NAME	"step"
#endif

unsigned long step_left;

/**
 * struct counts - what a scenario has done; shared with the process that runs it
 * @points:	number of instructions on each level at which interrupts could come
 * @interrupts:	number of interrupts on each level
 * @checks:	number of calls of model_check()
 * @runs:	number of runs
 * @order:	what was done with -o
 * @what:	what has failed, or empty
 */
static struct counts {
	unsigned long	points[LEVELS + 1];
	unsigned long	interrupts[LEVELS + 1];
	unsigned long	checks;
	unsigned long	runs;
	struct order_counts order;
	char		what[160];
} *counts;

#ifdef STEP_TRAP
/* For each byte of the core's code, whether an instruction there was interrupted. */
static unsigned char *reached;
#endif

static const struct scenario *scenario;
/* For each level, the only point at which an interrupt comes, or 0 for many of them. */
static unsigned long at[LEVELS];
/* For each level, the number of points from one interrupt to the next, if there are many. */
static unsigned long every[LEVELS] = { 1, 1 };
/* For each level, what interrupts; NULL for nothing. */
static const struct kind *by[LEVELS];
static int max_level = LEVELS;

/* The level that runs: 0 for the scenario, then how many interrupts are nested. */
static int level;
/* For each level, the number of points that were passed. */
static unsigned long point[LEVELS];
/* Machine stacks of interrupts. Newer ones are lower, so that an outer call is never below. */
static unsigned long context_stack[LEVELS + 1][CONTEXT_STACK];

/* Readers on other CPUs read the stack at each instruction. */
static bool ordering;

void fake_fail(const char *file, int line, const char *what)
{
	char by_whom[100];

	if (ordering)
		order_describe(by_whom, sizeof(by_whom));
	else
		snprintf(by_whom, sizeof(by_whom), "%s, %s at %lu, %lu",
			 by[0] ? by[0]->name : "-", by[1] ? by[1]->name : "-", point[0], point[1]);
	snprintf(counts->what, sizeof(counts->what), "%s:%d: %s (by %s)", file, line, what,
		 by_whom);
	_exit(1);
}

static void interrupt(const struct kind *kind)
{
	struct task *t = model_now;
	struct fgraph_stack *st = t->t.fgraph_stack;
	void *top = st ? st->top : NULL;
	unsigned long *sp = t->sp, low = fake_stack_pointer;
	int context = fake_context, preempt = fake_preempt_count, calls = t->nr_calls;

	if ((kind->irq && fake_context >= 2) ||
	    (kind->big && !model_user[BIG].gops.user.tag))
		return;
	level++;
	counts->interrupts[level]++;
	fake_context = level + 1;
	if (!kind->same_stack) {
		fake_stack_pointer = (unsigned long)context_stack[LEVELS - level];
		t->sp = context_stack[LEVELS - level] + CONTEXT_STACK - PLACE_WORDS;
	}

	if (level < LEVELS)
		point[level] = 0;
	kind->run();
	if (level < LEVELS)
		counts->points[level] += point[level];

	t->sp = sp;
	fake_stack_pointer = low;
	fake_context = context;
	level--;
	/* RESTORE: an interrupt leaves the stack as it found it. */
	expect(t->nr_calls == calls && fake_preempt_count == preempt);
	if (st && !t->nr_dead)
		expect(st->top == top);
	model_check(t);
}

/* After a single interrupt, check_above() is called before this many more instructions. */
#define SETTLING	24
/* How many of these instructions are left. */
static int settling;

/* Expect that all slots up to @end are free. */
static void check_clean(const void *rec, const void *end)
{
	for (; rec < end; rec += FGRAPH_SLOT)
		expect(!fgraph_head(rec));
}

/*
 * ZERO: code that was interrupted may act on what it read before. It must not leave anything above
 * the top, in this chunk or in the next one.
 */
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

/* Called before an instruction of the core when step_left has become 0. */
void step_point(void)
{
	if (ordering) {
		order_point();
		step_left = 1;
		return;
	}
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

/* The flag is cleared in the handler, and restored from @uc when that returns. */
static void trap_again(ucontext_t *uc, bool on)
{
	if (!on)
		uc->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}
#else
#define TRAP_SIGNAL	SIGUSR1
#define trap_pc(uc)	((uc)->uc_mcontext.pc)

/* qemu-trap.c notices calls of these two functions. */
noinline void trap_on(void)
{
	asm volatile("" : : : "memory");
}

noinline void trap_off(void)
{
	/* The code must differ from trap_on(), or the compiler may merge the two. */
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

/* Print how many instructions were interrupted, with REACHED=1 also their addresses. */
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

/* For each level, how many calls of the core are nested. */
static int stepping[LEVELS];

/* The hook model_step: begin or end interrupting, around a call of the core. */
static void step(bool on)
{
	static unsigned long start;

	if (level >= max_level || !by[level])
		return;
	/* A callback that calls the core is being interrupted already, and is so afterwards. */
	if (on ? stepping[level]++ : --stepping[level])
		return;
	if (on) {
		/* The single interrupt may have come in an earlier call of the core. */
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

/* Prepare the stack and the users for the scenario. */
static void set_up(void)
{
	model_start();
	model_stepped = true;
	register_users(scenario->big, scenario->many);
	scenario->setup();
	model_check(model_now);
}

/* Run the scenario with interrupts at @at0 and @at1, see at[]. Returns the number of points. */
static unsigned long run(unsigned long at0, unsigned long at1)
{
	at[0] = at0;
	at[1] = at1;
	point[0] = 0;
	point[1] = 0;
	level = 0;
	memset(stepping, 0, sizeof(stepping));
	set_up();
	model_step = step;
	scenario->run();
	model_step = no_step;
	model_check(model_now);
	model_end();
	counts->runs++;
	counts->points[0] += point[0];
	return point[0];
}

/* How much is done: it takes seconds, minutes, or hours. */
enum effort { QUICK, LONG, ALL };

/* With QUICK, about how many interrupts there are on the second level for each kind. */
#ifdef STEP_TRAP
#define QUICK_INTERRUPTS	1000
#else
#define QUICK_INTERRUPTS	12000
#endif

/* Run scenario number @n with all kinds of interrupts. */
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
		/* One level: a run with interrupts at each point, then runs with a single one. */
		by[0] = &kinds[k];
		by[1] = NULL;
		points = run(0, 0);
		/* If there are many points, each kind of interrupt takes different ones. */
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
		/* Two levels: interrupts at each point, which are interrupted at each point. */
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
		/* A run for each pair of points, with a single interrupt on each level. */
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

/* The hook model_step with -o: begin or end stepping, around a call of the core. */
static void order_step(bool on)
{
	if (on ? stepping[0]++ : --stepping[0])
		return;
	if (!on)
		trap_flag(false);
	order_point();
	step_left = on;
	if (on)
		trap_flag(true);
}

/* All calls return, and so free the records. */
static void return_all(void)
{
	struct call *c;

	while ((c = model_top())) {
		if (c->slot != fgraph_record_place(c->retp))
			model_body(c);
		model_leave(c);
	}
	if (!model_now->nr_dead)
		return;
	STEP(({ fgraph_reset_task(fake_current); 0; }));
	model_now->nr_dead = 0;
}

static void throw_all(void)
{
	model_throw(model_now->nr_calls);
	return_all();
}

static void unregister_all(void)
{
	int i;

	for (i = 0; i < MAX_USERS; i++) {
		if (model_user[i].gops.user.tag)
			expect(!model_unregister(&model_user[i]));
	}
}

/*
 * With -o: run the scenario, or with @end instead unregister all users and then end all calls. Some
 * scenarios have users of their own, which stay.
 */
static void run_order(void (*end)(void))
{
	model_data_head = FGRAPH_CHUNK | FGRAPH_SLOTS_MASK;
	set_up();
	if (end)
		unregister_all();
	order_begin(&counts->order);
	ordering = true;
	model_step = order_step;
	if (end && !fgraph_nr_users)
		end();
	else
		scenario->run();
	model_step = no_step;
	ordering = false;
	model_check(model_now);
	model_end();
}

static void print_counts(const struct counts *c)
{
	if (c->order.reads) {
		printf("%lu stores, %lu reads\n", c->order.stores, c->order.reads);
		return;
	}
	printf("%lu runs, instructions %lu + %lu, interrupts %lu + %lu, %lu checks\n", c->runs,
	       c->points[0], c->points[1], c->interrupts[1], c->interrupts[2], c->checks);
}

/* Memory that a child process shares. */
static void *shared(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/*
 * Limit the CPU time of this process, as the machine may be busy. The limits are five times what
 * the longest scenario takes; 0 is for none.
 */
static void limit_time(rlim_t seconds)
{
	struct rlimit limit = { seconds, seconds };

	if (seconds)
		setrlimit(RLIMIT_CPU, &limit);
}

/**
 * struct options - the arguments of the program
 * @effort:	how much is done: -l for LONG, -a for ALL
 * @first:	-f: stop at the first failure
 * @order:	-o: readers on other CPUs instead of interrupts
 * @only:	-s N: run only this scenario, counted from 0 here and from 1 there; else -1
 */
struct options {
	enum effort	effort;
	bool		first;
	bool		order;
	int		only;
};

static bool parse_options(struct options *o, int argc, char **argv)
{
	int opt;

	o->only = -1;
	while ((opt = getopt(argc, argv, "1lafos:")) != -1) {
		if (opt == '1')
			max_level = 1;
		else if (opt == 'a')
			o->effort = ALL;
		else if (opt == 'l')
			o->effort = LONG;
		else if (opt == 'f')
			o->first = true;
		else if (opt == 'o')
			o->order = true;
		else if (opt == 's')
			o->only = atoi(optarg) - 1;
		else
			return false;
	}
	return true;
}

static void init(void)
{
#ifdef STEP_TRAP
	sigaction(TRAP_SIGNAL, &(struct sigaction) {
		.sa_sigaction = trap, .sa_flags = SA_SIGINFO | SA_NODEFER,
	}, NULL);
	reached = shared(__stop_fgraph_text - __start_fgraph_text);
#endif
	model_init();
	counts = shared(sizeof(*counts));
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Run a scenario in a process of its own. Returns the status of the process, 0 if it passed. */
static int fork_scenario(int i, const struct options *o)
{
	enum effort effort = o->effort;
	int status;

	memset(counts, 0, sizeof(*counts));
	if (!fork()) {
		limit_time(effort == QUICK ? 500 : effort == LONG ? 5 * 3600 : 0);
		scenario = &scenarios[i];
		if (o->order) {
			run_order(NULL);
			run_order(return_all);
			run_order(throw_all);
		} else {
			run_scenario(i, effort);
		}
		counts->checks = model_checks;
		_exit(0);
	}
	wait(&status);
	return status;
}

/* Print the result of a scenario as line @n of the test. */
static void print_result(int n, const struct scenario *s, int status, bool order)
{
	if (WIFSIGNALED(status))
		printf("# signal %d\n", WTERMSIG(status));
	if (counts->what[0])
		printf("# %s\n", counts->what);
	printf("%s %d %s: %s # ", status ? "not ok" : "ok", n,
	       order ? "order" : STEP_NAME, s->name);
	print_counts(counts);
}

/* Sixteen times more users must not take more than twenty times more instructions. */
static bool check_growth(int n, int dispatchers)
{
#ifndef STEP_TRAP
	unsigned long growth = linear_growth(dispatchers);

	printf("%s %d %s: 640 users take %lu.%02lu times what 40 take, of %d dispatchers\n",
	       growth > 2000 ? "not ok" : "ok", n, STEP_NAME, growth / 100, growth % 100,
	       dispatchers);
	return growth <= 2000;
#else
	printf("ok %d %s: # SKIP instructions are not counted\n", n, STEP_NAME);
	return true;
#endif
}

static void add_counts(struct counts *sum)
{
	sum->points[0] += counts->points[0];
	sum->points[1] += counts->points[1];
	sum->interrupts[1] += counts->interrupts[1];
	sum->interrupts[2] += counts->interrupts[2];
	sum->checks += counts->checks;
	sum->runs += counts->runs;
	sum->order.stores += counts->order.stores;
	sum->order.reads += counts->order.reads;
}

int main(int argc, char **argv)
{
	struct options o = { .effort = QUICK };
	struct counts sum = { };
	bool failed = false;
	int i, status, n = 0;

	if (!parse_options(&o, argc, argv))
		return 2;
	init();
	if (o.only < 0)
		printf("1..%d\n", nr_scenarios + 2);
	for (i = 0; i < nr_scenarios; i++) {
		if (o.only >= 0 && i != o.only)
			continue;
		status = fork_scenario(i, &o);
		failed |= status;
		print_result(++n, &scenarios[i], status, o.order);
		if (failed && o.first)
			return 1;
		add_counts(&sum);
	}
	for (i = 1; o.only < 0 && !o.order && i <= 2; i++)
		failed |= !check_growth(++n, i);
	printf("# %s: ", o.order ? "order" : STEP_NAME);
	print_counts(&sum);
#ifdef STEP_TRAP
	print_reached();
#endif
	return failed;
}
