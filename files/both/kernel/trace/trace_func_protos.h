/* SPDX-License-Identifier: GPL-2.0 */
/* func-protos: events that say what the recorded words of a function's arguments are. */
#ifndef _TRACE_FUNC_PROTOS_H
#define _TRACE_FUNC_PROTOS_H

#include "trace.h"
#include "trace_func_args.h"

#ifdef CONFIG_FUNCTION_TRACE_ARGS
int trace_func_protos_set(struct trace_array *tr, bool set);
void trace_func_protos_again(struct trace_array *tr);
void __trace_func_proto(struct trace_array *tr, unsigned long ip, struct trace_func_words words);

/**
 * trace_func_proto() - describe a function, if that is wanted and has not been done yet
 * @tr:		the instance whose tracer is about to record a call of the function
 * @ip:		address of the function's call to ftrace
 * @words:	what it records of the call
 *
 * Context: any, preemption disabled.
 */
static __always_inline void trace_func_proto(struct trace_array *tr, unsigned long ip,
					     struct trace_func_words words)
{
	if (unlikely(READ_ONCE(tr->func_protos)))
		__trace_func_proto(tr, ip, words);
}
#else
static inline int trace_func_protos_set(struct trace_array *tr, bool set) { return 0; }
static inline void trace_func_protos_again(struct trace_array *tr) { }
static inline void trace_func_proto(struct trace_array *tr, unsigned long ip,
				    struct trace_func_words words) { }
#endif

#endif /* _TRACE_FUNC_PROTOS_H */
