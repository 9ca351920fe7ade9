/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow stack of a task: what it is made of, and push and pop.
 *
 * Plain C on memory it is handed: also built in user space, where it is
 * interrupted at every instruction. Nothing here may sleep, lock, or fault.
 *
 * A stack is a chain of chunks, each cut into slots of FGRAPH_SLOT bytes. A
 * record takes one slot for its header and, if its private data does not fit
 * there, further slots *below* the header. So the newest header is at the top,
 * and from each header the size of the record leads down to the next one.
 *
 * Rules that make any instant consistent:
 *
 * (1) Whoever interrupts leaves the stack as found: the top is where it was, and
 * (2) the first word of each slot above the top is zero: a slot whose header is
 *     zero is free, or about to become or just was a header. It is skipped. There
 *     may be such slots below the top as well, of users who are being asked.
 * (3) push moves the top first. An interrupt before that uses the same slots
 *     and gives them back clean, one after that works above them.
 * (4) A header becomes FGRAPH_FRAME or FGRAPH_ENTRY by a single store, when the
 *     record is complete. Until then it is FGRAPH_RESERVED, which only has a
 *     size, or still zero if that is one slot. pop takes the same steps back.
 * (5) While a callback runs, the newest header says so, by FGRAPH_CONTEXT; and
 *     so does whatever is pushed on top of it.
 * (6) What was abandoned on top may be dropped by an interrupt, which needs room,
 *     and its slots used again. So it is claimed before it is dropped, and what it
 *     holds is read before its header: if that is still there, so was the rest.
 *
 * All stores of one stack are made by its task, in whatever context it is
 * interrupted in. Hence compiler barriers are all the ordering there is; others
 * only read, and check what they read (fgraph_stack_find()).
 */
#ifndef _FGRAPH_STACK_H
#define _FGRAPH_STACK_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/fgraph.h>
#include <linux/math.h>
#include <linux/types.h>

#define FGRAPH_SLOT_SHIFT	6
#define FGRAPH_SLOT		BIT(FGRAPH_SLOT_SHIFT)

/* Most tasks never need more than one chunk: 62 nested calls with one user. */
#define FGRAPH_CHUNK_SIZE	4096UL
/* For records that no chunk of the usual size can hold. */
#define FGRAPH_BIG_CHUNK_SIZE	8192UL

/* Bits 0-7 of a header: what it is. */
enum fgraph_kind {
	FGRAPH_NONE,		/* nothing, one slot */
	FGRAPH_RESERVED,	/* not complete yet, or being dropped */
	FGRAPH_FRAME,		/* struct fgraph_frame */
	FGRAPH_ENTRY,		/* struct fgraph_entry, of the frame below it */
	FGRAPH_CHUNK,		/* struct fgraph_chunk: nothing below it here */
	FGRAPH_DONE,		/* was a frame or entry, returned under live ones */
};

#define FGRAPH_KIND_MASK	0xffUL
/* The call was a tail call: a frame for the same return is below this one. */
#define FGRAPH_TAIL		BIT(8)
/* A callback runs in this record, or in one further down, ... */
#define FGRAPH_INSIDE		BIT(9)
/* ... and it was called when another one ran in the same context. */
#define FGRAPH_AGAIN		BIT(10)
/* In a frame: there are FGRAPH_DONE records right below, to drop with it. */
#define FGRAPH_OVER		BIT(11)
/* In an entry: from here to its frame there are only entries of that. */
#define FGRAPH_RUN		BIT(12)
/* With that: none of these entries has data below its header. */
#define FGRAPH_FLAT		BIT(13)
/* With that, and known users: each of them is older, by its tag, than the one below. */
#define FGRAPH_FALLING		BIT(14)
#define FGRAPH_RUN_BITS		(FGRAPH_RUN | FGRAPH_FALLING | FGRAPH_FLAT)
/* Bits 16-31: how many slots of data lie below the header. */
#define FGRAPH_BELOW_SHIFT	16
#define FGRAPH_BELOW_MASK	(0xffffUL << FGRAPH_BELOW_SHIFT)
/* Bits 32-63: preempt_count() while that callback runs. */
#define FGRAPH_COUNT_SHIFT	32
#define FGRAPH_CONTEXT		(FGRAPH_INSIDE | FGRAPH_AGAIN | ~0UL << FGRAPH_COUNT_SHIFT)

/**
 * struct fgraph_entry - a further user of the call that the frame below is for
 * @head:	kind and size
 * @tag:	the user, by id and generation
 * @frame:	the frame
 * @users:	fgraph_user_bit() of each user from here to the frame, or 0 if nobody
 *		has asked for that yet; with FGRAPH_RUN
 * @slot:	the user's, in the table
 * @data:	short private data
 */
struct fgraph_entry {
	unsigned long		head;
	unsigned long		tag;
	struct fgraph_frame	*frame;
	unsigned long		users;
	struct fgraph_slot	*slot;
	unsigned long		data[3];
};

/**
 * struct fgraph_chunk - a piece of shadow stack; its records follow
 * @head:	FGRAPH_CHUNK
 * @below:	top of the stack when this chunk was entered
 * @next:	the chunk to go on with, or NULL. Chunks stay linked until freed
 * @end:	first byte behind the chunk
 * @unused:	up to a slot
 */
struct fgraph_chunk {
	unsigned long		head;
	void			*below;
	struct fgraph_chunk	*next;
	void			*end;
	unsigned long		unused[4];
};

/* A task-local word. Belongs to whoever has the tag, else reads as zero. */
struct fgraph_word {
	unsigned long		tag;
	unsigned long		value;
} __aligned(2 * sizeof(long));

#define FGRAPH_INLINE_WORDS	2
#define FGRAPH_CHUNK_WORDS	(FGRAPH_CHUNK_SIZE / sizeof(struct fgraph_word) - 1)

/* More words, in a chunk of their own. */
struct fgraph_words {
	struct fgraph_words	*next;
	unsigned long		unused;
	struct fgraph_word	word[FGRAPH_CHUNK_WORDS];
};

/**
 * struct fgraph_stack - the shadow stack of a task, at the start of its first chunk
 * @top:	the newest header; that of the chunk if nothing is in it
 * @first:	the first chunk, behind this structure in the same memory
 * @words:	task-local words of users that have no inline one
 * @list:	links stacks that are about to be freed
 * @word:	the first task-local words
 */
struct fgraph_stack {
	void			*top;
	struct fgraph_chunk	*first;
	struct fgraph_words	*words;
	struct fgraph_stack	*list;
	struct fgraph_word	word[FGRAPH_INLINE_WORDS];
};

static_assert(sizeof(struct fgraph_frame) == FGRAPH_SLOT);
static_assert(sizeof(struct fgraph_entry) == FGRAPH_SLOT);
static_assert(offsetof(struct fgraph_frame, tag) == offsetof(struct fgraph_entry, tag));
static_assert(offsetof(struct fgraph_frame, data) == offsetof(struct fgraph_entry, data));
static_assert(sizeof(struct fgraph_chunk) == FGRAPH_SLOT);
static_assert(sizeof(struct fgraph_stack) == FGRAPH_SLOT);
static_assert(sizeof(struct fgraph_words) == FGRAPH_CHUNK_SIZE);
static_assert(DIV_ROUND_UP(FGRAPH_MAX_DATA_SIZE, FGRAPH_SLOT) + 2 <=
	      FGRAPH_BIG_CHUNK_SIZE / FGRAPH_SLOT);

/*
 * Where chunks come from, in any context: fgraph_reserve.c, or a test. All
 * zero, @size aligned to itself. Returns NULL if there is none.
 */
void *fgraph_chunk_take(size_t size);
void fgraph_chunk_refill(void);
void fgraph_chunk_give(void *chunk, size_t size);

struct fgraph_stack *fgraph_stack_init(void *memory);
unsigned int fgraph_stack_free(struct fgraph_stack *st);
void fgraph_stack_add(struct fgraph_stack *st, void *memory, size_t size);
void *fgraph_stack_extend(struct fgraph_stack *st, size_t bytes);
unsigned int fgraph_stack_reap(struct fgraph_stack *st, void *low, void *high);
void fgraph_stack_pop_above(struct fgraph_stack *st, void *rec);
struct fgraph_frame *fgraph_stack_search(struct fgraph_stack *st,
					 unsigned long *retp);
bool fgraph_stack_uncover(struct fgraph_stack *st, struct fgraph_frame *frame);
void fgraph_stack_done(struct fgraph_stack *st, struct fgraph_frame *frame);
void fgraph_run_complete(struct fgraph_entry *top, struct fgraph_frame *frame);
unsigned long fgraph_stack_find(struct fgraph_stack *st, unsigned long *cursor,
				unsigned long *low, unsigned long *high);
struct fgraph_word *fgraph_stack_word(struct fgraph_stack *st, unsigned int index);

static __always_inline unsigned long fgraph_head(const void *rec)
{
	return READ_ONCE(*(const unsigned long *)rec);
}

static __always_inline void fgraph_set_head(void *rec, unsigned long head)
{
	WRITE_ONCE(*(unsigned long *)rec, head);
}

static __always_inline enum fgraph_kind fgraph_kind(unsigned long head)
{
	return head & FGRAPH_KIND_MASK;
}

static __always_inline unsigned long fgraph_slots(unsigned long head)
{
	return (u16)(head >> FGRAPH_BELOW_SHIFT);
}

/* Bytes that a record takes. */
static __always_inline unsigned long fgraph_size(unsigned long head)
{
	return (fgraph_slots(head) + 1) << FGRAPH_SLOT_SHIFT;
}

/* The start of data that lies below its header. */
static __always_inline void *fgraph_data_below(const void *rec, unsigned long head)
{
	return (void *)rec - (fgraph_slots(head) << FGRAPH_SLOT_SHIFT);
}

/* That of a frame or an entry. */
static __always_inline void *fgraph_data(const void *rec, unsigned long head)
{
	if (unlikely(fgraph_slots(head)))
		return fgraph_data_below(rec, head);
	return (void *)((const struct fgraph_entry *)rec)->data;
}

/* A record with private data, at @inside if that is short. */
static inline struct fgraph_record fgraph_record(enum fgraph_kind kind, size_t data, int inside)
{
	unsigned long below = data <= FGRAPH_SLOT - inside ? 0 : DIV_ROUND_UP(data, FGRAPH_SLOT);

	return (struct fgraph_record) {
		.head = kind | below << FGRAPH_BELOW_SHIFT |
			(kind != FGRAPH_ENTRY ? 0 : below ? FGRAPH_RUN | FGRAPH_FALLING :
							    FGRAPH_RUN_BITS),
		.reserved = FGRAPH_RESERVED | below << FGRAPH_BELOW_SHIFT,
		.size = (below + 1) << FGRAPH_SLOT_SHIFT,
		.data = below ? -(below << FGRAPH_SLOT_SHIFT) : inside,
	};
}

/*
 * Is there no frame on the stack of some task? If that can no longer push, a
 * stack seen empty stays so.
 */
static __always_inline bool fgraph_stack_empty(struct fgraph_stack *st)
{
	return READ_ONCE(st->top) == st->first;
}

/* The record below one, for the task whose stack it is. NULL at the bottom. */
static __always_inline void *fgraph_below(const void *rec)
{
	unsigned long head = fgraph_head(rec);

	if (unlikely(fgraph_kind(head) == FGRAPH_CHUNK))
		return READ_ONCE(((struct fgraph_chunk *)rec)->below);
	return (void *)rec - fgraph_size(head);
}

/* Chunks are aligned: a record in the same 4096 bytes as the top surely fits. */
static __always_inline bool fgraph_stack_fits(const void *top, unsigned long size)
{
	const void *rec = top + size;

	return !(((unsigned long)rec ^ (unsigned long)top) & ~(FGRAPH_CHUNK_SIZE - 1));
}

/* Records are aligned, too: it is the next one that may be in other 4096 bytes. */
static __always_inline bool fgraph_stack_fits_slot(const void *top)
{
	return (unsigned long)(top + FGRAPH_SLOT) & (FGRAPH_CHUNK_SIZE - 1);
}

/* And so many do. */
static __always_inline unsigned long fgraph_slots_left(const void *top)
{
	return (~(unsigned long)top & (FGRAPH_CHUNK_SIZE - 1)) >> FGRAPH_SLOT_SHIFT;
}

/**
 * fgraph_stack_reserve() - make room for a record
 * @st:		the stack of the current task
 * @top:	its top
 * @what:	the record
 * @context:	what to have in the header until then, for (5)
 *
 * Context: any, preemption disabled.
 *
 * Return: the header, FGRAPH_RESERVED, all else undefined; or NULL if there is
 * no memory.
 */
static __always_inline void *fgraph_stack_reserve(struct fgraph_stack *st, void *top,
						  const struct fgraph_record *what,
						  unsigned long context)
{
	void *rec = top + what->size;

	if (unlikely(!fgraph_stack_fits(top, what->size))) {
		rec = fgraph_stack_extend(st, what->size);
		if (!rec)
			return NULL;
	} else {
		WRITE_ONCE(st->top, rec);
	}
	barrier();	/* (3) */
	fgraph_set_head(rec, what->reserved | context);
	return rec;
}

/* As that, for a record of one slot that surely fits. The header is still zero. */
static __always_inline void *fgraph_stack_reserve_slot(struct fgraph_stack *st, void *top)
{
	void *rec = top + FGRAPH_SLOT;

	WRITE_ONCE(st->top, rec);
	barrier();	/* (3) */
	return rec;
}

/* Make a complete record visible. */
static __always_inline void fgraph_stack_commit(void *rec, unsigned long head)
{
	barrier();	/* (4) */
	fgraph_set_head(rec, head);
	barrier();
}

/* The record below one, where its size leads to @below. */
static __always_inline void *fgraph_record_below(void *below)
{
	/* Chunks but the first, whose header comes second, begin there. */
	if (unlikely(!((unsigned long)below & (FGRAPH_CHUNK_SIZE - 1))) &&
	    fgraph_kind(fgraph_head(below)) == FGRAPH_CHUNK)
		return READ_ONCE(((struct fgraph_chunk *)below)->below);
	return below;
}

/*
 * Drop a header on top, of a record without data below or whose data is clean.
 * @top is what the size leads to.
 */
static __always_inline void fgraph_stack_drop_header(struct fgraph_stack *st, void *rec,
						     void *top)
{
	fgraph_set_head(rec, FGRAPH_NONE);
	barrier();
	WRITE_ONCE(st->top, fgraph_record_below(top));
	barrier();
}

/* Clean the data below a header that is to be dropped. */
static __always_inline void fgraph_stack_clean(void *rec, unsigned long below)
{
	unsigned long i;

	/* The size must hold until the data is clean: (2). */
	fgraph_set_head(rec, FGRAPH_RESERVED | below << FGRAPH_BELOW_SHIFT);
	barrier();
	for (i = 1; i <= below; i++)
		fgraph_set_head(rec - i * FGRAPH_SLOT, FGRAPH_NONE);
	barrier();
}

/*
 * Drop the record on top. The top is then the next record, not the header of a
 * chunk that has become empty: (1).
 */
static __always_inline void fgraph_stack_drop(struct fgraph_stack *st, void *rec)
{
	unsigned long below = fgraph_slots(fgraph_head(rec));
	void *top = rec - ((below + 1) << FGRAPH_SLOT_SHIFT);

	if (unlikely(below))
		fgraph_stack_clean(rec, below);
	fgraph_stack_drop_header(st, rec, top);
}

/*
 * What is on top, with its header, where an interrupt may drop it (6): never the
 * header of one that has gone.
 */
static __always_inline void *fgraph_stack_top(struct fgraph_stack *st, unsigned long *head)
{
	void *top;

	do {
		top = READ_ONCE(st->top);
		*head = fgraph_head(top);
	} while (unlikely(READ_ONCE(st->top) != top));
	return top;
}

/*
 * As fgraph_stack_drop(), for a record that an interrupt may drop as well: then
 * its header is not @head any more, and there is nothing to do. @head is as
 * fgraph_stack_top() found it.
 */
static __always_inline void fgraph_stack_drop_once(struct fgraph_stack *st, void *rec,
						   unsigned long head)
{
	unsigned long mine = FGRAPH_RESERVED | (head & FGRAPH_BELOW_MASK);

	if (cmpxchg_local((unsigned long *)rec, head, mine) == head)
		fgraph_stack_drop(st, rec);
}

/**
 * fgraph_stack_pop() - drop a record and all that is above it
 * @st:		the stack of the current task
 * @rec:	a record of it
 *
 * Context: any, preemption disabled.
 */
static __always_inline void fgraph_stack_pop(struct fgraph_stack *st, void *rec)
{
	if (unlikely(READ_ONCE(st->top) != rec))
		fgraph_stack_pop_above(st, rec);
	fgraph_stack_drop(st, rec);
}

/* After a pop: drop what had to wait for that. */
static __always_inline void fgraph_stack_drop_done(struct fgraph_stack *st)
{
	unsigned long head;
	void *top;

	while (top = fgraph_stack_top(st, &head), fgraph_kind(head) == FGRAPH_DONE)
		fgraph_stack_drop_once(st, top, head);
}

/*
 * Drop a frame and the run of entries on it, whose newest is on top. The headers
 * go from the newest to the oldest, then the top in one step: it is on a slot
 * that is free (2) in between, and all below as well, or still to be dropped.
 */
static __always_inline void fgraph_stack_drop_run(struct fgraph_stack *st, void *rec,
						  struct fgraph_frame *frame)
{
	while (rec != frame) {
		unsigned long below = fgraph_slots(fgraph_head(rec));
		void *next = rec - ((below + 1) << FGRAPH_SLOT_SHIFT);

		if (unlikely(below))
			fgraph_stack_clean(rec, below);
		fgraph_set_head(rec, FGRAPH_NONE);
		barrier();
		rec = fgraph_record_below(next);
	}
	fgraph_stack_drop(st, rec);
}

/*
 * Where records of one slot each, from @rec down to @frame, lie side by side: how
 * far down they do. That is @frame, or the first slot of a chunk, or what may be one.
 */
static __always_inline void *fgraph_stack_adjacent(void *rec, struct fgraph_frame *frame)
{
	unsigned long start = ((unsigned long)rec - 1) & ~(FGRAPH_CHUNK_SIZE - 1);

	return (unsigned long)frame - start < FGRAPH_CHUNK_SIZE ? frame : (void *)start;
}

/* Drop the headers of those that lie side by side, down to @end. */
static __always_inline void fgraph_stack_drop_adjacent(void *rec, void *end)
{
	do {
		fgraph_set_head(rec, FGRAPH_NONE);
		barrier();
		rec -= FGRAPH_SLOT;
	} while (rec != end);
}

/*
 * As fgraph_stack_drop_run(), where each takes one slot, and somebody has joined.
 * @end: fgraph_stack_adjacent() of @rec
 */
static __always_inline void fgraph_stack_drop_flat(struct fgraph_stack *st, void *rec, void *end,
						   struct fgraph_frame *frame)
{
	fgraph_stack_drop_adjacent(rec, end);
	while (unlikely(end != frame)) {
		rec = fgraph_record_below(end);
		if (rec == frame)
			break;
		end = fgraph_stack_adjacent(rec, frame);
		fgraph_stack_drop_adjacent(rec, end);
	}
	fgraph_stack_drop_header(st, frame, (void *)frame - FGRAPH_SLOT);
}

/* The frame that a record is, or is an entry of; NULL if it is neither. */
static __always_inline struct fgraph_frame *fgraph_frame_of(void *rec)
{
	/* (6) */
	struct fgraph_frame *frame = READ_ONCE(((struct fgraph_entry *)rec)->frame);
	enum fgraph_kind kind = fgraph_kind(fgraph_head(rec));

	if (likely(kind == FGRAPH_FRAME))
		return rec;
	return kind == FGRAPH_ENTRY ? frame : NULL;
}

/* Of 64 users, no two ids that follow each other have the same. */
static __always_inline unsigned long fgraph_user_bit(unsigned long tag)
{
	return 1UL << (tag % BITS_PER_LONG);
}

/*
 * The frame that one more can join on @top, which has that header, without more
 * ado: NULL if there is none. @users: who may be in it; 0 if that takes a
 * fgraph_run_complete(). @bits: what all who join have of FGRAPH_RUN_BITS.
 */
static __always_inline struct fgraph_frame *fgraph_run_of(void *top, unsigned long head,
							  unsigned long *users,
							  unsigned long *bits)
{
	struct fgraph_entry *entry = top;
	struct fgraph_frame *frame;

	if (fgraph_kind(head) == FGRAPH_FRAME) {
		*users = fgraph_user_bit(((struct fgraph_frame *)top)->tag);
		*bits = FGRAPH_RUN_BITS;
		return top;
	}
	if (!(head & FGRAPH_RUN))
		return NULL;
	*users = READ_ONCE(entry->users);
	*bits = head & FGRAPH_RUN_BITS;
	frame = READ_ONCE(entry->frame);
	/* (6) */
	return likely(fgraph_head(top) == head) ? frame : NULL;
}

/* The header of an entry with this tag there. @head: its usual one. */
static __always_inline unsigned long fgraph_run_head(const void *top, unsigned long bits,
						     unsigned long head, unsigned long tag)
{
	head &= bits | ~FGRAPH_RUN_BITS;
	/* A frame has its tag where an entry has it. */
	return tag < ((const struct fgraph_entry *)top)->tag ? head : head & ~FGRAPH_FALLING;
}

/* Is this a record that names a user of @frame, which is below or the same? */
static __always_inline bool fgraph_is_entry_of(const void *rec,
					       const struct fgraph_frame *frame)
{
	/* (6) */
	const struct fgraph_frame *of = READ_ONCE(((struct fgraph_entry *)rec)->frame);

	return rec == frame || (of == frame && fgraph_kind(fgraph_head(rec)) == FGRAPH_ENTRY);
}

#endif /* _FGRAPH_STACK_H */
