// SPDX-License-Identifier: GPL-2.0
/*
 * Which users of fgraph want a function: their filters, and the sites.
 *
 * A user's filter is not registered with ftrace. fgraph has two ftrace_ops of its own, one of
 * which saves all registers. Their filters are the union of the filters of the users. A table
 * has a site for each function that is wanted: the users that want it, found by the address
 * of the function's call to ftrace. So the entry of a function takes one look-up and one
 * loop, and registering a user touches only the functions that it wants.
 *
 * Users that want all functions, or very many, are asked users. They are in a list of their
 * own: when a function without a site is called, the filter of each of them is looked up. A
 * site also has the asked users that want its function, so only the site is used then.
 *
 * Writers hold ftrace_lock. Readers are callbacks of ftrace, in any context, with preemption
 * disabled. Memory that readers may still see is freed after fgraph_synchronize().
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
 * A user with more functions in its filter becomes an asked user, which costs a look-up in
 * its filter at each call. This limits the memory for a user's sites to some 50 KB.
 */
#define FGRAPH_SITE_FUNCTIONS	1024

/*
 * How many asked users can be hooked in one batch. Of more users, only the first batch takes
 * the fast path: after that the call is hooked already.
 */
#define FGRAPH_ASK_AT_ONCE	8

/* Links memory that readers may still use, until it is freed. First member of its object. */
struct fgraph_old {
	struct fgraph_old	*next;
};

/**
 * struct fgraph_site - the users that want the calls of a function
 * @old:	links sites that are to be freed
 * @only:	the user, if it is the only one, fgraph_is_simple() and its filter need not be
 *		looked up, else NULL. Indexed like fgraph_ftrace_ops: only the element of the
 *		ops that hooks the calls is set
 * @nr:		number of elements of @users in use
 * @room:	number of elements that fit into @users
 * @holes:	number of elements that are fgraph_nobody
 * @simple:	fgraph_is_simple() is true for all users
 * @ask:	the filter of each user must be looked up; only in fgraph_asked
 * @regs:	calls are hooked by the ftrace_ops that saves all registers
 * @move:	calls must be hooked by that ftrace_ops, and @regs is not set yet
 * @users:	the users, oldest first
 *
 * Users are only appended to @users while readers may see it. A user that goes is replaced by
 * fgraph_nobody, or the site by a copy.
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

/* An element of the table. When @site becomes NULL, @ip stays, so that searches go on. */
struct fgraph_site_slot {
	unsigned long		ip;
	struct fgraph_site __rcu *site;
};

/**
 * struct fgraph_site_table - the sites, by the address of the function's call to ftrace
 * @old:	links tables that are to be freed
 * @mask:	the size of @slots in bytes, which is a power of two, less one slot: an address
 *		and @mask is the offset in bytes of the first slot to look at
 * @used:	number of slots with an address; at most half of all slots
 * @sites:	number of slots with a site
 * @slots:	open addressing: a search goes on with the next slot
 */
struct fgraph_site_table {
	struct fgraph_old	old;
	unsigned long		mask;
	unsigned int		used;
	unsigned int		sites;
	struct fgraph_site_slot	slots[];
};

/* The table while there are no sites. It counts as full, so the first site allocates one. */
static struct fgraph_site_table fgraph_no_sites = {
	.mask = sizeof(struct fgraph_site_slot),
	.used = 2,
	.slots = { [1] = { } },
};

/* The list of asked users while there are none. */
static struct fgraph_site fgraph_no_asked = { .ask = true };

/* The sites; and the asked users, as if they were the users of a site. */
static struct fgraph_site_table __rcu *fgraph_sites = RCU_INITIALIZER(&fgraph_no_sites);
static struct fgraph_site __rcu *fgraph_asked = RCU_INITIALIZER(&fgraph_no_asked);

static void fgraph_ftrace_light(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs);
static void fgraph_ftrace_regs(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs);

/* The two ops that ftrace calls. Index 1, or true, is the one that saves all registers. */
struct ftrace_ops fgraph_ftrace_ops[FGRAPH_NR_FTRACE_OPS] = {
	{ .func = fgraph_ftrace_light },
	{ .func = fgraph_ftrace_regs, .flags = FTRACE_OPS_FL_SAVE_REGS },
};

/* Set if the filter of that ops must be made anew. Indexed like fgraph_ftrace_ops. */
static bool fgraph_dirty[ARRAY_SIZE(fgraph_ftrace_ops)];
/* Set if any site has @move. */
static bool fgraph_moves;
/* How many users have &fgraph_user.permanent. */
static unsigned int fgraph_nr_permanent;
/* The users of fgraph_add_filter(): they have a filter, or want all functions. */
LIST_HEAD(fgraph_filter_users);
/* Sites and tables that fgraph_free_old() will free. */
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

/* Takes the place of a user that has gone in &fgraph_site.users. */
static struct fgraph_ops fgraph_nobody = { FGRAPH_CALLBACKS(fgraph_refuse, fgraph_ignore) };

/* Functions are usually at least 16 bytes apart, like slots: neighbours do not collide. */
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

/* The site of a function, or the asked users. For readers: any context, preemption disabled. */
static __always_inline struct fgraph_site *fgraph_find_users(unsigned long ip)
{
	/*
	 * Read before the table. Pairs with rcu_assign_pointer() in fgraph_replace_asked():
	 * fgraph_apply_filter() enters a user into its sites before it removes it from the
	 * asked users, so one of the two has the user.
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

static __always_inline bool fgraph_needs_regs(const struct fgraph_ops *gops)
{
	return gops->flags & FGRAPH_ENTRY_REGS;
}

/*
 * Hook a call for those users whose filter has the function. Without all registers (@regs) users
 * that need them are left out: their site is about to move to the ops that saves them.
 */
static void fgraph_hook_asked(struct fgraph_ops **users, unsigned int nr, bool simple,
			      unsigned long ip, struct ftrace_regs *fregs, bool regs)
{
	struct fgraph_ops *some[FGRAPH_ASK_AT_ONCE];
	unsigned int i, wanting = 0;

	for (i = 0; i < nr; i++) {
		struct fgraph_ops *gops = READ_ONCE(users[i]);
		struct ftrace_ops *filter = fgraph_filter(gops);

		if ((!regs && fgraph_needs_regs(gops)) ||
		    (filter && !ftrace_ops_test(filter, ip, gops)))
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
 * Hook a call for a site that has no &fgraph_site.only for this ops. While the function is in
 * the filters of both ops, @site->regs says which of them hooks the call.
 */
static noinline void fgraph_hook_site(struct fgraph_site *site, unsigned long ip,
				      struct ftrace_regs *fregs, bool regs)
{
	/* Pairs with fgraph_site_append(): @nr users are there, and @simple holds for them. */
	unsigned int nr = smp_load_acquire(&site->nr);
	bool simple = READ_ONCE(site->simple);

	if (site->regs != regs)
		return;
	if (unlikely(READ_ONCE(site->ask) || (!regs && READ_ONCE(site->move))))
		fgraph_hook_asked(site->users, nr, simple, ip, fregs, regs);
	else
		fgraph_hook_several(site->users, nr, simple, ip, fregs);
}
NOKPROBE_SYMBOL(fgraph_hook_site);

/*
 * The callback of both ops: a function is entered that is in the filter of one of them. @regs
 * is true for the one that saves all registers. It does not come from the ftrace_ops that
 * ftrace passes, as for a moment after a change that may be another one.
 */
static __always_inline void fgraph_ftrace_entry(unsigned long ip, struct ftrace_regs *fregs,
						bool regs)
{
	struct fgraph_site *site;
	struct fgraph_ops *only;

	/* This must come first: without a valid place, per-CPU variables cannot be accessed. */
	if (unlikely(!fgraph_retp_valid(fgraph_retp(fgraph_entry_regs(fregs)))))
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

/* Free a site or a table when no reader can see it any more. */
static void fgraph_free_later(struct fgraph_old *old)
{
	if (old == &fgraph_no_sites.old || old == &fgraph_no_asked.old)
		return;
	old->next = fgraph_old_memory;
	fgraph_old_memory = old;
	schedule_work(&fgraph_free_old_work);
}

static struct ftrace_hash *fgraph_filter_hash(const struct fgraph_ops *gops)
{
	struct ftrace_ops *filter = fgraph_filter(gops);

	if (!filter)
		return NULL;
	return rcu_dereference_protected(filter->func_hash->filter_hash,
					 lockdep_is_held(&ftrace_lock));
}

static struct ftrace_hash *fgraph_notrace_hash(const struct fgraph_ops *gops)
{
	struct ftrace_ops *filter = fgraph_filter(gops);

	if (!filter)
		return NULL;
	return rcu_dereference_protected(filter->func_hash->notrace_hash,
					 lockdep_is_held(&ftrace_lock));
}

/* Does the user want all functions except those in its notrace filter? */
static bool fgraph_wants_all(const struct fgraph_ops *gops)
{
	return ftrace_hash_empty(fgraph_filter_hash(gops));
}

/* Does the user want all functions without exception, so that no look-up is needed? */
static bool fgraph_wants_any(const struct fgraph_ops *gops)
{
	return fgraph_wants_all(gops) && ftrace_hash_empty(fgraph_notrace_hash(gops));
}

static bool fgraph_wants(const struct fgraph_ops *gops, unsigned long ip)
{
	struct ftrace_ops *filter = fgraph_filter(gops);

	/*
	 * Passing registers, here any pointer, keeps ftrace_ops_test() from refusing a filter
	 * with FTRACE_OPS_FL_SAVE_REGS.
	 */
	return !filter || ftrace_ops_test(filter, ip, (void *)gops);
}

/* The index of a user in @site->users, which are sorted by age, or the index to insert it. */
static unsigned int fgraph_site_index(const struct fgraph_site *site, const struct fgraph_ops *gops)
{
	unsigned int i = site->nr;

	/* From the end, as the user is usually the newest one. */
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

/* Allocate a site for @nr users, and for more if the allocator's size has room for them. */
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

/*
 * Update &fgraph_site.only after a change of the site. Readers may still see the old value,
 * which is as correct as a call that was made a moment before.
 */
static void fgraph_site_set_only(struct fgraph_site *site)
{
	struct fgraph_ops *only = NULL;

	if (site->nr == 1 && site->simple && !site->ask)
		only = site->users[0];
	/* Pairs with the address dependency in fgraph_ftrace_entry(), through the user. */
	smp_store_release(&site->only[false], site->regs ? NULL : only);
	/* Pairs with the address dependency in fgraph_ftrace_entry(), through the user. */
	smp_store_release(&site->only[true], site->regs ? only : NULL);
}

/* Append a user to a site that has room. Readers see it when @nr has grown. */
static void fgraph_site_append(struct fgraph_site *site, struct fgraph_ops *gops)
{
	/* Before @nr grows: a reader that sees the user must not take it for a simple one. */
	if (!fgraph_is_simple(gops))
		WRITE_ONCE(site->simple, false);
	if (fgraph_needs_regs(gops) && !site->regs)
		WRITE_ONCE(site->move, true);
	WRITE_ONCE(site->users[site->nr], gops);
	/* Pairs with smp_load_acquire() in fgraph_hook_site(). */
	smp_store_release(&site->nr, site->nr + 1);
	fgraph_site_set_only(site);
}

/* Copy a site, without the holes and without the user @not, with room for @more users. */
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

/* Copy a site and insert a user at its place by age. */
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
 * Add a user to a site that readers may see. Returns the site, or a new one by which the
 * caller must replace it; NULL if there is no memory.
 */
static struct fgraph_site *fgraph_site_add(struct fgraph_site *site, struct fgraph_ops *gops)
{
	if (site->nr < site->room && fgraph_site_index(site, gops) == site->nr) {
		fgraph_site_append(site, gops);
		return site;
	}
	return fgraph_site_insert(site, gops);
}

/*
 * Remove a user from a site that readers may see. Returns the site, or a new one by which the
 * caller must replace it. Cannot fail: if there is no memory for a copy, a hole is left.
 */
static struct fgraph_site *fgraph_site_remove(struct fgraph_site *site, struct fgraph_ops *gops)
{
	struct fgraph_ops **place = fgraph_site_find(site, gops);
	struct fgraph_site *new = NULL;

	/* Copying a large site each time would make the removal of all users quadratic. */
	if (site->nr <= 16 || site->holes * 2 > site->nr)
		new = fgraph_site_copy(site, 0, gops);
	if (new)
		return new;
	WRITE_ONCE(*place, &fgraph_nobody);
	site->holes++;
	return site;
}

/* The slot of an address, or the free slot to enter it. */
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

/* The next slot with a site after @slot, or the first one if @slot is NULL; NULL at the end. */
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

/* Replace the table by one that is at most half full with twice the number of @sites. */
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
		/* A reader that sees the address but not yet the site uses the asked users. */
		WRITE_ONCE(slot->ip, ip);
	}
	fgraph_dirty[site->regs] = true;
	return 0;
}

/* Remove a site: its function has no users any more, but for asked users. */
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

/* Make a site for a user that wants the function, and for the asked users that want it. */
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
	/*
	 * If asked users want the function, the ops that hooks calls for them is called for
	 * it. Otherwise no ops is, and the site need not be moved later.
	 */
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

/* Enter a user into the site of a function. */
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
 * Can a site be removed when its user @not goes? Any other users must be asked users, as they
 * are found without a site, and the same ops must hook calls for the site and for them: the
 * other ops may not be called for the function yet.
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

/* Must the filters of the asked users be looked up? Not if all of them want any function. */
static bool fgraph_must_ask(const struct fgraph_site *asked)
{
	unsigned int i;

	/* Without users, &fgraph_site.only must not be set. */
	if (fgraph_site_is_empty(asked))
		return true;
	for (i = 0; i < asked->nr; i++) {
		if (asked->users[i] != &fgraph_nobody && !fgraph_wants_any(asked->users[i]))
			return true;
	}
	return false;
}

/* Replace the asked users by @new, or update them after a change if @new is the old ones. */
static void fgraph_replace_asked(struct fgraph_site *new)
{
	struct fgraph_site *old = fgraph_asked_locked();

	fgraph_dirty[old->regs] = true;
	fgraph_dirty[new->regs] = true;
	/*
	 * If @new is not published yet, no reader sees this. If it is the old site, ask was
	 * set by fgraph_add_asked() or a user was removed, so a reader may see either value.
	 */
	WRITE_ONCE(new->ask, fgraph_must_ask(new));
	fgraph_site_set_only(new);
	if (new == old)
		return;
	rcu_assign_pointer(fgraph_asked, new);
	fgraph_free_later(&old->old);
}

/* Add a user to the asked users. If it is one already, its filter has changed. */
static int fgraph_add_asked(struct fgraph_ops *gops)
{
	struct fgraph_site *asked = fgraph_asked_locked(), *new = asked;

	/* Look up filters until fgraph_replace_asked() has found out whether that is needed. */
	WRITE_ONCE(asked->ask, true);
	fgraph_site_set_only(asked);
	if (!fgraph_site_find(asked, gops)) {
		/* A new site, so that a reader which sees the user also sees @ask. */
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

/* Call @func for each function that a user wants; its filter must not be empty. */
static int fgraph_walk_functions(struct fgraph_ops *gops, fgraph_function_t func, void *arg)
{
	struct ftrace_hash *filter = fgraph_filter_hash(gops);
	struct ftrace_hash *except = fgraph_notrace_hash(gops);
	struct ftrace_func_entry *entry;
	unsigned long i;
	int ret;

	for (i = 0; i < 1UL << filter->size_bits; i++) {
		hlist_for_each_entry(entry, &filter->buckets[i], hlist) {
			/* An address of 0 is left where a function's module has gone. */
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
 * Make the sites agree with a user's filter. Functions that the user wanted before and still
 * wants are hooked for it all the time, as it is added before it is removed.
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

/* Remove a user from the asked users and from all sites. Cannot fail. */
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

/**
 * fgraph_next_user() - walk the users that want a function
 * @ip:	the address of the function's call to ftrace
 * @pos:	where the walk is; 0 to begin
 *
 * Context: process, ftrace_lock held.
 *
 * Return: the next user, oldest first; NULL at the end.
 */
struct fgraph_ops *fgraph_next_user(unsigned long ip, unsigned int *pos)
{
	struct fgraph_site *site = fgraph_site_of(fgraph_site_slot(fgraph_table_locked(), ip));
	struct fgraph_ops *gops;

	if (!site)
		site = fgraph_asked_locked();
	while (*pos < site->nr) {
		gops = site->users[(*pos)++];
		if (gops != &fgraph_nobody && (!site->ask || fgraph_wants(gops, ip)))
			return gops;
	}
	return NULL;
}

/* Must ftrace call this ops for a site, or for the asked users? Two ops during a move. */
static bool fgraph_comes_by(const struct fgraph_site *site, bool regs)
{
	return regs ? site->regs || site->move : !site->regs;
}

static int fgraph_add_to_hash(unsigned long ip, void *hash)
{
	return ftrace_lookup_ip(hash, ip) ? 0 : fgraph_hash_add(hash, ip);
}

/* Fill @filter with all functions for which ftrace must call an ops. */
static int fgraph_fill_filter(struct ftrace_hash *filter, bool regs)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site *asked = fgraph_asked_locked();
	struct fgraph_site_slot *slot = NULL;
	unsigned int i;
	int ret = 0;

	while ((slot = fgraph_next_site(table, slot))) {
		if (fgraph_comes_by(fgraph_site_of(slot), regs))
			ret = fgraph_hash_add(filter, slot->ip);
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

/* An asked user that wants all functions by this ops, or NULL. */
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

/* Is there no user that wants this function by this ops? */
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

/* Fill @except with the functions that the user @all does not want, and no other user. */
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
			ret = fgraph_hash_add(except, entry->ip);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/*
 * Set the filter and the notrace filter of an ops. Until both are set, the ops is called for
 * more functions than are wanted, never for fewer. An empty filter means all functions.
 */
static int fgraph_set_filters(struct ftrace_ops *op, struct ftrace_hash *filter,
			      struct ftrace_hash *except)
{
	struct ftrace_ops_hash *hash = op->func_hash;
	struct ftrace_hash **filter_hash = (__force struct ftrace_hash **)&hash->filter_hash;
	struct ftrace_hash **except_hash = (__force struct ftrace_hash **)&hash->notrace_hash;
	struct ftrace_hash *none;
	int ret = 0;

	/* All functions before and after: only the exceptions change, which is one step. */
	if (ftrace_hash_empty(*filter_hash) && ftrace_hash_empty(filter))
		return ftrace_hash_move_and_update_ops(op, except_hash, except, 0);

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

/* Make the filters of an ops anew, and register or unregister it with ftrace. */
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
		/* No function is wanted, but an empty filter would mean all of them. */
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

/* Have calls of a site with @move hooked by the ops that saves all registers. */
static void fgraph_site_move(struct fgraph_site *site)
{
	site->regs |= site->move;
	site->move = false;
	fgraph_site_set_only(site);
}

/*
 * Move all sites with @move, with all other CPUs stopped. ftrace calls both ops with preemption
 * disabled, so no call is between the two of them. Only a call in an NMI may be: it is hooked
 * by both, as if the function had called itself by a tail call, or by neither.
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
 * Tell ftrace what has changed. A site that moves to the ops that saves all registers is first
 * in the filters of both ops, then its @regs is set, then it is removed from the filter of the
 * other one. It does not move back while it has users.
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
		 * A task may have been preempted in an ftrace trampoline that calls only the
		 * other ops. It must call that before the site is moved, or it would not be
		 * hooked.
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

/*
 * Tell ftrace that a user has gone. If that fails for want of memory, ftrace calls the ops for
 * functions that no user wants; these calls find no user and nothing else goes wrong.
 */
static void fgraph_commit_removal(void)
{
	int ret = fgraph_commit();

	WARN_ONCE(ret && ret != -ENODEV && ret != -ENOMEM,
		  "fgraph: ftrace goes on to call functions that nobody wants (error %d)\n", ret);
}

/**
 * fgraph_filter_changed() - adapt to the change of a filter that users may have
 * @hash:	the filter that has changed
 *
 * Context: process, ftrace_lock held. May sleep.
 *
 * Return: 0; -ENOMEM, then users of the filter may be called for some functions only; other
 * errors of ftrace_startup().
 */
int fgraph_filter_changed(struct ftrace_ops_hash *hash)
{
	struct fgraph_ops *gops;
	bool changed = false;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(gops, &fgraph_filter_users, user.list) {
		struct ftrace_ops *filter = fgraph_filter(gops);

		if (!filter || filter->func_hash != hash)
			continue;
		changed = true;
		ret = fgraph_apply_filter(gops) ?: ret;
	}
	/* fgraph_commit() changes the filters of fgraph's own ops, which comes here again. */
	if (changed)
		ret = fgraph_commit() ?: ret;
	return ret;
}

/* Clear the addresses from @start up to @end in a hash. */
static void fgraph_forget_in_hash(struct ftrace_hash __rcu *of, unsigned long start,
				  unsigned long end)
{
	struct ftrace_hash *hash = rcu_dereference_protected(of, lockdep_is_held(&ftrace_lock));
	struct ftrace_func_entry *entry;
	unsigned long i;

	for (i = 0; hash && hash->count && i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			/* ftrace does the same: 0 matches no function, the next change drops it. */
			if (entry->ip >= start && entry->ip < end)
				entry->ip = 0;
		}
	}
}

static void fgraph_forget_in_filter(struct ftrace_ops *filter, unsigned long start,
				    unsigned long end)
{
	fgraph_forget_in_hash(filter->func_hash->filter_hash, start, end);
	fgraph_forget_in_hash(filter->func_hash->notrace_hash, start, end);
}

/**
 * fgraph_forget_functions() - drop the functions of a module that goes
 * @start:	lowest address of the module's functions
 * @end:	first address behind them
 *
 * They go from the sites, and from the filters of users: another module may come to the same
 * addresses.
 *
 * Context: process, ftrace_lock held, after ftrace has forgotten them. May sleep.
 */
void fgraph_forget_functions(unsigned long start, unsigned long end)
{
	struct fgraph_site_table *table = fgraph_table_locked();
	struct fgraph_site_slot *slot = NULL;
	struct fgraph_ops *gops;
	unsigned int i;

	lockdep_assert_held(&ftrace_lock);

	while ((slot = fgraph_next_site(table, slot))) {
		if (slot->ip >= start && slot->ip < end)
			fgraph_drop_site(table, slot);
	}
	for (i = 0; i < ARRAY_SIZE(fgraph_ftrace_ops); i++) {
		ftrace_ops_init(&fgraph_ftrace_ops[i]);
		fgraph_forget_in_filter(&fgraph_ftrace_ops[i], start, end);
	}
	list_for_each_entry(gops, &fgraph_filter_users, user.list) {
		if (fgraph_filter(gops))
			fgraph_forget_in_filter(fgraph_filter(gops), start, end);
	}
}

/* Add a permanent user: while there is one, kernel.ftrace_enabled cannot be cleared. */
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

	/* If the function's module has gone, so has the site. */
	if (fgraph_site_of(slot) && fgraph_site_find(fgraph_site_of(slot), gops))
		fgraph_remove_from_site(table, slot, gops);
	fgraph_commit_removal();
	if (gops->user.permanent)
		fgraph_put_permanent();
}

/**
 * fgraph_add_function() - have ftrace call a user for one function
 * @gops:	the user, after fgraph_user_add(); &fgraph_user.function says which function,
 *		the user's filter is not used
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
 * fgraph_remove_function() - undo fgraph_add_function()
 * @gops:	the user, after fgraph_add_function()
 *
 * The user's entry callback may still be called until fgraph_synchronize() has returned.
 *
 * Context: process. May sleep.
 */
void fgraph_remove_function(struct fgraph_ops *gops)
{
	mutex_lock(&ftrace_lock);
	fgraph_remove_function_locked(gops);
	mutex_unlock(&ftrace_lock);
}

static void fgraph_remove_filter_locked(struct fgraph_ops *gops)
{
	list_del(&gops->user.list);
	fgraph_remove_everywhere(gops);
	fgraph_commit_removal();
}

/**
 * fgraph_add_filter() - have ftrace call a user for the functions of its filter
 * @gops:	the user, after fgraph_user_add(); its filter, if it has one, is initialised
 *
 * Context: process. May sleep.
 *
 * Return: 0, -ENOMEM, or the errors of register_ftrace_function().
 */
int fgraph_add_filter(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	gops->user.asked = false;
	list_add_tail(&gops->user.list, &fgraph_filter_users);
	ret = fgraph_apply_filter(gops) ?: fgraph_commit();
	if (ret)
		fgraph_remove_filter_locked(gops);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/**
 * fgraph_remove_filter() - undo fgraph_add_filter()
 * @gops:	the user, after fgraph_add_filter()
 *
 * The user's entry callback may still be called until fgraph_synchronize() has returned.
 *
 * Context: process. May sleep.
 */
void fgraph_remove_filter(struct fgraph_ops *gops)
{
	mutex_lock(&ftrace_lock);
	fgraph_remove_filter_locked(gops);
	mutex_unlock(&ftrace_lock);
}
