// SPDX-License-Identifier: GPL-2.0
/*
 * Which users of fgraph want a function: their filters, and the sites.
 *
 * A user's filter is not registered with ftrace. fgraph has two ftrace_ops there,
 * one of which saves all registers, and a table of sites: for the address of a
 * function's call to ftrace, the users who want it. The filters of the two are the
 * union of those of the users. So an entry is one look-up and one loop, and
 * to register a user touches only its own functions.
 *
 * Users of all functions, or of very many, are asked users: in a list of their own,
 * whose filters are asked at each call of a function that has no site. Where there
 * is one, it has those of them who want the function, too.
 *
 * All that writes holds ftrace_lock. Readers are callbacks of ftrace, in any context
 * and with preemption disabled; what they may still see is freed after
 * fgraph_synchronize().
 */
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <linux/workqueue.h>

#include "fgraph_ftrace.h"
#include "fgraph_internal.h"
#include "ftrace_internal.h"
#include "trace.h"

/*
 * A user of more functions than that is asked, which costs a look-up in its own
 * filter at each call. It bounds the memory for a user's sites to some 50 KB.
 */
#define FGRAPH_SITE_FUNCTIONS	1024

/* Of more users that want a function and are asked, each next lot takes longer. */
#define FGRAPH_ASK_AT_ONCE	8

/* Memory that readers may still use. */
struct fgraph_old {
	struct fgraph_old	*next;
};

/**
 * struct fgraph_site - who wants the calls of a function
 * @old:	links those that are to be freed
 * @only:	the only user, if that is a simple one and need not be asked for its
 *		filter: where calls are hooked by the ops of that index, else NULL
 * @nr:		number of users
 * @room:	how many fit into @users
 * @holes:	how many of @users have gone
 * @simple:	all users want returns, and need no more data than a slot has room for
 * @ask:	their filters must be asked. Only for the asked users
 * @regs:	calls are hooked by the ftrace_ops that saves all registers
 * @move:	must be hooked by that one, but is not yet
 * @users:	the users, oldest first
 *
 * @users only grows: who goes leaves fgraph_nobody behind, or a new site is made.
 */
struct fgraph_site {
	struct fgraph_old	old;
	struct fgraph_ops	*only[2];
	unsigned int		nr;
	unsigned int		room;
	unsigned int		holes;
	bool			simple;
	bool			ask;
	bool			regs;
	bool			move;
	struct fgraph_ops	*users[];
};

/* An element of the table. @ip stays when @site has become NULL. */
struct fgraph_site_slot {
	unsigned long		ip;
	struct fgraph_site __rcu *site;
};

/**
 * struct fgraph_site_table - the sites, by the address of the call to ftrace
 * @old:	links those that are to be freed
 * @mask:	size of @slots, a power of two, but for one slot: a slot's place in bytes
 *		is an address and this. At least half of them are free
 * @used:	slots with an address
 * @sites:	slots with a site
 * @slots:	open addressing: the next slot is the next one to look at
 */
struct fgraph_site_table {
	struct fgraph_old	old;
	unsigned long		mask;
	unsigned int		used;
	unsigned int		sites;
	struct fgraph_site_slot	slots[];
};

/* What is there without users. It counts as full: the first site needs another table. */
static struct fgraph_site_table fgraph_no_sites = {
	.mask = sizeof(struct fgraph_site_slot),
	.used = 2,
	.slots = { [1] = { } },
};

static struct fgraph_site fgraph_no_asked = { .ask = true };

static struct fgraph_site_table __rcu *fgraph_sites = RCU_INITIALIZER(&fgraph_no_sites);
static struct fgraph_site __rcu *fgraph_asked = RCU_INITIALIZER(&fgraph_no_asked);

static void fgraph_ftrace_light(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs);
static void fgraph_ftrace_regs(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs);

/* Indexed by whether all registers are saved. */
struct ftrace_ops fgraph_ftrace_ops[FGRAPH_NR_FTRACE_OPS] = {
	{ .func = fgraph_ftrace_light },
	{ .func = fgraph_ftrace_regs, .flags = FTRACE_OPS_FL_SAVE_REGS },
};

/* Must the filter of that ops be made anew? */
static bool fgraph_dirty[ARRAY_SIZE(fgraph_ftrace_ops)];
/* Must a site be moved to the ops that saves all registers? */
static bool fgraph_moves;
/* How many users have &fgraph_user.permanent. */
static unsigned int fgraph_nr_permanent;
/* The users that have a filter, or want all functions. */
static LIST_HEAD(fgraph_filter_users);
/* What waits for fgraph_free_old(). */
static struct fgraph_old *fgraph_old_memory;

static int fgraph_refuse(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct ftrace_regs *fregs)
{
	return 0;
}
NOKPROBE_SYMBOL(fgraph_refuse);

static void fgraph_ignore(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			  void *data, struct fgraph_regs *regs)
{
}
NOKPROBE_SYMBOL(fgraph_ignore);

/* Stands in a site for a user that has gone. */
static struct fgraph_ops fgraph_nobody = {
	.entryfunc = fgraph_refuse,
	.retfunc = fgraph_ignore,
};

/* Functions are 16 bytes apart, at least, as slots: neighbours do not collide. */
static __always_inline struct fgraph_site_slot *
fgraph_first_slot(struct fgraph_site_table *table, unsigned long ip)
{
	BUILD_BUG_ON(sizeof(struct fgraph_site_slot) != 16);
	return (void *)table->slots + (ip & table->mask);
}

static __always_inline struct fgraph_site_slot *
fgraph_next_slot(struct fgraph_site_table *table, struct fgraph_site_slot *slot)
{
	return (void *)slot - (void *)table->slots == table->mask ? table->slots : slot + 1;
}

/* Who wants this function? The readers' side: any context, preemption disabled. */
static __always_inline struct fgraph_site *fgraph_find_users(unsigned long ip)
{
	/*
	 * Before the table: pairs with rcu_assign_pointer() in fgraph_apply_filter(). Who
	 * is no longer among the asked users is in the sites already.
	 */
	struct fgraph_site *asked = (__force struct fgraph_site *)smp_load_acquire(&fgraph_asked);
	struct fgraph_site_table *table = rcu_dereference_raw(fgraph_sites);
	struct fgraph_site_slot *slot = fgraph_first_slot(table, ip);
	struct fgraph_site *site;
	unsigned long at;

	while ((at = READ_ONCE(slot->ip)) != ip) {
		if (!at)
			return asked;
		slot = fgraph_next_slot(table, slot);
	}
	site = rcu_dereference_raw(slot->site);
	return site ?: asked;
}

/* Those of the asked users who want the function. */
static void fgraph_hook_asked(struct fgraph_ops **users, unsigned int nr, bool simple,
			      unsigned long ip, struct ftrace_regs *fregs)
{
	struct fgraph_ops *some[FGRAPH_ASK_AT_ONCE];
	unsigned int i, wanting = 0;

	for (i = 0; i < nr; i++) {
		struct fgraph_ops *gops = READ_ONCE(users[i]);

		if (gops->filter && !ftrace_ops_test(gops->filter, ip, gops))
			continue;
		some[wanting++] = gops;
		if (wanting == FGRAPH_ASK_AT_ONCE) {
			fgraph_hook_several(some, wanting, simple, ip, fregs);
			wanting = 0;
		}
	}
	if (wanting)
		fgraph_hook_several(some, wanting, simple, ip, fregs);
}
NOKPROBE_SYMBOL(fgraph_hook_asked);

/*
 * A site of several users, or where the only one is none of &fgraph_site.only. If the
 * function is in the filters of both ops, the site says which of them hooks the call.
 */
static noinline void fgraph_hook_site(struct fgraph_site *site, unsigned long ip,
				      struct ftrace_regs *fregs, bool regs)
{
	/* Pairs with fgraph_site_append(): that many users are there, and if they are simple. */
	unsigned int nr = smp_load_acquire(&site->nr);
	bool simple = READ_ONCE(site->simple);

	if (site->regs != regs)
		return;
	if (unlikely(READ_ONCE(site->ask)))
		fgraph_hook_asked(site->users, nr, simple, ip, fregs);
	else
		fgraph_hook_several(site->users, nr, simple, ip, fregs);
}
NOKPROBE_SYMBOL(fgraph_hook_site);

/*
 * A function is entered that is in the filter of one of the two ops. @regs: it is the
 * one that saves all registers. Which ops ftrace passes does not matter: for a moment
 * after a change it may be another one.
 */
static __always_inline void fgraph_ftrace_entry(unsigned long ip, struct ftrace_regs *fregs,
						bool regs)
{
	struct fgraph_site *site;
	struct fgraph_ops *only;

	/* Before anything looks at what is this CPU's. */
	if (unlikely(!fgraph_retp_valid(fgraph_retp(&fregs->regs))))
		return;
	preempt_disable_notrace();
	site = fgraph_find_users(ip);
	only = READ_ONCE(site->only[regs]);
	if (only)
		fgraph_hook_one(only, ip, fregs);
	else
		fgraph_hook_site(site, ip, fregs, regs);
	preempt_enable_notrace();
}

static void fgraph_ftrace_light(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	fgraph_ftrace_entry(ip, fregs, false);
}
NOKPROBE_SYMBOL(fgraph_ftrace_light);

static void fgraph_ftrace_regs(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	fgraph_ftrace_entry(ip, fregs, true);
}
NOKPROBE_SYMBOL(fgraph_ftrace_regs);

static struct fgraph_site *fgraph_asked_locked(void)
{
	return rcu_dereference_protected(fgraph_asked, lockdep_is_held(&ftrace_lock));
}

static struct fgraph_site_table *fgraph_table_locked(void)
{
	return rcu_dereference_protected(fgraph_sites, lockdep_is_held(&ftrace_lock));
}

static struct fgraph_site *fgraph_site_of(const struct fgraph_site_slot *slot)
{
	return rcu_dereference_protected(slot->site, lockdep_is_held(&ftrace_lock));
}

static void fgraph_free_old(struct work_struct *work)
{
	struct fgraph_old *old, *next;

	mutex_lock(&ftrace_lock);
	old = fgraph_old_memory;
	fgraph_old_memory = NULL;
	mutex_unlock(&ftrace_lock);

	fgraph_synchronize();
	for (; old; old = next) {
		next = old->next;
		kvfree(old);
	}
}

static DECLARE_WORK(fgraph_free_old_work, fgraph_free_old);

/* Free a site or a table when nobody sees it any more. */
static void fgraph_free_later(struct fgraph_old *old)
{
	if (old == &fgraph_no_sites.old || old == &fgraph_no_asked.old)
		return;
	old->next = fgraph_old_memory;
	fgraph_old_memory = old;
	schedule_work(&fgraph_free_old_work);
}

static bool fgraph_needs_regs(const struct fgraph_ops *gops)
{
	return gops->flags & FGRAPH_ENTRY_REGS;
}

static struct ftrace_hash *fgraph_filter_hash(const struct fgraph_ops *gops)
{
	if (!gops->filter)
		return NULL;
	return rcu_dereference_protected(gops->filter->func_hash->filter_hash,
					 lockdep_is_held(&ftrace_lock));
}

static struct ftrace_hash *fgraph_notrace_hash(const struct fgraph_ops *gops)
{
	if (!gops->filter)
		return NULL;
	return rcu_dereference_protected(gops->filter->func_hash->notrace_hash,
					 lockdep_is_held(&ftrace_lock));
}

/* Does the user want all functions, but for those in its notrace filter? */
static bool fgraph_wants_all(const struct fgraph_ops *gops)
{
	return ftrace_hash_empty(fgraph_filter_hash(gops));
}

/* Is there nothing to ask? */
static bool fgraph_wants_any(const struct fgraph_ops *gops)
{
	return fgraph_wants_all(gops) && ftrace_hash_empty(fgraph_notrace_hash(gops));
}

static bool fgraph_wants(const struct fgraph_ops *gops, unsigned long ip)
{
	/* With any registers: SAVE_REGS of who lends the filter does not matter. */
	return !gops->filter || ftrace_ops_test(gops->filter, ip, (void *)gops);
}

/* The place of a user in a site, which is sorted by age; or where it would be. */
static unsigned int fgraph_site_index(const struct fgraph_site *site, const struct fgraph_ops *gops)
{
	unsigned int i = site->nr;

	/* Usually it is the newest, or one of a few. */
	while (i && (site->users[i - 1] == &fgraph_nobody ||
		     site->users[i - 1]->user.tag >> FGRAPH_ID_BITS >=
		     gops->user.tag >> FGRAPH_ID_BITS))
		i--;
	return i;
}

static struct fgraph_ops **fgraph_site_find(struct fgraph_site *site, const struct fgraph_ops *gops)
{
	unsigned int i;

	for (i = site->nr; i; i--) {
		if (site->users[i - 1] == gops)
			return &site->users[i - 1];
	}
	return NULL;
}

static bool fgraph_site_is_empty(const struct fgraph_site *site)
{
	return site->nr == site->holes;
}

/* A site with room for @nr users, and as much more as the allocator gives anyway. */
static struct fgraph_site *fgraph_site_alloc(unsigned int nr)
{
	struct fgraph_site *site;
	size_t size = roundup_pow_of_two(struct_size(site, users, nr));

	site = kvzalloc(size, GFP_KERNEL);
	if (site) {
		site->room = (size - sizeof(*site)) / sizeof(site->users[0]);
		site->simple = true;
	}
	return site;
}

/* What has been said of a site has changed. Readers may see the one or the other. */
static void fgraph_site_set_only(struct fgraph_site *site)
{
	struct fgraph_ops *only = NULL;

	if (site->nr == 1 && site->simple && !site->ask)
		only = site->users[0];
	/* Pairs with the dependency in fgraph_ftrace_entry(): what is pointed to is there. */
	smp_store_release(&site->only[false], site->regs ? NULL : only);
	/* As above. */
	smp_store_release(&site->only[true], site->regs ? only : NULL);
}

/* Append a user to a site that has room. Readers see it when @nr has grown. */
static void fgraph_site_append(struct fgraph_site *site, struct fgraph_ops *gops)
{
	/* Whoever sees the user must not take it for a simple one. */
	if (!fgraph_is_simple(gops))
		WRITE_ONCE(site->simple, false);
	if (fgraph_needs_regs(gops) && !site->regs)
		site->move = true;
	WRITE_ONCE(site->users[site->nr], gops);
	/* Pairs with fgraph_hook_site(). */
	smp_store_release(&site->nr, site->nr + 1);
	fgraph_site_set_only(site);
}

/* A copy of a site, with room for @more users; without those that have gone, and without @not. */
static struct fgraph_site *fgraph_site_copy(const struct fgraph_site *site, unsigned int more,
					    const struct fgraph_ops *not)
{
	struct fgraph_site *new = fgraph_site_alloc(site->nr - site->holes + more);
	unsigned int i;

	if (!new)
		return NULL;
	new->regs = site->regs;
	for (i = 0; i < site->nr; i++) {
		if (site->users[i] != &fgraph_nobody && site->users[i] != not)
			fgraph_site_append(new, site->users[i]);
	}
	return new;
}

/* A copy of a site with another user, at its place by age. */
static struct fgraph_site *fgraph_site_insert(const struct fgraph_site *site,
					      struct fgraph_ops *gops)
{
	struct fgraph_site *new = fgraph_site_copy(site, 1, NULL);
	unsigned int at;

	if (!new)
		return NULL;
	at = fgraph_site_index(new, gops);
	fgraph_site_append(new, gops);
	memmove(new->users + at + 1, new->users + at,
		(new->nr - 1 - at) * sizeof(new->users[0]));
	new->users[at] = gops;
	return new;
}

/*
 * Add a user to a site that is in use. Returns the site, or the new one that must
 * take its place; NULL if there is no memory.
 */
static struct fgraph_site *fgraph_site_add(struct fgraph_site *site, struct fgraph_ops *gops)
{
	if (site->nr < site->room && fgraph_site_index(site, gops) == site->nr) {
		fgraph_site_append(site, gops);
		return site;
	}
	return fgraph_site_insert(site, gops);
}

/* As above, to remove a user. Needs no memory, but if there is none, leaves a hole. */
static struct fgraph_site *fgraph_site_remove(struct fgraph_site *site, struct fgraph_ops *gops)
{
	struct fgraph_ops **place = fgraph_site_find(site, gops);
	struct fgraph_site *new = NULL;

	/* To copy a large one each time would make it quadratic to remove all. */
	if (site->nr <= 16 || site->holes * 2 > site->nr)
		new = fgraph_site_copy(site, 0, gops);
	if (new)
		return new;
	WRITE_ONCE(*place, &fgraph_nobody);
	site->holes++;
	return site;
}

/* The slot of an address, or the free one where it belongs. */
static struct fgraph_site_slot *fgraph_site_slot(struct fgraph_site_table *table, unsigned long ip)
{
	struct fgraph_site_slot *slot = fgraph_first_slot(table, ip);

	while (slot->ip && slot->ip != ip)
		slot = fgraph_next_slot(table, slot);
	return slot;
}

static unsigned int fgraph_nr_slots(const struct fgraph_site_table *table)
{
	return table->mask / sizeof(table->slots[0]) + 1;
}

/* The next slot with a site, after @slot or from the first one on; NULL at the end. */
static struct fgraph_site_slot *fgraph_next_site(struct fgraph_site_table *table,
						 struct fgraph_site_slot *slot)
{
	struct fgraph_site_slot *end = table->slots + fgraph_nr_slots(table);

	for (slot = slot ? slot + 1 : table->slots; slot < end; slot++) {
		if (rcu_access_pointer(slot->site))
			return slot;
	}
	return NULL;
}

/* Replace the table by one with room for twice @sites. */
static int fgraph_resize_table(unsigned int sites)
{
	struct fgraph_site_table *old = fgraph_table_locked(), *new;
	unsigned int nr = roundup_pow_of_two(max(4 * sites, 64U));
	struct fgraph_site_slot *slot = NULL;

	new = kvzalloc(struct_size(new, slots, nr), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->mask = (nr - 1) * sizeof(new->slots[0]);
	while ((slot = fgraph_next_site(old, slot)))
		*fgraph_site_slot(new, slot->ip) = *slot;
	new->used = old->sites;
	new->sites = old->sites;
	rcu_assign_pointer(fgraph_sites, new);
	fgraph_free_later(&old->old);
	return 0;
}

/* Enter a new site into the table. */
static int fgraph_enter_site(unsigned long ip, struct fgraph_site *site)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site_slot *slot = fgraph_site_slot(table, ip);
	int ret;

	if (!slot->ip && (table->used + 1) * 2 > fgraph_nr_slots(table)) {
		ret = fgraph_resize_table(table->sites + 1);
		if (ret)
			return ret;
		table = fgraph_table_locked();
		slot = fgraph_site_slot(table, ip);
	}
	rcu_assign_pointer(slot->site, site);
	table->sites++;
	if (!slot->ip) {
		table->used++;
		/* Whoever does not see the site yet with it asks the asked users. */
		WRITE_ONCE(slot->ip, ip);
	}
	fgraph_dirty[site->regs] = true;
	return 0;
}

/* Nobody wants the function any more, but asked users. */
static void fgraph_drop_site(struct fgraph_site_table *table, struct fgraph_site_slot *slot)
{
	struct fgraph_site *site = fgraph_site_of(slot);

	fgraph_dirty[site->regs] = true;
	RCU_INIT_POINTER(slot->site, NULL);
	fgraph_free_later(&site->old);
	if (--table->sites)
		return;
	rcu_assign_pointer(fgraph_sites, &fgraph_no_sites);
	fgraph_free_later(&table->old);
}

/* Make a site for a user who wants the function, and for asked users who do. */
static int fgraph_make_site(unsigned long ip, struct fgraph_ops *gops)
{
	struct fgraph_site *asked = fgraph_asked_locked(), *site, *new;
	unsigned int i;
	int ret;

	site = fgraph_site_alloc(asked->nr - asked->holes + 1);
	if (!site)
		return -ENOMEM;
	for (i = 0; i < asked->nr; i++) {
		if (asked->users[i] != &fgraph_nobody && asked->users[i] != gops &&
		    fgraph_wants(asked->users[i], ip))
			fgraph_site_append(site, asked->users[i]);
	}
	/* Asked users come by their common ops. For others, nothing is called yet. */
	if (site->nr || gops->user.asked)
		site->regs = asked->regs;
	else
		site->regs = fgraph_needs_regs(gops);
	site->move = !site->regs && site->move;
	new = fgraph_site_add(site, gops);
	if (new != site)
		kvfree(site);
	if (!new)
		return -ENOMEM;
	ret = fgraph_enter_site(ip, new);
	if (ret)
		kvfree(new);
	else
		fgraph_moves |= new->move;
	return ret;
}

/* Have a function call a user. */
static int fgraph_add_to_site(unsigned long ip, struct fgraph_ops *gops)
{
	struct fgraph_site_slot *slot = fgraph_site_slot(fgraph_table_locked(), ip);
	struct fgraph_site *site = fgraph_site_of(slot), *new;

	if (!site)
		return fgraph_make_site(ip, gops);
	if (fgraph_site_find(site, gops))
		return 0;
	new = fgraph_site_add(site, gops);
	if (!new)
		return -ENOMEM;
	if (new != site) {
		rcu_assign_pointer(slot->site, new);
		fgraph_free_later(&site->old);
	}
	fgraph_moves |= new->move;
	return 0;
}

/*
 * Is the site of no use without @not? If it has users left, they must be asked users, who
 * are found without it, and by the same ops: the other one may not be called for the
 * function yet.
 */
static bool fgraph_site_is_needless(const struct fgraph_site *site, const struct fgraph_ops *not)
{
	bool empty = true;
	unsigned int i;

	for (i = 0; i < site->nr; i++) {
		if (site->users[i] == &fgraph_nobody || site->users[i] == not)
			continue;
		if (!site->users[i]->user.asked)
			return false;
		empty = false;
	}
	return empty || site->regs == fgraph_asked_locked()->regs;
}

static void fgraph_remove_from_site(struct fgraph_site_table *table, struct fgraph_site_slot *slot,
				    struct fgraph_ops *gops)
{
	struct fgraph_site *site = fgraph_site_of(slot), *new;

	if (fgraph_site_is_needless(site, gops)) {
		fgraph_drop_site(table, slot);
		return;
	}
	new = fgraph_site_remove(site, gops);
	if (new != site) {
		rcu_assign_pointer(slot->site, new);
		fgraph_free_later(&site->old);
	}
}

/* Must the filters of those be asked, or do they all want any function? */
static bool fgraph_must_ask(const struct fgraph_site *asked)
{
	unsigned int i;

	/* There is nothing to hook then. */
	if (fgraph_site_is_empty(asked))
		return true;
	for (i = 0; i < asked->nr; i++) {
		if (asked->users[i] != &fgraph_nobody && !fgraph_wants_any(asked->users[i]))
			return true;
	}
	return false;
}

static void fgraph_replace_asked(struct fgraph_site *new)
{
	struct fgraph_site *old = fgraph_asked_locked();

	fgraph_dirty[old->regs] = true;
	fgraph_dirty[new->regs] = true;
	/* Before it is seen, or after it was set in fgraph_add_asked(). */
	WRITE_ONCE(new->ask, fgraph_must_ask(new));
	fgraph_site_set_only(new);
	if (new == old)
		return;
	rcu_assign_pointer(fgraph_asked, new);
	fgraph_free_later(&old->old);
}

/* Add a user to the asked ones, or have them see that its filter has changed. */
static int fgraph_add_asked(struct fgraph_ops *gops)
{
	struct fgraph_site *asked = fgraph_asked_locked(), *new = asked;

	/* Ask, until it is known that there is nothing to ask. */
	WRITE_ONCE(asked->ask, true);
	fgraph_site_set_only(asked);
	if (!fgraph_site_find(asked, gops)) {
		/* As a new one: who sees the user there sees that it must be asked. */
		new = fgraph_site_insert(asked, gops);
		if (!new)
			return -ENOMEM;
		if (fgraph_site_is_empty(asked))
			new->regs = fgraph_needs_regs(gops);
		new->move = !new->regs && new->move;
		fgraph_moves |= new->move;
		gops->user.asked = true;
	}
	fgraph_replace_asked(new);
	return 0;
}

static void fgraph_remove_asked(struct fgraph_ops *gops)
{
	struct fgraph_site *asked = fgraph_asked_locked(), *new;

	if (!fgraph_site_find(asked, gops))
		return;
	new = fgraph_site_remove(asked, gops);
	gops->user.asked = false;
	if (fgraph_site_is_empty(new)) {
		if (new != asked)
			kvfree(new);
		new = &fgraph_no_asked;
	}
	fgraph_replace_asked(new);
}

typedef int (*fgraph_function_t)(unsigned long ip, void *arg);

/* Call @func for each function in a user's filter that is not all. */
static int fgraph_walk_functions(struct fgraph_ops *gops, fgraph_function_t func, void *arg)
{
	struct ftrace_hash *filter = fgraph_filter_hash(gops);
	struct ftrace_hash *except = fgraph_notrace_hash(gops);
	struct ftrace_func_entry *entry;
	unsigned long i;
	int ret;

	for (i = 0; i < 1UL << filter->size_bits; i++) {
		hlist_for_each_entry(entry, &filter->buckets[i], hlist) {
			/* The function's module has gone. */
			if (!entry->ip || ftrace_lookup_ip(except, entry->ip))
				continue;
			ret = func(entry->ip, arg);
			if (ret)
				return ret;
		}
		cond_resched();
	}
	return 0;
}

static int fgraph_add_function_of(unsigned long ip, void *gops)
{
	return fgraph_add_to_site(ip, gops);
}

/*
 * Make the sites agree with a user's filter. Where it is wanted as before, nothing
 * happens meanwhile: it is added where it is new before it is removed elsewhere.
 */
static int fgraph_apply_filter(struct fgraph_ops *gops)
{
	bool all = fgraph_wants_all(gops);
	bool ask = all || fgraph_filter_hash(gops)->count > FGRAPH_SITE_FUNCTIONS;
	struct fgraph_site_table *table;
	struct fgraph_site_slot *slot = NULL;
	int ret;

	if (ask)
		ret = fgraph_add_asked(gops);
	else
		ret = fgraph_walk_functions(gops, fgraph_add_function_of, gops);
	if (ret)
		return ret;

	table = fgraph_table_locked();
	while ((slot = fgraph_next_site(table, slot))) {
		if (!fgraph_wants(gops, slot->ip)) {
			if (fgraph_site_find(fgraph_site_of(slot), gops))
				fgraph_remove_from_site(table, slot, gops);
		} else if (ask) {
			ret = fgraph_add_to_site(slot->ip, gops);
			if (ret)
				return ret;
		}
	}
	if (!ask)
		fgraph_remove_asked(gops);
	return 0;
}

/* No call finds the user any more. Needs no memory. */
static void fgraph_remove_everywhere(struct fgraph_ops *gops)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site_slot *slot = NULL;

	fgraph_remove_asked(gops);
	while ((slot = fgraph_next_site(table, slot))) {
		if (fgraph_site_find(fgraph_site_of(slot), gops))
			fgraph_remove_from_site(table, slot, gops);
	}
}

/* Are the calls of a site, or of the asked users, to come by this ops? */
static bool fgraph_comes_by(const struct fgraph_site *site, bool regs)
{
	return regs ? site->regs || site->move : !site->regs;
}

static int fgraph_add_to_hash(unsigned long ip, void *hash)
{
	return ftrace_lookup_ip(hash, ip) ? 0 : add_hash_entry(hash, ip);
}

/* All functions that are to come by an ops, unless it is all there are. */
static int fgraph_fill_filter(struct ftrace_hash *filter, bool regs)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site *asked = fgraph_asked_locked();
	struct fgraph_site_slot *slot = NULL;
	unsigned int i;
	int ret = 0;

	while ((slot = fgraph_next_site(table, slot))) {
		if (fgraph_comes_by(fgraph_site_of(slot), regs))
			ret = add_hash_entry(filter, slot->ip);
		if (ret)
			return ret;
	}
	for (i = 0; i < asked->nr && fgraph_comes_by(asked, regs); i++) {
		if (asked->users[i] == &fgraph_nobody)
			continue;
		ret = fgraph_walk_functions(asked->users[i], fgraph_add_to_hash, filter);
		if (ret)
			return ret;
	}
	return 0;
}

/* Is an asked user there that wants all functions? It is returned. */
static struct fgraph_ops *fgraph_find_all(bool regs)
{
	struct fgraph_site *asked = fgraph_asked_locked();
	unsigned int i;

	for (i = 0; i < asked->nr && fgraph_comes_by(asked, regs); i++) {
		if (asked->users[i] != &fgraph_nobody && fgraph_wants_all(asked->users[i]))
			return asked->users[i];
	}
	return NULL;
}

/* Does nobody want this function whose calls come by that ops? */
static bool fgraph_is_unwanted(unsigned long ip, bool regs)
{
	struct fgraph_site *asked = fgraph_asked_locked();
	struct fgraph_site *site = fgraph_site_of(fgraph_site_slot(fgraph_table_locked(), ip));
	unsigned int i;

	if (site && fgraph_comes_by(site, regs))
		return false;
	for (i = 0; i < asked->nr; i++) {
		if (asked->users[i] != &fgraph_nobody && fgraph_wants(asked->users[i], ip))
			return false;
	}
	return true;
}

/* Of all functions, those that nobody wants. */
static int fgraph_fill_notrace(struct ftrace_hash *except, struct fgraph_ops *all, bool regs)
{
	struct ftrace_hash *hash = fgraph_notrace_hash(all);
	struct ftrace_func_entry *entry;
	unsigned long i;
	int ret;

	if (ftrace_hash_empty(hash))
		return 0;
	for (i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			if (!entry->ip || !fgraph_is_unwanted(entry->ip, regs))
				continue;
			ret = add_hash_entry(except, entry->ip);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/*
 * Give an ops its filters. While both change, it is called for more functions
 * than are wanted, never for fewer. An empty filter means all functions.
 */
static int fgraph_set_filters(struct ftrace_ops *op, struct ftrace_hash *filter,
			      struct ftrace_hash *except)
{
	struct ftrace_ops_hash *hash = op->func_hash;
	struct ftrace_hash **filter_hash = (__force struct ftrace_hash **)&hash->filter_hash;
	struct ftrace_hash **except_hash = (__force struct ftrace_hash **)&hash->notrace_hash;
	struct ftrace_hash *none;
	int ret = 0;

	if (!ftrace_hash_empty(*except_hash)) {
		none = alloc_ftrace_hash(0);
		if (!none)
			return -ENOMEM;
		ret = ftrace_hash_move_and_update_ops(op, except_hash, none, 0);
		free_ftrace_hash(none);
	}
	if (!ret)
		ret = ftrace_hash_move_and_update_ops(op, filter_hash, filter, 1);
	if (!ret && except->count)
		ret = ftrace_hash_move_and_update_ops(op, except_hash, except, 0);
	return ret;
}

/* Have ftrace call an ops for the functions that are to come by it. */
static int fgraph_update_ops(bool regs)
{
	struct ftrace_ops *op = &fgraph_ftrace_ops[regs];
	struct ftrace_hash *filter, *except;
	struct fgraph_ops *all = fgraph_find_all(regs);
	int ret = -ENOMEM;

	ftrace_ops_init(op);
	filter = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	except = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	if (!filter || !except)
		goto out;
	if (all)
		ret = fgraph_fill_notrace(except, all, regs);
	else
		ret = fgraph_fill_filter(filter, regs);
	if (ret)
		goto out;

	if (!all && !filter->count) {
		/* Nothing, and not everything. */
		if (op->flags & FTRACE_OPS_FL_ENABLED)
			ret = ftrace_shutdown(op, 0);
	} else {
		ret = fgraph_set_filters(op, filter, except);
		if (!ret && !(op->flags & FTRACE_OPS_FL_ENABLED))
			ret = ftrace_startup(op, 0);
	}
	fgraph_dirty[regs] = ret;
out:
	free_ftrace_hash(except);
	free_ftrace_hash(filter);
	return ret;
}

/* From now on its calls are hooked by the ops that saves all registers, if they must. */
static void fgraph_site_move(struct fgraph_site *site)
{
	site->regs |= site->move;
	site->move = false;
	fgraph_site_set_only(site);
}

/*
 * With all other CPUs stopped: ftrace calls both ops with preemption disabled, so no call
 * is between the two, but for one in an NMI. That may be hooked by both, as if the
 * function had called itself by a tail call, or by neither.
 */
static int fgraph_move_sites(void *unused)
{
	struct fgraph_site_table *table = rcu_dereference_raw(fgraph_sites);
	struct fgraph_site *asked = rcu_dereference_raw(fgraph_asked);
	struct fgraph_site_slot *slot = NULL;

	while ((slot = fgraph_next_site(table, slot)))
		fgraph_site_move(rcu_dereference_raw(slot->site));
	fgraph_site_move(asked);
	return 0;
}

static void fgraph_cancel_moves(void)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site_slot *slot = NULL;

	while ((slot = fgraph_next_site(table, slot)))
		fgraph_site_of(slot)->move = false;
	fgraph_asked_locked()->move = false;
	fgraph_moves = false;
}

/*
 * Have ftrace know what has changed. A site that must come by the ops that saves
 * all registers first comes by both, then that one hooks its calls, then the other
 * one loses it. It does not go back while it has users.
 */
static int fgraph_commit(void)
{
	int ret = 0;

	if (ftrace_is_dead())
		return -ENODEV;
	if (fgraph_dirty[true] || fgraph_moves)
		ret = fgraph_update_ops(true);
	if (!ret && fgraph_moves) {
		/*
		 * A task that was preempted in a trampoline before ftrace called both ops
		 * comes by the first one alone. It must not find the site moved.
		 */
		if (IS_ENABLED(CONFIG_PREEMPTION))
			synchronize_rcu_tasks();
		ret = stop_machine(fgraph_move_sites, NULL, NULL);
		fgraph_moves = false;
		fgraph_dirty[false] = true;
	}
	if (!ret && fgraph_dirty[false])
		ret = fgraph_update_ops(false);
	if (ret)
		fgraph_cancel_moves();
	return ret;
}

/* As little as possible may go wrong when a user goes: what ftrace calls finds nobody. */
static void fgraph_commit_removal(void)
{
	int ret = fgraph_commit();

	WARN_ONCE(ret && ret != -ENODEV,
		  "fgraph: ftrace goes on to call functions that nobody wants (error %d)\n", ret);
}

/**
 * fgraph_filter_changed() - a filter has changed that users may have
 * @hash:	the filter
 *
 * Context: process, ftrace_lock held. May sleep.
 *
 * Return: 0; -ENOMEM: then a user may not be called for all that it wants.
 */
int fgraph_filter_changed(struct ftrace_ops_hash *hash)
{
	struct fgraph_ops *gops;
	bool changed = false;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(gops, &fgraph_filter_users, user.list) {
		if (!gops->filter || gops->filter->func_hash != hash)
			continue;
		changed = true;
		ret = fgraph_apply_filter(gops) ?: ret;
	}
	/* Not for the filters of fgraph's own ops, which nobody has. */
	if (changed)
		ret = fgraph_commit() ?: ret;
	return ret;
}

static void fgraph_forget_in_hash(struct ftrace_hash __rcu *of, unsigned long start,
				  unsigned long end)
{
	struct ftrace_hash *hash = rcu_dereference_protected(of, lockdep_is_held(&ftrace_lock));
	struct ftrace_func_entry *entry;
	unsigned long i;

	for (i = 0; hash && hash->count && i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			/* As ftrace does it: matches nothing, goes with the next change. */
			if (entry->ip >= start && entry->ip < end)
				entry->ip = 0;
		}
	}
}

/**
 * fgraph_forget_functions() - a module's functions are gone
 * @start:	their first address
 * @end:	behind their last one
 *
 * Context: process, ftrace_lock held, after ftrace has forgotten them. May sleep.
 */
void fgraph_forget_functions(unsigned long start, unsigned long end)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site_slot *slot = NULL;
	unsigned int i;

	lockdep_assert_held(&ftrace_lock);

	while ((slot = fgraph_next_site(table, slot))) {
		if (slot->ip >= start && slot->ip < end)
			fgraph_drop_site(table, slot);
	}
	for (i = 0; i < ARRAY_SIZE(fgraph_ftrace_ops); i++) {
		struct ftrace_ops *op = &fgraph_ftrace_ops[i];

		ftrace_ops_init(op);
		fgraph_forget_in_hash(op->func_hash->filter_hash, start, end);
		fgraph_forget_in_hash(op->func_hash->notrace_hash, start, end);
	}
}

/* While there is such a user, kernel.ftrace_enabled cannot be cleared. */
static int fgraph_get_permanent(void)
{
	unsigned int i;

	if (!ftrace_enabled)
		return -EBUSY;
	fgraph_nr_permanent++;
	for (i = 0; i < ARRAY_SIZE(fgraph_ftrace_ops); i++)
		fgraph_ftrace_ops[i].flags |= FTRACE_OPS_FL_PERMANENT;
	return 0;
}

static void fgraph_put_permanent(void)
{
	unsigned int i;

	if (--fgraph_nr_permanent)
		return;
	for (i = 0; i < ARRAY_SIZE(fgraph_ftrace_ops); i++)
		fgraph_ftrace_ops[i].flags &= ~FTRACE_OPS_FL_PERMANENT;
}

static void fgraph_remove_function_locked(struct fgraph_ops *gops)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site_slot *slot = fgraph_site_slot(table, gops->user.function);

	/* It is not there if the function's module has gone. */
	if (fgraph_site_of(slot) && fgraph_site_find(fgraph_site_of(slot), gops))
		fgraph_remove_from_site(table, slot, gops);
	fgraph_commit_removal();
	if (gops->user.permanent)
		fgraph_put_permanent();
}

/**
 * fgraph_add_function() - have a function call a user that has no filter
 * @gops:	the user, in the table, with &fgraph_user.function
 *
 * Context: process. May sleep.
 *
 * Return: 0, -ENOMEM, or the errors of register_ftrace_function(); -EBUSY if the user is
 * &fgraph_user.permanent and kernel.ftrace_enabled is 0.
 */
int fgraph_add_function(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = gops->user.permanent ? fgraph_get_permanent() : 0;
	if (!ret) {
		ret = fgraph_add_to_site(gops->user.function, gops) ?: fgraph_commit();
		if (ret)
			fgraph_remove_function_locked(gops);
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}

/**
 * fgraph_remove_function() - have its function call a user no more
 * @gops:	the user, after fgraph_add_function()
 *
 * Context: process. May sleep. Calls on their way may still call it until
 * fgraph_synchronize().
 */
void fgraph_remove_function(struct fgraph_ops *gops)
{
	mutex_lock(&ftrace_lock);
	fgraph_remove_function_locked(gops);
	mutex_unlock(&ftrace_lock);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
DEFINE_STATIC_KEY_FALSE(kill_ftrace_graph);

/**
 * ftrace_graph_stop() - stop the graph tracers, for good
 *
 * For when function tracing has found itself broken. Calls that are hooked
 * still return.
 */
void ftrace_graph_stop(void)
{
	static_branch_enable(&kill_ftrace_graph);
}
#endif

static void fgraph_detach(struct fgraph_ops *gops)
{
	list_del(&gops->user.list);
	fgraph_remove_everywhere(gops);
	fgraph_commit_removal();
}

/**
 * register_ftrace_graph() - have functions call a user
 * @gops:	the user; its &fgraph_ops.filter says which functions
 *
 * Context: process. May sleep.
 *
 * Return: 0; the errors of fgraph_user_add(); those of
 * register_ftrace_function().
 */
int register_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	ret = fgraph_user_add(gops);
	if (ret)
		return ret;

	mutex_lock(&ftrace_lock);
	if (gops->filter)
		ftrace_ops_init(gops->filter);
	gops->user.asked = false;
	list_add_tail(&gops->user.list, &fgraph_filter_users);
	ret = fgraph_apply_filter(gops) ?: fgraph_commit();
	if (ret)
		fgraph_detach(gops);
	mutex_unlock(&ftrace_lock);

	if (ret) {
		fgraph_user_retire(gops);
		fgraph_synchronize();
		fgraph_user_remove(gops);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_graph);

/**
 * unregister_ftrace_graph() - call a user no more
 * @gops:	the user
 *
 * No callback runs any more when this returns: the user, its data and its
 * module may go. Calls that it hooked return without it.
 *
 * Context: process. May sleep.
 *
 * Return: 0, or -ENOENT if it is not registered.
 */
int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	ret = fgraph_user_retire(gops);
	if (ret)
		return ret;

	mutex_lock(&ftrace_lock);
	fgraph_detach(gops);
	mutex_unlock(&ftrace_lock);

	fgraph_synchronize();
	fgraph_user_remove(gops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_graph);
