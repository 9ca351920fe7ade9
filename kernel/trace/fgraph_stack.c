// SPDX-License-Identifier: GPL-2.0
/*
 * The shadow stack of a task: growing, searching, freeing. See fgraph_stack.h.
 */
#include <linux/kprobes.h>
#include <linux/thread_info.h>

#include "fgraph_stack.h"

/**
 * fgraph_stack_init() - make a stack in a chunk
 * @memory:	a chunk of FGRAPH_CHUNK_SIZE bytes, all zero
 *
 * Return: the stack, empty.
 */
struct fgraph_stack *fgraph_stack_init(void *memory)
{
	struct fgraph_stack *st = memory;
	struct fgraph_chunk *first = memory + FGRAPH_SLOT;

	first->head = FGRAPH_CHUNK;
	first->end = memory + FGRAPH_CHUNK_SIZE;
	st->first = first;
	st->top = first;
	return st;
}
NOKPROBE_SYMBOL(fgraph_stack_init);

/* The chunk that has @p in it, among those before @stop. */
static struct fgraph_chunk *chunk_of(struct fgraph_stack *st, const void *p,
				     const struct fgraph_chunk *stop)
{
	struct fgraph_chunk *c;

	for (c = st->first; c && c != stop; c = READ_ONCE(c->next)) {
		if (p >= (void *)c && p < c->end)
			return c;
	}
	return NULL;
}
NOKPROBE_SYMBOL(chunk_of);

static size_t chunk_size(struct fgraph_stack *st, struct fgraph_chunk *c)
{
	return c->end - (c == st->first ? (void *)st : (void *)c);
}

/**
 * fgraph_stack_free() - give all memory of a stack back
 * @st:		a stack that nobody uses or reads any more
 *
 * Return: the number of chunks that it had.
 */
unsigned int fgraph_stack_free(struct fgraph_stack *st)
{
	struct fgraph_chunk *c, *next;
	unsigned int chunks = 1;

	for (c = st->first->next; c; c = next, chunks++) {
		next = c->next;
		fgraph_chunk_give(c, chunk_size(st, c));
	}
	fgraph_chunk_give(st, FGRAPH_CHUNK_SIZE);
	return chunks;
}

/**
 * fgraph_stack_add() - add a chunk to a stack
 * @st:		the stack of the current task
 * @memory:	what fgraph_chunk_take() gave
 * @size:	its size
 *
 * An interrupt may add chunks at any point here: then ours comes behind them.
 */
void fgraph_stack_add(struct fgraph_stack *st, void *memory, size_t size)
{
	struct fgraph_chunk *new = memory, *c = st->first, *next;

	new->head = FGRAPH_CHUNK;
	new->end = memory + size;
	/* The exchange also orders: whoever sees the chunk sees its end. */
	while ((next = cmpxchg(&c->next, NULL, new)))
		c = next;
}
NOKPROBE_SYMBOL(fgraph_stack_add);

/**
 * fgraph_stack_extend() - make room for a record that may not fit in the chunk
 * @st:		the stack of the current task
 * @bytes:	size of the record
 *
 * The cold half of fgraph_stack_reserve().
 *
 * Return: where the header goes, the top being moved there; NULL if there is
 * no memory.
 */
void *fgraph_stack_extend(struct fgraph_stack *st, size_t bytes)
{
	void *top = READ_ONCE(st->top);
	struct fgraph_chunk *c = chunk_of(st, top, NULL), *next;
	void *rec;

	/* In the second half of a big chunk? */
	if (top + bytes < c->end) {
		rec = top + bytes;
		WRITE_ONCE(st->top, rec);
		return rec;
	}

	for (;; c = next) {
		next = READ_ONCE(c->next);
		if (!next) {
			size_t size = bytes + sizeof(*c) > FGRAPH_CHUNK_SIZE ?
				      FGRAPH_BIG_CHUNK_SIZE : FGRAPH_CHUNK_SIZE;
			void *memory = fgraph_chunk_take(size);

			if (memory)
				fgraph_stack_add(st, memory, size);
			fgraph_chunk_refill();
			if (!memory)
				return NULL;
			next = READ_ONCE(c->next);
		}
		if ((void *)(next + 1) + bytes <= next->end)
			break;
	}

	rec = (void *)next + bytes;
	WRITE_ONCE(next->below, top);
	barrier();
	WRITE_ONCE(st->top, rec);
	barrier();
	/*
	 * Between the two stores an interrupt may have come here through a
	 * chunk that is too small for us. What it left leads down as well, but
	 * past empty slots.
	 */
	WRITE_ONCE(next->below, top);
	return rec;
}
NOKPROBE_SYMBOL(fgraph_stack_extend);

/**
 * fgraph_stack_reap() - drop frames on top that can never return
 * @st:		the stack of the current task
 * @low:	the machine stack of the current call
 * @dead_below: the lowest place of a return address on it that may be alive
 *
 * A frame whose place is in between belongs to a call that was abandoned: the
 * CPU went offline in it, or the stack was rewound. Stops at the first record
 * that may be alive.
 *
 * An interrupt may do the same meanwhile.
 *
 * Return: the number of records dropped.
 */
unsigned int fgraph_stack_reap(struct fgraph_stack *st, void *low, void *dead_below)
{
	unsigned int dropped = 0;
	unsigned long head;

	for (;; dropped++) {
		void *top = fgraph_stack_top(st, &head);
		struct fgraph_frame *frame = fgraph_frame_of(top);

		if (fgraph_kind(head) != FGRAPH_DONE &&
		    (!frame || (void *)frame->retp < low || (void *)frame->retp >= dead_below))
			return dropped;
		fgraph_stack_drop_once(st, top, head);
	}
}
NOKPROBE_SYMBOL(fgraph_stack_reap);

/**
 * fgraph_stack_pop_above() - drop what is above a record and was abandoned
 * @st:		the stack of the current task
 * @rec:	a record of it, which nobody else drops
 *
 * An interrupt may do the same meanwhile.
 */
void fgraph_stack_pop_above(struct fgraph_stack *st, void *rec)
{
	unsigned long head;
	void *top;

	while ((top = fgraph_stack_top(st, &head)) != rec)
		fgraph_stack_drop_once(st, top, head);
}
NOKPROBE_SYMBOL(fgraph_stack_pop_above);

/**
 * fgraph_stack_search() - find the newest frame of a return address
 * @st:		the stack of the current task
 * @retp:	the place of the return address
 *
 * Return: the frame, or NULL.
 */
struct fgraph_frame *fgraph_stack_search(struct fgraph_stack *st,
					 unsigned long *retp)
{
	void *rec;

	for (rec = READ_ONCE(st->top); rec; rec = fgraph_below(rec)) {
		struct fgraph_frame *frame = rec;
		unsigned long *place = READ_ONCE(frame->retp);

		/* CLAIM: before the header */
		if (place == retp && fgraph_kind(fgraph_head(rec)) == FGRAPH_FRAME)
			return frame;
	}
	return NULL;
}
NOKPROBE_SYMBOL(fgraph_stack_search);

/* Further out than a call that returns, on a machine stack of this size? */
static bool is_further_out(const struct fgraph_frame *frame, const struct fgraph_frame *than)
{
	return (unsigned long)frame->retp - (unsigned long)than->retp - 1 < THREAD_SIZE;
}
NOKPROBE_SYMBOL(is_further_out);

/**
 * fgraph_stack_uncover() - drop what lies above a frame that returns
 * @st:		the stack of the current task
 * @frame:	the frame
 *
 * Those are calls that were abandoned - or calls further out. They were hooked
 * late, by a kprobe's handler, and the frame is that of a function on the way
 * there, which was hooked before.
 *
 * Return: true if the frame and its entries are on top now, false if there is
 * still a live call above.
 */
bool fgraph_stack_uncover(struct fgraph_stack *st, struct fgraph_frame *frame)
{
	unsigned long head;
	void *top;

	while (top = fgraph_stack_top(st, &head), !fgraph_is_entry_of(top, frame)) {
		struct fgraph_frame *above = fgraph_frame_of(top);
		bool alive = above && is_further_out(above, frame);

		barrier();
		/* What an interrupt has dropped may be anything by now. */
		if (alive && READ_ONCE(st->top) == top)
			return false;
		if (!alive)
			fgraph_stack_drop_once(st, top, head);
	}
	/* An entry on top may have joined late, too. */
	for (; top != frame; top = fgraph_below(top)) {
		struct fgraph_frame *other = fgraph_frame_of(top);

		if (other && other != frame && is_further_out(other, frame))
			return false;
	}
	return true;
}
NOKPROBE_SYMBOL(fgraph_stack_uncover);

/**
 * fgraph_stack_done() - the end of a frame with live ones above
 * @st:		the stack of the current task
 * @frame:	the frame, whose return address is in its place again
 *
 * The records stay as FGRAPH_DONE, until what is above them has returned.
 */
void fgraph_stack_done(struct fgraph_stack *st, struct fgraph_frame *frame)
{
	void *rec, *below;

	for (rec = READ_ONCE(st->top); ; rec = below) {
		unsigned long head = fgraph_head(rec);

		below = fgraph_below(rec);
		if (fgraph_is_entry_of(rec, frame))
			fgraph_set_head(rec, FGRAPH_DONE | (head & FGRAPH_BELOW_MASK));
		else if (fgraph_kind(head) == FGRAPH_FRAME)
			/* CLAIM: before the header */
			cmpxchg_local((unsigned long *)rec, head, head | FGRAPH_DONE_BELOW);
		if (rec == frame)
			break;
	}
}
NOKPROBE_SYMBOL(fgraph_stack_done);

/*
 * As fgraph_stack_search(), but the task may run meanwhile: what was a header
 * may be data by now. So nothing is followed but links of chunks, sizes are
 * held against the chunk, and each link must lead to an earlier chunk. Whoever
 * writes data there does not know of us: no race to report.
 */
static __no_kcsan unsigned long find_from(struct fgraph_stack *st, void *rec,
					  unsigned long *cursor, unsigned long *low,
					  unsigned long *high)
{
	struct fgraph_chunk *c = chunk_of(st, rec, NULL);

	while (c) {
		struct fgraph_frame *frame = rec;
		unsigned long head, ret, *retp;

		if (rec == c) {
			rec = READ_ONCE(c->below);
			c = chunk_of(st, rec, c);
			continue;
		}
		head = fgraph_head(rec);
		retp = READ_ONCE(frame->retp);
		if (fgraph_kind(head) == FGRAPH_FRAME && retp >= low && retp <= high) {
			ret = READ_ONCE(frame->ret);
			/* Pairs with nothing: only the task itself orders. */
			if (!((fgraph_head(rec) ^ head) & ~FGRAPH_CONTEXT) &&
			    READ_ONCE(frame->retp) == retp) {
				*cursor = (unsigned long)rec;
				return ret;
			}
		}
		if (fgraph_size(head) > rec - (void *)c)
			return 0;
		rec -= fgraph_size(head);
	}
	return 0;
}
NOKPROBE_SYMBOL(find_from);

/**
 * fgraph_stack_find() - which real return address stands behind a place?
 * @st:		the stack of any task, that may run meanwhile
 * @cursor:	where the last search ended, 0 at first
 * @low:	the lowest and
 * @high:	the highest place of the return address that is asked for
 *
 * A walk of a machine stack asks for older and older frames, and with @cursor
 * passes each only once. The stack may be another one than @cursor was for.
 *
 * Return: the return address, or 0 if there is no such frame.
 */
unsigned long fgraph_stack_find(struct fgraph_stack *st, unsigned long *cursor,
				unsigned long *low, unsigned long *high)
{
	unsigned long ret = 0;

	if (*cursor && !(*cursor & (FGRAPH_SLOT - 1)))
		ret = find_from(st, (void *)*cursor, cursor, low, high);
	if (!ret)
		ret = find_from(st, READ_ONCE(st->top), cursor, low, high);
	return ret;
}
NOKPROBE_SYMBOL(fgraph_stack_find);
