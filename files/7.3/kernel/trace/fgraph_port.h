/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: what the core needs of the rest of the kernel and of the interface for users, and
 * what differs between kernels.
 */
#ifndef _FGRAPH_PORT_H
#define _FGRAPH_PORT_H

#include <linux/context_tracking.h>
#include <linux/fgraph.h>
#include <linux/ftrace.h>

#include "fgraph_stack.h"

/*
 * Entry callbacks are passed a struct ftrace_regs. A kprobe's handler has a struct pt_regs
 * and casts, so what is behind the former must begin with the latter.
 */
#if defined(CONFIG_FUNCTION_TRACER) && defined(CONFIG_HAVE_FGRAPH)
static_assert(offsetof(struct __arch_ftrace_regs, regs) == 0);
#endif

/* The registers at return as retfunc() and exit handlers get them. */
static __always_inline struct ftrace_regs *fgraph_as_ftrace_regs(struct fgraph_regs *regs)
{
#ifdef CONFIG_HAVE_FGRAPH
	return (struct ftrace_regs *)regs;
#else
	return regs->fregs;
#endif
}

/* The entry callback of a user, or NULL. */
static __always_inline fgraph_entry_t fgraph_entryfunc(const struct fgraph_ops *gops)
{
	/* With the pids of a trace_array it changes. */
	return READ_ONCE(gops->on_entry);
}

/* The return callback of a user, or NULL. */
static __always_inline fgraph_return_t fgraph_retfunc(const struct fgraph_ops *gops)
{
	return gops->on_return;
}

/* Where an unsigned long is within &fgraph_state.word that has its bits 0 to 31 */
#if BITS_PER_LONG == 32 && defined(__BIG_ENDIAN)
#define FGRAPH_VAR_OFFSET	1
#else
#define FGRAPH_VAR_OFFSET	0
#endif

/*
 * Bits of &fgraph_state.word. Bits 0 to 31 belong to the user: fgraph_get_task_var(). A depth of
 * more than 65535 calls starts at 0 again.
 */
#define FGRAPH_DEPTH_SHIFT	32
#define FGRAPH_SIZE_SHIFT	48
#define FGRAPH_SIZE_MASK	GENMASK_ULL(63, FGRAPH_SIZE_SHIFT)

/**
 * struct fgraph_state - private data of a user with entryfunc(), unless it is
 *			 &fgraph_ops.stateless
 * @word:	from bit 0, what fgraph_get_task_var() gives; from bit 32, for how many calls around
 *		this one the user has reserved data if it is &fgraph_ops.task_var; from bit 48,
 *		the size in bytes that the user has reserved of @data
 * @data:	what fgraph_reserve_data() gives
 */
struct fgraph_state {
	u64		word;
	unsigned long	data[];
};

/* The word that fgraph_get_task_var() gives. */
static __always_inline unsigned long *fgraph_state_var(struct fgraph_state *state)
{
	return (unsigned long *)&state->word + FGRAPH_VAR_OFFSET;
}

static __always_inline struct fgraph_state *fgraph_state_of_var(unsigned long *task_var)
{
	return container_of((u64 *)(task_var - FGRAPH_VAR_OFFSET), struct fgraph_state, word);
}

static __always_inline unsigned int fgraph_state_depth(u64 word)
{
	return (u16)(word >> FGRAPH_DEPTH_SHIFT);
}

/*
 * Like fgraph_reserve_data(), for the user that has got @task_var by fgraph_get_task_var() in the
 * same entryfunc(), and reserves nothing else. @size_bytes is at most 16, unless
 * &fgraph_ops.data_size says more.
 */
static __always_inline void *fgraph_reserve_with_var(struct fgraph_ops *gops,
						     unsigned long *task_var,
						     unsigned long size_bytes)
{
	struct fgraph_state *state = fgraph_state_of_var(task_var);

	state->word |= (u64)size_bytes << FGRAPH_SIZE_SHIFT;
	return state->data;
}

/* Like fgraph_retrieve_data(), for the user that has got @task_var in the same retfunc(). */
static __always_inline void *fgraph_retrieve_with_var(struct fgraph_ops *gops,
						      unsigned long *task_var, int *size_bytes)
{
	struct fgraph_state *state = fgraph_state_of_var(task_var);

	*size_bytes = state->word >> FGRAPH_SIZE_SHIFT;
	return *size_bytes ? state->data : NULL;
}

/* Set in &fgraph_ops.idx of a user that is &fgraph_ops.stateless. */
#define FGRAPH_IDX_STATELESS	BIT(30)

/* The private data that fit into the header of a record, in bytes. */
#define FGRAPH_HEADER_DATA	sizeof_field(struct fgraph_frame, data)

/* The most private data of a user that is &fgraph_ops.task_var, with the word */
#define FGRAPH_VAR_DATA		128

/* fgraph_callbacks.c */
int fgraph_call_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		      struct ftrace_regs *fregs);
int fgraph_call_entry_var(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			  struct ftrace_regs *fregs);
void fgraph_call_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			struct fgraph_regs *regs);
void fgraph_set_idx(struct fgraph_ops *gops);

/* The &fgraph_ops.on_entry of a user with entryfunc(), if it has no pids. */
static inline fgraph_entry_t fgraph_entry_without_pids(const struct fgraph_ops *gops)
{
	return gops->task_var ? fgraph_call_entry_var : fgraph_call_entry;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Are users with entryfunc() not called? */
static __always_inline bool fgraph_graph_is_off(void)
{
	return ftrace_graph_is_dead() || unlikely(atomic_read(&current->tracing_graph_pause));
}

/* What all users with entryfunc() or retfunc() of a call are told alike. */
struct fgraph_told {
	union {
		struct ftrace_graph_ent	ent;
		struct ftrace_graph_ret	ret;
	};
	unsigned int		depth;
};

static __always_inline void fgraph_know_entry(struct fgraph_told *told, unsigned long func,
					      unsigned int depth)
{
	told->ent.func = func;
	told->ent.depth = depth;
}

static __always_inline void fgraph_know_return(struct fgraph_told *told,
					       const struct fgraph_frame *frame)
{
	told->ret.func = READ_ONCE(frame->func);
	told->depth = fgraph_depth_of(fgraph_head(frame));
}

static __always_inline int fgraph_call_entryfunc(struct fgraph_ops *gops, void *data,
						 struct ftrace_regs *fregs,
						 struct ftrace_graph_ent *ent)
{
	if (fgraph_graph_is_off())
		return 0;
	/* If the user is stateless, nobody reads this. */
	((struct fgraph_state *)data)->word = 0;
	return gops->entryfunc(ent, gops, fregs);
}

/* @told is NULL if the user is told alone. */
static __always_inline void fgraph_call_retfunc(struct fgraph_ops *gops,
						const struct fgraph_frame *frame, void *data,
						struct fgraph_regs *regs,
						const struct fgraph_told *told,
						struct ftrace_graph_ret *ret)
{
	if (unlikely(gops->task_var))
		ret->depth = fgraph_state_depth(((struct fgraph_state *)data)->word);
	else
		ret->depth = told ? told->depth : fgraph_depth_of(fgraph_head(frame));
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	/* Users that were told before may have changed it. */
	ret->retval = fgraph_return_value(regs);
#endif
	ret->overrun = fgraph_missed(gops, FGRAPH_MISS_MEMORY);
	gops->retfunc(ret, gops, fgraph_as_ftrace_regs(regs));
}
#else
struct fgraph_told {
};

static __always_inline void fgraph_know_entry(struct fgraph_told *told, unsigned long func,
					      unsigned int depth)
{
}

static __always_inline void fgraph_know_return(struct fgraph_told *told,
					       const struct fgraph_frame *frame)
{
}
#endif

/* For callbacks that ask for which call they run: fgraph_callbacks.c. */
static __always_inline void *fgraph_get_running(const struct fgraph_stack *st)
{
	return READ_ONCE(st->running);
}

static __always_inline void fgraph_set_running(struct fgraph_stack *st, void *rec)
{
	WRITE_ONCE(st->running, rec);
}

/* Call the user's entry callback. Returns true if the user wants the return. */
static __always_inline bool fgraph_ask(struct fgraph_ops *gops, fgraph_entry_t on_entry,
				       struct fgraph_frame *frame, void *data,
				       struct pt_regs *regs, struct fgraph_told *told,
				       unsigned int depth)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (on_entry == fgraph_call_entry) {
		struct ftrace_graph_ent ent __uninitialized;

		if (told)
			return fgraph_call_entryfunc(gops, data, (struct ftrace_regs *)regs,
						     &told->ent);
		ent.func = frame->func;
		ent.depth = depth;
		return fgraph_call_entryfunc(gops, data, (struct ftrace_regs *)regs, &ent);
	}
#endif
	return on_entry(gops, frame, data, (struct ftrace_regs *)regs);
}

/*
 * Call the user's return callback. @told is NULL if the user is the only one; else @rec is the
 * user's record.
 */
static __always_inline void fgraph_tell(struct fgraph_ops *gops, struct fgraph_frame *frame,
					void *data, struct fgraph_regs *regs,
					struct fgraph_told *told, struct fgraph_stack *st,
					void *rec)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (gops->on_return == fgraph_call_return) {
		struct ftrace_graph_ret ret __uninitialized;

		if (told) {
			fgraph_set_running(st, rec);
			fgraph_call_retfunc(gops, frame, data, regs, told, &told->ret);
			return;
		}
		ret.func = READ_ONCE(frame->func);
		fgraph_call_retfunc(gops, frame, data, regs, NULL, &ret);
		return;
	}
#endif
	gops->on_return(gops, frame, data, regs);
}

/* Initialise the callbacks of a user. */
#define FGRAPH_CALLBACKS(entry, ret)	.on_entry = (entry), .on_return = (ret)

/* Change the callbacks of a user that is not registered, or not called yet. */
static inline void fgraph_set_callbacks(struct fgraph_ops *gops, fgraph_entry_t entryfunc,
					fgraph_return_t retfunc)
{
	gops->on_entry = entryfunc;
	gops->on_return = retfunc;
}

#ifdef CONFIG_FUNCTION_TRACER
/* The filter of a user; NULL for a user of one function, which does not initialise it. */
static __always_inline struct ftrace_ops *fgraph_filter(const struct fgraph_ops *gops)
{
	return gops->ops.func_hash ? (struct ftrace_ops *)&gops->ops : NULL;
}
#endif

#ifdef CONFIG_TRACING
/* The function by which a user without a name is listed: the one it hooks, or its callback. */
static inline unsigned long fgraph_listed_function(const struct fgraph_ops *gops)
{
	return gops->user.function ?: (unsigned long)gops->entryfunc;
}
#endif

/* Add a function to a filter. 0, or -ENOMEM. */
#define fgraph_hash_add(hash, ip)	(add_ftrace_hash_entry_direct(hash, ip, 0) ? 0 : -ENOMEM)

#ifdef CONFIG_HAVE_FGRAPH
/* The registers at entry that ftrace passes. */
#define fgraph_entry_regs(fregs)	((struct pt_regs *)arch_ftrace_regs(fregs))

/* What callbacks get if the full trampoline has saved @full. */
#define FGRAPH_REGS_OF_FULL(full)	container_of(full, struct fgraph_regs, regs)
#endif

/* Complete the registers at return before callbacks see them. */
static __always_inline void fgraph_complete_regs(struct fgraph_regs *regs, unsigned long ret)
{
#ifdef CONFIG_HAVE_FGRAPH
	fgraph_fixup_regs(&regs->regs, ret);
#else
#ifdef CONFIG_KRETPROBE_ON_FGRAPH
	if (regs->full)
		fgraph_fixup_regs(regs->full, ret);
#endif
#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_HAVE_FUNCTION_GRAPH_FREGS)
	if (regs->fregs)
		ftrace_regs_set_instruction_pointer(regs->fregs, ret);
#endif
#endif
}

#endif /* _FGRAPH_PORT_H */
