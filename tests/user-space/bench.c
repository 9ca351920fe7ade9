// SPDX-License-Identifier: GPL-2.0
/*
 * What a hooked call costs in the core, beside what the base does for each of
 * its return probes: an instance from a list that all tasks share, by atomic
 * exchange, pushed on the task's list, and back at return.
 *
 * The figures are of one thread: nobody contends for the base's list. No
 * trampoline is run, and no callback does anything.
 */
#include <stdio.h>
#include <time.h>

#include "model.h"

#define ROUNDS		5
#define CALLS		300000

/* The base's kretprobe with a rethook, in short. */
struct node {
	struct node		*free;
	struct node		*next;
	void			*hook;
	unsigned long		ret;
	unsigned long		frame;
	unsigned long		data[4];
};

struct hook {
	struct node		*pool;
	void			(*handler)(struct hook *hook, struct node *node);
	unsigned long		nmissed;
};

static struct node *task_nodes;
static struct hook hooks[4];
static unsigned long word[64];

void fake_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

static noinline void handler(struct hook *hook, struct node *node)
{
	barrier();
}

static struct node *pool_get(struct hook *hook)
{
	struct node *old, *next;

	old = READ_ONCE(hook->pool);
	do {
		if (!old)
			return NULL;
		next = READ_ONCE(old->free);
	} while (!__atomic_compare_exchange_n(&hook->pool, &old, next, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return old;
}

static void pool_put(struct hook *hook, struct node *node)
{
	struct node *old = READ_ONCE(hook->pool);

	do {
		node->free = old;
	} while (!__atomic_compare_exchange_n(&hook->pool, &old, node, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
}

static noinline void base_entry(struct hook *hook, unsigned long *place)
{
	struct node *node;

	preempt_disable_notrace();
	node = pool_get(hook);
	if (!node) {
		hook->nmissed++;
		preempt_enable_notrace();
		return;
	}
	node->hook = hook;
	node->ret = *place;
	node->frame = (unsigned long)place;
	*place = (unsigned long)fgraph_trampoline_light;
	node->next = task_nodes;
	WRITE_ONCE(task_nodes, node);
	preempt_enable_notrace();
}

/* Finds the first that has a real address, tells all before, frees them. */
static noinline unsigned long base_return(unsigned long *place)
{
	struct node *first = task_nodes, *node = first;
	unsigned long ret;

	while (node->ret == (unsigned long)fgraph_trampoline_light)
		node = node->next;
	ret = node->ret;
	for (node = first;; node = node->next) {
		struct hook *hook = node->hook;

		preempt_disable_notrace();
		hook->handler(hook, node);
		preempt_enable_notrace();
		if (node->ret == ret)
			break;
	}
	*place = ret;
	preempt_disable_notrace();
	WRITE_ONCE(task_nodes, node->next);
	for (;;) {
		struct node *next = first->next;

		pool_put(first->hook, first);
		if (first == node)
			break;
		first = next;
	}
	preempt_enable_notrace();
	return ret;
}

static int entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		 struct ftrace_regs *fregs)
{
	return 1;
}

static void retfunc(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		    struct fgraph_regs *regs)
{
	barrier();
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double time_base(int users)
{
	double start = now();
	int i, j;

	for (i = 0; i < CALLS; i++) {
		word[8] = 0x1234;
		for (j = 0; j < users; j++)
			base_entry(&hooks[j], &word[8]);
		base_return(&word[8]);
	}
	return (now() - start) / CALLS;
}

static double time_fgraph(int users)
{
	struct fgraph_regs regs = { };
	struct ftrace_regs fregs = { };
	unsigned long *place = fake_current->stack + THREAD_SIZE - 512, *slot;
	double start;
	int i, j;

	fregs.regs.sp = (unsigned long)place;
	slot = fgraph_entry_slot(&fregs.regs);
	start = now();
	for (i = 0; i < CALLS; i++) {
		*slot = 0x1234;
		for (j = 0; j < users; j++)
			fgraph_hook_ftrace(&model_user[j].gops, 1, &fregs);
		fgraph_return_light(place, &regs);
	}
	return (now() - start) / CALLS;
}

/* The best of some rounds: the rest was other tasks. */
static double best(double (*f)(int users), int users)
{
	double t, min = 1e9;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		t = f(users);
		if (t < min)
			min = t;
	}
	return min;
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
	int i, k, users, n = 0;

	model_init();
	for (i = 0; i < 4; i++) {
		struct node *nodes = calloc(16, sizeof(*nodes));

		hooks[i].handler = handler;
		for (k = 0; k < 16; k++)
			pool_put(&hooks[i], &nodes[k]);
	}
	printf("# a call and its return: nanoseconds, and as a ratio to the base's\n");
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		model_start();
		for (i = 0; i < 4; i++) {
			struct fgraph_ops *gops = &model_user[i].gops;

			gops->entryfunc = kinds[k].entry ? entry : NULL;
			gops->retfunc = retfunc;
			gops->data_size = kinds[k].size;
			expect(!fgraph_add_user(gops));
		}
		for (users = 1; users <= 4; users <<= 1) {
			double base = best(time_base, users), ours = best(time_fgraph, users);

			printf("ok %d bench: %d users, %s # base %.1f, fgraph %.1f, ratio %.2f\n",
			       ++n, users, kinds[k].name, base, ours, ours / base);
		}
		model_end();
	}
	return 0;
}
