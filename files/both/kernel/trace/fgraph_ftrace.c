// SPDX-License-Identifier: GPL-2.0
/*
 * Which users of fgraph want a function: their filters, and the sites.
 *
 * A user's filter is not registered with ftrace. fgraph has two dispatchers, each with an
 * ftrace_ops of its own: one calls the users that need all registers at entry, the other one all
 * other users. The filter of the ops is the union of the filters of its users. A table has a site
 * for each function that is wanted: the users that want it, found by the address of the function's
 * call to ftrace. So the entry of a function takes one look-up and one loop, and registering a
 * user touches only the functions that it wants. If a function has users of both kinds, ftrace
 * calls both ops, in any order, and the users of the second one join the frame. ftrace then limits
 * recursion itself: nested calls that it does not pass on are not counted as missed.
 *
 * Users that want all functions, or very many, are wide users. They have no sites of their own,
 * but are in a list: when a function without a site is called, the filter of each of them is
 * looked up. A site also has the wide users that want its function, so only the site is used
 * then.
 *
 * What the sites of a dispatcher look like; fgraph_check_dispatchers() checks it:
 *
 *  who wants the function		its site
 *  nobody				none
 *  wide users alone			none, or one that is left from a user which has gone
 *  one user				@users has it, and @only if it is simple
 *  several users			@users has them, the wide ones among them, oldest first
 *
 * Besides, @users may have fgraph_nobody where a user has gone. The list of the wide users looks
 * like a site of several users, with @look_up unless each of them wants every function.
 *
 * Of the users of a dispatcher, the newest is called first at entry and last at return. So
 * kretprobes of a function are called in the same order as by the handler of a breakpoint, which
 * users of them rely on.
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
#include <linux/workqueue.h>

#include "fgraph_ftrace.h"
#include "fgraph_hook.h"
#include "fgraph_internal.h"
#include "fgraph_site.h"
#include "ftrace_internal.h"
#include "trace.h"
#ifdef CONFIG_FGRAPH_STUBS
#include "fgraph_stubs.h"
#endif

/*
 * A user with more functions in its filter becomes a wide user, which costs a look-up in
 * its filter at each call. This limits the memory for a user's sites to some 50 KB.
 */
#define FGRAPH_SITE_FUNCTIONS	1024

#ifdef CONFIG_HAVE_FGRAPH
/* How many wide users can be hooked in one batch. More users do not take the fast path. */
#define FGRAPH_WIDE_AT_ONCE	8
#endif

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

/* The list of wide users while there are none. */
static struct fgraph_site fgraph_no_wide = { .look_up = true };

#ifdef CONFIG_HAVE_FGRAPH
static void fgraph_ftrace_light(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs);
static void fgraph_ftrace_regs(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs);

#endif

/**
 * struct fgraph_dispatcher - an ops that ftrace calls, and the users that it calls in turn
 * @ops:	called by ftrace for all functions that the users want
 * @sites:	the sites
 * @wide:	the wide users, as if they were the users of a site
 * @dirty:	the filter of @ops must be made anew
 */
struct fgraph_dispatcher {
	struct ftrace_ops		ops;
	struct fgraph_site_table __rcu	*sites;
	struct fgraph_site __rcu	*wide;
	bool				dirty;
};

/*
 * The second one is for the users that need all registers at entry. Where the architecture calls
 * function_graph_enter_regs(), there is only the first one.
 */
static struct fgraph_dispatcher fgraph_dispatchers[] = {
#ifdef CONFIG_HAVE_FGRAPH
	{
		.ops.func = fgraph_ftrace_light,
		.sites = RCU_INITIALIZER(&fgraph_no_sites),
		.wide = RCU_INITIALIZER(&fgraph_no_wide),
	},
	{
		.ops.func = fgraph_ftrace_regs,
		.ops.flags = FTRACE_OPS_FL_SAVE_REGS,
		.sites = RCU_INITIALIZER(&fgraph_no_sites),
		.wide = RCU_INITIALIZER(&fgraph_no_wide),
	},
#else
	{
		.ops.func = ftrace_graph_func,
		.ops.flags = FTRACE_OPS_GRAPH_STUB,
		.ops.trampoline = FTRACE_GRAPH_TRAMP_ADDR,
		.sites = RCU_INITIALIZER(&fgraph_no_sites),
		.wide = RCU_INITIALIZER(&fgraph_no_wide),
	},
#endif
};

/* The dispatcher after @d, or NULL. */
static struct fgraph_dispatcher *fgraph_next_dispatcher(struct fgraph_dispatcher *d)
{
	return ++d < fgraph_dispatchers + ARRAY_SIZE(fgraph_dispatchers) ? d : NULL;
}

/* How many users have &fgraph_user.needs_enabled. */
static unsigned int fgraph_nr_needing_enabled;
/* The users of fgraph_add_filter(): they have a filter, or want all functions. */
LIST_HEAD(fgraph_filter_users);
/* Sites and tables that fgraph_free_old() will free. */
static struct fgraph_old *fgraph_old_memory;

static struct fgraph_dispatcher *fgraph_dispatcher_of(const struct fgraph_ops *gops)
{
	return &fgraph_dispatchers[IS_ENABLED(CONFIG_HAVE_FGRAPH) &&
				   (gops->flags & FGRAPH_ENTRY_REGS)];
}

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
static struct fgraph_ops fgraph_nobody = {
	.entryfunc = fgraph_refuse,
	.retfunc = fgraph_ignore,
};

/* Functions are usually at least 16 bytes apart, like slots: neighbours do not collide. */
static __always_inline struct fgraph_site_slot *
fgraph_first_slot(struct fgraph_site_table *table, unsigned long ip)
{
	BUILD_BUG_ON(!is_power_of_2(sizeof(struct fgraph_site_slot)));
	return (void *)table->slots + (ip & table->mask);
}

static __always_inline struct fgraph_site_slot *
fgraph_next_slot(struct fgraph_site_table *table, struct fgraph_site_slot *slot)
{
	return (void *)slot - (void *)table->slots == table->mask ? table->slots : slot + 1;
}

/* The site of a function, or the wide users. For readers: any context, preemption disabled. */
static __always_inline struct fgraph_site *fgraph_find_users(struct fgraph_dispatcher *d,
							     unsigned long ip)
{
	/*
	 * Read before the table. Pairs with rcu_assign_pointer() in fgraph_replace_wide():
	 * fgraph_apply_filter() enters a user into its sites before it removes it from the
	 * wide users, so one of the two has the user.
	 */
	struct fgraph_site *wide = (__force struct fgraph_site *)smp_load_acquire(&d->wide);
	struct fgraph_site_table *table = rcu_dereference_raw(d->sites);
	struct fgraph_site_slot *slot = fgraph_first_slot(table, ip);
	struct fgraph_site *site;
	unsigned long at;

	while (unlikely((at = READ_ONCE(slot->ip)) != ip)) {
		if (!at)
			return wide;
		slot = fgraph_next_slot(table, slot);
	}
	site = rcu_dereference_raw(slot->site);
	return site ?: wide;
}

#ifdef CONFIG_HAVE_FGRAPH
/* Hook a call for the users whose filter has the function. Usually that is one of them. */
static void fgraph_hook_wide(struct fgraph_ops **users, unsigned int nr, bool simple,
			     unsigned long ip, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = fgraph_entry_regs(fregs);
	struct fgraph_ops *gops, *some[FGRAPH_WIDE_AT_ONCE];
	unsigned int free = FGRAPH_WIDE_AT_ONCE;
	struct fgraph_call call;

	if (likely(simple && !fgraph_is_hooked(READ_ONCE(*fgraph_entry_place(regs))))) {
		while (free && (gops = fgraph_next_wide(users, &nr, ip)))
			some[--free] = gops;
		if (free == FGRAPH_WIDE_AT_ONCE - 1 && !nr)
			fgraph_hook_one(some[free], ip, fregs);
		else if (free < FGRAPH_WIDE_AT_ONCE)
			fgraph_hook_several(some + free, FGRAPH_WIDE_AT_ONCE - free, true, ip,
					    fregs);
		if (likely(!nr))
			return;
	}
	fgraph_begin_call(&call, users, nr, ip, fgraph_entry_place(regs), fgraph_retp(regs), regs);
	while ((gops = fgraph_next_wide(users, &nr, ip)))
		fgraph_hook_next(&call, gops);
}
NOKPROBE_SYMBOL(fgraph_hook_wide);

/* Hook a call for a site that has no &fgraph_site.only. */
static noinline void fgraph_hook_site(struct fgraph_site *site, unsigned long ip,
				      struct ftrace_regs *fregs)
{
	/* Pairs with fgraph_site_append(): @nr users are there, and @simple holds for them. */
	unsigned int nr = smp_load_acquire(&site->nr);
	bool simple = READ_ONCE(site->simple);

	if (unlikely(READ_ONCE(site->look_up)))
		fgraph_hook_wide(site->users, nr, simple, ip, fregs);
	else
		fgraph_hook_several(site->users, nr, simple, ip, fregs);
}
NOKPROBE_SYMBOL(fgraph_hook_site);

/*
 * A function is entered that users of this dispatcher want. @d is not found by the ftrace_ops that
 * ftrace passes, as for a moment after a change that may be another one.
 */
static __always_inline void fgraph_ftrace_entry(struct fgraph_dispatcher *d, unsigned long ip,
						struct ftrace_regs *fregs)
{
	struct fgraph_site *site;
	struct fgraph_ops *only;

	/* This must come first: without a valid place, per-CPU variables cannot be accessed. */
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

static void fgraph_ftrace_light(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	fgraph_ftrace_entry(&fgraph_dispatchers[0], ip, fregs);
}
NOKPROBE_SYMBOL(fgraph_ftrace_light);

static void fgraph_ftrace_regs(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	fgraph_ftrace_entry(&fgraph_dispatchers[1], ip, fregs);
}
NOKPROBE_SYMBOL(fgraph_ftrace_regs);

#ifdef CONFIG_FGRAPH_STUBS
/*
 * A callback may have changed where the function is to go on, to override it. It is then called
 * like after ftrace_caller: from the address that is to be replaced, the return address of
 * fgraph_stub_enter, with the return address of the function on top of the stack. That must lead to
 * the return callbacks, so it becomes a trampoline.
 */
static noinline int fgraph_stub_override(struct pt_regs *regs, int exit)
{
	struct fgraph_frame *frame;
	unsigned long head;

	if (exit != FGRAPH_STUB_JUMP) {
		frame = fgraph_stack_search(current->fgraph_stack, fgraph_retp(regs));
		/* An interrupt may set FGRAPH_DONE_BELOW. */
		do {
			head = fgraph_head(frame);
		} while (cmpxchg_local(&frame->head, head, head & ~FGRAPH_STUB) != head);
		fgraph_set_trampoline(fgraph_entry_place(regs),
				      exit == FGRAPH_STUB_FULL ? FGRAPH_FULL_REGS : 0, false);
	}
	WRITE_ONCE(fgraph_entry_place(regs)[-1], regs->ip);
	return FGRAPH_STUB_JUMP;
}

/*
 * Hook a call for the only user of a function if it has an entry callback, or if the fast path does
 * not apply. Enables preemption, so that fgraph_stub_entered() ends in a jump to this function.
 *
 * noinline: keeps fgraph_stub_entered() from saving registers for users without a callback.
 */
static noinline int fgraph_stub_hook_only(struct fgraph_ops *only, unsigned long ip,
					  struct pt_regs *regs)
{
	enum fgraph_hooked hooked = FGRAPH_HOOK_NOTHING;
	unsigned long body = ip + MCOUNT_INSN_SIZE;
	int exit;

	fgraph_stub_complete_regs(regs, body);
	if (likely(!only->user.admit || fgraph_admits_all()))
		hooked = fgraph_hook_first(only, ip, fgraph_entry_place(regs), fgraph_retp(regs),
					   regs, FGRAPH_FRAME | FGRAPH_STUB);
	if (unlikely(hooked == FGRAPH_HOOK_NOTHING))
		fgraph_hook_checked(only, ip, regs);
	exit = fgraph_stub_exit(hooked == FGRAPH_HOOK_WANTED, only->flags);
	if (unlikely(regs->ip != body))
		exit = fgraph_stub_override(regs, exit);
	preempt_enable_notrace();
	return exit;
}
NOKPROBE_SYMBOL(fgraph_stub_hook_only);

/* Hook a call for a site that has no &fgraph_site.only. Enables preemption. */
static noinline int fgraph_stub_hook_site(struct fgraph_site *site, unsigned long ip,
					  struct pt_regs *regs)
{
	unsigned long body = ip + MCOUNT_INSN_SIZE;
	int exit = FGRAPH_STUB_JUMP;
	unsigned int nr;

	fgraph_stub_complete_regs(regs, body);
	if (unlikely(READ_ONCE(site->look_up))) {
		fgraph_hook_site(site, ip, (struct ftrace_regs *)regs);
	} else {
		/* Pairs with fgraph_site_append(), as in fgraph_hook_site(). */
		nr = smp_load_acquire(&site->nr);
		exit = fgraph_stub_hook_several(site->users, nr, READ_ONCE(site->simple), ip,
						regs);
	}
	if (unlikely(regs->ip != body))
		exit = fgraph_stub_override(regs, exit);
	preempt_enable_notrace();
	return exit;
}
NOKPROBE_SYMBOL(fgraph_stub_hook_site);
NOKPROBE_SYMBOL(fgraph_stub_override);

/**
 * fgraph_stub_entered() - hook a call that a stub is about to make
 * @regs:	the registers that fgraph_stub_enter has saved, see fgraph_stub_complete_regs()
 * @ip:		the address of the function's call to ftrace
 *
 * A user without an entry callback is served here, without the registers that only a callback
 * needs. If the fast paths do not apply, or the call is a tail call, the return address is
 * replaced as for calls without a stub, which then jumps to the function.
 *
 * Context: any.
 *
 * Return: enum fgraph_stub_exit.
 */
__visible int fgraph_stub_entered(struct pt_regs *regs, unsigned long ip)
{
	unsigned long *retp = fgraph_stub_retp(regs);
	struct fgraph_site *site;
	struct fgraph_ops *only;
	int exit;

	/* This must come first, as in fgraph_ftrace_entry(). */
	if (unlikely(!fgraph_retp_valid(retp)))
		return FGRAPH_STUB_JUMP;
	preempt_disable_notrace();
	site = fgraph_find_users(&fgraph_dispatchers[0], ip);
	only = READ_ONCE(site->only);
	if (!only)
		return fgraph_stub_hook_site(site, ip, regs);
	if (only->entryfunc || unlikely(only->user.admit && !fgraph_admits_all()) ||
	    unlikely(!fgraph_hook_first(only, ip, retp, retp, regs, FGRAPH_FRAME | FGRAPH_STUB)))
		return fgraph_stub_hook_only(only, ip, regs);
	/* The user may be gone once preemption is enabled. */
	exit = fgraph_stub_exit(true, only->flags);
	preempt_enable_notrace();
	return exit;
}
NOKPROBE_SYMBOL(fgraph_stub_entered);
#endif /* CONFIG_FGRAPH_STUBS */
#else
/* The users that want @func, for function_graph_enter_regs(). Preemption is disabled. */
struct fgraph_site *fgraph_find_site(unsigned long func)
{
	return fgraph_find_users(&fgraph_dispatchers[0], func);
}
NOKPROBE_SYMBOL(fgraph_find_site);
#endif /* CONFIG_HAVE_FGRAPH */

static struct fgraph_site *fgraph_wide_locked(struct fgraph_dispatcher *d)
{
	return rcu_dereference_protected(d->wide, lockdep_is_held(&ftrace_lock));
}

static struct fgraph_site_table *fgraph_table_locked(struct fgraph_dispatcher *d)
{
	return rcu_dereference_protected(d->sites, lockdep_is_held(&ftrace_lock));
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
	if (old == &fgraph_no_sites.old || old == &fgraph_no_wide.old)
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

	if (site->nr == 1 && site->simple && !site->look_up)
		only = site->users[0];
	/* Pairs with the address dependency in fgraph_ftrace_entry(), through the user. */
	smp_store_release(&site->only, only);
}

/* Append a user to a site that has room. Readers see it when @nr has grown. */
static void fgraph_site_append(struct fgraph_site *site, struct fgraph_ops *gops)
{
	/* Before @nr grows: a reader that sees the user must not take it for a simple one. */
	if (!fgraph_is_simple(gops))
		WRITE_ONCE(site->simple, false);
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
static int fgraph_resize_table(struct fgraph_dispatcher *d, unsigned int sites)
{
	struct fgraph_site_table *old = fgraph_table_locked(d), *new;
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
	rcu_assign_pointer(d->sites, new);
	fgraph_free_later(&old->old);
	return 0;
}

/* Enter a new site into the table. */
static int fgraph_enter_site(struct fgraph_dispatcher *d, unsigned long ip,
			     struct fgraph_site *site)
{
	struct fgraph_site_table *table = fgraph_table_locked(d);
	struct fgraph_site_slot *slot = fgraph_site_slot(table, ip);
	int ret;

	if (!slot->ip && (table->used + 1) * 2 > fgraph_nr_slots(table)) {
		ret = fgraph_resize_table(d, table->sites + 1);
		if (ret)
			return ret;
		table = fgraph_table_locked(d);
		slot = fgraph_site_slot(table, ip);
	}
	rcu_assign_pointer(slot->site, site);
	table->sites++;
	if (!slot->ip) {
		table->used++;
		/* A reader that sees the address but not yet the site uses the wide users. */
		WRITE_ONCE(slot->ip, ip);
	}
	d->dirty = true;
	return 0;
}

/* Remove a site: its function has no users any more, but for wide users. */
static void fgraph_drop_site(struct fgraph_dispatcher *d, struct fgraph_site_slot *slot)
{
	struct fgraph_site_table *table = fgraph_table_locked(d);
	struct fgraph_site *site = fgraph_site_of(slot);

	d->dirty = true;
	RCU_INIT_POINTER(slot->site, NULL);
	fgraph_free_later(&site->old);
	if (--table->sites)
		return;
	rcu_assign_pointer(d->sites, &fgraph_no_sites);
	fgraph_free_later(&table->old);
}

/* Make a site for a user that wants the function, and for the wide users that want it. */
static int fgraph_make_site(struct fgraph_dispatcher *d, unsigned long ip,
			    struct fgraph_ops *gops)
{
	struct fgraph_site *wide = fgraph_wide_locked(d), *site, *new;
	unsigned int i;
	int ret = -ENOMEM;

	site = fgraph_site_alloc(wide->nr - wide->holes + 1);
	if (!site)
		return -ENOMEM;
	for (i = 0; i < wide->nr; i++) {
		if (wide->users[i] != &fgraph_nobody && wide->users[i] != gops &&
		    fgraph_wants(wide->users[i], ip))
			fgraph_site_append(site, wide->users[i]);
	}
	new = fgraph_site_add(site, gops);
	if (new != site)
		kvfree(site);
	if (new)
		ret = fgraph_enter_site(d, ip, new);
	if (ret)
		kvfree(new);
	return ret;
}

/* Enter a user into the site of a function. */
static int fgraph_add_to_site(unsigned long ip, struct fgraph_ops *gops)
{
	struct fgraph_dispatcher *d = fgraph_dispatcher_of(gops);
	struct fgraph_site_slot *slot = fgraph_site_slot(fgraph_table_locked(d), ip);
	struct fgraph_site *site = fgraph_site_of(slot), *new;

	if (!site)
		return fgraph_make_site(d, ip, gops);
	if (fgraph_site_find(site, gops))
		return 0;
	new = fgraph_site_add(site, gops);
	if (!new)
		return -ENOMEM;
	if (new != site) {
		rcu_assign_pointer(slot->site, new);
		fgraph_free_later(&site->old);
	}
	return 0;
}

/*
 * Can a site be removed when its user @not goes? Only if all others are wide users, as these are
 * found without a site.
 */
static bool fgraph_site_is_needless(const struct fgraph_site *site, const struct fgraph_ops *not)
{
	unsigned int i;

	for (i = 0; i < site->nr; i++) {
		if (site->users[i] != &fgraph_nobody && site->users[i] != not &&
		    !site->users[i]->user.wide)
			return false;
	}
	return true;
}

/* Remove a user from a site, if it is there. */
static void fgraph_remove_from_site(struct fgraph_site_slot *slot, struct fgraph_ops *gops)
{
	struct fgraph_site *site = fgraph_site_of(slot), *new;

	if (!site || !fgraph_site_find(site, gops))
		return;
	if (fgraph_site_is_needless(site, gops)) {
		fgraph_drop_site(fgraph_dispatcher_of(gops), slot);
		return;
	}
	new = fgraph_site_remove(site, gops);
	if (new != site) {
		rcu_assign_pointer(slot->site, new);
		fgraph_free_later(&site->old);
	}
}

/* Must the filters of the wide users be looked up? Not if all of them want any function. */
static bool fgraph_must_look_up(const struct fgraph_site *wide)
{
	unsigned int i;

	/* Without users, &fgraph_site.only must not be set. */
	if (fgraph_site_is_empty(wide))
		return true;
	for (i = 0; i < wide->nr; i++) {
		if (wide->users[i] != &fgraph_nobody && !fgraph_wants_any(wide->users[i]))
			return true;
	}
	return false;
}

/* Replace the wide users by @new, or update them after a change if @new is the old ones. */
static void fgraph_replace_wide(struct fgraph_dispatcher *d, struct fgraph_site *new)
{
	struct fgraph_site *old = fgraph_wide_locked(d);

	d->dirty = true;
	/*
	 * If @new is not published yet, no reader sees this. If it is the old site, @look_up was
	 * set by fgraph_add_wide() or a user was removed, so a reader may see either value.
	 */
	WRITE_ONCE(new->look_up, fgraph_must_look_up(new));
	fgraph_site_set_only(new);
	if (new == old)
		return;
	rcu_assign_pointer(d->wide, new);
	fgraph_free_later(&old->old);
}

/* Add a user to the wide users. If it is one already, its filter has changed. */
static int fgraph_add_wide(struct fgraph_dispatcher *d, struct fgraph_ops *gops)
{
	struct fgraph_site *wide = fgraph_wide_locked(d), *new = wide;

	/* Look up filters until fgraph_replace_wide() has found out whether that is needed. */
	WRITE_ONCE(wide->look_up, true);
	fgraph_site_set_only(wide);
	if (!fgraph_site_find(wide, gops)) {
		/* A new site, so that a reader which sees the user also sees @look_up. */
		new = fgraph_site_insert(wide, gops);
		if (!new)
			return -ENOMEM;
		gops->user.wide = true;
	}
	fgraph_replace_wide(d, new);
	return 0;
}

static void fgraph_remove_wide(struct fgraph_dispatcher *d, struct fgraph_ops *gops)
{
	struct fgraph_site *wide = fgraph_wide_locked(d), *new;

	if (!fgraph_site_find(wide, gops))
		return;
	new = fgraph_site_remove(wide, gops);
	gops->user.wide = false;
	if (fgraph_site_is_empty(new)) {
		if (new != wide)
			kvfree(new);
		new = &fgraph_no_wide;
	}
	fgraph_replace_wide(d, new);
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
	bool wide = all || fgraph_filter_hash(gops)->count > FGRAPH_SITE_FUNCTIONS;
	struct fgraph_dispatcher *d = fgraph_dispatcher_of(gops);
	struct fgraph_site_slot *slot = NULL;
	struct fgraph_site_table *table;
	int ret;

	if (wide)
		ret = fgraph_add_wide(d, gops);
	else
		ret = fgraph_walk_functions(gops, fgraph_add_function_of, gops);
	if (ret)
		return ret;

	table = fgraph_table_locked(d);
	while ((slot = fgraph_next_site(table, slot))) {
		if (!fgraph_wants(gops, slot->ip))
			fgraph_remove_from_site(slot, gops);
		else if (wide)
			ret = ret ?: fgraph_add_to_site(slot->ip, gops);
	}
	if (!ret && !wide)
		fgraph_remove_wide(d, gops);
	return ret;
}

/* Remove a user from the wide users and from all sites. Cannot fail. */
static void fgraph_remove_everywhere(struct fgraph_ops *gops)
{
	struct fgraph_dispatcher *d = fgraph_dispatcher_of(gops);
	struct fgraph_site_table *table = fgraph_table_locked(d);
	struct fgraph_site_slot *slot = NULL;

	fgraph_remove_wide(d, gops);
	while ((slot = fgraph_next_site(table, slot)))
		fgraph_remove_from_site(slot, gops);
}

/* The site of a function, or the wide users. */
static struct fgraph_site *fgraph_find_users_locked(struct fgraph_dispatcher *d, unsigned long ip)
{
	return fgraph_site_of(fgraph_site_slot(fgraph_table_locked(d), ip)) ?:
	       fgraph_wide_locked(d);
}

/**
 * fgraph_next_user() - walk the users that want a function
 * @ip:	the address of the function's call to ftrace
 * @pos:	where the walk is; 0 to begin
 *
 * Context: process, ftrace_lock held.
 *
 * Return: the next user, oldest first among those that need all registers at entry, and among
 * those that do not; NULL at the end.
 */
struct fgraph_ops *fgraph_next_user(unsigned long ip, unsigned int *pos)
{
	struct fgraph_dispatcher *d;
	unsigned int first = 0;

	for (d = fgraph_dispatchers; d; d = fgraph_next_dispatcher(d)) {
		struct fgraph_site *site = fgraph_find_users_locked(d, ip);

		while (*pos < first + site->nr) {
			struct fgraph_ops *gops = site->users[(*pos)++ - first];

			if (gops != &fgraph_nobody && (!site->look_up || fgraph_wants(gops, ip)))
				return gops;
		}
		first += site->nr;
	}
	return NULL;
}

static int fgraph_add_to_hash(unsigned long ip, void *hash)
{
	return ftrace_lookup_ip(hash, ip) ? 0 : fgraph_hash_add(hash, ip);
}

/* Fill @filter with all functions for which ftrace must call the dispatcher. */
static int fgraph_fill_filter(struct fgraph_dispatcher *d, struct ftrace_hash *filter)
{
	struct fgraph_site_table *table = fgraph_table_locked(d);
	struct fgraph_site *wide = fgraph_wide_locked(d);
	struct fgraph_site_slot *slot = NULL;
	unsigned int i;
	int ret = 0;

	while (!ret && (slot = fgraph_next_site(table, slot)))
		ret = fgraph_hash_add(filter, slot->ip);
	for (i = 0; !ret && i < wide->nr; i++) {
		if (wide->users[i] != &fgraph_nobody)
			ret = fgraph_walk_functions(wide->users[i], fgraph_add_to_hash, filter);
	}
	return ret;
}

/* A wide user that wants all functions, or NULL. */
static struct fgraph_ops *fgraph_find_all(struct fgraph_dispatcher *d)
{
	struct fgraph_site *wide = fgraph_wide_locked(d);
	unsigned int i;

	for (i = 0; i < wide->nr; i++) {
		if (wide->users[i] != &fgraph_nobody && fgraph_wants_all(wide->users[i]))
			return wide->users[i];
	}
	return NULL;
}

/* Does no user of this dispatcher want the function? */
static bool fgraph_is_unwanted(struct fgraph_dispatcher *d, unsigned long ip)
{
	struct fgraph_site *wide = fgraph_wide_locked(d);
	unsigned int i;

	if (fgraph_site_of(fgraph_site_slot(fgraph_table_locked(d), ip)))
		return false;
	for (i = 0; i < wide->nr; i++) {
		if (wide->users[i] != &fgraph_nobody && fgraph_wants(wide->users[i], ip))
			return false;
	}
	return true;
}

/* Fill @except with the functions that the user @all does not want, and no other user. */
static int fgraph_fill_notrace(struct fgraph_dispatcher *d, struct ftrace_hash *except,
			       struct fgraph_ops *all)
{
	struct ftrace_hash *hash = fgraph_notrace_hash(all);
	struct ftrace_func_entry *entry;
	unsigned long i;
	int ret;

	if (ftrace_hash_empty(hash))
		return 0;
	for (i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			if (!entry->ip || !fgraph_is_unwanted(d, entry->ip))
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

/*
 * Some architectures call function_graph_enter() from a place of their own, which these
 * commands of ftrace_startup() and ftrace_shutdown() switch on and off.
 */
#define FGRAPH_START	(IS_ENABLED(CONFIG_HAVE_FGRAPH) ? 0 : FTRACE_START_FUNC_RET)
#define FGRAPH_STOP	(IS_ENABLED(CONFIG_HAVE_FGRAPH) ? 0 : FTRACE_STOP_FUNC_RET)

#ifdef CONFIG_FGRAPH_STUBS
/**
 * fgraph_stub_address() - where ftrace sends a function whose only ops is @op
 * @op:		the ops, which has a trampoline
 * @ip:		the address of the function's call to ftrace
 *
 * Context: process, ftrace_lock held.
 *
 * Return: the address of the function's stub, as ftrace_jmp_set() gives it; 0 to call the
 * trampoline of the ops.
 */
unsigned long fgraph_stub_address(const struct ftrace_ops *op, unsigned long ip)
{
	unsigned long stub = op == &fgraph_dispatchers[0].ops ? fgraph_stub_of(ip) : 0;

	return stub ? ftrace_jmp_set(stub) : 0;
}

/* Is ftrace calling the first dispatcher for this function, or does it when it is enabled? */
static bool fgraph_stub_is_fixed(unsigned long ip)
{
	struct ftrace_ops *op = &fgraph_dispatchers[0].ops;

	return op->flags & FTRACE_OPS_FL_ENABLED && ftrace_ops_test(op, ip, op);
}

/*
 * The functions of the first dispatcher change. Choose those that get a stub: if they have a site.
 * ftrace asks fgraph_stub_address() which address is to be found in a function, and turns itself
 * off if it finds another one. So the choice is kept for functions that the ops is on already.
 */
static void fgraph_choose_stubs(struct fgraph_dispatcher *d, bool all)
{
	struct fgraph_site_table *table = fgraph_table_locked(d);
	struct fgraph_site_slot *slot = NULL;

	if (d != fgraph_dispatchers)
		return;
	fgraph_stubs_reset(fgraph_stub_is_fixed);
	/* The ops is about to get functions without a site, too. */
	if (all)
		return;
	while ((slot = fgraph_next_site(table, slot))) {
		if (!fgraph_stub_is_fixed(slot->ip))
			fgraph_stubs_use(slot->ip);
		cond_resched();
	}
}
#endif

/* Make the filters of a dispatcher's ops anew, and register or unregister it with ftrace. */
static int fgraph_update_ops(struct fgraph_dispatcher *d)
{
	struct ftrace_hash *filter, *except;
	struct fgraph_ops *all = fgraph_find_all(d);
	struct ftrace_ops *op = &d->ops;
	int ret = -ENOMEM;

	ftrace_ops_init(op);
	filter = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	except = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	if (!filter || !except)
		goto out;
	if (all)
		ret = fgraph_fill_notrace(d, except, all);
	else
		ret = fgraph_fill_filter(d, filter);
	if (ret)
		goto out;

#ifdef CONFIG_FGRAPH_STUBS
	fgraph_choose_stubs(d, all);
#endif
	if (!all && !filter->count) {
		/* No function is wanted, but an empty filter would mean all of them. */
		if (op->flags & FTRACE_OPS_FL_ENABLED)
			ret = ftrace_shutdown(op, FGRAPH_STOP);
	} else {
		ret = fgraph_set_filters(op, filter, except);
		if (!ret && !(op->flags & FTRACE_OPS_FL_ENABLED))
			ret = ftrace_startup(op, FGRAPH_START);
	}
	d->dirty = ret;
out:
	free_ftrace_hash(except);
	free_ftrace_hash(filter);
	return ret;
}

/* Tell ftrace what has changed. */
static int fgraph_commit(void)
{
	struct fgraph_dispatcher *d;
	int ret = 0;

	if (ftrace_is_dead())
		return -ENODEV;
	for (d = fgraph_dispatchers; d; d = fgraph_next_dispatcher(d)) {
		if (d->dirty)
			ret = fgraph_update_ops(d) ?: ret;
	}
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
	struct fgraph_dispatcher *d;
	struct fgraph_ops *gops;

	lockdep_assert_held(&ftrace_lock);

#ifdef CONFIG_FGRAPH_STUBS
	fgraph_stubs_forget(start, end);
#endif
	for (d = fgraph_dispatchers; d; d = fgraph_next_dispatcher(d)) {
		struct fgraph_site_table *table = fgraph_table_locked(d);
		struct fgraph_site_slot *slot = NULL;

		while ((slot = fgraph_next_site(table, slot))) {
			if (slot->ip >= start && slot->ip < end)
				fgraph_drop_site(d, slot);
		}
		ftrace_ops_init(&d->ops);
		fgraph_forget_in_filter(&d->ops, start, end);
	}
	list_for_each_entry(gops, &fgraph_filter_users, user.list) {
		if (fgraph_filter(gops))
			fgraph_forget_in_filter(fgraph_filter(gops), start, end);
	}
}

/*
 * Add a user that needs ftrace to be enabled: while there is one, kernel.ftrace_enabled cannot
 * be cleared.
 */
static int fgraph_get_enabled(void)
{
	struct fgraph_dispatcher *d;

	if (!ftrace_enabled)
		return -EBUSY;
	fgraph_nr_needing_enabled++;
	for (d = fgraph_dispatchers; d; d = fgraph_next_dispatcher(d))
		d->ops.flags |= FTRACE_OPS_FL_PERMANENT;
	return 0;
}

static void fgraph_put_enabled(void)
{
	struct fgraph_dispatcher *d;

	if (--fgraph_nr_needing_enabled)
		return;
	for (d = fgraph_dispatchers; d; d = fgraph_next_dispatcher(d))
		d->ops.flags &= ~FTRACE_OPS_FL_PERMANENT;
}

static void fgraph_remove_function_locked(struct fgraph_ops *gops)
{
	struct fgraph_site_table *table = fgraph_table_locked(fgraph_dispatcher_of(gops));

	/* If the function's module has gone, so has the site. */
	fgraph_remove_from_site(fgraph_site_slot(table, gops->user.function), gops);
	if (gops->user.needs_enabled)
		fgraph_put_enabled();
}

/**
 * fgraph_add_function() - have ftrace call a user for one function
 * @gops:	the user, after fgraph_user_add(); &fgraph_user.function says which function,
 *		the user's filter is not used
 * @commit:	false if fgraph_commit_functions() is called later, for several users at once
 *
 * Context: process. May sleep.
 *
 * Return: 0, -ENOMEM, or the errors of register_ftrace_function(); -EBUSY if the user is
 * &fgraph_user.needs_enabled and kernel.ftrace_enabled is 0.
 */
int fgraph_add_function(struct fgraph_ops *gops, bool commit)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = gops->user.needs_enabled ? fgraph_get_enabled() : 0;
	if (!ret) {
		ret = fgraph_add_to_site(gops->user.function, gops);
		if (!ret && commit)
			ret = fgraph_commit();
		if (ret) {
			fgraph_remove_function_locked(gops);
			fgraph_commit_removal();
		}
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}

/**
 * fgraph_remove_function() - undo fgraph_add_function()
 * @gops:	the user, after fgraph_add_function()
 * @commit:	false if fgraph_commit_removals() is called later, for several users at once
 *
 * The user's entry callback may still be called until fgraph_synchronize() has returned.
 *
 * Context: process. May sleep.
 */
void fgraph_remove_function(struct fgraph_ops *gops, bool commit)
{
	mutex_lock(&ftrace_lock);
	fgraph_remove_function_locked(gops);
	if (commit)
		fgraph_commit_removal();
	mutex_unlock(&ftrace_lock);
}

/**
 * fgraph_commit_functions() - tell ftrace of users that were added without doing so
 *
 * It takes as long for any number of users as for one: the filter is made anew from all sites,
 * and ftrace looks at each function of the kernel.
 *
 * Context: process. May sleep.
 *
 * Return: 0, or an error as of fgraph_add_function(); then some of the users may not be called.
 */
int fgraph_commit_functions(void)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = fgraph_commit();
	mutex_unlock(&ftrace_lock);
	return ret;
}

/**
 * fgraph_commit_removals() - tell ftrace of users that were removed without doing so
 *
 * Context: process. May sleep.
 */
void fgraph_commit_removals(void)
{
	mutex_lock(&ftrace_lock);
	fgraph_commit_removal();
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
	gops->user.wide = false;
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

#if IS_ENABLED(CONFIG_FGRAPH_KUNIT_TEST)
#include "tests/fgraph_dispatcher_kunit.h"
#endif
