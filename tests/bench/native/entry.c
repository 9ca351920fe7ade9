// SPDX-License-Identifier: GPL-2.0
/*
 * What ftrace and stubs call at the entry of a hooked function: the readers of fgraph_ftrace.c, and
 * here what makes the sites that they read. fgraph-ftrace-entry.c is the first part of that file,
 * see the Makefile: the rest is about filters and uses more of ftrace.
 */
#include "fgraph-ftrace-entry.c"

#define NR_SITES	16

static struct {
	struct fgraph_site_table table;
	struct fgraph_site_slot	slots[64];
} sites = {
	.table.mask = 63 * sizeof(struct fgraph_site_slot),
};

/* ftrace_caller passes it on. */
struct ftrace_ops *function_trace_op;

static struct fgraph_site *make_site(void)
{
	static struct {
		struct fgraph_site	site;
		struct fgraph_ops	*users[NR_USERS];
	} memory[NR_SITES];
	static unsigned int used;

	expect(used < ARRAY_SIZE(memory));
	return &memory[used++].site;
}

static void core_want(unsigned long ip, struct fgraph_ops **users, unsigned int nr)
{
	struct fgraph_site_slot *slot = fgraph_first_slot(&sites.table, ip);
	struct fgraph_site *site;
	unsigned int i;

	fgraph_dispatchers[0].sites = &sites.table;
	while (slot->ip && slot->ip != ip)
		slot = fgraph_next_slot(&sites.table, slot);
	if (!slot->site)
		slot->site = make_site();
	slot->ip = ip;
	site = slot->site;
	expect(nr <= NR_USERS);
	site->nr = nr;
	site->simple = true;
	for (i = 0; i < nr; i++) {
		site->users[i] = users[i];
		site->simple &= fgraph_is_simple(users[i]);
	}
	site->only = nr == 1 && site->simple ? users[0] : NULL;
}

static bool core_empty(struct fgraph_stack *st)
{
	return fgraph_stack_empty(st) && READ_ONCE(st->top) == st->first;
}

#ifdef CONFIG_FGRAPH_STUBS
DEFINE_MUTEX(ftrace_lock);

static unsigned long core_stub(unsigned long ip)
{
	unsigned long stub;

	mutex_lock(&ftrace_lock);
	fgraph_stubs_mode = FGRAPH_STUBS_ON;
	fgraph_stubs_use(ip);
	stub = fgraph_stub_of(ip);
	mutex_unlock(&ftrace_lock);
	expect(stub);
	return stub;
}
#else
#define core_stub	NULL
#endif

const struct core core = { fgraph_user_add, core_want, core_empty, core_stub };
