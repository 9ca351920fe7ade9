// SPDX-License-Identifier: GPL-2.0
/*
 * kretprobes as users of fgraph.
 *
 * The instance lives in the frame of the call: there is nothing to allocate
 * beforehand, and nothing to run out of.
 *
 * Where ftrace has a site in the function, ftrace calls: that needs neither a
 * breakpoint nor what kprobes do around a handler; and all registers only if there
 * is an entry handler to see them. Elsewhere a kprobe at the function's entry
 * hooks its return.
 */
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "kretprobe.h"
#include "trace/fgraph_ftrace.h"
#include "trace/fgraph_internal.h"

#ifndef kprobe_handler_count
#define kprobe_handler_count()	0
#endif

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
 * Probes that the handler hits are skipped, and BPF asks which one runs. While
 * there is a current kprobe, its status must be valid.
 */
static __always_inline void kretprobe_call(struct kretprobe *rp, struct kretprobe_instance *ri,
					   const struct fgraph_frame *frame,
					   struct fgraph_regs *regs)
{
	ri->rp = rp;
	ri->ret_addr = (kprobe_opcode_t *)frame->ret;
	__this_cpu_write(kprobe_ctlblk.kprobe_status, KPROBE_HIT_ACTIVE);
	barrier();
	__this_cpu_write(current_kprobe, &rp->kp);
	rp->handler(ri, fgraph_get_regs(regs));
}

/* The handler of a probe has called the function, or was interrupted by what has. */
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

static __no_kcsan void kretprobe_return(struct fgraph_ops *gops,
					const struct fgraph_frame *frame,
					void *data, struct fgraph_regs *regs)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);

	/* An interrupt puts back what it found: no race. */
	if (unlikely(data_race(kprobe_running()))) {
		kretprobe_return_within(rp, data, frame, regs);
		return;
	}
	/* The status may stay: nothing is stepped where there is no current kprobe. */
	kretprobe_call(rp, data, frame, regs);
	__this_cpu_write(current_kprobe, NULL);
}
NOKPROBE_SYMBOL(kretprobe_return);

static void kretprobe_note_miss(struct fgraph_ops *gops)
{
	container_of(gops, struct kretprobe, fgraph)->nmissed++;
}
NOKPROBE_SYMBOL(kretprobe_note_miss);

/* The pre_handler of each kretprobe: the function has done nothing yet. */
int pre_handler_kretprobe(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);

	/*
	 * Handlers, perf and BPF first of all, may rely on RCU. A breakpoint has
	 * made it watch, and then this cannot tell about the return.
	 */
	if (likely(fgraph_rcu_is_watching()))
		fgraph_hook(&rp->fgraph, rp->fgraph.user.function, regs);
	else
		fgraph_miss(&rp->fgraph, FGRAPH_MISS_NESTED);
	return 0;
}
NOKPROBE_SYMBOL(pre_handler_kretprobe);

/*
 * The function is called where the handlers of another probe run; @count is
 * preempt_count() there. An interrupt of them has its return hooked all the same;
 * what handlers call has not, or they might never come to an end.
 */
static bool kretprobe_may_reenter(struct kretprobe *rp, int count)
{
	return !rp->entry_handler && (count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) &&
	       !fgraph_in_callback(count);
}
NOKPROBE_SYMBOL(kretprobe_may_reenter);

/* Hooks the return where a breakpoint is hit in the handlers of another one, if it may. */
bool kretprobe_reentered(struct kprobe *p, struct pt_regs *regs, int count)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);

	if (p->pre_handler != pre_handler_kretprobe || kprobe_disabled(p) ||
	    !kretprobe_may_reenter(rp, count - kprobe_handler_count()))
		return false;
	pre_handler_kretprobe(p, regs);
	return true;
}
NOKPROBE_SYMBOL(kretprobe_reentered);

/* As the two above, where ftrace calls. */
static bool kretprobe_admit(struct fgraph_ops *gops)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);

	/* An interrupt puts back what it found: no race. */
	bool running = data_race(kprobe_running());

	if (fgraph_rcu_is_watching() &&
	    (!running || kretprobe_may_reenter(rp, preempt_count() - kprobe_handler_count())))
		return true;
	fgraph_miss(gops, FGRAPH_MISS_NESTED);
	return false;
}
NOKPROBE_SYMBOL(kretprobe_admit);

/* Before the kprobe of @rp, at @addr, is registered. */
int kretprobe_add(struct kretprobe *rp, void *addr)
{
	/* Users who come by way of ftrace join if they name the same function. */
	unsigned long site = ftrace_location((unsigned long)addr);

	rp->fgraph = (struct fgraph_ops) {
		.entryfunc = rp->handler && !rp->entry_handler ? NULL : kretprobe_entry,
		.retfunc = rp->handler ? kretprobe_return : NULL,
		.data_size = sizeof(struct kretprobe_instance) + rp->data_size,
		.flags = FGRAPH_FULL_REGS,
		.user = {
			.kind = "kretprobe",
			.function = site ?: (unsigned long)addr,
			.admit = kretprobe_admit,
			.note_miss = kretprobe_note_miss,
			/* A breakpoint could not be switched off by ftrace_enabled, either. */
			.permanent = true,
			/* A call to ftrace is not at the head of a loop, a breakpoint may be. */
			.once = !site,
		},
	};
	return fgraph_user_add(&rp->fgraph);
}

/* fgraph_synchronize() must follow. */
void kretprobe_retire(struct kretprobe *rp)
{
	fgraph_user_retire(&rp->fgraph);
}

/* After that: the kretprobe may be freed. */
void kretprobe_remove(struct kretprobe *rp)
{
	fgraph_user_remove(&rp->fgraph);
}

#ifdef CONFIG_FGRAPH_FTRACE
/* How far behind a probe's address its handlers find the instruction pointer. */
#ifndef KPROBE_IP_OFFSET
#define KPROBE_IP_OFFSET	0
#endif

static struct kretprobe *kretprobe_of(struct kprobe *p)
{
	return container_of(p, struct kretprobe, kp);
}

/* An entry handler finds what it would after a breakpoint. */
static __no_kcsan int kretprobe_ftrace_entry(struct fgraph_ops *gops,
					     const struct fgraph_frame *frame,
					     void *data, struct ftrace_regs *fregs)
{
	struct kretprobe *rp = container_of(gops, struct kretprobe, fgraph);
	unsigned long ip = instruction_pointer(&fregs->regs);
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	int ret;

	/* The call was on its way when the kretprobe was registered. */
	if (!ftrace_regs_saved(fregs))
		return 0;
	/* No kprobe is running: kretprobe_admit(). Those that the handler hits are skipped. */
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

/*
 * Kprobes that ftrace calls are in the second half of kprobe_table, where
 * get_kprobe() does not look: there may be breakpoints at the same address.
 */
static struct hlist_head *bucket(struct kprobe *p)
{
	return &kprobe_table[BIT(KPROBE_HASH_BITS) + hash_ptr(p->addr, KPROBE_HASH_BITS)];
}

/* Under kprobe_mutex, as all that follows. */
bool kretprobe_by_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	unsigned long site;

	if (p->pre_handler != pre_handler_kretprobe || !rp->handler || !ftrace_enabled)
		return false;
	if (rp->entry_handler && !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		return false;
	/* The address is certain only now: modules may have come and gone. */
	site = ftrace_location((unsigned long)p->addr);
	return site && site == rp->fgraph.user.function;
}

/* What register_kprobe() does for others by preparing an instruction. */
struct hlist_head *kretprobe_prepare_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);

	p->flags |= KPROBE_FLAG_FTRACE | KPROBE_FLAG_RETURN;
	memset(&p->ainsn, 0, sizeof(p->ainsn));
	rp->armed = false;
	/* Nobody calls it yet. */
	if (rp->entry_handler) {
		rp->fgraph.entryfunc = kretprobe_ftrace_entry;
		rp->fgraph.flags |= FGRAPH_ENTRY_REGS;
	}
	return bucket(p);
}

/* Does not believe what a structure says that is not registered. */
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

int kretprobe_arm_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);
	int ret;

	ret = fgraph_add_function(&rp->fgraph);
	rp->armed = !ret;
	return ret;
}

/* Whatever ftrace says, nobody finds the kretprobe any more: it may go. */
void kretprobe_disarm_ftrace(struct kprobe *p)
{
	struct kretprobe *rp = kretprobe_of(p);

	if (rp->armed)
		fgraph_remove_function(&rp->fgraph);
	rp->armed = false;
}
#endif /* CONFIG_FGRAPH_FTRACE */
