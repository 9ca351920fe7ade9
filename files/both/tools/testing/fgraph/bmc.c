// SPDX-License-Identifier: GPL-2.0
/*
 * Bounded model checking of the shadow stack by cbmc: for all states of a small stack, with
 * interrupts between all accesses to it.
 *
 * Interrupts are not run. Instead memory changes to anything that interrupt_rule() allows. Each
 * check ends with the assertion that the operation which it ran keeps the same rule. So, by
 * induction, interrupts may nest to any depth and run any number of the operations checked here.
 *
 * The stack at the beginning is arbitrary, but for what check() asserts later, and may have
 * incomplete records. README says how small it is.
 *
 * fgraph_stack.[ch] are copies with small chunks, see bmc.sed. READ_ONCE() and the like are
 * replaced by those below.
 */
#define _FAKE_H
#include <limits.h>
#include <stddef.h>
#include <linux/types.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/list.h>

/* Sizes differ here. The other tests compile the original assertions. */
#undef static_assert
#define static_assert(cond)

#define NOKPROBE_SYMBOL(f)
#define __no_kcsan
#define current			NULL
#define THREAD_SIZE		65536UL

#define atomic_long_t		long

#include <linux/fgraph.h>

#undef FGRAPH_MAX_DATA_SIZE
#define FGRAPH_MAX_DATA_SIZE	(FGRAPH_BIG_CHUNK_SIZE - 2 * FGRAPH_SLOT)

#undef READ_ONCE
#undef WRITE_ONCE
#undef barrier

/*
 * Memory is an array of numbers, and at() makes a pointer of a number. Headers are the words that
 * are not pointers. Interrupts do not change the slots that are passed on the way down from the
 * top, so for an access there it does not matter whether an interrupt comes before or after it;
 * passed() asserts that headers are only accessed there.
 */
#define IS_HEAD(type)							\
	(__builtin_types_compatible_p(type, unsigned long) ||		\
	 __builtin_types_compatible_p(type, unsigned long *))
#define IS_NEXT(type)							\
	__builtin_types_compatible_p(type, struct fgraph_chunk *)
#define READ_ONCE(x)							\
	({								\
		unsigned long *__word = (unsigned long *)&(x);		\
									\
		__builtin_choose_expr(IS_HEAD(__typeof__(x)),		\
			(__typeof__(x))read_head(__word),		\
			(__typeof__(x))read_link(__word, IS_NEXT(__typeof__(x)))); \
	})
#define WRITE_ONCE(x, v)						\
	(__builtin_choose_expr(IS_HEAD(__typeof__(x)), write_head, write_link) \
		((unsigned long *)&(x), (unsigned long)(v)))
#define cmpxchg(p, o, n)						\
	({								\
		__typeof__(p) __p = (p);				\
		__typeof__(*__p) __old = READ_ONCE(*__p);		\
									\
		if (__old == (o)) {					\
			store((unsigned long *)__p, (unsigned long)(n)); \
			check();					\
		}							\
		__old;							\
	})
#define cmpxchg_local(p, o, n)	cmpxchg(p, o, n)
#define barrier()		((void)0)
/* Interrupts are on the same CPU. */
#define smp_wmb()		((void)0)

/* How many abandoned records an interrupt may drop between two accesses. */
#ifndef REAP
#define REAP			1
#endif

#if CHUNKS == 3
#define SLOTS			(N * 4)
#elif BIG == 1
#define SLOTS			(N * 3)
#else
#define SLOTS			(N * 2)
#endif
#define WORDS			(SLOTS * 8)

static unsigned long mem[WORDS];

static void interrupt(void);
static unsigned long popped_to(unsigned long rec);
static void check(void);
static void store(unsigned long *p, unsigned long value);
static unsigned long read_head(const unsigned long *p);
static void write_head(unsigned long *p, unsigned long head);
static void *read_link(const unsigned long *p, bool next);
static void write_link(unsigned long *p, unsigned long link);

static void *at(unsigned long p)
{
	return p ? (void *)mem + (p - (unsigned long)mem) : NULL;
}

#include "fgraph_stack.c"

#define slots_between(a, b)	((1UL << (b)) - (1UL << (a)))

/*
 * The slots of the headers of the chunks, and those behind their ends. Chunks are linked in this
 * order, but a chunk that is not taken may be missing.
 */
#if BIG == 1
static const unsigned char header[] = { 1, N, 3 * N };
static const unsigned char end[] = { N, 3 * N, 4 * N };
#else
static const unsigned char header[] = { 1, N, 2 * N };
static const unsigned char end[] = { N, 2 * N, 4 * N };
#endif

static struct fgraph_stack stack;
/* Which chunks fgraph_chunk_take() has returned. They are linked a little later. */
static bool taken[3] = { true };
/* The call: the place of its return address, the real one, and the one that is in the place. */
static unsigned long retp, real, place;

#define TRAMPOLINE		1UL

/* For cbmc, a variable that is not initialised has any value. */
static unsigned long any(void)
{
	unsigned long value;

	return value;
}

static unsigned long address(int slot)
{
	return (unsigned long)mem + slot * FGRAPH_SLOT;
}

static bool is_slot(unsigned long p)
{
	p -= (unsigned long)mem;
	return p < sizeof(mem) && !(p % FGRAPH_SLOT);
}

static unsigned char slot_of(unsigned long p)
{
	return (p - (unsigned long)mem) / FGRAPH_SLOT % SLOTS;
}

static int chunk_at(int slot)
{
	return slot < end[0] ? 0 : slot < end[1] ? 1 : 2;
}

/* The words of the header of a chunk. */
#define below_of(m, c)		((m)[header[c] * 8 + 1])
#define next_of(m, c)		((m)[header[c] * 8 + 2])
#define end_of(m, c)		((m)[header[c] * 8 + 3])

/**
 * struct view - what look() finds in memory
 * @links_ok:	chunks are linked as they should be
 * @linked:	which chunks are linked
 * @leads_down:	headers lead from the top down to the bottom
 * @passed:	slots of the records and chunk headers on the way down, one bit each
 * @headers:	those of them that are headers
 * @dirty:	slots whose first word should be zero and is not
 * @found:	there is a frame for the call, and it has the real return address
 */
struct view {
	bool		links_ok;
	bool		linked[3];
	bool		leads_down;
	u16		passed, headers;
	u16		dirty;
	bool		found;
};

static bool chunk_ok(const unsigned long *m, int c)
{
	return m[header[c] * 8] == FGRAPH_CHUNK && end_of(m, c) == address(end[c]);
}

static bool links_ok(const unsigned long *m, bool *linked)
{
	unsigned long next = next_of(m, 0);

	linked[0] = true;
	linked[1] = next == address(header[1]);
	if (linked[1])
		next = next_of(m, 1);
	linked[2] = CHUNKS == 3 && next == address(header[2]);
	return (!next || (linked[2] && !next_of(m, 2))) && chunk_ok(m, 0) &&
	       (!linked[1] || (taken[1] && chunk_ok(m, 1))) &&
	       (!linked[2] || (taken[2] && chunk_ok(m, 2)));
}

/* Walk from the top down to the bottom. The loop has a fixed number of turns, for cbmc. */
static struct view look(const unsigned long *m)
{
	u16 passed = 0, headers = 0, dirty = 0;
	bool ok = is_slot((unsigned long)stack.top), found = false, real_found = false;
	bool inside = false;
	/* The next header, further down. */
	signed char s, next = slot_of((unsigned long)stack.top);
	bool linked[3], l_ok = links_ok(m, linked);

	ok = ok && next > 0 && next != header[1] && next != header[2];
	for (s = SLOTS - 1; s > 0; s--) {
		const unsigned long *w = &m[s * 8];
		u16 bit = 1UL << s;
		int c = chunk_at(s);
		unsigned int kind = w[0] & FGRAPH_KIND_MASK, below = fgraph_slots(w[0]);
		bool is = s == next;

		headers |= is ? bit : 0;
		passed |= is || inside ? bit : 0;
		if (s == header[c]) {
			ok = ok && !inside && (!is || linked[c]);
			if (c && is) {
				next = slot_of(below_of(m, c));
				ok = ok && is_slot(below_of(m, c)) && next < s && next > 0 &&
				     next != header[1];
			}
			continue;
		}
		dirty |= w[0] && linked[c] && !is && !inside ? bit : 0;
		ok = ok && (!is || !w[0] || kind == FGRAPH_RESERVED || kind == FGRAPH_FRAME ||
			    kind == FGRAPH_ENTRY || kind == FGRAPH_DONE);
		ok = ok && (!is || below < s - header[c]);
		real_found = is && !found && kind == FGRAPH_FRAME && w[4] == retp ?
			     w[3] == real : real_found;
		found = found || (is && kind == FGRAPH_FRAME && w[4] == retp);
		next = is ? s - 1 - (signed char)below : next;
		inside = (is || inside) && s - 1 > next;
	}
	return (struct view) {
		.links_ok = l_ok, .linked = { true, linked[1], linked[2] }, .leads_down = ok,
		.passed = passed, .headers = headers, .dirty = dirty, .found = real_found,
	};
}

/* Does the header of an empty chunk lead to the top, or to free slots above it? */
static bool leads_to(int top, const unsigned long *m, const bool *linked, int c, bool lower)
{
	int slot = slot_of(below_of(m, c));

	return is_slot(below_of(m, c)) && slot < header[c] && slot >= top && slot != header[1] &&
	       (chunk_at(slot) == chunk_at(top) || (chunk_at(slot) == 1 && linked[1] && lower));
}

static bool way_ok(int top, const unsigned long *m, const bool *linked, int c)
{
	return leads_to(top, m, linked, c, c == 2 && leads_to(top, m, linked, 1, false));
}

/* Which parts of the rule hold for memory that was @m before and is @then after an interrupt. */
struct rule {
	bool	clean, headers, data, way, outside;
};

static struct rule interrupt_rule(unsigned long top, const unsigned long *m, const struct view *v,
				  const bool *was_taken, const unsigned long *then,
				  const bool *linked)
{
	bool clean = true, headers = true, data = true, way = true, outside = true;
	int s, c;

	for (c = 0; c < CHUNKS; c++) {
		bool was = v->linked[c], is = linked[c];

		bool same_next = !next_of(m, c) || next_of(then, c) == next_of(m, c);

		outside = outside && (was ? is && same_next : !is || !was_taken[c]);
		if (c)
			way = way && (!was || below_of(m, c) == below_of(then, c) ||
				      way_ok(slot_of(top), then, linked, c));
	}
	for (s = 1; s < SLOTS; s++) {
		const unsigned long *a = &m[s * 8], *b = &then[s * 8];
		bool passed = v->passed >> s & 1;

		c = chunk_at(s);
		if (s == header[c]) {
			bool same = a[0] == b[0] && a[3] == b[3];
			bool same_next = a[2] == b[2], same_below = a[1] == b[1];

			headers = headers && (!passed || (same && same_below));
			outside = outside && (!v->linked[c] || same) &&
				  (linked[c] || (same && same_next && same_below));
		} else {
			bool same_head = a[0] == b[0];
			/* The last two words are treated like the sixth. */
			bool same = a[1] == b[1] && a[2] == b[2] && a[3] == b[3] &&
				    a[4] == b[4] && a[5] == b[5];

			headers = headers && (!passed || same_head);
			data = data && (!passed || same);
			clean = clean && (passed || !linked[c] || !b[0]);
			outside = outside && (linked[c] || (same_head && same));
		}
	}
	return (struct rule) { clean, headers, data, way, outside };
}

/* The stack as it is now, and what end_as_begun() compares it with. */
static struct view now, then;
static unsigned long then_mem[WORDS];
static bool then_taken[3];
static unsigned long then_top;

/*
 * Change memory as much as the rule allows: mem becomes @left where it may change. @take says
 * which chunks are added, if they may be.
 */
static void leave(const unsigned long *left, unsigned long take)
{
	bool was[3] = { true, now.linked[1], now.linked[2] }, way = true;
	int s, i, c, last = was[2] ? 2 : was[1];
	unsigned long below;

	for (c = 1; c < CHUNKS; c++) {
		if (taken[c] || last > c || !(take >> c & 1))
			continue;
		next_of(mem, last) = address(header[c]);
		mem[header[c] * 8] = FGRAPH_CHUNK;
		end_of(mem, c) = address(end[c]);
		taken[c] = true;
		now.linked[c] = true;
		last = c;
	}
	for (s = 2; s < SLOTS; s++) {
		c = chunk_at(s);
		if (s == header[c] || !now.linked[c] || (now.passed >> s & 1))
			continue;
		mem[s * 8] = 0;
		for (i = 1; i < 8; i++)
			mem[s * 8 + i] = left[s * 8 + i];
	}
	for (c = 1; c < CHUNKS; c++) {
		if (!now.linked[c] || (now.passed >> header[c] & 1))
			continue;
		below = below_of(mem, c);
		below_of(mem, c) = below_of(left, c);
		way = way && (!was[c] || below_of(left, c) == below ||
			      way_ok(slot_of((unsigned long)stack.top), mem, now.linked, c));
	}
	__CPROVER_assume(way);
}

/* An interrupt: memory changes in any way that the rule allows. */
static void interrupt(void)
{
	unsigned long left[WORDS];

	leave(left, any());
}

/* Records of abandoned calls at the beginning, and those that were not dropped since. */
static u16 was_dead, dead;
/* Interrupts may drop records of abandoned calls. */
static bool reaps;

/*
 * An interrupt may drop records of abandoned calls from the top, if they are complete. Records that
 * interrupts then push there are not in mem, see is_free().
 */
static void reap(void)
{
	u16 before = now.passed;
	unsigned char s;
	int i;

	for (i = 0; i < REAP; i++) {
		unsigned int kind;

		s = slot_of((unsigned long)stack.top);
		kind = fgraph_kind(mem[s * 8]);
		if (!(any() & 1) || !(dead >> s & 1) ||
		    (kind != FGRAPH_FRAME && kind != FGRAPH_ENTRY && kind != FGRAPH_DONE))
			break;
		stack.top = at(popped_to(address(s)));
		dead &= ~(1UL << s);
	}
	now = look(mem);
	for (s = 2; s < SLOTS; s++) {
		if (s != header[chunk_at(s)] && (before & ~now.passed) >> s & 1)
			mem[s * 8] = 0;
	}
	now.dirty = 0;
}

static void bounds(const unsigned long *p)
{
	__CPROVER_assert((unsigned long)p - (unsigned long)mem < sizeof(mem),
			 "P6: inside the chunks");
}

static void passed(const unsigned long *p)
{
	if (reaps)
		reap();
	bounds(p);
	__CPROVER_assert(reaps || now.passed >> slot_of((unsigned long)p) & 1,
			 "P5: only what interrupts leave alone");
}

/* The element of mem for a pointer, as cbmc is much slower with byte addresses. */
static unsigned long *word(const unsigned long *p)
{
	return &mem[((unsigned long)p - (unsigned long)mem) / 8 % WORDS];
}

static void store(unsigned long *p, unsigned long value)
{
	if (p == (unsigned long *)&stack.top)
		stack.top = at(value);
	else
		*word(p) = value;
}

/*
 * Is this a word of a free slot? The core reads such words only where interrupts may have dropped
 * the record meanwhile: then there may be any data.
 */
static bool is_free(const unsigned long *p)
{
	unsigned char s = slot_of((unsigned long)p);

	return !(now.passed >> s & 1) && s != header[chunk_at(s)];
}

static unsigned long read_head(const unsigned long *p)
{
	passed(p);
	/* &fgraph_frame.retp is also read by this function: it may be anything in a free slot. */
	if (reaps && is_free(p))
		return ((unsigned long)p - (unsigned long)mem) % FGRAPH_SLOT ? any() : 0;
	return *word(p);
}

static void write_head(unsigned long *p, unsigned long head)
{
	u16 before;

	passed(p);
	before = now.passed;
	store(p, head);
	check();
	__CPROVER_assert(now.passed == before, "P3: a header leads down all the time");
}

/*
 * The operation only reads. Of the words that it reads, interrupts change only links to new
 * chunks, so all interrupts are taken to happen at the beginning, and a link may be read as it was
 * before or after them.
 */
static bool reader;

static void *read_link(const unsigned long *p, bool next)
{
	if (reaps)
		reap();
	if (p == (unsigned long *)&stack.top)
		return stack.top;
	if (reaps) {
		bounds(p);
		if (is_free(p))
			return at(any());
	}
	/* See @reader: the link is the current one, or the one of the beginning. */
	if (reader && next)
		return at(any() & 1 ? *word(p) : then_mem[word(p) - mem]);
	if (next)
		interrupt();
	return at(*word(p));
}

static void write_link(unsigned long *p, unsigned long link)
{
	if (reaps)
		reap();
	else
		interrupt();
	store(p, link);
	check();
}

/* Called after each store: assert what an interrupt may rely on. */
static void check(void)
{
	now = look(mem);
	__CPROVER_assert(now.links_ok, "P6: chunks stay linked");
	__CPROVER_assert(!now.dirty, "P2: each header above the top is zero");
	__CPROVER_assert(now.leads_down, "P3: from the top, headers lead down to the bottom");
	__CPROVER_assert(!(then.headers & ~now.headers & ~was_dead),
			 "P3: they lead past all records below");
	if (place == TRAMPOLINE)
		__CPROVER_assert(now.found, "P4: the return address is found");
}

static void set_place(unsigned long ret)
{
	place = ret;
	check();
}

/* Where the top must be after the record @rec was dropped. */
static unsigned long popped_to(unsigned long rec)
{
	unsigned long top = rec - fgraph_size(mem[slot_of(rec) * 8]);
	int slot = slot_of(top);

	return slot == header[1] ? below_of(mem, 1) :
	       CHUNKS == 3 && slot == header[2] ? below_of(mem, 2) : top;
}

/* Note what the stack must be in the end: as it is now, but with its top at @top. */
static void remember(unsigned long top)
{
	void *was = stack.top;

	stack.top = at(top);
	then = look(mem);
	stack.top = was;
	__CPROVER_array_copy(then_mem, mem);
	then_taken[1] = taken[1];
	then_taken[2] = taken[2];
	then_top = top;
}

/* Restrict the stack at the beginning to headers in the slots of @shape, one bit for each. */
static void set_shape(u16 shape)
{
	unsigned char s, c, top[3] = { header[0], header[1], header[2] };

	for (s = 2; s < SLOTS; s++) {
		c = chunk_at(s);
		if (s == header[c] || !(shape >> s & 1))
			continue;
		mem[s * 8] &= ~FGRAPH_SLOTS_MASK;
		mem[s * 8] |= (unsigned long)(s - 1 - top[c]) << FGRAPH_SLOTS_SHIFT;
		top[c] = s;
	}
	stack.top = at(address(top[0]));
	mem[8] = FGRAPH_CHUNK;
	end_of(mem, 0) = address(end[0]);
	if (top[1] != header[1]) {
		taken[1] = true;
		next_of(mem, 0) = address(header[1]);
		next_of(mem, 1) = 0;
		mem[header[1] * 8] = FGRAPH_CHUNK;
		below_of(mem, 1) = address(top[0]);
		end_of(mem, 1) = address(end[1]);
		stack.top = at(address(top[1]));
	}
	for (s = 2; s < SLOTS; s++) {
		c = chunk_at(s);
		if (s != header[c] && s > top[c] && (c == 0 || taken[c]))
			mem[s * 8] = c && top[1] == header[1] ? mem[s * 8] : 0;
	}
}

/* Make an arbitrary stack that keeps the rules. */
static void begin(void)
{
	unsigned long start[WORDS];
	int i;

	stack.first = (void *)&mem[8];
	stack.top = at(any());
	taken[1] = any() & 1;
	taken[2] = CHUNKS == 3 && any() & 1;
	retp = any();
	real = any();
	place = real;
	__CPROVER_assume(real != TRAMPOLINE);
	__CPROVER_array_copy(mem, start);
	for (i = N * 8; i < WORDS; i++)
		__CPROVER_assume(taken[chunk_at(i / 8)] || !mem[i]);
#ifdef SHAPE
	set_shape(SHAPE);
#endif
	now = look(mem);
	__CPROVER_assume(now.links_ok && now.leads_down && !now.dirty);
	remember((unsigned long)stack.top);
}

/* Assert the rule for the operation. @popped: it has left no new record on top. */
static void end_as_begun(bool popped)
{
	struct rule r;

	now = look(mem);
	if (popped)
		__CPROVER_assert((unsigned long)stack.top == then_top,
				 "P1: the top is where it was");
	else
		__CPROVER_assert(popped_to((unsigned long)stack.top) == then_top,
				 "P1: the top goes back to where it was");
	r = interrupt_rule(then_top, then_mem, &then, then_taken, mem, now.linked);
	__CPROVER_assert(!popped || r.clean, "P2: each header above the top is zero again");
	__CPROVER_assert(r.headers, "P3: headers below are as they were");
	__CPROVER_assert(r.way, "P3: chunks above lead down to the top");
	__CPROVER_assert(r.data, "P5: records below are as they were");
	__CPROVER_assert(r.outside, "P6: no other memory was written");
#ifdef REACH
	__CPROVER_assert(0, "reached");
#endif
}

void *fgraph_chunk_take(size_t size)
{
	bool big = size == FGRAPH_BIG_CHUNK_SIZE;
	int c = CHUNKS == 3 ? (big ? BIG : 3 - BIG) : big == (BIG == 1) ? 1 : 0;

	__CPROVER_assert(big || size == FGRAPH_CHUNK_SIZE, "P6: size of a chunk");
	interrupt();
	if (!GROW || taken[c] || any())
		return NULL;
	taken[c] = true;
	return at(address(header[c]));
}

void fgraph_chunk_refill(void)
{
}

/* An arbitrary word of private data that is watched: its index in mem, and its value. */
static int watch;
static unsigned long watched;

/* A user writes all of its data. @inside is the first word of data within a header. */
static void write_data(void *rec, unsigned long head, int inside)
{
	int slot = slot_of((unsigned long)rec), below = fgraph_slots(head);
	int low = below ? (slot - below) * 8 : slot * 8 + inside;
	int high = below ? slot * 8 : slot * 8 + 8;
	unsigned long with[WORDS];
	int i;

	interrupt();
	for (i = 0; i < WORDS; i++)
		__CPROVER_assume((i >= low && i < high) || with[i] == mem[i]);
	__CPROVER_array_copy(mem, with);
	check();
	watch = any();
	__CPROVER_assume(watch >= low && watch < high);
	watched = mem[watch];
}

static void *push(size_t size)
{
	void *top = READ_ONCE(stack.top);

	return fgraph_stack_reserve(&stack, top, fgraph_slots_for(size),
				    any() & FGRAPH_CONTEXT);
}

static size_t any_size(void)
{
	size_t size = any();

	__CPROVER_assume(size <= FGRAPH_MAX_DATA_SIZE);
	return size;
}

/* The header of a complete record with @size bytes of data. */
static unsigned long head_of(enum fgraph_kind kind, size_t size)
{
	return kind | (unsigned long)fgraph_slots_for(size) << FGRAPH_SLOTS_SHIFT;
}

static struct fgraph_frame *hook(unsigned long tail)
{
	size_t size = any_size();
	struct fgraph_frame *frame = push(size);

	if (!frame)
		return NULL;
	store((unsigned long *)&frame->tag, any());
	store((unsigned long *)&frame->func, any());
	store((unsigned long *)&frame->ret, real);
	store((unsigned long *)&frame->retp, retp);
	write_data(frame, head_of(FGRAPH_FRAME, size), 5);
	fgraph_stack_commit(frame, head_of(FGRAPH_FRAME, size) | tail);
	set_place(TRAMPOLINE);
	return frame;
}

/* A call is hooked, or missed without memory. */
void check_push(void)
{
	struct fgraph_frame *frame;

	begin();
	frame = hook(any() & FGRAPH_TAIL);
	if (frame)
		__CPROVER_assert(mem[watch] == watched, "P5: data are as they were written");
	end_as_begun(!frame);
}

/* The top record is dropped, whether it is complete or not. */
void check_pop(void)
{
	unsigned long rec;

	begin();
	rec = (unsigned long)stack.top;
	__CPROVER_assume(rec != (unsigned long)stack.first);
	remember(popped_to(rec));
	fgraph_stack_pop(&stack, at(rec));
	end_as_begun(true);
}

/* Another user joins a hooked call, or misses it without memory. */
void check_join(void)
{
	size_t size = any_size();
	struct fgraph_entry *entry;

	begin();
	__CPROVER_assume(now.found);
	place = TRAMPOLINE;
	entry = push(size);
	if (entry) {
		store((unsigned long *)&entry->tag, any());
		store((unsigned long *)&entry->frame, any());
		store((unsigned long *)&entry->row, any());
		write_data(entry, head_of(FGRAPH_ENTRY, size), 5);
		fgraph_stack_commit(entry, head_of(FGRAPH_ENTRY, size));
		__CPROVER_assert(mem[watch] == watched, "P5: data are as they were written");
	}
	end_as_begun(!entry);
}

/* A call returns by the fast path: its frame and its entries are FGRAPH_LINKED. */
void check_linked(void)
{
	unsigned char s, top, slot = any();

	begin();
	top = slot_of((unsigned long)stack.top);
	__CPROVER_assume(slot < SLOTS && slot <= top && chunk_at(slot) == chunk_at(top) &&
			 (now.headers >> slot & 1) &&
			 fgraph_kind(mem[slot * 8]) == FGRAPH_FRAME &&
			 !fgraph_slots(mem[slot * 8]));
	for (s = 0; s < SLOTS; s++) {
		if (s > slot && s <= top)
			__CPROVER_assume((now.headers >> s & 1) &&
					 fgraph_kind(mem[s * 8]) == FGRAPH_ENTRY &&
					 !fgraph_slots(mem[s * 8]) &&
					 mem[s * 8 + 4] == address(s - 1));
	}
	remember(popped_to(address(slot)));
	fgraph_stack_drop_linked(&stack, at((unsigned long)stack.top), at(address(slot)));
	end_as_begun(true);
}

/* An unwinder looks for the return address. */
void check_unwind(void)
{
	unsigned long cursor = 0;

	begin();
	__CPROVER_assume(now.found);
	place = TRAMPOLINE;
	interrupt();
	reader = true;
	__CPROVER_assert(fgraph_stack_find(&stack, &cursor, (unsigned long *)retp,
					   (unsigned long *)retp) == real,
			 "P4: an unwinder finds the return address");
	end_as_begun(true);
}

/*
 * The frame in slot 2 is alive, and the records above it are of abandoned calls. Some of these may
 * be incomplete. Entries belong to a frame in slot 3.
 */
static void abandon(void)
{
	unsigned char s;

	__CPROVER_assume(fgraph_kind(mem[2 * 8]) == FGRAPH_FRAME);
	for (s = 3; s < SLOTS; s++) {
		unsigned int kind = fgraph_kind(mem[s * 8]);

		if (!(now.headers >> s & 1) || s == header[1])
			continue;
		was_dead |= 1UL << s;
		/* Abandoned calls are inner ones: their places are lower on the machine stack. */
		if (kind == FGRAPH_FRAME)
			__CPROVER_assume(mem[2 * 8 + 4] - mem[s * 8 + 4] - 1 < THREAD_SIZE);
		else if (kind == FGRAPH_ENTRY)
			__CPROVER_assume(mem[s * 8 + 2] == address(3) && (now.headers & 8) &&
					 fgraph_kind(mem[3 * 8]) == FGRAPH_FRAME);
	}
	reaps = true;
	dead = was_dead;
	was_dead |= 1UL << header[1];
	then_top = address(2);
}

static void end_abandoned(bool on_top)
{
	__CPROVER_assert(on_top && stack.top == at(address(2)), "P7: the frame is on top");
	now = look(mem);
	__CPROVER_assert(!now.dirty, "P2: each header above the top is zero again");
	__CPROVER_assert(mem[2 * 8] == then_mem[2 * 8], "P3: its header is as it was");
}

/* Records above a frame that returns are dropped, also by interrupts. */
void check_uncover(void)
{
	begin();
	abandon();
	end_abandoned(fgraph_stack_expose(&stack, at(address(2))));
}

/* fgraph_stack_pop_above() drops the records, also where interrupts do. */
void check_above(void)
{
	begin();
	abandon();
	fgraph_stack_pop_above(&stack, at(address(2)));
	end_abandoned(true);
}

/* fgraph_stack_reap() drops the records, also where interrupts do. */
void check_reap(void)
{
	begin();
	abandon();
	__CPROVER_assume(mem[2 * 8 + 4] >= THREAD_SIZE);
	fgraph_stack_reap(&stack, (void *)(mem[2 * 8 + 4] - THREAD_SIZE),
			  (void *)mem[2 * 8 + 4]);
	now = look(mem);
	__CPROVER_assert(!now.dirty, "P2: each header above the top is zero again");
}
