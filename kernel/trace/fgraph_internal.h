/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the fgraph core share. */
#ifndef _FGRAPH_INTERNAL_H
#define _FGRAPH_INTERNAL_H

#include <linux/bits.h>
#include <linux/context_tracking.h>
#include <linux/fgraph.h>
#include <linux/fgraph_task.h>
#include <linux/ftrace.h>
#include <linux/mutex.h>

struct ftrace_ops_hash;

#ifdef CONFIG_FGRAPH
#include "fgraph_stack.h"

/* Were all registers saved for this call? */
#ifndef ftrace_regs_saved
#define ftrace_regs_saved(fregs)	ftrace_get_regs(fregs)
#endif

/*
 * A tag is a generation above an id: what a frame knows of a user. Each
 * registration takes a new generation; 44 bits of them do not wrap.
 */
#define FGRAPH_ID_BITS		20
#define FGRAPH_MAX_USERS	BIT(FGRAPH_ID_BITS)
#define FGRAPH_ID_MASK		(FGRAPH_MAX_USERS - 1)

/* The table of users is made of pages, as many as there are users. */
#define FGRAPH_PAGE_BITS	8
#define FGRAPH_PAGE_USERS	BIT(FGRAPH_PAGE_BITS)
#define FGRAPH_PAGES		(FGRAPH_MAX_USERS >> FGRAPH_PAGE_BITS)

/**
 * struct fgraph_row - the user that has an id
 * @tag:	the user's tag, 0 if there is none or it is going; no frame has 0
 * @gops:	the user. Valid for a grace period after @tag has become 0
 */
struct fgraph_row {
	unsigned long		tag;
	struct fgraph_ops	*gops;
};

extern struct fgraph_row *fgraph_table[FGRAPH_PAGES];
extern struct mutex fgraph_mutex;
extern unsigned int fgraph_nr_users;

/* The slot of an id that was given out once: pages are never freed. */
static __always_inline struct fgraph_row *fgraph_row(unsigned long id)
{
	return &fgraph_table[id >> FGRAPH_PAGE_BITS][id & (FGRAPH_PAGE_USERS - 1)];
}

/*
 * rcu_is_watching(), for before anything sees recursion: with nothing in it that
 * can be traced or probed.
 */
static __always_inline bool fgraph_rcu_is_watching(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	return !rcu_dynticks_curr_cpu_in_eqs();
#else
	return true;
#endif
}

/* Memory that readers may still use. */
struct fgraph_old {
	struct fgraph_old	*next;
};

/* fgraph_site.traits: what all or some of its users have in common. */
enum {
	/* All want returns, and their data fits into the slot of their record. */
	FGRAPH_ALL_SIMPLE	= BIT(0),
	/* Some have &fgraph_user.admit. */
	FGRAPH_SOME_ADMIT	= BIT(1),
	/* Their filters must be asked. Only in the list of asked users. */
	FGRAPH_MUST_ASK		= BIT(2),
};

/**
 * struct fgraph_site - who wants the calls of a function
 * @old:	links those that are to be freed
 * @nr:		number of users
 * @room:	how many fit into @users
 * @holes:	how many of @users have gone
 * @traits:	FGRAPH_ALL_SIMPLE and the like
 * @regs:	calls are hooked by the ftrace_ops that saves all registers
 * @move:	must be hooked by that one, but is not yet
 * @users:	the users, oldest first
 *
 * @users only grows: who goes leaves fgraph_nobody behind, or a new site is made.
 */
struct fgraph_site {
	struct fgraph_old	old;
	unsigned int		nr;
	unsigned int		room;
	unsigned int		holes;
	u8			traits;
	bool			regs;
	bool			move;
	struct fgraph_ops	*users[];
};

/* fgraph.c: called by the trampolines */
unsigned long fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs);
unsigned long fgraph_return_full(struct pt_regs *regs);

/* fgraph.c: a function is entered */
void fgraph_hook(struct fgraph_ops *gops, unsigned long func, struct pt_regs *regs);
void fgraph_hook_site(struct fgraph_site *site, unsigned long func, struct ftrace_regs *fregs);
void fgraph_miss(struct fgraph_ops *gops, enum fgraph_miss why);
bool fgraph_in_callback(int count);

/* fgraph_ftrace.c */
int fgraph_add_function(struct fgraph_ops *gops);
void fgraph_remove_function(struct fgraph_ops *gops);

/* fgraph_users.c */
int fgraph_user_add(struct fgraph_ops *gops);
int fgraph_user_retire(struct fgraph_ops *gops);
void fgraph_user_remove(struct fgraph_ops *gops);
void fgraph_synchronize(void);

/* fgraph_reserve.c */
int fgraph_reserve_get(size_t data_size);
void fgraph_reserve_put(size_t data_size);
void fgraph_trim_unused(void);

struct fgraph_stack *fgraph_stack_make(void);

/**
 * struct fgraph_usage - memory of fgraph, in use and ready for use
 * @stacks:	shadow stacks
 * @chunks:	their chunks
 * @bytes:	their size
 * @reserve_chunks: chunks in the reserve of all CPUs
 * @reserve_bytes: their size
 */
struct fgraph_usage {
	unsigned long	stacks;
	unsigned long	chunks;
	unsigned long	bytes;
	unsigned long	reserve_chunks;
	unsigned long	reserve_bytes;
};

void fgraph_usage(struct fgraph_usage *usage);
#endif /* CONFIG_FGRAPH */

/* fgraph_ftrace.c: what ftrace tells, with ftrace_lock held */
#ifdef CONFIG_FGRAPH_FTRACE
int fgraph_filter_changed(struct ftrace_ops_hash *hash);
void fgraph_forget_functions(unsigned long start, unsigned long end);
#else
static inline int fgraph_filter_changed(struct ftrace_ops_hash *hash) { return 0; }
static inline void fgraph_forget_functions(unsigned long start, unsigned long end) { }
#endif

#endif /* _FGRAPH_INTERNAL_H */
