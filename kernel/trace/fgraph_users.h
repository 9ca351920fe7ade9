/* SPDX-License-Identifier: GPL-2.0 */
/* The table of users: from what a frame knows of a user to the user. */
#ifndef _FGRAPH_USERS_H
#define _FGRAPH_USERS_H

#include <linux/bits.h>
#include <linux/fgraph.h>
#include <linux/mutex.h>

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

int fgraph_user_add(struct fgraph_ops *gops);
int fgraph_user_retire(struct fgraph_ops *gops);
void fgraph_user_remove(struct fgraph_ops *gops);
void fgraph_synchronize(void);

#endif /* _FGRAPH_USERS_H */
