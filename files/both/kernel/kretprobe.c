// SPDX-License-Identifier: GPL-2.0
/*
 * kretprobes as users of fgraph.
 *
 * The struct kretprobe_instance is private data in the frame of the call, so no pool of them
 * has to be allocated that could run out.
 *
 * If ftrace can call the function, the kretprobe is called by ftrace. That is faster than a
 * breakpoint and a kprobe's handler, and saves all registers only if there is an entry
 * handler that may read them. Elsewhere the pre_handler of a kprobe at the function's entry
 * hooks the return.
 */
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "kretprobe.h"
#include "trace/fgraph_ftrace.h"
#include "trace/fgraph_internal.h"

/* The entry callback where the pre_handler of a kprobe hooks the call. */
static int kretprobe_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			   void *data, struct ftrace_regs *fregs)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);
	struct kretprobe_instance *ri = data;

	ri->rp = rp;
	ri->ret_addr = (kprobe_opcode_t *)frame->ret;

	return !rp->entry_handler || !rp->entry_handler(ri, (struct pt_regs *)fregs);
}
NOKPROBE_SYMBOL(kretprobe_entry);

/*
 * Make the kretprobe the current_kprobe before a handler of it is called: probes that the handler
 * hits are skipped, and BPF asks which probe runs. The status is set first, as an interrupt that
 * sees current_kprobe uses it.
 */
static __always_inline void kretprobe_set_current(struct kretprobe *rp)
{
	__this_cpu_write(kprobe_ctlblk.kprobe_status, KPROBE_HIT_ACTIVE);
	barrier();
	__this_cpu_write(current_kprobe, &rp->kp);
}

static __always_inline void kretprobe_call(struct kretprobe *rp, struct kretprobe_instance *ri,
					   const struct fgraph_frame *frame,
					   struct fgraph_regs *regs)
{
	ri->rp = rp;
	ri->ret_addr = (kprobe_opcode_t *)frame->ret;
	kretprobe_set_current(rp);
	rp->handler(ri, fgraph_get_regs(regs));
}

/*
 * A call returns while a kprobe is current that was not current at the entry: the function made it
 * so, as kprobe_busy_begin() does. Restore the current_kprobe afterwards.
 */
static noinline __no_kcsan void kretprobe_return_within(struct kretprobe *rp,
							struct kretprobe_instance *ri,
							const struct fgraph_frame *frame,
							struct fgraph_regs *regs)
{
	unsigned long status = __this_cpu_read(kprobe_ctlblk.kprobe_status);
	struct kprobe *running = kprobe_running();

	kretprobe_call(rp, ri, frame, regs);
	__this_cpu_write(current_kprobe, running);
	barrier();
	__this_cpu_write(kprobe_ctlblk.kprobe_status, status);
}
NOKPROBE_SYMBOL(kretprobe_return_within);

/*
 * The return callback. Handlers may rely on RCU, which may have watched at the entry without
 * watching now: a function may leave it, or a breakpoint at the entry made it watch.
 */
static __no_kcsan void kretprobe_return(struct fgraph_ops *gops,
					const struct fgraph_frame *frame,
					void *data, struct fgraph_regs *regs)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);

	if (unlikely(!fgraph_rcu_is_watching())) {
		fgraph_miss(gops, FGRAPH_MISS_NESTED);
		return;
	}
	/* data_race(): a kprobe in an interrupt restores the value before it returns. */
	if (unlikely(data_race(kprobe_running()))) {
		kretprobe_return_within(rp, data, frame, regs);
		return;
	}
	/* The status need not be restored: it has no meaning without a current_kprobe. */
	kretprobe_call(rp, data, frame, regs);
	__this_cpu_write(current_kprobe, NULL);
}
NOKPROBE_SYMBOL(kretprobe_return);

static void kretprobe_note_miss(struct fgraph_ops *gops)
{
	container_of(gops, struct kretprobe, fgraph)->nmissed++;
}
NOKPROBE_SYMBOL(kretprobe_note_miss);

/* The pre_handler of each kretprobe. It runs before the function has changed its stack. */
int pre_handler_kretprobe(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);

	/*
	 * Handlers, above all those of perf and BPF, may rely on RCU. A breakpoint makes RCU
	 * watch, so this only finds functions that a kprobe reaches by other means where RCU
	 * does not watch.
	 */
	if (likely(fgraph_rcu_is_watching()))
		fgraph_hook(&rp->fgraph, rp->fgraph.user.function, regs);
	else
		fgraph_miss(&rp->fgraph, FGRAPH_MISS_NESTED);
	return 0;
}
NOKPROBE_SYMBOL(pre_handler_kretprobe);

/*
 * May the kretprobe be called where ftrace has called? Counts a miss if RCU does not watch, as in
 * pre_handler_kretprobe(), and while a handler of any kprobe runs on this CPU. Calls that it makes,
 * or an interrupt of it, would call handlers within handlers, which kprobes never do.
 */
static bool kretprobe_admit(struct fgraph_ops *gops)
{
	/* data_race(): a kprobe in an interrupt restores the value before it returns. */
	if (fgraph_rcu_is_watching() && !data_race(kprobe_running()))
		return true;
	fgraph_miss(gops, FGRAPH_MISS_NESTED);
	return false;
}
NOKPROBE_SYMBOL(kretprobe_admit);

/*
 * Make a kretprobe a user of fgraph, before its kprobe at @addr is registered. Returns 0 or
 * an error of fgraph_user_add().
 */
int kretprobe_add(struct kretprobe *rp, void *addr)
{
	/* Users that ftrace calls name a function by this address, so they join the frame. */
	unsigned long site = ftrace_location((unsigned long)addr);

	rp->fgraph = (struct fgraph_ops) {
		/* kretprobe_prepare_ftrace() changes the entry callback. */
		.entryfunc = rp->handler && !rp->entry_handler ? NULL : kretprobe_entry,
		.retfunc = rp->handler ? kretprobe_return : NULL,
		.data_size = sizeof(struct kretprobe_instance) + rp->data_size,
		.name = rp->name,
		.flags = FGRAPH_FULL_REGS,
		.user = {
			.kind = "kretprobe",
			.function = site ?: (unsigned long)addr,
			.admit = kretprobe_admit,
			.note_miss = kretprobe_note_miss,
			/* kernel.ftrace_enabled=0 must not disable it, as it leaves breakpoints. */
			.needs_enabled = true,
			/*
			 * A breakpoint may be at the head of a loop, but not where the call to
			 * ftrace is, even if the breakpoint is what calls the kretprobe there.
			 */
			.once = !site,
		},
	};
	return fgraph_user_add(&rp->fgraph);
}

/* First step of unregistering: return handlers are no longer called for further returns. */
void kretprobe_retire(struct kretprobe *rp)
{
	fgraph_user_retire(&rp->fgraph);
}

/* Last step of unregistering, after fgraph_synchronize(): then @rp may be freed. */
void kretprobe_remove(struct kretprobe *rp)
{
	fgraph_user_remove(&rp->fgraph);
}

#if defined(CONFIG_FGRAPH_FTRACE) && defined(CONFIG_HAVE_FGRAPH)
/* The instruction pointer that a kprobe's handler sees, less the probe's address; in bytes. */
#ifndef KPROBE_IP_OFFSET
#define KPROBE_IP_OFFSET	0
#endif

static struct kretprobe *kretprobe_of(struct kprobe *p)
{
	return container_of(p, struct kretprobe, kp);
}

/*
 * The entry callback of a kretprobe with an entry handler, where ftrace calls. The handler
 * sees the instruction pointer and the current_kprobe that it would see after a breakpoint.
 */
static __no_kcsan int kretprobe_ftrace_entry(struct fgraph_ops *gops,
					     const struct fgraph_frame *frame,
					     void *data, struct ftrace_regs *fregs)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);
	struct pt_regs *regs = fgraph_entry_regs(fregs);
	unsigned long ip = instruction_pointer(regs);
	int ret;

	/* ftrace may call without all registers for a moment after registration. */
	if (!rp->entry_args_only && !ftrace_regs_saved(fregs))
		return 0;
	/* kretprobe_admit() refuses calls while a kprobe runs: there is none to restore. */
	kretprobe_set_current(rp);
	instruction_pointer_set(regs, (unsigned long)rp->kp.addr + KPROBE_IP_OFFSET);
	ret = kretprobe_entry(gops, frame, data, fregs);
	instruction_pointer_set(regs, ip);
	__this_cpu_write(current_kprobe, NULL);
	return ret;
}
NOKPROBE_SYMBOL(kretprobe_ftrace_entry);

/*
 * The bucket of a kretprobe that ftrace calls. These are in the second half of kprobe_table,
 * where get_kprobe() does not look, as there may also be a breakpoint at the same address.
 */
static struct hlist_head *bucket(struct kprobe *p)
{
	return &kprobe_table[BIT(KPROBE_HASH_BITS) + hash_ptr(p->addr, KPROBE_HASH_BITS)];
}

/* Can ftrace call this kretprobe? Like the functions below, called with kprobe_mutex held. */
bool kretprobe_by_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	unsigned long site;

	if (p->pre_handler != pre_handler_kretprobe || !rp->handler || !ftrace_enabled)
		return false;
	if (rp->entry_handler && !rp->entry_args_only &&
	    !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		return false;
	/* Look again: a module may have gone and another come since kretprobe_add(). */
	site = ftrace_location((unsigned long)p->addr);
	return site && site == rp->fgraph.user.function;
}

/*
 * Prepare a kretprobe that ftrace calls, instead of copying an instruction. Returns its
 * bucket in kprobe_table.
 */
struct hlist_head *kretprobe_prepare_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);

	p->flags |= KPROBE_FLAG_FTRACE | KPROBE_FLAG_RETURN;
	memset(&p->ainsn, 0, sizeof(p->ainsn));
	rp->armed = false;
	/* The kretprobe is not armed yet, so its callbacks can still be changed. */
	rp->fgraph.entryfunc = rp->entry_handler ? kretprobe_ftrace_entry : NULL;
	rp->fgraph.retfunc = kretprobe_return;
	if (rp->entry_handler && !rp->entry_args_only)
		rp->fgraph.flags |= FGRAPH_ENTRY_REGS;
	return bucket(p);
}

/*
 * Is this a registered kretprobe that ftrace calls? @p->flags alone does not tell, as @p may
 * never have been registered.
 */
bool kretprobe_on_ftrace(struct kprobe *p)
{
	struct kprobe *other;

	if (!(p->flags & KPROBE_FLAG_RETURN) || p->pre_handler != pre_handler_kretprobe)
		return false;
	hlist_for_each_entry(other, bucket(p), hlist) {
		if (other == p)
			return true;
	}
	return false;
}

/* Have ftrace call the kretprobe. Returns 0 or an error of fgraph_add_function(). */
int kretprobe_arm_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	int ret;

	ret = fgraph_add_function(&rp->fgraph, !rp->commit_later);
	rp->armed = !ret;
	return ret;
}

/* Undo kretprobe_arm_ftrace(). Cannot fail: see fgraph_commit_removal(). */
void kretprobe_disarm_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);

	if (rp->armed)
		fgraph_remove_function(&rp->fgraph, !rp->commit_later);
	rp->armed = false;
}

/*
 * While @later is set, arming and disarming the kretprobe does not tell ftrace. The caller does so
 * for several of them, by fgraph_commit_functions() or fgraph_commit_removals().
 */
void kretprobe_commit_later(struct kretprobe *rp, bool later)
{
	rp->commit_later = later;
}
#endif /* CONFIG_FGRAPH_FTRACE && CONFIG_HAVE_FGRAPH */
