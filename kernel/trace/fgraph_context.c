// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: do callbacks run, and in which context?
 *
 * The newest header of a shadow stack says so: see INSIDE in fgraph_stack.h.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "fgraph_internal.h"

/*
 * In a task, a softirq, an interrupt or an NMI? Not in how many: breakpoints in
 * what callbacks call count as NMIs, without end.
 */
static unsigned int fgraph_level(unsigned long context)
{
	unsigned int count = context >> FGRAPH_COUNT_SHIFT;

	if (count & NMI_MASK)
		return 3;
	if (count & HARDIRQ_MASK)
		return 2;
	return !!(count & SOFTIRQ_OFFSET);
}
NOKPROBE_SYMBOL(fgraph_level);

/**
 * fgraph_context_within() - fgraph_context() on top of another record
 * @above:	what that has of FGRAPH_CONTEXT
 *
 * Context: any, preemption disabled.
 *
 * Return: the same with FGRAPH_NESTED, if a callback has called this in its context.
 */
unsigned long fgraph_context_within(unsigned long above)
{
	unsigned long context = fgraph_context();

	if ((above & FGRAPH_INSIDE) && fgraph_level(above) == fgraph_level(context))
		context |= FGRAPH_NESTED;
	return context;
}
NOKPROBE_SYMBOL(fgraph_context_within);

/**
 * fgraph_in_callback() - does a callback of fgraph run in this context?
 * @count:	preempt_count() of a context on this CPU, the current one or one
 *		that it interrupts for a moment
 *
 * Context: any, preemption disabled.
 *
 * Return: whether one does, in the same of task, softirq, interrupt and NMI.
 */
bool fgraph_in_callback(int count)
{
	struct fgraph_stack *st = READ_ONCE(current->fgraph_stack);
	unsigned long above = 0;

	if (st)
		fgraph_stack_top(st, &above);
	return (above & FGRAPH_INSIDE) &&
	       fgraph_level(above) == fgraph_level((unsigned long)count << FGRAPH_COUNT_SHIFT);
}
NOKPROBE_SYMBOL(fgraph_in_callback);

/**
 * fgraph_recursion() - is a function called in a callback of a call in a callback?
 * @st:		the stack of the current task
 *
 * What callbacks call is hooked, but not what is called in callbacks of such a
 * call: it might go on for ever. An interrupt may not have said yet that it is one,
 * hence the comparison with the context this runs in.
 *
 * Context: any, preemption disabled.
 *
 * Return: whether it is not to be hooked.
 */
bool fgraph_recursion(struct fgraph_stack *st)
{
	unsigned long above = 0;

	fgraph_stack_top(st, &above);
	return (above & FGRAPH_NESTED) && (fgraph_context_within(above) & FGRAPH_NESTED);
}
NOKPROBE_SYMBOL(fgraph_recursion);
