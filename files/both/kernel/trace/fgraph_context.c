// SPDX-License-Identifier: GPL-2.0
/*
 * fgraph: find out whether a callback runs, and in which context.
 *
 * The newest record of a shadow stack says so: see INSIDE in fgraph_stack.h.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "fgraph_internal.h"

/* The kind of context that the bits FGRAPH_CONTEXT of a header say. */
static unsigned int fgraph_level_of(unsigned long context)
{
	unsigned int count = context >> FGRAPH_COUNT_SHIFT;

	return BITS_PER_LONG == 64 ? fgraph_level(count) : count;
}
NOKPROBE_SYMBOL(fgraph_level_of);

/**
 * fgraph_context_within() - what a new header says while a callback runs in its record
 * @above:	the bits of FGRAPH_CONTEXT of the record below the new one
 *
 * Context: any, preemption disabled.
 *
 * Return: fgraph_context(), with FGRAPH_NESTED if a callback that runs in this kind of
 * context made the call.
 */
unsigned long fgraph_context_within(unsigned long above)
{
	unsigned long context = fgraph_context();

	if ((above & FGRAPH_INSIDE) && fgraph_level_of(above) == fgraph_level_of(context))
		context |= FGRAPH_NESTED;
	return context;
}
NOKPROBE_SYMBOL(fgraph_context_within);

/**
 * fgraph_recursion() - must a call be missed so that recursion ends?
 * @st:		the stack of the current task
 *
 * A call that a callback makes is hooked. A call that is made by a callback of that one is
 * not, as callbacks might otherwise call each other for ever. An interrupt of the second
 * callback is no recursion, so the header is compared with the current context.
 *
 * Context: any, preemption disabled.
 *
 * Return: true if the call must not be hooked.
 */
bool fgraph_recursion(struct fgraph_stack *st)
{
	unsigned long above;

	fgraph_newest(READ_ONCE(st->top), &above);
	return (above & FGRAPH_NESTED) && (fgraph_context_within(above) & FGRAPH_NESTED);
}
NOKPROBE_SYMBOL(fgraph_recursion);
