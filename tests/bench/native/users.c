// SPDX-License-Identifier: GPL-2.0
/*
 * The users: like a kretprobe without an entry handler, like function_graph with empty callbacks,
 * and those that check what they are told. Compiled like the kernel.
 */
#include "fgraph_internal.h"

/* The per-CPU variables of the kernel. */
struct native_context_tracking context_tracking = { { 0x100 } };
void *native_current_kprobe;
unsigned long native_kprobe_status;

unsigned long users_entries, users_returns;
struct check users_check;

void floor_count_entry(void)
{
	users_entries++;
}

void floor_count(void)
{
	users_returns++;
}

struct kretprobe_instance {
	struct kretprobe	*rp;
	unsigned long		ret_addr;
};

struct kretprobe {
	struct fgraph_ops	fgraph;
	int			(*handler)(struct kretprobe_instance *ri, struct pt_regs *regs);
};

static int handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	users_returns++;
	return 0;
}

static bool kretprobe_admit(struct fgraph_ops *gops)
{
	return fgraph_rcu_is_watching() && !kprobe_running();
}

/* kretprobe_return() of kretprobe.c. */
static void kretprobe_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			     struct fgraph_regs *regs)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);
	struct kretprobe_instance *ri = data;

	expect(fgraph_rcu_is_watching());
	expect(!kprobe_running());
	ri->rp = rp;
	ri->ret_addr = frame->ret;
	WRITE_ONCE(native_kprobe_status, 1);
	barrier();
	WRITE_ONCE(native_current_kprobe, rp);
	rp->handler(ri, fgraph_get_regs(regs));
	WRITE_ONCE(native_current_kprobe, NULL);
}

static int graph_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		       struct ftrace_regs *fregs)
{
	users_entries++;
	return 1;
}

static void graph_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			 struct fgraph_regs *regs)
{
	users_returns++;
}

/* Calls a hooked function in a callback; then callbacks of that call must not do so. */
static void check_nested(void)
{
	struct check outer = users_check;
	unsigned long args[6] = { 7, 6, 5, 4, 3, 2 };

	if (!outer.nested)
		return;
	users_check = (struct check) { .any_call = true };
	expect(check_call(outer.nested, args));
	expect(args[0] == 27);
	users_check = outer;
}

static int check_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		       struct ftrace_regs *fregs)
{
	struct pt_regs *regs = (struct pt_regs *)fregs;
	const unsigned long *args = users_check.args;

	users_entries++;
	WRITE_ONCE(*(unsigned long *)data, (unsigned long)gops ^ (unsigned long)frame->retp);
	if (users_check.any_call)
		return 1;
	expect(regs->sp == (unsigned long)frame->retp && regs->ip == frame->func + 5);
	expect(regs->di == args[0] && regs->si == args[1] && regs->dx == args[2]);
	expect(regs->cx == args[3] && regs->r8 == args[4] && regs->r9 == args[5]);
	expect(frame->ret == (unsigned long)check_call_ret);
	expect(!users_check.func || frame->func == users_check.func);
	check_nested();
	return !users_check.refuse;
}

static void check_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			 struct fgraph_regs *regs)
{
	struct pt_regs *full = fgraph_get_regs(regs);

	users_returns++;
	expect(*(unsigned long *)data == ((unsigned long)gops ^ (unsigned long)frame->retp));
	expect(full || !(gops->flags & FGRAPH_FULL_REGS));
	if (users_check.any_call)
		return;
	expect(frame->ret == (unsigned long)check_call_ret);
	if (users_check.way)
		expect((*frame->retp == frame->ret) == (users_check.way == KEPT));
	expect(fgraph_return_value(regs) == users_check.value);
	expect(fgraph_return_value_high(regs) == users_check.value_high);
	if (full) {
		expect(full->sp == (unsigned long)(frame->retp + 1));
		expect(full->ip == frame->ret);
		expect(full->bx == CHECK_SAVED && full->bp == CHECK_SAVED);
		expect(full->r12 == CHECK_SAVED && full->r13 == CHECK_SAVED);
		expect(full->r14 == CHECK_SAVED && full->r15 == CHECK_SAVED);
	}
	check_nested();
}

/* Each copy of the core has users of its own. */
#define NR_CORES	3
static struct kretprobe kretprobe[NR_CORES][NR_USERS];
static struct fgraph_ops others[NR_CORES][NR_KINDS][NR_USERS];
static struct fgraph_ops *users[NR_CORES][NR_KINDS][NR_USERS];

struct fgraph_ops **users_of(int core, int kind)
{
	return users[core][kind];
}

static void add(int core, const struct core *c, int kind, int n)
{
	struct fgraph_ops *gops = &others[core][kind][n];

	if (kind == KRETPROBE) {
		kretprobe[core][n].handler = handler;
		gops = &kretprobe[core][n].fgraph;
		gops->retfunc = kretprobe_return;
		gops->user.admit = kretprobe_admit;
	} else if (kind == GRAPH) {
		gops->entryfunc = graph_entry;
		gops->retfunc = graph_return;
	} else {
		gops->entryfunc = check_entry;
		gops->retfunc = check_return;
	}
	gops->data_size = sizeof_field(struct fgraph_frame, data);
	if (kind == KRETPROBE || kind == CHECK_FULL)
		gops->flags = FGRAPH_FULL_REGS;
	expect(!c->add(gops));
	users[core][kind][n] = gops;
}

void users_init(int core, const struct core *c)
{
	int kind, n;

	for (kind = 0; kind < NR_KINDS; kind++)
		for (n = 0; n < NR_USERS; n++)
			add(core, c, kind, n);
}
