/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included at the end of fgraph_ftrace.c: checks that the dispatchers are as the comment there
 * says. Called with ftrace_lock held.
 */

/* The ops of the users that need all registers at entry (@regs), or of the others. */
struct ftrace_ops *fgraph_dispatcher_ops(bool regs)
{
	return &fgraph_dispatchers[regs && ARRAY_SIZE(fgraph_dispatchers) > 1].ops;
}

/* Do the members of a site agree with its users, and are these sorted by age? */
static bool fgraph_site_is_well(const struct fgraph_site *site)
{
	const struct fgraph_ops *only = NULL;
	unsigned long generation = 0;
	unsigned int i, holes = 0;
	bool simple = true;

	for (i = 0; i < site->nr; i++) {
		const struct fgraph_ops *gops = site->users[i];

		if (gops == &fgraph_nobody) {
			holes++;
			continue;
		}
		if (gops->user.tag >> FGRAPH_ID_BITS <= generation)
			return false;
		generation = gops->user.tag >> FGRAPH_ID_BITS;
		simple &= fgraph_is_simple(gops);
	}
	if (site->nr == 1 && site->simple && !site->look_up)
		only = site->users[0];
	return site->nr <= site->room && holes == site->holes && (simple || !site->simple) &&
	       site->only == only;
}

/* Has the site of a function all users of the list that want it, and no user of another kind? */
static bool fgraph_site_is_complete(struct fgraph_dispatcher *d, unsigned long ip,
				    struct fgraph_site *site)
{
	struct fgraph_site *wide = fgraph_wide_locked(d);
	unsigned int i;

	if (fgraph_site_is_empty(site) || site->look_up)
		return false;
	for (i = 0; i < site->nr; i++) {
		if (site->users[i] != &fgraph_nobody && fgraph_dispatcher_of(site->users[i]) != d)
			return false;
	}
	for (i = 0; i < wide->nr; i++) {
		if (wide->users[i] != &fgraph_nobody && fgraph_wants(wide->users[i], ip) &&
		    !fgraph_site_find(site, wide->users[i]))
			return false;
	}
	return true;
}

static bool fgraph_table_is_well(struct fgraph_dispatcher *d)
{
	struct fgraph_site_table *table = fgraph_table_locked(d);
	unsigned int i, used = 0, sites = 0;

	if (table == &fgraph_no_sites)
		return true;
	for (i = 0; i < fgraph_nr_slots(table); i++) {
		struct fgraph_site_slot *slot = &table->slots[i];
		struct fgraph_site *site = fgraph_site_of(slot);

		used += !!slot->ip;
		sites += !!site;
		if (site && (!fgraph_site_is_well(site) ||
			     !fgraph_site_is_complete(d, slot->ip, site) ||
			     fgraph_site_slot(table, slot->ip) != slot))
			return false;
	}
	return used == table->used && sites == table->sites && sites &&
	       used * 2 <= fgraph_nr_slots(table);
}

static int fgraph_has_site(unsigned long ip, void *user)
{
	struct fgraph_ops *gops = user;
	struct fgraph_site_table *table = fgraph_table_locked(fgraph_dispatcher_of(gops));
	struct fgraph_site *site = fgraph_site_of(fgraph_site_slot(table, ip));

	return site && fgraph_site_find(site, gops) ? 0 : -ENOENT;
}

/* Is each user of a filter among the wide users, or in the site of each of its functions? */
static bool fgraph_users_are_found(void)
{
	struct fgraph_ops *gops;

	list_for_each_entry(gops, &fgraph_filter_users, user.list) {
		struct fgraph_site *wide = fgraph_wide_locked(fgraph_dispatcher_of(gops));

		if (gops->user.wide != !!fgraph_site_find(wide, gops))
			return false;
		if (!gops->user.wide && fgraph_walk_functions(gops, fgraph_has_site, gops))
			return false;
	}
	return true;
}

/* Returns what is wrong, or NULL. */
const char *fgraph_check_dispatchers(void)
{
	struct fgraph_dispatcher *d;

	lockdep_assert_held(&ftrace_lock);

	for (d = fgraph_dispatchers; d; d = fgraph_next_dispatcher(d)) {
		struct fgraph_site *wide = fgraph_wide_locked(d);
		bool wanted = !fgraph_site_is_empty(wide) || fgraph_table_locked(d)->sites;

		if (!fgraph_table_is_well(d))
			return "sites";
		if (!fgraph_site_is_well(wide) || wide->look_up != fgraph_must_look_up(wide))
			return "wide users";
		if (d->dirty || wanted != !!(d->ops.flags & FTRACE_OPS_FL_ENABLED))
			return "ops";
	}
	return fgraph_users_are_found() ? NULL : "users of a filter";
}
