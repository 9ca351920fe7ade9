/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: a hooked call, the callbacks of a user, and the private part of a user.
 *
 * Part of fgraph.h, which has the interface. Users include that header, not this one.
 */
#ifndef _LINUX_FGRAPH_FRAME_H
#define _LINUX_FGRAPH_FRAME_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/list.h>
#include <linux/types.h>

struct fgraph_frame;
struct fgraph_ops;
struct fgraph_regs;
struct fgraph_row;
struct ftrace_regs;

#ifdef CONFIG_FGRAPH
/* The unit of shadow stacks, in bytes: see fgraph_stack.h. */
#define FGRAPH_SLOT_SHIFT	6
#define FGRAPH_SLOT		BIT(FGRAPH_SLOT_SHIFT)

/* Private data of a call that need no slot of their own, in words. */
#define FGRAPH_HEADER_WORDS	(BITS_PER_LONG == 64 ? 3 : 8)

/**
 * struct fgraph_frame - one hooked call, as its users see it
 * @head:	private: kind, flags and size of the record
 * @tag:	private: names the user that opened the frame by id and generation
 * @func:	address of the called function: of its call to ftrace, or of the kprobe
 * @ret:	the real return address, also for a tail call
 * @retp:	the place of the return address on the stack or, where that is in a register,
 *		the stack pointer at entry; identifies the call on its machine stack
 * @data:	private: data of the user that opened the frame, if they fit here
 *
 * Callbacks may read @func, @ret and @retp. The frame exists until the last
 * return callback of the call is over.
 */
struct fgraph_frame {
	unsigned long	head;
	aligned_u64	tag;
	unsigned long	func;
	unsigned long	ret;
	unsigned long	*retp;
	unsigned long	data[FGRAPH_HEADER_WORDS] __aligned(8);
};

/*
 * The largest private data of a user for one call, in bytes: what a kretprobe may ask for,
 * KRETPROBE_MAX_DATA_SIZE and its struct kretprobe_instance, which is below 128 bytes.
 */
#define FGRAPH_MAX_DATA_SIZE	(4096 + 128)
#endif /* CONFIG_FGRAPH */

/**
 * typedef fgraph_entry_t - called when a function is entered that the user wants
 * @gops:	the user
 * @frame:	the call; only @func, @ret and @retp are set, and the return address may not
 *		be replaced yet
 * @data:	this user's private data for the call: &fgraph_ops.data_size bytes, not
 *		initialised, at the same address until the return
 * @fregs:	the registers at entry. ftrace_get_regs() gives NULL if neither this user nor
 *		another one of the function has FGRAPH_ENTRY_REGS. @fregs itself is NULL
 *		where the architecture passes no registers
 *
 * Context: any in which a function can be called, also NMI and where RCU does not watch.
 * Preemption is disabled. Must not sleep.
 *
 * Return: nonzero to have the return callback called for this call, else 0.
 */
typedef int (*fgraph_entry_t)(struct fgraph_ops *gops,
			      const struct fgraph_frame *frame, void *data,
			      struct ftrace_regs *fregs);

/**
 * typedef fgraph_return_t - called when a hooked function returns
 * @gops:	the user
 * @frame:	the call
 * @data:	this user's private data for the call, as its entry callback left it
 * @regs:	the registers at return, see fgraph_return_value() and
 *		fgraph_get_regs()
 *
 * Context: like fgraph_entry_t. Not called any more when unregister_ftrace_graph() has
 * returned.
 */
typedef void (*fgraph_return_t)(struct fgraph_ops *gops,
				const struct fgraph_frame *frame, void *data,
				struct fgraph_regs *regs);

/* fgraph_ops.flags */
enum {
	/* The return callback needs a struct pt_regs: calls return to the full trampoline. */
	FGRAPH_FULL_REGS	= BIT(0),
	/* The entry callback needs all registers, which makes each call slower. */
	FGRAPH_ENTRY_REGS	= BIT(1),
};

/* Why a user has missed a call. */
enum fgraph_miss {
	/* There was no memory for a frame. */
	FGRAPH_MISS_MEMORY,
	/*
	 * A callback made the call, and that callback was itself called for a call that a
	 * callback made. Kretprobes and fprobes also miss calls that are made, or return, where
	 * RCU does not watch. Kretprobes, and fprobes with FPROBE_FL_KPROBE_SHARED, also miss calls
	 * that the handler of a kprobe makes. Not counted are nested calls that ftrace does not
	 * pass on, of functions of which several ftrace_ops are called.
	 */
	FGRAPH_MISS_NESTED,
	/*
	 * The user was told, but its BPF program was skipped, as another one or an operation on a
	 * map was under way on this CPU.
	 */
	FGRAPH_MISS_BPF,
	/* The number of causes. */
	FGRAPH_NR_MISSES,
};

/**
 * struct fgraph_user - private part of struct fgraph_ops
 * @tag:	id and generation; set before the user can be called, and constant until
 *		no call can be hooked for it any more
 * @row:	the user's row in the table of users, which says if @tag is valid
 * @slots:	how many slots its private data take below the header of a record; 0 if the
 *		data fit into the header
 * @function:	the only function of a user without a filter, or 0
 * @admit:	called before the user where RCU does not watch or a kprobe's handler runs:
 *		returns true if the user may be called there, else counts a miss. NULL if it
 *		always may
 * @note_miss:	called for each miss except FGRAPH_MISS_BPF, with preemption disabled; must
 *		not call functions that the user hooks. May be NULL
 * @list:	links the users that have a filter
 * @wide:	the user is a wide user, see fgraph_ftrace.c: it wants so many functions that it
 *		has no sites, and its filter is looked up at each call
 * @needs_enabled: kernel.ftrace_enabled cannot be set to 0 while this user is registered
 * @once:	the user's probe may be at the head of a loop, whose turns must not be taken
 *		for tail calls: all of them share one entry in the frame
 * @kind:	"tracer", "kretprobe" or "fprobe", for the fgraph_users file; NULL for others
 * @missed:	how many calls the user has missed, by enum fgraph_miss
 */
struct fgraph_user {
	u64			tag;
#ifdef CONFIG_FGRAPH
	struct fgraph_row	*row;
	unsigned int		slots;
	unsigned long		function;
	bool			(*admit)(struct fgraph_ops *gops);
	void			(*note_miss)(struct fgraph_ops *gops);
	struct list_head	list;
	bool			wide;
	bool			needs_enabled;
	bool			once;
#endif
	const char		*kind;
	atomic_long_t		missed[FGRAPH_NR_MISSES];
};

#endif /* _LINUX_FGRAPH_FRAME_H */
