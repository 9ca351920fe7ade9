// SPDX-License-Identifier: GPL-2.0
/*
 * kretprobes that ftrace calls, with no kprobe in between.
 *
 * A kretprobe without entry handler has nothing to do at the entry but to hook
 * the return. Where ftrace has a site in the function, that needs neither a
 * breakpoint nor all registers, nor what kprobes do around a handler. Such
 * kretprobes are in kprobe_table, too, but where get_kprobe() does not look.
 */
#include <linux/fgraph.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "kretprobe.h"

static void kretprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs);

static struct ftrace_ops kretprobe_ops = {
	.func = kretprobe_ftrace_handler,
	/* A breakpoint could not be switched off by ftrace_enabled, either. */
	.flags = FTRACE_OPS_FL_PERMANENT,
};

/* Sites in the filter of kretprobe_ops, which is registered if there are any. */
static int kretprobe_sites;

static struct kretprobe *kretprobe_of(struct kprobe *p)
{
	return container_of(p, struct kretprobe, kp);
}
NOKPROBE_SYMBOL(kretprobe_of);

static unsigned long site_of(struct kprobe *p)
{
	return (unsigned long)kretprobe_of(p)->fgraph.site;
}
NOKPROBE_SYMBOL(site_of);

static struct hlist_head *bucket(unsigned long site)
{
	return &kprobe_table[BIT(KPROBE_HASH_BITS) + hash_long(site, KRETPROBE_HASH_BITS)];
}
NOKPROBE_SYMBOL(bucket);

/* The first kretprobe of a site that is armed; the others follow by fgraph.next. */
static struct kretprobe *first_armed(unsigned long site)
{
	struct kprobe *p;

	hlist_for_each_entry_rcu_notrace(p, bucket(site), hlist) {
		if (site_of(p) != site)
			continue;
		/* Before its tag and what follows it: link_armed() writes it last. */
		if (smp_load_acquire(&kretprobe_of(p)->armed))
			return kretprobe_of(p);
	}
	return NULL;
}
NOKPROBE_SYMBOL(first_armed);

/* Not the usual case: as pre_handler_kretprobe() and the handlers of kprobes do. */
static noinline void kretprobe_ftrace_unusual(struct fgraph_ops *gops, struct pt_regs *regs)
{
	for (; gops; gops = READ_ONCE(gops->next)) {
		struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);

		if (kprobe_running())
			kprobe_reentered(&rp->kp, regs, preempt_count());
		else
			rp->nmissed++;
	}
}
NOKPROBE_SYMBOL(kretprobe_ftrace_unusual);

static void kretprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fgraph_ops *gops;
	struct kretprobe *rp;

	/* Before anything looks at what is this CPU's. */
	if (unlikely(!fgraph_retp_valid(fgraph_retp(&fregs->regs))))
		return;
	/* Whoever unregisters waits for this, whether RCU watches or not. */
	preempt_disable_notrace();
	rp = first_armed(ip);
	if (unlikely(!rp))
		goto out;
	if (unlikely(kprobe_running() || !rcu_is_watching())) {
		kretprobe_ftrace_unusual(&rp->fgraph, &fregs->regs);
		goto out;
	}
	for (gops = &rp->fgraph; gops; gops = READ_ONCE(gops->next)) {
		gops = fgraph_hook_chain(gops, ip, fregs);
		if (likely(!gops))
			break;
		container_of(gops, struct kretprobe, fgraph)->nmissed++;
	}
out:
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kretprobe_ftrace_handler);

/* Under kprobe_mutex, as all that follows. */
bool kretprobe_by_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	unsigned long site;

	if (p->pre_handler != pre_handler_kretprobe || !rp->handler || rp->entry_handler ||
	    !ftrace_enabled)
		return false;
	/* The address is certain only now: modules may have come and gone. */
	site = ftrace_location((unsigned long)p->addr);
	return site && site == site_of(p);
}

/* What register_kprobe() does for others by preparing an instruction. */
struct hlist_head *kretprobe_prepare_ftrace(struct kprobe *p)
{
	p->flags |= KPROBE_FLAG_FTRACE | KPROBE_FLAG_RETURN;
	memset(&p->ainsn, 0, sizeof(p->ainsn));
	kretprobe_of(p)->armed = false;
	kretprobe_of(p)->fgraph.next = NULL;
	return bucket(site_of(p));
}

/* Does not believe what a structure says that is not registered. */
bool kretprobe_on_ftrace(struct kprobe *p)
{
	struct kprobe *other;

	if (!(p->flags & KPROBE_FLAG_RETURN) || p->pre_handler != pre_handler_kretprobe)
		return false;
	hlist_for_each_entry(other, bucket(site_of(p)), hlist) {
		if (other == p)
			return true;
	}
	return false;
}

/* Link an armed kretprobe with those of its site, in the order of the table. */
static void link_armed(struct kretprobe *rp)
{
	struct kretprobe *before = NULL, *after = NULL, *other;
	unsigned long site = site_of(&rp->kp);
	bool seen = false;
	struct kprobe *p;

	hlist_for_each_entry(p, bucket(site), hlist) {
		other = kretprobe_of(p);
		if (other == rp)
			seen = true;
		else if (site_of(p) == site && other->armed && !seen)
			before = other;
		else if (site_of(p) == site && other->armed && !after)
			after = other;
	}
	WRITE_ONCE(rp->fgraph.next, after ? &after->fgraph : NULL);
	if (before) {
		/* Whoever finds it there finds where to go on; the address orders. */
		smp_store_release(&before->fgraph.next, &rp->fgraph);
	}
	/* And whoever finds it in the table: first_armed(). */
	smp_store_release(&rp->armed, true);
}

/* Whoever is there still gets on. */
static void unlink_armed(struct kretprobe *rp)
{
	unsigned long site = site_of(&rp->kp);
	struct kretprobe *other;
	struct kprobe *p;

	WRITE_ONCE(rp->armed, false);
	hlist_for_each_entry(p, bucket(site), hlist) {
		other = kretprobe_of(p);
		if (site_of(p) == site && other->armed && other->fgraph.next == &rp->fgraph)
			WRITE_ONCE(other->fgraph.next, rp->fgraph.next);
	}
}

int kretprobe_arm_ftrace(struct kprobe *p)
{
	unsigned long site = site_of(p);
	int ret;

	if (!first_armed(site)) {
		ret = ftrace_set_filter_ip(&kretprobe_ops, site, 0, 0);
		if (ret)
			return ret;
		if (!kretprobe_sites) {
			ret = register_ftrace_function(&kretprobe_ops);
			if (ret) {
				ftrace_set_filter_ip(&kretprobe_ops, site, 1, 0);
				return ret;
			}
		}
		kretprobe_sites++;
	}
	link_armed(kretprobe_of(p));
	return 0;
}

/*
 * Whatever ftrace says, nobody finds the kretprobe any more: it may go. A site
 * that stays in the filter costs a call that finds nothing there.
 */
void kretprobe_disarm_ftrace(struct kprobe *p)
{
	unsigned long site = site_of(p);
	int ret;

	if (!kretprobe_of(p)->armed)
		return;
	unlink_armed(kretprobe_of(p));
	if (first_armed(site))
		return;

	/* An empty filter would mean all functions. */
	if (kretprobe_sites == 1) {
		ret = unregister_ftrace_function(&kretprobe_ops);
		if (WARN(ret, "kretprobes: cannot unregister from ftrace (error %d)\n", ret))
			return;
	}
	kretprobe_sites--;
	ret = ftrace_set_filter_ip(&kretprobe_ops, site, 1, 0);
	WARN_ONCE(ret, "kretprobes: cannot disarm %pS (error %d)\n", (void *)site, ret);
}
