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

/* The chunk that contains @p. Only chunks that are linked before @stop are searched. */
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
 * fgraph_stack_free() - free a stack
 * @st:		a stack that no task uses and no unwinder reads any more
 *
 * Return: the number of chunks that were freed.
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
 * @memory:	the chunk, from fgraph_chunk_take()
 * @size:	its size in bytes
 *
 * An interrupt may add chunks at any point here. This one is then linked behind them.
 */
void fgraph_stack_add(struct fgraph_stack *st, void *memory, size_t size)
{
	struct fgraph_chunk *new = memory, *c = st->first, *next;

	new->head = FGRAPH_CHUNK;
	new->end = memory + size;
	/* cmpxchg() is a full barrier: a remote unwinder that sees the link sees @new->end. */
	while ((next = cmpxchg(&c->next, NULL, new)))
		c = next;
}
NOKPROBE_SYMBOL(fgraph_stack_add);

/**
 * fgraph_stack_extend() - make room for a record that may not fit in the chunk
 * @st:		the stack of the current task
 * @bytes:	size of the record, header included
 *
 * The rare path of fgraph_stack_grow(). Moves the top to the new header.
 *
 * Return: the header, which is still 0; NULL if there is no memory.
 */
void *fgraph_stack_extend(struct fgraph_stack *st, size_t bytes)
{
	void *top = READ_ONCE(st->top);
	struct fgraph_chunk *c = chunk_of(st, top, NULL), *next;
	void *rec;

	/* fgraph_stack_fits() says no at the middle of a big chunk, where the record may fit. */
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
	WRITE_ONCE(next->older_top, top);
	barrier();
	WRITE_ONCE(st->top, rec);
	barrier();
	/*
	 * Between the two stores an interrupt may have entered this chunk by way of another
	 * one, in which our record does not fit. The @older_top that it left leads to that chunk,
	 * so to empty slots on the way to @top.
	 */
	WRITE_ONCE(next->older_top, top);
	return rec;
}
NOKPROBE_SYMBOL(fgraph_stack_extend);

/**
 * fgraph_stack_reap() - drop frames of abandoned calls from the top of a stack
 * @st:		the stack of the current task
 * @low:	lowest address of the current machine stack
 * @dead_below: the lowest place on it where the return address of a live call may be
 *
 * A frame whose return address is between @low and @dead_below belongs to a call that will
 * never return: the CPU went offline in it, or the stack pointer was reset. Stops at the
 * first record of a call that may be alive.
 *
 * An interrupt may drop the same records meanwhile (CLAIM).
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
 * fgraph_stack_pop_above() - drop all records above a given one
 * @st:		the stack of the current task
 * @rec:	a record of a live call; the calls above it have been abandoned
 *
 * An interrupt may drop the same records meanwhile, but not @rec (CLAIM).
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
 * fgraph_stack_search() - find the newest frame of a place
 * @st:		the stack of the current task
 * @retp:	the place of the return address
 *
 * Return: the frame; NULL if there is none.
 */
struct fgraph_frame *fgraph_stack_search(struct fgraph_stack *st,
					 unsigned long *retp)
{
	void *rec;

	for (rec = READ_ONCE(st->top); rec; rec = fgraph_older(rec)) {
		struct fgraph_frame *frame = rec;
		unsigned long head;

		if (fgraph_read(rec, offsetof(struct fgraph_frame, retp), &head) == retp &&
		    fgraph_kind(head) == FGRAPH_FRAME)
			return frame;
	}
	return NULL;
}
NOKPROBE_SYMBOL(fgraph_stack_search);

/*
 * Is the call of @frame older than that of @than, by their places on the machine stack?
 * Places that are further apart than a stack's size are on different stacks.
 */
static bool is_further_out(const struct fgraph_frame *frame, const struct fgraph_frame *than)
{
	return (unsigned long)frame->retp - (unsigned long)than->retp - 1 < THREAD_SIZE;
}
NOKPROBE_SYMBOL(is_further_out);

/**
 * fgraph_stack_expose() - drop abandoned calls above a frame that returns
 * @st:		the stack of the current task
 * @frame:	the frame
 *
 * A call above @frame may also be alive: it is then further out on the machine stack, but
 * was hooked later. That happens when a kprobe's handler hooks a call while a function on
 * the way to the handler is hooked already, to which @frame belongs.
 *
 * Return: true if the frame and its entries are on top now, false if there is a live call
 * above.
 */
bool fgraph_stack_expose(struct fgraph_stack *st, struct fgraph_frame *frame)
{
	unsigned long head;
	void *top;

	while (top = fgraph_stack_top(st, &head), !fgraph_is_entry_of(top, frame)) {
		struct fgraph_frame *above = fgraph_frame_of(top);
		bool alive = above && is_further_out(above, frame);

		barrier();
		/* If an interrupt has dropped @top, what was read from @above may be anything. */
		if (alive && READ_ONCE(st->top) == top)
			return false;
		if (!alive)
			fgraph_stack_drop_once(st, top, head);
	}
	/* A live call may also be between the frame and an entry that joined it late. */
	for (; top != frame; top = fgraph_older(top)) {
		struct fgraph_frame *other = fgraph_frame_of(top);

		if (other && other != frame && is_further_out(other, frame))
			return false;
	}
	return true;
}
NOKPROBE_SYMBOL(fgraph_stack_expose);

/**
 * fgraph_stack_done() - complete a frame that has live calls above it
 * @st:		the stack of the current task
 * @frame:	the frame, whose real return address is in its place again
 *
 * The records become FGRAPH_DONE and stay until the calls above them have returned.
 */
void fgraph_stack_done(struct fgraph_stack *st, struct fgraph_frame *frame)
{
	void *rec, *older;

	for (rec = READ_ONCE(st->top); ; rec = older) {
		unsigned long head = fgraph_head(rec);

		older = fgraph_older(rec);
		if (fgraph_is_entry_of(rec, frame))
			fgraph_set_head(rec, FGRAPH_DONE | (head & FGRAPH_STAYS));
		else if (fgraph_kind(head) == FGRAPH_FRAME)
			/* CLAIM: an interrupt may have dropped the record since @head was read */
			cmpxchg_local((unsigned long *)rec, head, head | FGRAPH_DONE_BELOW);
		if (rec == frame)
			break;
	}
}
NOKPROBE_SYMBOL(fgraph_stack_done);

/*
 * Like fgraph_older() for a stack whose task may run meanwhile, so that a header may have become
 * data. Hence only links of chunks are followed, each must lead to an earlier chunk than @c, which
 * has @rec, and the size is checked against the chunk. NULL if there is nothing more to be seen.
 */
static __no_kcsan void *older_checked(struct fgraph_stack *st, void *rec, unsigned long head,
				      struct fgraph_chunk **c)
{
	if (unlikely(rec == *c)) {
		rec = READ_ONCE((*c)->older_top);
		*c = chunk_of(st, rec, *c);
		return *c ? rec : NULL;
	}
	return fgraph_size(head) <= rec - (void *)*c ? rec - fgraph_size(head) : NULL;
}
NOKPROBE_SYMBOL(older_checked);

/**
 * fgraph_stack_find() - find the real return address of a call on any task's stack
 * @st:		the stack, whose task may run meanwhile
 * @cursor:	the record below the one that the last search of this walk has found, 0 for the
 *		first search; may have any value, as the task may have got another stack since
 * @low:	lowest place where the return address may be
 * @high:	highest place where the return address may be
 *
 * A walk of a machine stack asks for older and older calls, so each search starts where the
 * last one ended. If nothing is found from there, it starts at the top.
 *
 * __no_kcsan: users may write their data meanwhile, by plain stores.
 *
 * Return: the return address; 0 if there is no such frame.
 */
__no_kcsan unsigned long fgraph_stack_find(struct fgraph_stack *st, unsigned long *cursor,
					   unsigned long *low, unsigned long *high)
{
	void *older, *rec = (void *)(*cursor & ~(FGRAPH_SLOT - 1)) ?: READ_ONCE(st->top);
	struct fgraph_chunk *c;
	bool from_top = !*cursor;

again:
	c = chunk_of(st, rec, NULL);
	for (rec = c ? rec : NULL; rec; rec = older) {
		struct fgraph_frame *frame = rec;
		unsigned long head = fgraph_head(rec), ret, *retp = READ_ONCE(frame->retp);

		older = older_checked(st, rec, head, &c);
		if (retp < low || retp > high || fgraph_kind(head) != FGRAPH_FRAME)
			continue;
		ret = fgraph_replaced(frame, head);
		/*
		 * If the header and @retp are unchanged, @ret is theirs. No barrier would help:
		 * the task orders its stores only for itself.
		 */
		if (!((fgraph_head(rec) ^ head) & ~FGRAPH_CONTEXT) &&
		    READ_ONCE(frame->retp) == retp) {
			*cursor = (unsigned long)older;
			return ret;
		}
	}
	if (!from_top) {
		from_top = true;
		rec = READ_ONCE(st->top);
		goto again;
	}
	return 0;
}
NOKPROBE_SYMBOL(fgraph_stack_find);

/**
 * fgraph_stack_find_own() - the same for the stack of the current task
 * @st:		the stack
 * @cursor:	0, or as the last search of this walk has left it
 * @low:	lowest place where the return address may be, above the caller's stack pointer
 * @high:	highest place where the return address may be
 *
 * Nothing needs to be checked here. What interrupts drop meanwhile (CLAIM) are calls below the
 * stack pointer that they have hit, so not one that this walk asks for or has found, nor any
 * record below that one.
 *
 * Return: the return address; 0 if there is no such frame.
 */
unsigned long fgraph_stack_find_own(struct fgraph_stack *st, unsigned long *cursor,
				    unsigned long *low, unsigned long *high)
{
	const struct fgraph_frame *frame;

	frame = fgraph_stack_find_from((void *)*cursor, cursor, low, high);
	if (!frame)
		frame = fgraph_stack_find_from(READ_ONCE(st->top), cursor, low, high);
	return frame ? fgraph_replaced(frame, fgraph_head(frame)) : 0;
}
NOKPROBE_SYMBOL(fgraph_stack_find_own);
