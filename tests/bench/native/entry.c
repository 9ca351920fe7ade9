// SPDX-License-Identifier: GPL-2.0
/*
 * What ftrace calls at the entry of a hooked function: finds the site, as fgraph_ftrace.c does,
 * which cannot be compiled in user space. fgraph_find_users(), fgraph_hook_site() and
 * fgraph_ftrace_entry() are those of fgraph_ftrace.c without wide users that have a filter.
 */
#include "fgraph_hook.h"
#include "fgraph_internal.h"

struct fgraph_site_slot {
	unsigned long		ip;
	struct fgraph_site	*site;
};

struct fgraph_site_table {
	unsigned long		mask;
	struct fgraph_site_slot	slots[64];
};

static struct fgraph_site_table table = { .mask = 63 * sizeof(struct fgraph_site_slot) };

struct fgraph_dispatcher {
	struct fgraph_site_table *sites;
	struct fgraph_site	*wide;
};

static struct fgraph_site no_wide = { .look_up = true };
static struct fgraph_dispatcher dispatcher = { &table, &no_wide };

static __always_inline struct fgraph_site_slot *
fgraph_first_slot(struct fgraph_site_table *table, unsigned long ip)
{
	return (void *)table->slots + (ip & table->mask);
}

static __always_inline struct fgraph_site_slot *
fgraph_next_slot(struct fgraph_site_table *table, struct fgraph_site_slot *slot)
{
	return (void *)slot - (void *)table->slots == table->mask ? table->slots : slot + 1;
}

static __always_inline struct fgraph_site *fgraph_find_users(struct fgraph_dispatcher *d,
							     unsigned long ip)
{
	/* There is one thread: no barrier pairs with this, as one does in the kernel. */
	struct fgraph_site *wide = smp_load_acquire(&d->wide);
	struct fgraph_site_table *table = READ_ONCE(d->sites);
	struct fgraph_site_slot *slot = fgraph_first_slot(table, ip);
	struct fgraph_site *site;
	unsigned long at;

	while (unlikely((at = READ_ONCE(slot->ip)) != ip)) {
		if (!at)
			return wide;
		slot = fgraph_next_slot(table, slot);
	}
	site = READ_ONCE(slot->site);
	return site ?: wide;
}

static noinline void fgraph_hook_site(struct fgraph_site *site, unsigned long ip,
				      struct ftrace_regs *fregs)
{
	/* There is one thread: no barrier pairs with this, as one does in the kernel. */
	unsigned int nr = smp_load_acquire(&site->nr);
	bool simple = READ_ONCE(site->simple);

	if (likely(!READ_ONCE(site->look_up)))
		fgraph_hook_several(site->users, nr, simple, ip, fregs);
}

static __always_inline void fgraph_ftrace_entry(struct fgraph_dispatcher *d, unsigned long ip,
						struct ftrace_regs *fregs)
{
	struct fgraph_site *site;
	struct fgraph_ops *only;

	if (unlikely(!fgraph_retp_valid(fgraph_retp(fgraph_entry_regs(fregs)))))
		return;
	preempt_disable_notrace();
	site = fgraph_find_users(d, ip);
	only = READ_ONCE(site->only);
	if (only)
		fgraph_hook_one(only, ip, fregs);
	else
		fgraph_hook_site(site, ip, fregs);
	preempt_enable_notrace();
}

/* ftrace_caller calls this. */
void fgraph_ftrace_light(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			 struct ftrace_regs *fregs)
{
	fgraph_ftrace_entry(&dispatcher, ip, fregs);
}

/* ftrace_regs_caller calls this. */
void fgraph_ftrace_regs(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	fgraph_ftrace_entry(&dispatcher, ip, fregs);
}

/* ftrace_caller passes it on. */
struct ftrace_ops *function_trace_op;

static struct fgraph_site sites[32];

/* The site of a function, in the table, and in the record of its stub if it has one. */
static void core_want(unsigned long ip, struct fgraph_ops **users, unsigned int nr)
{
	struct fgraph_site_slot *slot = fgraph_first_slot(&table, ip);
	static unsigned int used;
	struct fgraph_site *site;
	unsigned int i;

	while (slot->ip && slot->ip != ip)
		slot = fgraph_next_slot(&table, slot);
	if (!slot->site) {
		expect(used < ARRAY_SIZE(sites));
		slot->site = &sites[used++];
	}
	slot->ip = ip;
	site = slot->site;
	expect(nr <= ARRAY_SIZE(site->users));
	site->nr = nr;
	site->simple = true;
	for (i = 0; i < nr; i++) {
		site->users[i] = users[i];
		site->simple &= fgraph_is_simple(users[i]);
	}
	site->only = nr == 1 && site->simple ? users[0] : NULL;
	for (i = 0; i < ARRAY_SIZE(stub_records); i++) {
		if (stub_records[i].ip == ip)
			stub_records[i].site = site;
	}
}

static bool core_empty(struct fgraph_stack *st)
{
	return fgraph_stack_empty(st) && READ_ONCE(st->top) == st->first;
}

const struct core core = { fgraph_user_add, core_want, core_empty };
