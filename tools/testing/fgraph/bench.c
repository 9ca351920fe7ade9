// SPDX-License-Identifier: GPL-2.0
/*
 * What a hooked call costs in the core, beside what a kernel without fgraph does
 * for each of its return probes, kernel/trace/rethook.c: an instance from the
 * probe's freelist, put on the task's list, and back at return.
 *
 * push is the first user's part at entry, join that of each further one; pop is
 * the return with one user, and what each further one adds to it. The figures
 * are of one thread: nobody contends for the freelist, which all CPUs share. No
 * trampoline is run, and callbacks only count.
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
/* So many calls, one within the other: all in one chunk. */
#define DEPTH		12

struct hook;

struct node {
	struct freelist_node	free;
	struct node		*next;
	struct hook		*hook;
	unsigned long		ret;
	unsigned long		frame;
	char			data[100];
};

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

/* Finds the first that has a real address, tells all before, gives them back. */
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

/* Each the best of all rounds: the rest was other tasks. */
struct times {
	double entry;
	double ret;
};

static double clock_cost;

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
			if (!base && users == 1 && fgraph_is_simple(user[0]))
				fgraph_hook_one(user[0], 1, &fregs[i]);
			else if (!base)
				fgraph_hook_several(user, users, fgraph_is_simple(user[0]), 1,
						    &fregs[i]);
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

int main(void)
{
	static const struct {
		const char	*name;
		size_t		size;
		bool		entry;
	} kinds[] = {
		{ "no data", 0 },
		{ "8 bytes, entry callback", 8, true },
		{ "100 bytes, entry callback", 100, true },
	};
	unsigned long calls;
	int i, k, n = 0;

	model_init();
	find_clock_cost();
	printf("1..%zu\n", 6 * ARRAY_SIZE(kinds));
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct times base[2], ours[2];

		model_start();
		memset(hooks, 0, sizeof(hooks));
		memset(entered, 0, sizeof(entered));
		memset(returned, 0, sizeof(returned));
		for (i = 0; i < USERS; i++) {
			struct fgraph_ops *gops = &model_user[i].gops;
			struct node *nodes = calloc(DEPTH, sizeof(*nodes));
			int j;

			hooks[i].handler = handler;
			hooks[i].entry = kinds[k].entry ? entry_handler : NULL;
			for (j = 0; j < DEPTH; j++)
				freelist_add(&nodes[j].free, &hooks[i].pool);
			gops->entryfunc = kinds[k].entry ? entry : NULL;
			gops->retfunc = retfunc;
			gops->data_size = kinds[k].size;
			expect(!fgraph_user_add(gops));
		}
		for (i = 0; i < 2; i++) {
			base[i] = time_calls(true, i ? USERS : 1);
			ours[i] = time_calls(false, i ? USERS : 1);
		}
		print(++n, "push", kinds[k].name, base[0].entry, ours[0].entry);
		print(++n, "join", kinds[k].name, (base[1].entry - base[0].entry) / (USERS - 1),
		      (ours[1].entry - ours[0].entry) / (USERS - 1));
		print(++n, "pop", kinds[k].name, base[0].ret, ours[0].ret);
		print(++n, "pop, each further user", kinds[k].name,
		      (base[1].ret - base[0].ret) / (USERS - 1),
		      (ours[1].ret - ours[0].ret) / (USERS - 1));
		print(++n, "call, 1 user", kinds[k].name, base[0].entry + base[0].ret,
		      ours[0].entry + ours[0].ret);
		print(++n, "call, 4 users", kinds[k].name, base[1].entry + base[1].ret,
		      ours[1].entry + ours[1].ret);

		/* Nobody was spared anything. */
		for (i = 0; i < USERS; i++) {
			calls = (unsigned long)ROUNDS * DEPTH * (i ? 1 : 2);
			expect(hooks[i].returned == calls && returned[i] == calls);
			expect(hooks[i].entered == (kinds[k].entry ? calls : 0));
			expect(entered[i] == hooks[i].entered);
			expect(!hooks[i].nmissed);
			expect(!fgraph_missed(&model_user[i].gops, FGRAPH_MISS_MEMORY));
		}
		model_end();
	}
	return 0;
}
