/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: be called when functions are entered and when they return.
 *
 * A user is a struct fgraph_ops. However many users want the return of a call,
 * its return address is replaced once. See Documentation/trace/fgraph.rst.
 *
 * This is what a module may use. fgraph_task.h has what the rest of the kernel
 * asks of fgraph.
 */
#ifndef _LINUX_FGRAPH_H
#define _LINUX_FGRAPH_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/types.h>

struct fgraph_ops;
struct fgraph_regs;
struct fgraph_row;
struct ftrace_ops;
struct ftrace_regs;
struct pt_regs;

#ifdef CONFIG_FGRAPH
#include <asm/fgraph.h>

/**
 * struct fgraph_frame - one hooked call, as its users see it
 * @head:	private: kind, flags and size of the record
 * @tag:	private: the user that opened the frame, by id and generation
 * @func:	address of the called function: where ftrace or the kprobe hit
 * @ret:	the real return address, also for a tail call
 * @retp:	the place of the return address, or, where that is in a register,
 *		the stack pointer at entry. Identifies the call on its stack
 * @data:	private: short private data of the user that opened the frame
 *
 * Callbacks may read @func, @ret and @retp. The frame exists until the last
 * return callback of the call is over.
 */
struct fgraph_frame {
	unsigned long	head;
	unsigned long	tag;
	unsigned long	func;
	unsigned long	ret;
	unsigned long	*retp;
	unsigned long	data[3];
};

/*
 * What a kretprobe may ask for: KRETPROBE_MAX_DATA_SIZE after its struct
 * kretprobe_instance. 128 is more than any architecture's instance takes.
 */
#define FGRAPH_MAX_DATA_SIZE	(4096 + 128)
#else
/* One user at a time, with a data area of fixed size in each frame. */
struct fgraph_frame {
	unsigned long	func;
	unsigned long	ret;
	unsigned long	*retp;
};

#define FGRAPH_MAX_DATA_SIZE	(4 * sizeof(u64))
#endif /* CONFIG_FGRAPH */

/**
 * typedef fgraph_entry_t - called when a hooked function is entered
 * @gops:	the user
 * @frame:	the call; only @func, @ret and @retp are set. Its return address
 *		may not be replaced yet
 * @data:	this user's private data for the call, &fgraph_ops.data_size
 *		bytes, not initialised. It stays where it is until the return
 * @fregs:	the registers at entry: ftrace_get_regs() is NULL for a user
 *		without FGRAPH_ENTRY_REGS on whose function nobody else asked for
 *		them. NULL without CONFIG_FGRAPH
 *
 * Context: any that a function can be called in, NMI and RCU idle included.
 * Preemption is disabled. Must not sleep.
 *
 * Return: 0 to not be called for the return of this call, else nonzero.
 */
typedef int (*fgraph_entry_t)(struct fgraph_ops *gops,
			      const struct fgraph_frame *frame, void *data,
			      struct ftrace_regs *fregs);

/**
 * typedef fgraph_return_t - called when a hooked function returns
 * @gops:	the user
 * @frame:	the call
 * @data:	this user's private data for the call, as its entry left it
 * @regs:	the registers at return, see fgraph_return_value() and
 *		fgraph_get_regs()
 *
 * Context: as fgraph_entry_t. Not called any more when unregister is over.
 */
typedef void (*fgraph_return_t)(struct fgraph_ops *gops,
				const struct fgraph_frame *frame, void *data,
				struct fgraph_regs *regs);

/* fgraph_ops.flags */
enum {
	/* The return callback needs a struct pt_regs: full trampoline. */
	FGRAPH_FULL_REGS	= BIT(0),
	/* The entry callback needs all registers, at a cost for each call. */
	FGRAPH_ENTRY_REGS	= BIT(1),
};

/* Why a user was not told of a call. */
enum fgraph_miss {
	/* There was no memory for its frame. */
	FGRAPH_MISS_MEMORY,
	/*
	 * It was made within a callback of a call that was itself made within a
	 * callback, or where the user must not be called: in the handler of a
	 * kprobe or where RCU does not watch, for kretprobes and fprobes.
	 */
	FGRAPH_MISS_NESTED,
	/* The user was told, but a BPF program was already running on the CPU. */
	FGRAPH_MISS_BPF,
	FGRAPH_NR_MISSES,
};

/**
 * struct fgraph_user - private part of struct fgraph_ops
 * @tag:	id and generation. Set before any function can call the user, and
 *		constant until all calls that may be on their way are over
 * @row:	where the user stands in the table, which says if @tag is valid
 * @below:	how many slots its private data takes below the header of a
 *		record; 0 if the data fits into the header's own slot
 * @function:	the one function of a user without a filter, or 0
 * @admit:	asked before a call where RCU does not watch or a kprobe's handler
 *		runs, if not NULL: may the user be called there? Counts the miss
 *		if not
 * @note_miss:	called for each miss with preemption disabled, or NULL. Must call
 *		nothing that the user hooks
 * @list:	links users that have a filter
 * @asked:	the filter has so many functions that each call is held against it
 * @once:	its function may begin with a loop, whose turns must not be taken for
 *		tail calls: one entry in a frame, and one return, for all of them
 * @permanent:	must also work with kernel.ftrace_enabled=0, so prevents that
 * @kind:	"tracer", "kretprobe" or "fprobe" for the fgraph_users file; NULL
 *		for others
 * @missed:	how often the user was not told, by enum fgraph_miss
 */
struct fgraph_user {
	unsigned long		tag;
#ifdef CONFIG_FGRAPH
	struct fgraph_row	*row;
	unsigned int		below;
	unsigned long		function;
	bool			(*admit)(struct fgraph_ops *gops);
	void			(*note_miss)(struct fgraph_ops *gops);
	struct list_head	list;
	bool			asked;
	bool			permanent;
	bool			once;
#endif
	const char		*kind;
	atomic_long_t		missed[FGRAPH_NR_MISSES];
};

/**
 * struct fgraph_ops - a user of fgraph
 * @filter:	its filter says on which functions: ftrace_set_filter() and the
 *		like, at any time. It is not registered with ftrace. NULL for all
 *		functions; several users may share one
 * @entryfunc:	called at entry, or NULL to want every return
 * @retfunc:	called at return, or NULL for a user of entries only, whose
 *		calls are then not hooked
 * @data_size:	bytes of private data for each call, up to FGRAPH_MAX_DATA_SIZE
 * @flags:	FGRAPH_* flags
 * @name:	the user's name for the fgraph_users file, or NULL
 * @user:	private
 *
 * All zero but for what the user sets.
 */
struct fgraph_ops {
	struct ftrace_ops	*filter;
	fgraph_entry_t		entryfunc;
	fgraph_return_t		retfunc;
	size_t			data_size;
	unsigned int		flags;
	const char		*name;
	struct fgraph_user	user;
};

#if defined(CONFIG_FGRAPH_FTRACE) || defined(CONFIG_FUNCTION_GRAPH_TRACER)
int register_ftrace_graph(struct fgraph_ops *gops);
int unregister_ftrace_graph(struct fgraph_ops *gops);
#else
static inline int register_ftrace_graph(struct fgraph_ops *gops)
{
	return -EOPNOTSUPP;
}

static inline int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	return -ENOENT;
}
#endif

void *fgraph_parent_data(struct fgraph_ops *gops,
			 const struct fgraph_frame *frame);
#ifdef CONFIG_FGRAPH
int fgraph_frame_users(const struct fgraph_frame *frame, struct fgraph_ops **users, int max);
#endif

/**
 * fgraph_missed() - how many calls was a user not told of?
 * @gops:	the user
 * @why:	the cause to count
 *
 * Context: any.
 *
 * Return: the number since it was registered.
 */
static inline unsigned long fgraph_missed(const struct fgraph_ops *gops, enum fgraph_miss why)
{
	return atomic_long_read(&gops->user.missed[why]);
}

#ifdef CONFIG_FGRAPH
/**
 * fgraph_get_regs() - all registers of a function that returns
 * @regs:	what the return callback was given
 *
 * The instruction pointer is the real return address and the stack pointer
 * what it will be there. Of what the callback writes, general registers (so
 * the return value) and flags take effect.
 *
 * Context: return callbacks.
 *
 * Return: the registers, or NULL for a user without FGRAPH_FULL_REGS in whose
 * frame nobody else asked for them.
 */
static __always_inline struct pt_regs *fgraph_get_regs(struct fgraph_regs *regs)
{
	return regs->full;
}

/**
 * fgraph_return_value() - what a function returns
 * @regs:	what the return callback was given
 *
 * Context: return callbacks.
 *
 * Return: the first return register.
 */
static __always_inline unsigned long fgraph_return_value(struct fgraph_regs *regs)
{
	return regs->full ? regs_return_value(regs->full) : regs->value[0];
}

/**
 * fgraph_return_value_high() - the other half of what a function returns
 * @regs:	what the return callback was given
 *
 * Context: return callbacks.
 *
 * Return: the second return register, for types that take two.
 */
static __always_inline unsigned long fgraph_return_value_high(struct fgraph_regs *regs)
{
	return regs->full ? fgraph_full_value_high(regs->full) : regs->value[1];
}
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_H */
