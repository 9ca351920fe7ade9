// SPDX-License-Identifier: GPL-2.0
/*
 * The time that a hooked call takes in the core, compared with the base: what a kernel without
 * fgraph does for each return probe in kernel/trace/rethook.c. That takes an instance from the
 * probe's freelist, puts it on the task's list, and gives it back at return.
 *
 * "push" is the time that the first user takes at entry, "join" that of each further user. "pop"
 * is the time of a return with one user, and what each further user adds to it. There is one
 * thread, so nothing contends for the freelist, which all CPUs share. No trampoline is run, and
 * callbacks only count.
 */
#include <stdio.h>
#include <time.h>

#include "model.h"

#define atomic_fetch_add(i, v)	__atomic_fetch_add(&(v)->counter, i, __ATOMIC_SEQ_CST)
#define atomic_fetch_add_release(i, v)	__atomic_fetch_add(&(v)->counter, i, __ATOMIC_RELEASE)
#define atomic_set_release(v, i)	__atomic_store_n(&(v)->counter, i, __ATOMIC_RELEASE)
#define try_exchange(p, o, n, order) \
	__atomic_compare_exchange_n(p, o, n, false, order, __ATOMIC_RELAXED)
#define atomic_try_cmpxchg_acquire(v, o, n) \
	try_exchange(&(v)->counter, (int *)(o), n, __ATOMIC_ACQUIRE)
#define try_cmpxchg_acquire(p, o, n)	try_exchange(p, o, n, __ATOMIC_ACQUIRE)
#define try_cmpxchg_release(p, o, n)	try_exchange(p, o, n, __ATOMIC_RELEASE)

#include "../../../include/linux/freelist.h"

#define ROUNDS		20000
#define USERS		4
/* How many calls are nested. Their records fit into one chunk. */
#define DEPTH		12

struct hook;

/* The instance of a return probe of the base, like struct rethook_node. */
struct node {
	struct freelist_node	free;
	struct node		*next;
	struct hook		*hook;
	unsigned long		ret;
	unsigned long		frame;
	char			data[100];
};

/* A return probe of the base, like struct rethook. */
struct hook {
	struct freelist_head	pool;
	void			(*handler)(struct node *node, struct hook *hook);
	int			(*entry)(struct node *node);
	unsigned long		nmissed;
	unsigned long		entered;
	unsigned long		returned;
};

static struct node *task_nodes;
static struct hook hooks[USERS];
static unsigned long entered[USERS];
static unsigned long returned[USERS];

void fake_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

static void handler(struct node *node, struct hook *hook)
{
	hook->returned++;
}

static int entry_handler(struct node *node)
{
	node->hook->entered++;
	return 0;
}

static noinline void base_entry(struct hook *hook, unsigned long *place)
{
	struct freelist_node *free;
	struct node *node;

	preempt_disable_notrace();
	free = READ_ONCE(hook->handler) ? freelist_try_get(&hook->pool) : NULL;
	if (!free) {
		hook->nmissed++;
		preempt_enable_notrace();
		return;
	}
	node = container_of(free, struct node, free);
	node->hook = hook;
	if (hook->entry && hook->entry(node)) {
		freelist_add(&node->free, &hook->pool);
		preempt_enable_notrace();
		return;
	}
	node->ret = *place;
	node->frame = (unsigned long)place;
	*place = (unsigned long)fgraph_trampoline_light;
	node->next = task_nodes;
	WRITE_ONCE(task_nodes, node);
	preempt_enable_notrace();
}

/*
 * The return of a call of the base: finds the first node with a real return address, calls the
 * handlers up to that, and gives their nodes back.
 */
static noinline unsigned long base_return(unsigned long *place)
{
	struct node *last = task_nodes, *node;
	unsigned long ret;

	while (last->ret == (unsigned long)fgraph_trampoline_light)
		last = last->next;
	ret = last->ret;
	preempt_disable_notrace();
	for (node = task_nodes;; node = node->next) {
		void (*call)(struct node *node, struct hook *hook) = READ_ONCE(node->hook->handler);

		expect(node->frame == (unsigned long)place);
		if (call)
			call(node, node->hook);
		if (node == last)
			break;
	}
	*place = ret;
	node = task_nodes;
	WRITE_ONCE(task_nodes, last->next);
	last->next = NULL;
	while (node) {
		struct node *next = node->next;

		if (READ_ONCE(node->hook->handler))
			freelist_add(&node->free, &node->hook->pool);
		node = next;
	}
	preempt_enable_notrace();
	return ret;
}

static int entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		 struct ftrace_regs *fregs)
{
	entered[container_of(gops, struct user, gops) - model_user]++;
	return 1;
}

static void retfunc(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		    struct fgraph_regs *regs)
{
	returned[container_of(gops, struct user, gops) - model_user]++;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Nanoseconds of an entry and a return, in the fastest round: others were disturbed. */
struct times {
	double entry;
	double ret;
};

/* The nanoseconds that now() takes. */
static double clock_cost;

/* Hook a call like fgraph_ftrace.c does, with preemption disabled. */
static void hook_call(struct fgraph_ops **user, int users, struct ftrace_regs *fregs)
{
	bool simple = fgraph_is_simple(user[0]);

	preempt_disable_notrace();
	if (users == 1 && simple)
		fgraph_hook_one(user[0], 1, fregs);
	else
		fgraph_hook_several(user, users, simple, 1, fregs);
	preempt_enable_notrace();
}

/* Time nested calls with that many users, of the base or of fgraph. */
static struct times time_calls(bool base, int users)
{
	struct times best = { 1e9, 1e9 };
	static struct ftrace_regs fregs[DEPTH];
	struct fgraph_regs regs = { };
	unsigned long *place[DEPTH], *slot[DEPTH];
	struct fgraph_ops *user[USERS];
	int i, j, k;

	for (i = 0; i < users; i++)
		user[i] = &model_user[i].gops;

	for (i = 0; i < DEPTH; i++) {
		place[i] = fake_current->stack + THREAD_SIZE - 512 * (i + 1);
		fregs[i].regs.sp = (unsigned long)place[i];
		slot[i] = base ? place[i] : fgraph_entry_place(&fregs[i].regs);
	}
	for (k = 0; k < ROUNDS; k++) {
		double t0, t1, t2;

		for (i = 0; i < DEPTH; i++)
			*slot[i] = 0x1234;
		t0 = now();
		for (i = 0; i < DEPTH; i++) {
			for (j = 0; base && j < users; j++)
				base_entry(&hooks[j], slot[i]);
			if (!base)
				hook_call(user, users, &fregs[i]);
		}
		t1 = now();
		for (i = DEPTH; i-- > 0;) {
			if (base)
				base_return(place[i]);
			else
				fgraph_return_light(place[i], &regs);
		}
		t2 = now();
		if (t1 - t0 < best.entry)
			best.entry = t1 - t0;
		if (t2 - t1 < best.ret)
			best.ret = t2 - t1;
	}
	best.entry = (best.entry - clock_cost) / DEPTH;
	best.ret = (best.ret - clock_cost) / DEPTH;
	return best;
}

static void find_clock_cost(void)
{
	int i;

	clock_cost = 1e9;
	for (i = 0; i < ROUNDS; i++) {
		double t = now();

		t = now() - t;
		if (t < clock_cost)
			clock_cost = t;
	}
}

static void print(int n, const char *what, const char *kind, double base, double ours)
{
	printf("ok %d bench: %-22s %-26s # base %5.1f ns, fgraph %5.1f ns, ratio %.2f\n", n, what,
	       kind, base, ours, ours / base);
}

/* A kind of users: the size of their data in bytes, and whether they have an entry callback. */
struct user_kind {
	const char	*name;
	size_t		size;
	bool		entry;
};

/* Register USERS users, and set up as many hooks of the base. */
static void register_users(const struct user_kind *kind)
{
	int i, j;

	memset(hooks, 0, sizeof(hooks));
	memset(entered, 0, sizeof(entered));
	memset(returned, 0, sizeof(returned));
	for (i = 0; i < USERS; i++) {
		struct fgraph_ops *gops = &model_user[i].gops;
		struct node *nodes = calloc(DEPTH, sizeof(*nodes));

		hooks[i].handler = handler;
		hooks[i].entry = kind->entry ? entry_handler : NULL;
		for (j = 0; j < DEPTH; j++)
			freelist_add(&nodes[j].free, &hooks[i].pool);
		gops->entryfunc = kind->entry ? entry : NULL;
		gops->retfunc = retfunc;
		gops->data_size = kind->size;
		expect(!fgraph_user_add(gops));
	}
}

/* Print the times of a kind: those of one user are in element 0, those of USERS in 1. */
static void print_times(int n, const struct user_kind *kind, const struct times *base,
			const struct times *ours)
{
	print(n + 1, "push", kind->name, base[0].entry, ours[0].entry);
	print(n + 2, "join", kind->name, (base[1].entry - base[0].entry) / (USERS - 1),
	      (ours[1].entry - ours[0].entry) / (USERS - 1));
	print(n + 3, "pop", kind->name, base[0].ret, ours[0].ret);
	print(n + 4, "pop, each further user", kind->name,
	      (base[1].ret - base[0].ret) / (USERS - 1),
	      (ours[1].ret - ours[0].ret) / (USERS - 1));
	print(n + 5, "call, 1 user", kind->name, base[0].entry + base[0].ret,
	      ours[0].entry + ours[0].ret);
	print(n + 6, "call, 4 users", kind->name, base[1].entry + base[1].ret,
	      ours[1].entry + ours[1].ret);
}

/* All callbacks were called for all calls, on both sides, and no call was missed. */
static void check_calls(const struct user_kind *kind)
{
	int i;

	for (i = 0; i < USERS; i++) {
		/* Only the first user was also timed alone. */
		unsigned long calls = (unsigned long)ROUNDS * DEPTH * (i ? 1 : 2);

		expect(hooks[i].returned == calls && returned[i] == calls);
		expect(hooks[i].entered == (kind->entry ? calls : 0));
		expect(entered[i] == hooks[i].entered);
		expect(!hooks[i].nmissed);
		expect(!fgraph_missed(&model_user[i].gops, FGRAPH_MISS_MEMORY));
	}
}

int main(void)
{
	static const struct user_kind kinds[] = {
		{ "no data", 0 },
		{ "8 bytes, entry callback", 8, true },
		{ "100 bytes, entry callback", 100, true },
	};
	int i, k;

	model_init();
	find_clock_cost();
	printf("1..%zu\n", 6 * ARRAY_SIZE(kinds));
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct times base[2], ours[2];

		model_start();
		register_users(&kinds[k]);
		for (i = 0; i < 2; i++) {
			base[i] = time_calls(true, i ? USERS : 1);
			ours[i] = time_calls(false, i ? USERS : 1);
		}
		print_times(6 * k, &kinds[k], base, ours);
		check_calls(&kinds[k]);
		model_end();
	}
	return 0;
}
