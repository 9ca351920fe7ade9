/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: the one hook for users who want to know that a function returned.
 *
 * A user is a struct fgraph_ops. However many users want the return of a call,
 * its return address is replaced once. See Documentation/trace/fgraph.rst.
 */
#ifndef _LINUX_FGRAPH_H
#define _LINUX_FGRAPH_H

#include <linux/context_tracking.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/types.h>

/* Were all registers saved for this call? */
#ifndef ftrace_regs_saved
#define ftrace_regs_saved(fregs)	ftrace_get_regs(fregs)
#endif

struct fgraph_ops;
struct fgraph_regs;
struct fgraph_slot;
struct ftrace_index_entry;
struct ftrace_regs;
struct pt_regs;
struct task_struct;

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

/*
 * Stack of return addresses for functions
 * of a thread.
 * Used in struct thread_info
 */
struct ftrace_ret_stack {
	struct fgraph_frame frame;
#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
	unsigned long fp;
#endif
	/* The user's, when the call was hooked */
	unsigned long tag;
	/* The user's. The first one is 0 before the call counts as a parent */
	u64 data[FGRAPH_MAX_DATA_SIZE / sizeof(u64)];
};
#endif /* CONFIG_FGRAPH */

/**
 * typedef fgraph_entry_t - called when a hooked function is entered
 * @gops:	the user
 * @frame:	the call. Its return address is not replaced yet, if this user
 *		is the first of the call; only @func, @ret and @retp are set
 * @data:	this user's private data for the call, &fgraph_ops.data_size
 *		bytes, not initialised. It stays where it is until the return
 * @fregs:	the registers at entry; a kretprobe gets its struct pt_regs here.
 *		NULL without CONFIG_FGRAPH
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

/**
 * typedef fgraph_miss_t - called when a user misses a call
 * @gops:	the user
 *
 * Context: as fgraph_entry_t. Must call nothing that this user hooks: that is missed
 * as well, and so on without end.
 */
typedef void (*fgraph_miss_t)(struct fgraph_ops *gops);

/* fgraph_ops.flags */
enum {
	/* The return callback needs a struct pt_regs: full trampoline. */
	FGRAPH_FULL_REGS	= BIT(0),
	/* Obey the filter of the top level tracer, set_ftrace_filter. */
	FGRAPH_GLOBAL_FILTER	= BIT(1),
	/* Ask for a task-local word, see fgraph_task_word(). */
	FGRAPH_TASK_WORD	= BIT(2),
};

/**
 * struct fgraph_record - private: what a user pushes
 * @head:	header
 * @reserved:	header until the record is complete
 * @size:	bytes
 * @data:	offset of its private data from the header
 */
struct fgraph_record {
	unsigned long		head;
	unsigned long		reserved;
	unsigned int		size;
	int			data;
};

/**
 * struct fgraph_ops - a user of fgraph
 * @ops:	on which functions. Its filter may be set before the user is
 *		registered and changed at any time; to obey set_ftrace_pid, it
 *		needs FTRACE_OPS_FL_PID and the trace_array as its private
 *		pointer. register_ftrace_graph() sets its callback
 * @entryfunc:	called at entry, or NULL to want every return
 * @retfunc:	called at return, or NULL for a user of entries only, whose
 *		calls are then not hooked
 * @data_size:	bytes of private data for each call, up to FGRAPH_MAX_DATA_SIZE
 * @flags:	FGRAPH_* flags
 * @kind:	what sort of user this is, for the fgraph_users file: "tracer",
 *		"kretprobe", "fprobe". NULL for others
 * @name:	the user's name for the fgraph_users file, or NULL
 * @site:	the only function this user is for, or NULL; named where @name
 *		is not
 * @missfunc:	called for each call that @missed counts, or NULL
 * @next:	for fgraph_hook_chain() and fgraph_chain_batch(): the next user of the
 *		same function
 * @missed:	calls that this user did not get for lack of memory, or because
 *		they were made by callbacks of a call that a callback made
 * @tag:	private: id and generation while registered, else 0
 * @slot_tag:	private: the same for a user who may want returns, and whose data
 *		fit in one slot, else 0
 * @simple_tag:	private: the same for such a user without entry callback
 * @frame:	private: its frames
 * @entry:	private: its entries in others' frames
 * @trampoline:	private: what its frames need as return address
 * @slot:	private: where it is in the table of users, for its entries
 * @id:		private: and as a number
 * @word:	private: index of the task-local word
 *
 * All zero but for what the user sets.
 */
struct fgraph_ops {
#ifdef CONFIG_FUNCTION_TRACER
	struct ftrace_ops	ops;
#endif
	fgraph_entry_t		entryfunc;
	fgraph_return_t		retfunc;
	size_t			data_size;
	unsigned int		flags;
	const char		*kind;
	const char		*name;
	void			*site;
#ifdef CONFIG_FGRAPH
	fgraph_miss_t		missfunc;
	struct fgraph_ops	*next;
#endif
	atomic_long_t		missed;
	unsigned long		tag;
#ifdef CONFIG_FGRAPH
	unsigned long		slot_tag;
	unsigned long		simple_tag;
	struct fgraph_record	frame;
	struct fgraph_record	entry;
	unsigned long		trampoline;
	struct fgraph_slot	*slot;
#endif
	unsigned int		id;
	unsigned int		word;
};

#ifdef CONFIG_FGRAPH
/**
 * fgraph_rcu_is_watching() - may callbacks rely on RCU here?
 *
 * rcu_is_watching(), before anything sees recursion: so with nothing in it
 * that can be traced or probed.
 *
 * Context: any, preemption disabled.
 */
static __always_inline bool fgraph_rcu_is_watching(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	return !rcu_dynticks_curr_cpu_in_eqs();
#else
	return true;
#endif
}

/* For users that find the entry of a function by themselves. */
int fgraph_add_user(struct fgraph_ops *gops);
int fgraph_retire_user(struct fgraph_ops *gops);
void fgraph_synchronize(void);
void fgraph_remove_user(struct fgraph_ops *gops);
bool fgraph_in_callback(int count);
int fgraph_hook(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs);
int fgraph_hook_ftrace(struct fgraph_ops *gops, unsigned long ip, struct ftrace_regs *fregs);
void fgraph_hook_chain(struct fgraph_ops *gops, unsigned long ip, struct ftrace_regs *fregs);
void fgraph_ftrace_batch(unsigned long ip, unsigned long parent_ip,
			 const struct ftrace_index_entry *entry, struct ftrace_regs *fregs);
void fgraph_chain_batch(struct fgraph_ops *gops, unsigned long ip, unsigned long parent_ip,
			const struct ftrace_index_entry *entry, struct ftrace_regs *fregs);

int fgraph_frame_users(const struct fgraph_frame *frame,
		       struct fgraph_ops **users, int max);
unsigned long *fgraph_task_word(struct fgraph_ops *gops);

void fgraph_free_task(struct task_struct *task);
void fgraph_reset_task(struct task_struct *task);
void fgraph_abandon_calls(void *high);
unsigned long fgraph_ret_addr(struct task_struct *task, unsigned long *cursor,
			      unsigned long addr, unsigned long *low,
			      unsigned long *high);

/**
 * fgraph_is_trampoline() - does a return to this address go through fgraph?
 * @addr:	a return address, as found on a stack
 *
 * Context: any. Not for modules.
 */
static __always_inline bool fgraph_is_trampoline(unsigned long addr)
{
	/* See FGRAPH_TRAMPOLINE_SPAN for why a range. */
	return addr - (unsigned long)fgraph_trampoline_light <= FGRAPH_TRAMPOLINE_SPAN ||
	       addr - (unsigned long)fgraph_trampoline_full <= FGRAPH_TRAMPOLINE_SPAN;
}

/**
 * fgraph_get_regs() - all registers of a function that returns
 * @regs:	what the return callback was given
 *
 * The instruction pointer is the real return address and the stack pointer
 * what it will be there. Of what the callback writes, general registers (so
 * the return value) and flags take effect.
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
 * Return: the first return register.
 */
static __always_inline unsigned long fgraph_return_value(struct fgraph_regs *regs)
{
	return regs->full ? regs_return_value(regs->full) : regs->value[0];
}

/**
 * fgraph_caller() - the caller of a function that is being entered
 * @parent_ip:	its return address, as an ftrace callback gets it
 *
 * That is a trampoline if the call was hooked by a breakpoint before ftrace's
 * turn came, or is a tail call of a function that was hooked.
 *
 * Context: any. Not for modules.
 *
 * Return: the real return address; @parent_ip if that is not known.
 */
static __always_inline unsigned long fgraph_caller(unsigned long parent_ip)
{
	unsigned long cursor = 0;

	if (likely(!fgraph_is_trampoline(parent_ip)))
		return parent_ip;
	/* The newest frame, wherever it is. */
	return fgraph_ret_addr(current, &cursor, parent_ip, NULL,
			       (unsigned long *)ULONG_MAX) ?: parent_ip;
}
#else
static inline void fgraph_free_task(struct task_struct *task) { }
static inline void fgraph_reset_task(struct task_struct *task) { }
static inline void fgraph_abandon_calls(void *high) { }
static inline bool fgraph_is_trampoline(unsigned long addr) { return false; }
static inline unsigned long fgraph_caller(unsigned long parent_ip) { return parent_ip; }
#endif /* CONFIG_FGRAPH */

void *fgraph_parent_data(struct fgraph_ops *gops,
			 const struct fgraph_frame *frame);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
int register_ftrace_graph(struct fgraph_ops *gops);
int unregister_ftrace_graph(struct fgraph_ops *gops);
#endif

#endif /* _LINUX_FGRAPH_H */
