/* SPDX-License-Identifier: GPL-2.0 */
/* func-protos: events that say what the recorded words of a function's arguments are. */
#ifndef _TRACE_FUNC_PROTOS_H
#define _TRACE_FUNC_PROTOS_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "trace.h"
#include "trace_func_args.h"

#ifdef CONFIG_FUNCTION_TRACE_ARGS
DECLARE_STATIC_KEY_FALSE(trace_func_protos_on);
DECLARE_PER_CPU(u8, trace_func_describing);

int trace_func_protos_set(struct trace_array *tr, bool set);
void trace_func_protos_again(struct trace_array *tr);
void trace_func_proto(struct trace_array *tr, unsigned long ip, unsigned int trace_ctx,
		      struct trace_func_words words);

/* Is trace_func_proto() to be called? Some instance has the option. */
static __always_inline bool trace_func_protos_wanted(void)
{
	return static_branch_unlikely(&trace_func_protos_on);
}

/*
 * Is the function that is being entered called to describe another one? BTF is read by functions
 * that are traced, of which no tracer should tell. Preemption is disabled.
 */
static __always_inline bool trace_func_is_describing(void)
{
	return trace_func_protos_wanted() &&
	       __this_cpu_read(trace_func_describing) & BIT(interrupt_context_level());
}
#else
static inline int trace_func_protos_set(struct trace_array *tr, bool set) { return 0; }
static inline void trace_func_protos_again(struct trace_array *tr) { }
static inline void trace_func_proto(struct trace_array *tr, unsigned long ip,
				    unsigned int trace_ctx, struct trace_func_words words) { }
static inline bool trace_func_protos_wanted(void) { return false; }
static inline bool trace_func_is_describing(void) { return false; }
#endif

#endif /* _TRACE_FUNC_PROTOS_H */
