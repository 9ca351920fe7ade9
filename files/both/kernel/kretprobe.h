/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between kprobes.c, which registers probes, and kretprobe.c. */
#ifndef _KERNEL_KRETPROBE_H
#define _KERNEL_KRETPROBE_H

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/types.h>

struct kprobe;
struct kretprobe;
struct pt_regs;

/* The number of bits of an address's hash, which finds the kprobes of the address. */
#define KPROBE_HASH_BITS	6

#if defined(CONFIG_KRETPROBE_ON_FGRAPH) && defined(CONFIG_FGRAPH_FTRACE) && \
	defined(CONFIG_HAVE_FGRAPH)
/* The second half of kprobe_table has the kretprobes that ftrace calls. */
#define KPROBE_TABLE_SIZE	(2 * BIT(KPROBE_HASH_BITS))

bool kretprobe_by_ftrace(struct kprobe *p);
struct hlist_head *kretprobe_prepare_ftrace(struct kprobe *p);
bool kretprobe_on_ftrace(struct kprobe *p);
int kretprobe_arm_ftrace(struct kprobe *p);
void kretprobe_disarm_ftrace(struct kprobe *p);
void kretprobe_commit_later(struct kretprobe *rp, bool later);
#else
#define KPROBE_TABLE_SIZE	BIT(KPROBE_HASH_BITS)

static inline bool kretprobe_by_ftrace(struct kprobe *p) { return false; }
static inline struct hlist_head *kretprobe_prepare_ftrace(struct kprobe *p) { return NULL; }
static inline bool kretprobe_on_ftrace(struct kprobe *p) { return false; }
static inline int kretprobe_arm_ftrace(struct kprobe *p) { return -ENODEV; }
static inline void kretprobe_disarm_ftrace(struct kprobe *p) { }
static inline void kretprobe_commit_later(struct kretprobe *rp, bool later) { }
#endif

extern struct hlist_head kprobe_table[KPROBE_TABLE_SIZE];

#ifdef CONFIG_KRETPROBE_ON_FGRAPH
int pre_handler_kretprobe(struct kprobe *p, struct pt_regs *regs);
int kretprobe_add(struct kretprobe *rp, void *addr);
void kretprobe_retire(struct kretprobe *rp);
void kretprobe_remove(struct kretprobe *rp);
#endif

#endif /* _KERNEL_KRETPROBE_H */
