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

#if BITS_PER_LONG == 32
/* The index of the lower half of a tag as an array of two words */
#ifdef __BIG_ENDIAN
#define FGRAPH_LOW_HALF		1
#else
#define FGRAPH_LOW_HALF		0
#endif
#endif

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
	u64			tag;
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

/*
 * Read and write &fgraph_row.tag. Where that takes two steps, the lower half is not 0 in any valid
 * tag; it is written last, and alone becomes 0. So who reads the lower half of a tag, and then an
 * upper half, has read both halves of that tag: before another user gets the row,
 * fgraph_synchronize() waits for all who may have read the former tag.
 */
static __always_inline u64 fgraph_row_tag(const struct fgraph_row *row)
{
#if BITS_PER_LONG == 64
	return READ_ONCE(row->tag);
#else
	u32 low = READ_ONCE(((const u32 *)&row->tag)[FGRAPH_LOW_HALF]);

	smp_rmb();	/* Pairs with smp_wmb() in fgraph_row_set_tag(). */
	return low | (u64)READ_ONCE(((const u32 *)&row->tag)[!FGRAPH_LOW_HALF]) << 32;
#endif
}

static inline void fgraph_row_set_tag(struct fgraph_row *row, u64 tag)
{
#if BITS_PER_LONG == 64
	/* Pairs with fgraph_user(): a reader that sees the tag also sees @row->gops. */
	smp_store_release(&row->tag, tag);
#else
	u32 *halves = (u32 *)&row->tag;

	if (tag)
		WRITE_ONCE(halves[!FGRAPH_LOW_HALF], tag >> 32);
	smp_wmb();	/* Pairs with smp_rmb() in fgraph_row_tag(), and as above. */
	WRITE_ONCE(halves[FGRAPH_LOW_HALF], (u32)tag);
#endif
}

/* Has the row a valid tag? For who holds fgraph_mutex. */
static inline bool fgraph_row_is_valid(const struct fgraph_row *row)
{
	return BITS_PER_LONG == 64 ? row->tag : (u32)row->tag;
}

int fgraph_user_add(struct fgraph_ops *gops);
int fgraph_user_retire(struct fgraph_ops *gops);
void fgraph_user_remove(struct fgraph_ops *gops);
void fgraph_user_drop(struct fgraph_ops *gops);
void fgraph_synchronize(void);

#endif /* _FGRAPH_USERS_H */
