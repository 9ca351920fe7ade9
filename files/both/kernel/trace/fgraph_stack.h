/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow stack of a task: its layout, and push and pop.
 *
 * This is plain C on memory that the caller provides. tools/testing/fgraph also builds it in
 * user space and interrupts it at every instruction. Nothing here may sleep, lock or fault.
 *
 * What the words and the usual variable names mean:
 *
 *  slot	FGRAPH_SLOT bytes of a chunk, aligned; sizes are counted in slots
 *  record	a header of one slot, and the slots of private data right below it;
 *		records are frames and entries
 *  @head	the first word of a header: enum fgraph_kind, flags, number of
 *		slots of data, how many calls are hooked up to here
 *  @frame	one hooked call, and the private data of the user that opened it
 *  entry	another user of the call, which has joined the frame
 *  @top	the newest header of the stack
 *  @cover	a header on top that only says that callbacks run, while slots
 *		below it are being filled
 *  @slots	how many slots of data lie below a header
 *  @older	the next header further down; older records lie below newer ones
 *  @retp	the place of a return address: identifies the call
 *
 * This chunk has a call that three users have hooked. The data of the last one do not fit
 * into its header. Addresses grow upwards:
 *
 *	        +----------------------------+  end of the chunk
 *	        | free: first word is 0      |
 *	        +----------------------------+
 *	@top -> | entry of user 3            |  struct fgraph_entry, 2 slots
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
 * The size in each header leads down to the next header. The header of a chunk leads to the
 * top that the stack had in an older chunk. A chunk that became empty stays linked, for when
 * the stack grows again.
 *
 * These rules keep a stack consistent at any instant. Comments refer to them by name:
 *
 * RESTORE   An interrupt leaves the top and the records as it found them, or has dropped
 *           records of abandoned calls from the top (CLAIM); the top may then be a slot that
 *           is free now. Besides, it may link new chunks,
 *           change &fgraph_chunk.older_top of chunks above the top, and set FGRAPH_DONE_BELOW
 *           in frames. So code that leaves functions without returning from them, and may do
 *           so in an interrupt, drops their frames: fgraph_abandon_calls().
 * ZERO      The first word of each slot above the top is zero. A slot whose first word is
 *           zero is free, or is about to become a header, or has just been one; readers
 *           skip it. There may also be such slots below a cover.
 * TOP FIRST Push moves the top before it writes the record. An interrupt before that uses
 *           the same slots and leaves them zero; an interrupt after that works above them.
 * ONE STORE A header becomes FGRAPH_FRAME or FGRAPH_ENTRY by a single store, when the record
 *           is complete. Until then it is FGRAPH_RESERVED, which says the size, or zero if
 *           that is one slot. Pop takes the same steps backwards.
 * INSIDE    While a callback runs, the newest record says so by the bits FGRAPH_CONTEXT,
 *           and so does each record that is pushed on top of it, until it is free again. The
 *           top may be a free slot meanwhile: fgraph_newest().
 * CLAIM     An interrupt that needs room may drop records of abandoned calls from the top
 *           and reuse their slots. So code that drops such a record first claims it by a
 *           cmpxchg of its header, and code that reads one reads its members first and its
 *           header last: if the header is unchanged, the members were valid.
 *
 * Only the task itself writes to its stack, including the interrupts that hit it on its CPU.
 * Hence compiler barriers suffice for these rules. Other CPUs only read, and see the stores between
 * two barriers in any order. Two of their readers do so without a lock:
 *
 *  fgraph_stack_find()	  an unwinder of another task, follows nothing that it has not checked, but
 *			  the pointers to the stack and its chunks, which cmpxchg() publishes.
 *			  What it finds may be wrong if the task runs meanwhile
 *  fgraph_stack_empty()  checks nothing, but is only called when no user can push a record, and all
 *			  stores of pushes are visible (fgraph_synchronize()). Then headers only
 *			  become 0, and fgraph_stack_clean() orders that behind the slots of data
 */
#ifndef _FGRAPH_STACK_H
#define _FGRAPH_STACK_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/fgraph.h>
#ifdef CONFIG_FGRAPH_STUBS
#include <linux/fgraph_stubs.h>
#endif
#include <linux/math.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* One chunk holds 62 nested calls with one user, which suffices for most tasks. In bytes. */
#define FGRAPH_CHUNK_SIZE	4096UL
/* The size of chunks for records that no chunk of the usual size can hold, in bytes. */
#define FGRAPH_BIG_CHUNK_SIZE	8192UL

/* Bits 0-2 of a header: what it is the header of. */
enum fgraph_kind {
	FGRAPH_NONE,		/* a free slot */
	FGRAPH_RESERVED,	/* a record that is not complete yet or is being dropped */
	FGRAPH_DONE,		/* a record whose call returned while calls above it are alive */
	/* These are complete: fgraph_is_quiet() compares. */
	FGRAPH_FRAME,		/* struct fgraph_frame */
	FGRAPH_ENTRY,		/* struct fgraph_entry, of a frame further down */
	FGRAPH_CHUNK,		/* struct fgraph_chunk, the lowest header of a chunk */
};

#define FGRAPH_KIND_MASK	7UL
/* In a frame: the call was a tail call, and another frame of the same place is further down. */
#define FGRAPH_TAIL		BIT(3)
/*
 * That callback was reached from a function which another callback called, in the same kind
 * of context. Calls that it makes are missed, so that recursion ends: fgraph_recursion().
 */
#define FGRAPH_NESTED		BIT(4)
/*
 * In a frame: FGRAPH_DONE records are below, which must be dropped after this frame. The fast
 * path of a return does not do that, and is not taken with this flag.
 */
#define FGRAPH_DONE_BELOW	BIT(5)
/*
 * In an entry: the entry, the older entries of its frame and the frame take one slot each, have
 * only headers of chunks and free slots in between, and are linked by &fgraph_entry.older.
 */
#define FGRAPH_LINKED		BIT(6)
/* In a frame: a stub has called the function, so its return address is where it was. */
#define FGRAPH_STUB		BIT(6)
/* A callback runs for this record or for one further down. The sign for fgraph_is_quiet(). */
#define FGRAPH_INSIDE		BIT(7)
/*
 * In a frame: the address that the trampoline has replaced is one in a stub. The stub has called
 * the function that made this tail call, or the first one of a row of them. See fgraph_stubs.c.
 */
#define FGRAPH_AFTER_STUB	BIT(8)
/* Bits 9-15: how many slots of data lie below the header. */
#define FGRAPH_SLOTS_SHIFT	9
#define FGRAPH_SLOTS_MASK	(0x7fUL << FGRAPH_SLOTS_SHIFT)
/*
 * The bits from 16 on of a record: how many frames there are from the oldest one of the stack to
 * this record, modulo FGRAPH_NR_CALLS. They include frames that are being opened or are done, and
 * may include some that were abandoned and are gone.
 */
#define FGRAPH_CALLS_SHIFT	16
#define FGRAPH_CALL		BIT(FGRAPH_CALLS_SHIFT)	/* one of them */
/*
 * The highest bits, with FGRAPH_INSIDE: the context of the callback. Where a header has 64 bits,
 * this is preempt_count(), else only the kind of context that fgraph_level() gives.
 */
#define FGRAPH_COUNT_SHIFT	(BITS_PER_LONG == 64 ? 32 : 30)
#define FGRAPH_NR_CALLS		BIT(FGRAPH_COUNT_SHIFT - FGRAPH_CALLS_SHIFT)
#define FGRAPH_CALLS_MASK	((u32)(FGRAPH_NR_CALLS - 1) << FGRAPH_CALLS_SHIFT)
/* The bits of a header that describe a running callback. */
#define FGRAPH_CONTEXT		(FGRAPH_INSIDE | FGRAPH_NESTED | ~0UL << FGRAPH_COUNT_SHIFT)
/* The bits of a header that stay while the record is done or is being dropped. */
#define FGRAPH_STAYS		(FGRAPH_SLOTS_MASK | FGRAPH_CALLS_MASK | FGRAPH_CONTEXT)

/**
 * struct fgraph_entry - another user of a call that has a frame
 * @head:	the header: kind, flags and number of slots of data
 * @tag:	names the user by id and generation
 * @frame:	the frame of the call, further down
 * @row:	the user's row in the table of users
 * @older:	with FGRAPH_LINKED, the next older entry of the frame, or the frame
 * @data:	private data that fit here; larger ones are in the slots below
 */
struct fgraph_entry {
	unsigned long		head;
	aligned_u64		tag;
	struct fgraph_frame	*frame;
	struct fgraph_row	*row;
	void			*older;
	unsigned long		data[FGRAPH_HEADER_WORDS] __aligned(8);
};

/**
 * struct fgraph_chunk - header of a piece of shadow stack, followed by its records
 * @head:	FGRAPH_CHUNK
 * @older_top:	the top of the stack when this chunk was entered
 * @next:	the next newer chunk, or NULL; chunks stay linked until the stack is freed
 * @end:	first byte behind the chunk
 * @unused:	fills the slot
 */
struct fgraph_chunk {
	unsigned long		head;
	void			*older_top;
	struct fgraph_chunk	*next;
	void			*end;
	unsigned long		unused[FGRAPH_SLOT / sizeof(long) - 4];
};

/**
 * struct fgraph_stack - the shadow stack of a task
 * @top:	the newest header; that of the first chunk if the stack is empty
 * @first:	the first chunk, which follows this structure in the same memory
 * @list:	links stacks that are about to be freed
 * @unused:	fills the slot
 */
struct fgraph_stack {
	void			*top;
	struct fgraph_chunk	*first;
	struct fgraph_stack	*list;
	unsigned long		unused[FGRAPH_SLOT / sizeof(long) - 3];
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
 * The memory of chunks, in any context: from fgraph_reserve.c, or from a test in user space.
 * fgraph_chunk_take() returns zeroed memory that is aligned to @size, or NULL.
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
bool fgraph_stack_expose(struct fgraph_stack *st, struct fgraph_frame *frame);
void fgraph_stack_done(struct fgraph_stack *st, struct fgraph_frame *frame);
unsigned long fgraph_stack_find(struct fgraph_stack *st, unsigned long *cursor,
				unsigned long *low, unsigned long *high);
unsigned long fgraph_stack_find_own(struct fgraph_stack *st, unsigned long *cursor,
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
	return (head & FGRAPH_SLOTS_MASK) >> FGRAPH_SLOTS_SHIFT;
}

/* How many calls does a header count? */
static __always_inline unsigned int fgraph_calls(unsigned long head)
{
	return (head & FGRAPH_CALLS_MASK) >> FGRAPH_CALLS_SHIFT;
}

/* FGRAPH_CALLS_MASK of a header that counts one call more than @calls. */
static __always_inline u32 fgraph_one_more_call(unsigned long calls)
{
	/* With 64 bits, what overflows is cut off. */
	return (u32)(calls + FGRAPH_CALL) & (BITS_PER_LONG == 64 ? ~0U : FGRAPH_CALLS_MASK);
}

/* The depth of a call: how many calls are counted below its frame, which has this header. */
static __always_inline unsigned int fgraph_depth_of(unsigned long head)
{
	return (fgraph_calls(head) - 1) & (FGRAPH_NR_CALLS - 1);
}

/* The number of bytes that a record takes, header and data. */
static __always_inline unsigned long fgraph_size(unsigned long head)
{
	return ((head & FGRAPH_SLOTS_MASK) >> (FGRAPH_SLOTS_SHIFT - FGRAPH_SLOT_SHIFT)) +
	       FGRAPH_SLOT;
}

/*
 * Does a header say that no callback runs, and how many calls are hooked? One that is not
 * complete does not: an interrupt finds it. Such a header has no flags without FGRAPH_INSIDE.
 */
static __always_inline bool fgraph_is_quiet(unsigned long head)
{
	return likely((s8)head >= FGRAPH_FRAME);
}

/*
 * Read the member at @offset of a record, a pointer, and then the header. If @head turns out to be
 * the header of such a record, no interrupt has reused the slot before the member was read (CLAIM).
 */
static __always_inline void *fgraph_read(const void *rec, size_t offset, unsigned long *head)
{
	void *value = READ_ONCE(*(void *const *)(rec + offset));

	barrier();
	*head = fgraph_head(rec);
	return value;
}

/* The start of the private data of a record, which takes @slots slots. */
static __always_inline void *fgraph_data_in(const void *rec, unsigned long slots)
{
	if (unlikely(slots))
		return (void *)rec - (slots << FGRAPH_SLOT_SHIFT);
	return (void *)((const struct fgraph_entry *)rec)->data;
}

/* The start of the private data of a frame or an entry. */
static __always_inline void *fgraph_data(const void *rec, unsigned long head)
{
	if (likely(!(head & FGRAPH_SLOTS_MASK)))
		return (void *)((const struct fgraph_entry *)rec)->data;
	return fgraph_data_in(rec, fgraph_slots(head));
}

/* How many slots below the header @data_size bytes of private data need. */
static inline unsigned int fgraph_slots_for(size_t data_size)
{
	if (data_size <= sizeof_field(struct fgraph_entry, data))
		return 0;
	return DIV_ROUND_UP(data_size, FGRAPH_SLOT);
}

/* The next header below @rec; NULL at the bottom. Only for the task whose stack it is. */
static __always_inline void *fgraph_older(const void *rec)
{
	unsigned long head = fgraph_head(rec);

	if (unlikely(fgraph_kind(head) == FGRAPH_CHUNK))
		return READ_ONCE(((struct fgraph_chunk *)rec)->older_top);
	return (void *)rec - fgraph_size(head);
}

/* Is this, at entry, a tail call of a function that a stub has called? @ret is where it returns. */
static __always_inline bool fgraph_is_after_stub(unsigned long ret)
{
#ifdef CONFIG_FGRAPH_STUBS
	return fgraph_stub_is_return(ret);
#else
	return false;
#endif
}

/* Like fgraph_is_after_stub(), but may be true for another address, and makes no call. */
static __always_inline bool fgraph_may_be_after_stub(unsigned long ret)
{
#ifdef CONFIG_FGRAPH_STUBS
	return fgraph_stub_may_be_return(ret);
#else
	return false;
#endif
}

/* The address that the trampoline has replaced for a frame, which has the header @head. */
static __always_inline unsigned long fgraph_replaced(const struct fgraph_frame *frame,
						     unsigned long head)
{
#ifdef CONFIG_FGRAPH_STUBS
	if (unlikely(head & FGRAPH_AFTER_STUB))
		return fgraph_stubs_return;
#endif
	return READ_ONCE(frame->ret);
}

/*
 * Find the frame of a call whose return address is between @low and @high, from @rec downwards on
 * the stack of the current task. See fgraph_stack_find_own().
 */
static __always_inline const struct fgraph_frame *
fgraph_stack_find_from(const void *rec, unsigned long *cursor, unsigned long *low,
		       unsigned long *high)
{
	for (; rec; rec = fgraph_older(rec)) {
		const struct fgraph_frame *frame = rec;
		unsigned long head = fgraph_head(rec), *retp = READ_ONCE(frame->retp);

		if (retp >= low && retp <= high && fgraph_kind(head) == FGRAPH_FRAME) {
			*cursor = (unsigned long)rec - fgraph_size(head);
			return frame;
		}
	}
	return NULL;
}

/*
 * Is there no record on a stack? The task may run meanwhile, on another CPU. No user can push any
 * more, and fgraph_synchronize() was called since one could. So a stack that was seen empty stays
 * empty, but the task may still be about to move the top.
 *
 * The top may be an old one, with slots above the newest record that are free by now. Each step
 * depends on the header that it leaves, by its address: see fgraph_stack_clean().
 *
 * There may be free slots below the top: they are left there if an interrupt drops records of
 * abandoned calls when the task has read the top and is about to push.
 */
static inline bool fgraph_stack_empty(struct fgraph_stack *st)
{
	void *rec = READ_ONCE(st->top);

	while (rec != st->first) {
		enum fgraph_kind kind = fgraph_kind(fgraph_head(rec));

		if (kind != FGRAPH_NONE && kind != FGRAPH_CHUNK)
			return false;
		rec = fgraph_older(rec);
	}
	return true;
}

/*
 * Does a record of @size bytes surely fit into the chunk of @top? Chunks are aligned to their
 * size, so it does if it ends in the same FGRAPH_CHUNK_SIZE bytes.
 */
static __always_inline bool fgraph_stack_fits(const void *top, unsigned long size)
{
	const void *rec = top + size;

	if (__builtin_constant_p(size) && size == FGRAPH_SLOT)
		return (unsigned long)rec & (FGRAPH_CHUNK_SIZE - 1);
	return !(((unsigned long)rec ^ (unsigned long)top) & ~(FGRAPH_CHUNK_SIZE - 1));
}

/**
 * fgraph_stack_grow() - take slots above the top
 * @st:		the stack of the current task
 * @top:	the current top of the stack
 * @bytes:	how many bytes the new header and what lies below it need
 *
 * Context: any, preemption disabled.
 *
 * Return: the new top, which is still free; NULL if there is no memory.
 */
static __always_inline void *fgraph_stack_grow(struct fgraph_stack *st, void *top,
					       unsigned long bytes)
{
	if (unlikely(!fgraph_stack_fits(top, bytes)))
		return fgraph_stack_extend(st, bytes);
	WRITE_ONCE(st->top, top + bytes);
	barrier();	/* TOP FIRST */
	return top + bytes;
}

/**
 * fgraph_stack_reserve() - make room for a record
 * @st:		the stack of the current task
 * @top:	the current top of the stack
 * @slots:	how many slots of data the record has
 * @bits:	further bits for the header while the user's entry callback runs
 *
 * Context: any, preemption disabled.
 *
 * Return: the header, which is FGRAPH_RESERVED, while the members of the record are
 * undefined; NULL if there is no memory.
 */
static __always_inline void *fgraph_stack_reserve(struct fgraph_stack *st, void *top,
						  unsigned long slots, unsigned long bits)
{
	void *rec = fgraph_stack_grow(st, top, (slots + 1) << FGRAPH_SLOT_SHIFT);

	if (likely(rec))
		fgraph_set_head(rec, FGRAPH_RESERVED | slots << FGRAPH_SLOTS_SHIFT | bits);
	return rec;
}

/* Make a record visible to unwinders. All of its members must have been written. */
static __always_inline void fgraph_stack_commit(void *rec, unsigned long head)
{
	barrier();	/* ONE STORE */
	fgraph_set_head(rec, head);
	barrier();
}

/*
 * The size of a record leads to @rec. If that is the header of a chunk, the next record is in an
 * older chunk.
 */
static __always_inline void *fgraph_skip_chunk(void *rec)
{
	/* The header of a chunk is at its start, but for the first chunk, which has no older. */
	if (unlikely(!((unsigned long)rec & (FGRAPH_CHUNK_SIZE - 1))) &&
	    fgraph_kind(fgraph_head(rec)) == FGRAPH_CHUNK)
		return READ_ONCE(((struct fgraph_chunk *)rec)->older_top);
	return rec;
}

/*
 * Drop the header on top. Its record has no slots of data, or fgraph_stack_clean() has zeroed
 * them. @top is the new top.
 */
static __always_inline void fgraph_stack_drop_header(struct fgraph_stack *st, void *rec,
						     void *top)
{
	fgraph_set_head(rec, FGRAPH_NONE);
	barrier();
	WRITE_ONCE(st->top, top);
	barrier();
}

/* Zero the slots of data below a header that is about to be dropped (ZERO). */
static __always_inline void fgraph_stack_clean(void *rec, unsigned long slots)
{
	unsigned long i;

	/* Readers skip the data by the size in the header, until they are zero. */
	fgraph_set_head(rec, FGRAPH_RESERVED | (fgraph_head(rec) & FGRAPH_STAYS));
	barrier();
	for (i = 1; i <= slots; i++)
		fgraph_set_head(rec - i * FGRAPH_SLOT, FGRAPH_NONE);
	/*
	 * Pairs with the address dependency in fgraph_stack_empty(): a CPU that sees the header as
	 * 0, so that the slot below is the next that it looks at, sees that slot's 0, too.
	 */
	smp_wmb();
}

/*
 * Drop the record on top. The top moves to the next record, and not to the header of a chunk
 * that has become empty: it must be where it was before the push (RESTORE).
 */
static __always_inline void fgraph_stack_drop(struct fgraph_stack *st, void *rec)
{
	unsigned long slots = fgraph_slots(fgraph_head(rec));

	if (unlikely(slots))
		fgraph_stack_clean(rec, slots);
	fgraph_stack_drop_header(st, rec,
				 fgraph_skip_chunk(rec - ((slots + 1) << FGRAPH_SLOT_SHIFT)));
}

/*
 * The top record and its header, where an interrupt may drop the record (CLAIM). The top is
 * read again after the header, so that @head is not the header of a dropped record, unless the
 * top has come back to its slot, which is free then.
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
 * The newest record from the header @rec down, and its header: free slots and headers of chunks
 * are skipped. NULL, and a header of 0, if there is none.
 */
static inline void *fgraph_newest(const void *rec, unsigned long *head)
{
	for (; rec; rec = fgraph_older(rec)) {
		*head = fgraph_head(rec);
		if (fgraph_kind(*head) != FGRAPH_NONE && fgraph_kind(*head) != FGRAPH_CHUNK)
			return (void *)rec;
	}
	*head = 0;
	return NULL;
}

/*
 * Drop the record on top, unless an interrupt has dropped it since fgraph_stack_top() read
 * its header @head: then the header has changed and there is nothing to do (CLAIM).
 */
static __always_inline void fgraph_stack_drop_once(struct fgraph_stack *st, void *rec,
						   unsigned long head)
{
	unsigned long mine = FGRAPH_RESERVED | (head & FGRAPH_STAYS);

	if (cmpxchg_local((unsigned long *)rec, head, mine) == head)
		fgraph_stack_drop(st, rec);
}

/*
 * A callback that was called for @rec is over. Drop the records above, of calls which it made and
 * that will never return.
 */
static __always_inline void fgraph_stack_settle(struct fgraph_stack *st, void *rec)
{
	if (unlikely(READ_ONCE(st->top) != rec))
		fgraph_stack_pop_above(st, rec);
}

/**
 * fgraph_stack_pop() - drop a record and all records above it
 * @st:		the stack of the current task
 * @rec:	a record of the stack
 *
 * Context: any, preemption disabled.
 */
static __always_inline void fgraph_stack_pop(struct fgraph_stack *st, void *rec)
{
	fgraph_stack_settle(st, rec);
	fgraph_stack_drop(st, rec);
}

/* After a pop, drop the FGRAPH_DONE records that are on top now. */
static __always_inline void fgraph_stack_drop_done(struct fgraph_stack *st)
{
	unsigned long head;
	void *top;

	while (top = fgraph_stack_top(st, &head), fgraph_kind(head) == FGRAPH_DONE)
		fgraph_stack_drop_once(st, top, head);
}

/*
 * Drop a frame and its entries; @top is the newest of them, is on top of the stack and is
 * FGRAPH_LINKED. The headers are zeroed from the newest to the oldest, then the top moves in
 * one step. In between the top is a free slot, which ZERO allows.
 */
static __always_inline void fgraph_stack_drop_linked(struct fgraph_stack *st, void *top,
						     struct fgraph_frame *frame)
{
	struct fgraph_entry *entry;

	for (entry = top; (void *)entry != frame; entry = entry->older) {
		fgraph_set_head(entry, FGRAPH_NONE);
		barrier();
	}
	fgraph_stack_drop_header(st, frame, fgraph_skip_chunk((void *)frame - FGRAPH_SLOT));
}

/* The frame of a record, which may be the record itself; NULL for other headers. */
static __always_inline struct fgraph_frame *fgraph_frame_of(void *rec)
{
	unsigned long head;
	struct fgraph_frame *frame = fgraph_read(rec, offsetof(struct fgraph_entry, frame), &head);

	if (likely(fgraph_kind(head) == FGRAPH_FRAME))
		return rec;
	return fgraph_kind(head) == FGRAPH_ENTRY ? frame : NULL;
}

/* Is the record @frame itself, or one of its entries? */
static __always_inline bool fgraph_is_entry_of(const void *rec,
					       const struct fgraph_frame *frame)
{
	unsigned long head;
	const struct fgraph_frame *of = fgraph_read(rec, offsetof(struct fgraph_entry, frame),
						    &head);

	return rec == frame || (of == frame && fgraph_kind(head) == FGRAPH_ENTRY);
}

#endif /* _FGRAPH_STACK_H */
