/* SPDX-License-Identifier: GPL-2.0 */
/* Between kprobes.c, which registers probes, and kretprobe.c. */
#ifndef _KERNEL_KRETPROBE_H
#define _KERNEL_KRETPROBE_H

struct kprobe;
struct kretprobe;
struct pt_regs;

#ifdef CONFIG_KRETPROBE_ON_FGRAPH
int pre_handler_kretprobe(struct kprobe *p, struct pt_regs *regs);
int kretprobe_add(struct kretprobe *rp, void *addr);
void kretprobe_retire(struct kretprobe *rp);
void kretprobe_remove(struct kretprobe *rp);
bool kretprobe_reentered(struct kprobe *p, struct pt_regs *regs, int count);
#else
static inline bool kretprobe_reentered(struct kprobe *p, struct pt_regs *regs, int count)
{
	return false;
}
#endif

#endif /* _KERNEL_KRETPROBE_H */
