/* SPDX-License-Identifier: GPL-2.0 */
/* fgraph: what its own files and the users that are built into the kernel share. */
#ifndef _FGRAPH_INTERNAL_H
#define _FGRAPH_INTERNAL_H

#include <linux/fgraph.h>
#include <linux/fgraph_task.h>
#include <linux/ftrace.h>

struct seq_file;

#ifdef CONFIG_FGRAPH
#include "fgraph_port.h"
#include "fgraph_reserve.h"
#include "fgraph_stack.h"
#include "fgraph_users.h"

/* The stack pointer, or what is not far above it */
#ifdef CONFIG_ARCH_HAS_CURRENT_STACK_POINTER
#define fgraph_stack_pointer()	((void *)current_stack_pointer)
#else
#define fgraph_stack_pointer()	__builtin_frame_address(0)
#endif

/* Not 0 if ftrace saved all registers for this call. Architectures may define it. */
#ifndef ftrace_regs_saved
#define ftrace_regs_saved(fregs)	ftrace_get_regs(fregs)
#endif

/*
 * Like rcu_is_watching(), without a function that can be traced or probed: it is called
 * before recursion is detected.
 */
static __always_inline bool fgraph_rcu_is_watching(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	/*
	 * One load, relative to the CPU; this_cpu_ptr() would compute the address first.
	 * data_race(): only this CPU writes the word, also in interrupts, which leave this bit as
	 * it was.
	 */
	return data_race(raw_cpu_read(context_tracking.state.counter)) & CT_RCU_WATCHING;
#else
	return true;
#endif
}

/* The fast paths are for users that want returns and whose data fits into one slot. */
static __always_inline bool fgraph_is_simple(const struct fgraph_ops *gops)
{
	return gops->retfunc && !gops->user.slots;
}

/* fgraph.c: called by the trampolines */
unsigned long fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs);
unsigned long fgraph_return_full(struct pt_regs *regs);

/* fgraph_context.c */
unsigned long fgraph_context_within(unsigned long above);
bool fgraph_recursion(struct fgraph_stack *st);

/*
 * The kind of context, by its preempt_count(): 0 for a task, 1 for a softirq, 2 for an interrupt,
 * 3 for an NMI. Nested NMIs are not told apart: a breakpoint in a function that a callback calls
 * counts as an NMI, so recursion would never be noticed.
 */
static __always_inline unsigned int fgraph_level(unsigned int count)
{
	if (count & NMI_MASK)
		return 3;
	if (count & HARDIRQ_MASK)
		return 2;
	return !!(count & SOFTIRQ_OFFSET);
}

/* What a header says while a callback runs in its record, unless it is FGRAPH_NESTED. */
static __always_inline unsigned long fgraph_context(void)
{
	unsigned long context = preempt_count();

	if (BITS_PER_LONG == 32)
		context = fgraph_level(context);
	return FGRAPH_INSIDE + (context << FGRAPH_COUNT_SHIFT);
}

/*
 * The record that a user has of the innermost call whose return it wants around the one of @rec,
 * a frame or a record of this user. NULL if there is none.
 */
static __always_inline const void *fgraph_find_parent(struct fgraph_ops *gops, const void *rec)
{
	/* @rec is not the header of a chunk, which is below it: what is older is not NULL. */
	rec -= fgraph_size(fgraph_head(rec));
	do {
		/* struct fgraph_frame has @tag at the same place. */
		if (((struct fgraph_entry *)rec)->tag == gops->user.tag &&
		    (fgraph_kind(fgraph_head(rec)) == FGRAPH_FRAME ||
		     fgraph_kind(fgraph_head(rec)) == FGRAPH_ENTRY))
			break;
		rec = fgraph_older(rec);
	} while (rec);
	return rec;
}

/* See fgraph_parent_data(). */
static __always_inline void *fgraph_find_parent_data(struct fgraph_ops *gops,
						     const struct fgraph_frame *frame)
{
	const void *rec = fgraph_find_parent(gops, frame);

	return rec ? fgraph_data(rec, fgraph_head(rec)) : NULL;
}

/* fgraph_query.c */
void fgraph_reap(struct fgraph_stack *st, void *dead_below);

/* fgraph.c: a function is entered */
void fgraph_hook(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs);
void fgraph_hook_several(struct fgraph_ops **users, unsigned int nr, bool simple,
			 unsigned long func, struct ftrace_regs *fregs);
void fgraph_miss(struct fgraph_ops *gops, enum fgraph_miss why);

/* fgraph_tracefs.c */
void fgraph_show_misses(struct seq_file *m, const struct fgraph_ops *gops);
#endif /* CONFIG_FGRAPH */

#endif /* _FGRAPH_INTERNAL_H */
