/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow stack of a task: what it is made of, and push and pop.
 *
 * Plain C on memory it is handed: also built in user space, where it is
 * interrupted at every instruction. Nothing here may sleep, lock, or fault.
 *
 * What the words and the usual variable names mean:
 *
 *  slot	FGRAPH_SLOT bytes of a chunk, aligned. All is counted in slots
 *  record	a header, and the slots of private data right below it. Records
 *		are frames and entries
 *  @head	the first word of a header: enum fgraph_kind, flags, number of
 *		slots of data
 *  @frame	one hooked call, and the private data of the user that opened it
 *  entry	one more user of the call, who has joined the frame
 *  @top	the newest header of the stack
 *  @cover	a header on top that only says that callbacks run, while slots
 *		below it are being filled
 *  @below	how many slots of data lie below a header
 *  @retp	the place of a return address: identifies the call
 *
 * A chunk of a stack in which a call is hooked by three users, the last of whom
 * has data for which its header has no room; addresses grow upwards:
 *
 *	        +----------------------------+  end of the chunk
 *	        | free: first word is 0      |
 *	        +----------------------------+
 *	@top -> | entry of user 3            |  struct fgraph_entry, below = 2
 *	        +----------------------------+
 *	        | data of user 3             |
 *	        |                            |
 *	        +----------------------------+
 *	        | entry of user 2, with data |  joins: points to the frame
 *	        +----------------------------+
 *	        | frame, with data of user 1 |  struct fgraph_frame: func, ret, retp
 *	        +----------------------------+
 *	        | ... older calls            |
 *	        +----------------------------+
 *	        | header of the chunk        |  struct fgraph_chunk: leads to the
 *	        +----------------------------+  top of the chunk before
 *
 * The size in each header leads down to the next one, and the header of a chunk
 * to where the stack goes on in an older chunk. A chunk that is left stays
 * linked, for when the stack grows again.
 *
 * Rules that make any instant consistent:
 *
 * RESTORE   Whoever interrupts leaves the stack as found: the top is where it was. But
 *           see CLAIM.
 * ZERO      The first word of each slot above the top is zero. A slot whose header
 *           is zero is free, or about to become or just was a header. It is
 *           skipped. Below a cover there may be such slots, too.
 * TOP FIRST Push moves the top first. An interrupt before that uses the same slots
 *           and gives them back clean, one after that works above them.
 * ONE STORE A header becomes FGRAPH_FRAME or FGRAPH_ENTRY by a single store, when
 *           the record is complete. Until then it is FGRAPH_RESERVED, which only
 *           has a size, or still zero if that is one slot. Pop takes the same
 *           steps back.
 * INSIDE    While a callback runs, the newest header says so, by FGRAPH_CONTEXT;
 *           and so does whatever is pushed on top of it.
 * CLAIM     What was abandoned on top may be dropped by an interrupt, which needs
 *           room, and its slots used again. So it is claimed before it is dropped,
 *           and what it holds is read before its header: if that is still there,
 *           so was the rest.
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
#include <linux/stddef.h>
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
#define FGRAPH_NESTED		BIT(10)
/* In a frame: there are FGRAPH_DONE records somewhere below, to drop when it is gone. */
#define FGRAPH_DONE_BELOW	BIT(11)
/*
 * In an entry: it, the entries below it and their frame take one slot each, nothing
 * else is between them, and each leads to the next one by &fgraph_entry.below.
 */
#define FGRAPH_LINKED		BIT(12)
/* Bits 16-31: how many slots of data lie below the header. */
#define FGRAPH_BELOW_SHIFT	16
#define FGRAPH_BELOW_MASK	(0xffffUL << FGRAPH_BELOW_SHIFT)
/* Bits 32-63: preempt_count() while that callback runs. */
#define FGRAPH_COUNT_SHIFT	32
#define FGRAPH_CONTEXT		(FGRAPH_INSIDE | FGRAPH_NESTED | ~0UL << FGRAPH_COUNT_SHIFT)

/**
 * struct fgraph_entry - a further user of the call that the frame below is for
 * @head:	kind and size
 * @tag:	the user, by id and generation
 * @frame:	the frame
 * @row:	where the user stands in the table
 * @below:	the record below, with FGRAPH_LINKED
 * @data:	short private data
 */
struct fgraph_entry {
	unsigned long		head;
	unsigned long		tag;
	struct fgraph_frame	*frame;
	struct fgraph_row	*row;
	void			*below;
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

/**
 * struct fgraph_stack - the shadow stack of a task, at the start of its first chunk
 * @top:	the newest header; that of the chunk if nothing is in it
 * @first:	the first chunk, behind this structure in the same memory
 * @list:	links stacks that are about to be freed
 * @unused:	up to a slot
 */
struct fgraph_stack {
	void			*top;
	struct fgraph_chunk	*first;
	struct fgraph_stack	*list;
	unsigned long		unused[5];
};

static_assert(sizeof(struct fgraph_frame) == FGRAPH_SLOT);
static_assert(sizeof(struct fgraph_entry) == FGRAPH_SLOT);
static_assert(offsetof(struct fgraph_frame, tag) == offsetof(struct fgraph_entry, tag));
static_assert(offsetof(struct fgraph_frame, data) == offsetof(struct fgraph_entry, data));
static_assert(sizeof(struct fgraph_chunk) == FGRAPH_SLOT);
static_assert(sizeof(struct fgraph_stack) == FGRAPH_SLOT);
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
unsigned int fgraph_stack_reap(struct fgraph_stack *st, void *low, void *dead_below);
void fgraph_stack_pop_above(struct fgraph_stack *st, void *rec);
struct fgraph_frame *fgraph_stack_search(struct fgraph_stack *st,
					 unsigned long *retp);
bool fgraph_stack_uncover(struct fgraph_stack *st, struct fgraph_frame *frame);
void fgraph_stack_done(struct fgraph_stack *st, struct fgraph_frame *frame);
unsigned long fgraph_stack_find(struct fgraph_stack *st, unsigned long *cursor,
				unsigned long *low, unsigned long *high);

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

/* How many slots below the header @data_size bytes of private data need. */
static inline unsigned int fgraph_slots_below(size_t data_size)
{
	if (data_size <= sizeof_field(struct fgraph_entry, data))
		return 0;
	return DIV_ROUND_UP(data_size, FGRAPH_SLOT);
}

/* The record below one, for the task whose stack it is. NULL at the bottom. */
static __always_inline void *fgraph_below(const void *rec)
{
	unsigned long head = fgraph_head(rec);

	if (unlikely(fgraph_kind(head) == FGRAPH_CHUNK))
		return READ_ONCE(((struct fgraph_chunk *)rec)->below);
	return (void *)rec - fgraph_size(head);
}

/*
 * Is there no record on the stack of some task? If that can no longer push, a stack seen
 * empty stays so, but the task may still be about to move the top.
 *
 * Below the top may be free slots: code that was about to push when an interrupt dropped
 * what was on top leaves them there.
 */
static inline bool fgraph_stack_empty(struct fgraph_stack *st)
{
	void *rec = READ_ONCE(st->top);

	while (rec != st->first) {
		enum fgraph_kind kind = fgraph_kind(fgraph_head(rec));

		if (kind != FGRAPH_NONE && kind != FGRAPH_CHUNK)
			return false;
		rec = fgraph_below(rec);
	}
	return true;
}

/* Chunks are aligned: a record in the same 4096 bytes as the top surely fits. */
static __always_inline bool fgraph_stack_fits(const void *top, unsigned long size)
{
	const void *rec = top + size;

	return !(((unsigned long)rec ^ (unsigned long)top) & ~(FGRAPH_CHUNK_SIZE - 1));
}

/* How many records of one slot surely fit, by the same reasoning. */
static __always_inline unsigned long fgraph_slots_left(const void *top)
{
	return (~(unsigned long)top & (FGRAPH_CHUNK_SIZE - 1)) >> FGRAPH_SLOT_SHIFT;
}

/**
 * fgraph_stack_reserve() - make room for a record
 * @st:		the stack of the current task
 * @top:	its top
 * @below:	how many slots of data the record has
 * @context:	what to have in the header until then, for INSIDE
 *
 * Context: any, preemption disabled.
 *
 * Return: the header, FGRAPH_RESERVED, all else undefined; or NULL if there is
 * no memory.
 */
static __always_inline void *fgraph_stack_reserve(struct fgraph_stack *st, void *top,
						  unsigned long below, unsigned long context)
{
	unsigned long size = (below + 1) << FGRAPH_SLOT_SHIFT;
	void *rec = top + size;

	if (unlikely(!fgraph_stack_fits(top, size))) {
		rec = fgraph_stack_extend(st, size);
		if (!rec)
			return NULL;
	} else {
		WRITE_ONCE(st->top, rec);
	}
	barrier();	/* TOP FIRST */
	fgraph_set_head(rec, FGRAPH_RESERVED | below << FGRAPH_BELOW_SHIFT | context);
	return rec;
}

/* Make a complete record visible. */
static __always_inline void fgraph_stack_commit(void *rec, unsigned long head)
{
	barrier();	/* ONE STORE */
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

	/* The size must hold until the data is clean: ZERO. */
	fgraph_set_head(rec, FGRAPH_RESERVED | below << FGRAPH_BELOW_SHIFT);
	barrier();
	for (i = 1; i <= below; i++)
		fgraph_set_head(rec - i * FGRAPH_SLOT, FGRAPH_NONE);
	barrier();
}

/*
 * Drop the record on top. The top is then the next record, not the header of a
 * chunk that has become empty: RESTORE.
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
 * What is on top, with its header, where an interrupt may drop it (CLAIM): never the
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
 * Drop a frame and its entries, the newest of which is on top and FGRAPH_LINKED. The
 * headers go from the newest to the oldest, then the top in one step: in between it is
 * on a slot that is free, which ZERO allows.
 */
static __always_inline void fgraph_stack_drop_linked(struct fgraph_stack *st, void *top,
						     struct fgraph_frame *frame)
{
	struct fgraph_entry *entry;

	for (entry = top; (void *)entry != frame; entry = entry->below) {
		fgraph_set_head(entry, FGRAPH_NONE);
		barrier();
	}
	fgraph_stack_drop_header(st, frame, (void *)frame - FGRAPH_SLOT);
}

/* The frame that a record is, or is an entry of; NULL if it is neither. */
static __always_inline struct fgraph_frame *fgraph_frame_of(void *rec)
{
	/* CLAIM: before the header */
	struct fgraph_frame *frame = READ_ONCE(((struct fgraph_entry *)rec)->frame);
	enum fgraph_kind kind = fgraph_kind(fgraph_head(rec));

	if (likely(kind == FGRAPH_FRAME))
		return rec;
	return kind == FGRAPH_ENTRY ? frame : NULL;
}

/* Is this a record that names a user of @frame, which is below or the same? */
static __always_inline bool fgraph_is_entry_of(const void *rec,
					       const struct fgraph_frame *frame)
{
	/* CLAIM: before the header */
	const struct fgraph_frame *of = READ_ONCE(((struct fgraph_entry *)rec)->frame);

	return rec == frame || (of == frame && fgraph_kind(fgraph_head(rec)) == FGRAPH_ENTRY);
}

#endif /* _FGRAPH_STACK_H */
