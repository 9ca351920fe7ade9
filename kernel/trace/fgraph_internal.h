/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the fgraph core share. */
#ifndef _FGRAPH_INTERNAL_H
#define _FGRAPH_INTERNAL_H

#include <linux/bits.h>
#include <linux/fgraph.h>
#include <linux/mutex.h>

#include "fgraph_stack.h"

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
 * struct fgraph_slot - the user that has an id
 * @tag:	the user's tag, 0 if there is none or it is going; no frame has 0
 * @gops:	the user. Valid for a grace period after @tag has become 0
 */
struct fgraph_slot {
	unsigned long		tag;
	struct fgraph_ops	*gops;
};

extern struct fgraph_slot *fgraph_table[FGRAPH_PAGES];
extern struct mutex fgraph_mutex;
extern unsigned int fgraph_nr_users;

/* The slot of an id that was given out once: pages are never freed. */
static __always_inline struct fgraph_slot *fgraph_slot(unsigned long id)
{
	return &fgraph_table[id >> FGRAPH_PAGE_BITS][id & (FGRAPH_PAGE_USERS - 1)];
}

/*
 * The user that an entry names, or NULL if it has unregistered since. The tag
 * is read once, and the user only if it matches: it then stays until
 * preemption is enabled. It needs no barrier before that: it was written
 * before the user was told its tag, without which no frame has it.
 */
static __always_inline struct fgraph_ops *fgraph_user(unsigned long tag)
{
	struct fgraph_slot *slot = fgraph_slot(tag & FGRAPH_ID_MASK);

	if (unlikely(READ_ONCE(slot->tag) != tag))
		return NULL;
	return slot->gops;
}

/* fgraph.c: called by the trampolines */
unsigned long fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs);
unsigned long fgraph_return_full(struct pt_regs *regs);

/* fgraph_users.c */
int fgraph_user_add(struct fgraph_ops *gops);
int fgraph_user_retire(struct fgraph_ops *gops);
void fgraph_user_remove(struct fgraph_ops *gops);
bool fgraph_user_registered(struct fgraph_ops *gops);
bool fgraph_user_retired(struct fgraph_ops *gops);

/* fgraph_reserve.c */
int fgraph_reserve_start(size_t data_size);
void fgraph_reserve_stop(void);
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

#endif /* _FGRAPH_INTERNAL_H */
