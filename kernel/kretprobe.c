// SPDX-License-Identifier: GPL-2.0
/*
 * kretprobes as users of fgraph.
 *
 * The kprobe at a function's entry hooks its return, for the kretprobe it
 * belongs to. The instance lives in the frame of the call: there is nothing to
 * allocate beforehand, and nothing to run out of.
 */
#include <linux/fgraph.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "kretprobe.h"

#ifndef kprobe_handler_count
#define kprobe_handler_count()	0
#endif

int kretprobe_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
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

static void kretprobe_miss(struct fgraph_ops *gops)
{
	container_of(gops, struct kretprobe, fgraph)->nmissed++;
}
NOKPROBE_SYMBOL(kretprobe_miss);

/* The pre_handler of each kretprobe: the function has done nothing yet. */
int pre_handler_kretprobe(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);

	/*
	 * Handlers, perf and BPF first of all, may rely on RCU. A breakpoint has
	 * made it watch, and then this cannot tell about the return.
	 */
	if (likely(fgraph_rcu_is_watching()))
		fgraph_hook(&rp->fgraph, (unsigned long)rp->fgraph.site, regs);
	else
		rp->nmissed++;
	return 0;
}
NOKPROBE_SYMBOL(pre_handler_kretprobe);

/*
 * The function is called where the handlers of another probe run. An interrupt
 * of them has its return hooked all the same; what handlers call has not, or
 * they might never come to an end.
 */
bool kretprobe_reentered(struct kprobe *p, struct pt_regs *regs, int count)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);

	count -= kprobe_handler_count();
	if (p->pre_handler != pre_handler_kretprobe || kprobe_disabled(p) ||
	    rp->entry_handler || !(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) ||
	    fgraph_in_callback(count))
		return false;
	pre_handler_kretprobe(p, regs);
	return true;
}
NOKPROBE_SYMBOL(kretprobe_reentered);

/* Before the kprobe of @rp, at @addr, is registered. */
int kretprobe_add(struct kretprobe *rp, void *addr)
{
	/* Users who come by way of ftrace join if they name the same function. */
	unsigned long site = ftrace_location((unsigned long)addr);

	rp->fgraph.entryfunc = rp->handler && !rp->entry_handler ? NULL : kretprobe_entry;
	rp->fgraph.retfunc = rp->handler ? kretprobe_return : NULL;
	rp->fgraph.missfunc = kretprobe_miss;
	rp->fgraph.data_size = sizeof(struct kretprobe_instance) + rp->data_size;
	rp->fgraph.flags = FGRAPH_FULL_REGS;
	rp->fgraph.kind = "kretprobe";
	rp->fgraph.site = site ? (void *)site : addr;

	return fgraph_add_user(&rp->fgraph);
}

/* fgraph_synchronize() must follow. */
void kretprobe_retire(struct kretprobe *rp)
{
	fgraph_retire_user(&rp->fgraph);
}

/* After that: the kretprobe may be freed. */
void kretprobe_remove(struct kretprobe *rp)
{
	fgraph_remove_user(&rp->fgraph);
}
