// SPDX-License-Identifier: GPL-2.0
/*
 * kretprobes that ftrace calls, with no kprobe in between.
 *
 * Where ftrace has a site in the function, hooking the return needs neither a
 * breakpoint nor what kprobes do around a handler; and all registers only if
 * there is an entry handler to see them. Such kretprobes are in kprobe_table,
 * too, but where get_kprobe() does not look.
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

static void kretprobe_ftrace_regs_handler(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs);

static void kretprobe_ftrace_batch(unsigned long ip, unsigned long parent_ip,
				   const struct ftrace_index_entry *first,
				   struct ftrace_regs *fregs);

static void kretprobe_ftrace_regs_batch(unsigned long ip, unsigned long parent_ip,
					const struct ftrace_index_entry *first,
					struct ftrace_regs *fregs);

/**
 * struct kretprobe_caller - how ftrace calls kretprobes
 * @ops:	for all of them. A breakpoint could not be switched off by
 *		ftrace_enabled, either: FTRACE_OPS_FL_PERMANENT
 * @sites:	how many are in the filter of @ops, registered if there are any
 */
struct kretprobe_caller {
	struct ftrace_ops	ops;
	int			sites;
};

/* For those without entry handler, and for those with one. */
static struct kretprobe_caller kretprobe_callers[] = {
	{
		.ops.func = kretprobe_ftrace_handler,
		.ops.batch_func = fgraph_ftrace_batch,
		.ops.batch_first_func = kretprobe_ftrace_batch,
		.ops.flags = FTRACE_OPS_FL_PERMANENT,
	}, {
		.ops.func = kretprobe_ftrace_regs_handler,
		.ops.batch_func = fgraph_ftrace_batch,
		.ops.batch_first_func = kretprobe_ftrace_regs_batch,
		.ops.flags = FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_SAVE_REGS,
	},
};

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

/* Had it an entry handler when it was registered? */
static __always_inline bool has_entry(struct kretprobe *rp)
{
	return rp->fgraph.entryfunc;
}

/* Does this one come by the same site, called in the same way? */
static __always_inline bool called_at(struct kprobe *p, unsigned long site, bool entry)
{
	return site_of(p) == site && has_entry(kretprobe_of(p)) == entry;
}

/* The first kretprobe of a site that is armed; the others follow by fgraph.next. */
static __always_inline struct kretprobe *first_armed(unsigned long site, bool entry)
{
	struct kprobe *p;

	hlist_for_each_entry_rcu_notrace(p, bucket(site), hlist) {
		if (!called_at(p, site, entry))
			continue;
		/* Before its tag and what follows it: link_armed() writes it last. */
		if (smp_load_acquire(&kretprobe_of(p)->armed))
			return kretprobe_of(p);
	}
	return NULL;
}

/* Not the usual case: as pre_handler_kretprobe() and the handlers of kprobes do. */
static noinline void kretprobe_ftrace_unusual(struct fgraph_ops *gops, struct pt_regs *regs)
{
	/* Interrupts put back what they found: no race. */
	bool running = data_race(kprobe_running());

	for (; gops; gops = READ_ONCE(gops->next)) {
		struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);

		if (running)
			kprobe_reentered(&rp->kp, regs, preempt_count());
		else
			rp->nmissed++;
	}
}
NOKPROBE_SYMBOL(kretprobe_ftrace_unusual);

/*
 * @others: if not NULL, users of fgraph who are called here as well, after these;
 * then preemption is disabled.
 */
static __always_inline void kretprobe_hook(unsigned long ip, unsigned long parent_ip,
					   const struct ftrace_index_entry *others,
					   struct ftrace_regs *fregs, bool entry)
{
	struct kretprobe *rp;

	/* Before anything looks at what is this CPU's. */
	if (unlikely(!fgraph_retp_valid(fgraph_retp(&fregs->regs))))
		return;
	/* Whoever unregisters waits for this, whether RCU watches or not. */
	if (!others)
		preempt_disable_notrace();
	rp = first_armed(ip, entry);
	if (unlikely(!rp))
		goto others;
	/* Interrupts put back what they found: no race. */
	if (unlikely(data_race(kprobe_running()) || !fgraph_rcu_is_watching())) {
		kretprobe_ftrace_unusual(&rp->fgraph, &fregs->regs);
		goto others;
	}
	if (others)
		fgraph_chain_batch(&rp->fgraph, ip, parent_ip, others, fregs);
	else
		fgraph_hook_chain(&rp->fgraph, ip, fregs);
	goto out;
others:
	if (others)
		fgraph_ftrace_batch(ip, parent_ip, others, fregs);
out:
	if (!others)
		preempt_enable_notrace();
}

static void kretprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	kretprobe_hook(ip, parent_ip, NULL, fregs, false);
}
NOKPROBE_SYMBOL(kretprobe_ftrace_handler);

static void kretprobe_ftrace_regs_handler(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	/* Not if the call was on its way here when the first one was registered. */
	if (likely(ftrace_regs_saved(fregs)))
		kretprobe_hook(ip, parent_ip, NULL, fregs, true);
}
NOKPROBE_SYMBOL(kretprobe_ftrace_regs_handler);

static void kretprobe_ftrace_batch(unsigned long ip, unsigned long parent_ip,
				   const struct ftrace_index_entry *first,
				   struct ftrace_regs *fregs)
{
	kretprobe_hook(ip, parent_ip, first + 1, fregs, false);
}
NOKPROBE_SYMBOL(kretprobe_ftrace_batch);

static void kretprobe_ftrace_regs_batch(unsigned long ip, unsigned long parent_ip,
					const struct ftrace_index_entry *first,
					struct ftrace_regs *fregs)
{
	if (likely(ftrace_regs_saved(fregs)))
		kretprobe_hook(ip, parent_ip, first + 1, fregs, true);
	else
		fgraph_ftrace_batch(ip, parent_ip, first + 1, fregs);
}
NOKPROBE_SYMBOL(kretprobe_ftrace_regs_batch);

/* An entry handler finds what it would after a breakpoint. */
static __no_kcsan int kretprobe_ftrace_entry(struct fgraph_ops *gops,
					     const struct fgraph_frame *frame,
					     void *data, struct ftrace_regs *fregs)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);
	unsigned long ip = instruction_pointer(&fregs->regs);
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	int ret;

	/* No kprobe was running: kretprobe_hook(). Those it hits are skipped. */
	kcb->kprobe_status = KPROBE_HIT_ACTIVE;
	barrier();
	__this_cpu_write(current_kprobe, &rp->kp);
	instruction_pointer_set(&fregs->regs, (unsigned long)rp->kp.addr + KPROBE_IP_OFFSET);
	ret = kretprobe_entry(gops, frame, data, fregs);
	instruction_pointer_set(&fregs->regs, ip);
	__this_cpu_write(current_kprobe, NULL);
	return ret;
}
NOKPROBE_SYMBOL(kretprobe_ftrace_entry);

/* Under kprobe_mutex, as all that follows. */
bool kretprobe_by_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	unsigned long site;

	if (p->pre_handler != pre_handler_kretprobe || !rp->handler || !ftrace_enabled)
		return false;
	if (has_entry(rp) && !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		return false;
	/* The address is certain only now: modules may have come and gone. */
	site = ftrace_location((unsigned long)p->addr);
	return site && site == site_of(p);
}

/* What register_kprobe() does for others by preparing an instruction. */
struct hlist_head *kretprobe_prepare_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);

	p->flags |= KPROBE_FLAG_FTRACE | KPROBE_FLAG_RETURN;
	memset(&p->ainsn, 0, sizeof(p->ainsn));
	rp->armed = false;
	rp->fgraph.next = NULL;
	/* Nobody calls it yet. */
	if (has_entry(rp))
		rp->fgraph.entryfunc = kretprobe_ftrace_entry;
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
		else if (!called_at(p, site, has_entry(rp)) || !other->armed)
			continue;
		else if (!seen)
			before = other;
		else if (!after)
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

static struct kretprobe_caller *caller_of(struct kretprobe *rp)
{
	return &kretprobe_callers[has_entry(rp)];
}

int kretprobe_arm_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	struct kretprobe_caller *caller = caller_of(rp);
	unsigned long site = site_of(p);
	int ret;

	if (!first_armed(site, has_entry(rp))) {
		ret = ftrace_set_filter_ip(&caller->ops, site, 0, 0);
		if (ret)
			return ret;
		if (!caller->sites) {
			ret = register_ftrace_function(&caller->ops);
			if (ret) {
				ftrace_set_filter_ip(&caller->ops, site, 1, 0);
				return ret;
			}
		}
		caller->sites++;
	}
	link_armed(rp);
	return 0;
}

/*
 * Whatever ftrace says, nobody finds the kretprobe any more: it may go. A site
 * that stays in the filter costs a call that finds nothing there.
 */
void kretprobe_disarm_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	struct kretprobe_caller *caller = caller_of(rp);
	unsigned long site = site_of(p);
	int ret;

	if (!rp->armed)
		return;
	unlink_armed(rp);
	if (first_armed(site, has_entry(rp)))
		return;

	/* An empty filter would mean all functions. */
	if (caller->sites == 1) {
		ret = unregister_ftrace_function(&caller->ops);
		if (WARN(ret, "kretprobes: cannot unregister from ftrace (error %d)\n", ret))
			return;
	}
	caller->sites--;
	ret = ftrace_set_filter_ip(&caller->ops, site, 1, 0);
	WARN_ONCE(ret, "kretprobes: cannot disarm %pS (error %d)\n", (void *)site, ret);
}
