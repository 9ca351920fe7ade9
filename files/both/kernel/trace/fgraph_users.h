/* SPDX-License-Identifier: GPL-2.0 */
/* fgraph: the table of users, which has the user for a tag. */
#ifndef _FGRAPH_USERS_H
#define _FGRAPH_USERS_H

#include <linux/bits.h>
#include <linux/fgraph.h>
#include <linux/mutex.h>

/*
 * Frames name a user by a tag: the id, the user's row in the table, in the low bits and a
 * generation above. Each registration takes a new generation, so a user that later has the
 * same id has another tag. 44 bits of generations do not wrap.
 */
#define FGRAPH_ID_BITS		20
#define FGRAPH_MAX_USERS	BIT(FGRAPH_ID_BITS)
#define FGRAPH_ID_MASK		(FGRAPH_MAX_USERS - 1)

/* The table is an array of pages. A page is allocated when an id in it is first used. */
#define FGRAPH_PAGE_BITS	8
#define FGRAPH_PAGE_USERS	BIT(FGRAPH_PAGE_BITS)
#define FGRAPH_PAGES		(FGRAPH_MAX_USERS >> FGRAPH_PAGE_BITS)

/**
 * struct fgraph_row - the user that has an id
 * @tag:	the user's tag; 0, which no record has, if there is no user or it is being
 *		unregistered
 * @gops:	the user; valid until fgraph_synchronize() has returned after @tag became 0
 */
struct fgraph_row {
	unsigned long		tag;
	struct fgraph_ops	*gops;
};

extern struct fgraph_row *fgraph_table[FGRAPH_PAGES];
extern struct mutex fgraph_mutex;
extern unsigned int fgraph_nr_users;

/* The row of an id that was given out at least once, so that its page exists. */
static __always_inline struct fgraph_row *fgraph_row(unsigned long id)
{
	/* Pages are added without a lock; the elements depend on the address of their page. */
	return &READ_ONCE(fgraph_table[id >> FGRAPH_PAGE_BITS])[id & (FGRAPH_PAGE_USERS - 1)];
}

int fgraph_user_add(struct fgraph_ops *gops);
int fgraph_user_retire(struct fgraph_ops *gops);
void fgraph_user_remove(struct fgraph_ops *gops);
void fgraph_user_drop(struct fgraph_ops *gops);
void fgraph_synchronize(void);

#endif /* _FGRAPH_USERS_H */
