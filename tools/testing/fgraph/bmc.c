// SPDX-License-Identifier: GPL-2.0
/*
 * Bounded model checking of the shadow stack, by cbmc: for all states of a small
 * one, and with interrupts between all accesses to it.
 *
 * An interrupt is not run, it is what it may leave behind: anything that
 * interrupt_rule() allows. And each check ends with assertions that what it ran
 * keeps that same rule. So, by induction, interrupts may nest to any depth, and
 * do any number of the things that are checked here.
 *
 * What is on the stack at first is arbitrary, but for what check() asserts later:
 * also what somebody has not finished. README says how small it is.
 *
 * fgraph_stack.[ch] are copies with small chunks, and READ_ONCE() and the like
 * are those below.
 */
#define _FAKE_H
#include <limits.h>
#include <stddef.h>
#include <linux/types.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/list.h>

/* The other tests' compiler looks at these. */
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
 * Of memory, cbmc knows only as a number what was a pointer: see at(). Headers
 * are the words that are no pointers. Interrupts leave alone what is passed on
 * the way down; it does not matter whether they come before or after an access
 * there, and passed() sees to that.
 */
#define IS_HEAD(type)							\
	(__builtin_types_compatible_p(type, unsigned long) ||		\
	 __builtin_types_compatible_p(type, unsigned long *))
#define READ_ONCE(x)							\
	({								\
		unsigned long *__word = (unsigned long *)&(x);		\
									\
		__builtin_choose_expr(IS_HEAD(__typeof__(x)),		\
			(__typeof__(x))read_head(__word),		\
			(__typeof__(x))read_link(__word));		\
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
			*(unsigned long *)__p = (unsigned long)(n);	\
			check();					\
		}							\
		__old;							\
	})
#define cmpxchg_local(p, o, n)	cmpxchg(p, o, n)
#define barrier()		((void)0)

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
static void check(void);
static unsigned long read_head(const unsigned long *p);
static void write_head(unsigned long *p, unsigned long head);
static void *read_link(const unsigned long *p);
static void write_link(unsigned long *p, unsigned long link);

static void *at(unsigned long p)
{
	return p ? (void *)mem + (p - (unsigned long)mem) : NULL;
}

#include "fgraph_stack.c"

/*
 * What memory is to be like.
 */

#define slots_between(a, b)	((1UL << (b)) - (1UL << (a)))

/*
 * The chunks: where their headers are, and their ends. They are linked in this
 * order; one that is not taken may not be there.
 */
#if BIG == 1
static const unsigned char header[] = { 1, N, 3 * N };
static const unsigned char end[] = { N, 3 * N, 4 * N };
#else
static const unsigned char header[] = { 1, N, 2 * N };
static const unsigned char end[] = { N, 2 * N, 4 * N };
#endif

static struct fgraph_stack stack;
/* The others, when taken; linked later. */
static bool taken[3] = { true };
/* The call: its return address, where that is, and what stands there. */
static unsigned long retp, real, place;

#define TRAMPOLINE		1UL

/* What is not set may be anything. */
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

struct view {
	/* Chunks are linked as they should be, and which are. */
	bool		links_ok;
	bool		linked[3];
	/* From the top, headers lead down to the bottom. */
	bool		leads_down;
	/* Slots that are passed so, and those of them that are headers. */
	u16		passed, headers;
	/* Slots with a header that is not zero but should be. */
	u16		dirty;
	/* An unwinder finds a frame for the call, and the right return address. */
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

/* Does a chunk that nothing is in lead down to the top, past empty slots? */
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

/* What is left of memory that was @m when an interrupt or a check is over. */
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
	for (s = 0; s < SLOTS; s++) {
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
			/* The words behind are as the sixth. */
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

/* As it is now, and as it was at the beginning. */
static struct view now, then;
static unsigned long then_mem[WORDS];
static bool then_taken[3];
static unsigned long then_top;

static void interrupt(void)
{
	bool was_taken[3] = { true, taken[1], taken[2] }, linked[3], ok;
	unsigned long left[WORDS];
	struct rule r;

	taken[1] |= any() & 1;
	taken[2] |= CHUNKS == 3 && any() & 1;
	ok = links_ok(left, linked);
	r = interrupt_rule((unsigned long)stack.top, mem, &now, was_taken, left, linked);
	__CPROVER_assume(ok && r.clean && r.headers && r.data && r.way && r.outside &&
			 (taken[1] == was_taken[1] || linked[1]) &&
			 (taken[2] == was_taken[2] || linked[2]));
	__CPROVER_array_copy(mem, left);
	now.linked[1] = linked[1];
	now.linked[2] = linked[2];
}

static void passed(const unsigned long *p)
{
	__CPROVER_assert((unsigned long)p - (unsigned long)mem < sizeof(mem),
			 "P6: inside the chunks");
	__CPROVER_assert(now.passed >> slot_of((unsigned long)p) & 1,
			 "P5: only what interrupts leave alone");
}

static unsigned long read_head(const unsigned long *p)
{
	passed(p);
	return *p;
}

static void write_head(unsigned long *p, unsigned long head)
{
	u16 before = now.passed;

	passed(p);
	*p = head;
	check();
	__CPROVER_assert(now.passed == before, "P3: a header leads down all the time");
}

static void *read_link(const unsigned long *p)
{
	interrupt();
	return at(*p);
}

static void write_link(unsigned long *p, unsigned long link)
{
	interrupt();
	*p = link;
	check();
}

/* After each store: what an interrupt may rely on, in addition to its rule. */
static void check(void)
{
	now = look(mem);
	__CPROVER_assert(now.links_ok, "P6: chunks stay linked");
	__CPROVER_assert(!now.dirty, "P2: each header above the top is zero");
	__CPROVER_assert(now.leads_down, "P3: from the top, headers lead down to the bottom");
	__CPROVER_assert(!(then.headers & ~now.headers), "P3: they lead past all records below");
	if (place == TRAMPOLINE)
		__CPROVER_assert(now.found, "P4: the return address is found");
}

static void set_place(unsigned long ret)
{
	place = ret;
	check();
}

/* Where the top is when the record there is dropped. */
static unsigned long popped_to(unsigned long rec)
{
	unsigned long top = rec - fgraph_size(mem[slot_of(rec) * 8]);
	int slot = slot_of(top);

	return slot == header[1] ? below_of(mem, 1) :
	       CHUNKS == 3 && slot == header[2] ? below_of(mem, 2) : top;
}

/* What is to be then: as now, but with the top there, and what is above dropped. */
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
	now = look(mem);
	__CPROVER_assume(now.links_ok && now.leads_down && !now.dirty);
	remember((unsigned long)stack.top);
}

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

/* The watched word of private data, and what it should be. */
static int watch;
static unsigned long watched;

/* A user writes all of its data. */
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

static void *push(const struct fgraph_record *what)
{
	void *top = READ_ONCE(stack.top);

	if (what->size == FGRAPH_SLOT && fgraph_stack_fits(top, FGRAPH_SLOT) && any())
		return fgraph_stack_reserve_slot(&stack, top);
	return fgraph_stack_reserve(&stack, top, what, any() & FGRAPH_CONTEXT);
}

static unsigned long any_size(void)
{
	unsigned long size = any();

	__CPROVER_assume(size <= FGRAPH_MAX_DATA_SIZE);
	return size;
}

static struct fgraph_frame *hook(unsigned long tail)
{
	struct fgraph_record what = fgraph_record(FGRAPH_FRAME, any_size(),
						  offsetof(struct fgraph_frame, data));
	struct fgraph_frame *frame = push(&what);

	if (!frame)
		return NULL;
	*(unsigned long *)&frame->tag = any();
	*(unsigned long *)&frame->func = any();
	*(unsigned long *)&frame->ret = real;
	*(unsigned long *)&frame->retp = retp;
	write_data(frame, what.head, 5);
	fgraph_stack_commit(frame, what.head | tail);
	set_place(TRAMPOLINE);
	return frame;
}

/* A call is hooked, or missed. */
void check_push(void)
{
	struct fgraph_frame *frame;

	begin();
	frame = hook(any() & FGRAPH_TAIL);
	if (frame)
		__CPROVER_assert(mem[watch] == watched, "P5: data are as they were written");
	end_as_begun(!frame);
}

/* A record is dropped, complete or not. */
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

/* One more user of a call that is hooked; or not, if there is no memory. */
void check_join(void)
{
	struct fgraph_record what = fgraph_record(FGRAPH_ENTRY, any_size(),
						  offsetof(struct fgraph_entry, data));
	struct fgraph_entry *entry;

	begin();
	__CPROVER_assume(now.found);
	place = TRAMPOLINE;
	entry = push(&what);
	if (entry) {
		*(unsigned long *)&entry->tag = any();
		*(unsigned long *)&entry->frame = any();
		*(unsigned long *)&entry->users = any();
		write_data(entry, what.head, 4);
		fgraph_stack_commit(entry, what.head);
		__CPROVER_assert(mem[watch] == watched, "P5: data are as they were written");
	}
	end_as_begun(!entry);
}

/* A call returns: a frame is dropped with the run of entries on it. */
void check_run(void)
{
	unsigned char s, top, slot = any();
	bool flat = any() & 1;

	begin();
	top = slot_of((unsigned long)stack.top);
	__CPROVER_assume(slot < SLOTS && slot <= top && chunk_at(slot) == chunk_at(top) &&
			 (now.headers >> slot & 1) &&
			 fgraph_kind(mem[slot * 8]) == FGRAPH_FRAME);
	for (s = 0; s < SLOTS; s++) {
		if (s > slot && now.headers >> s & 1)
			__CPROVER_assume(fgraph_kind(mem[s * 8]) == FGRAPH_ENTRY &&
					 !(flat && fgraph_slots(mem[s * 8])));
	}
	remember(popped_to(address(slot)));
	fgraph_stack_drop_run(&stack, at((unsigned long)stack.top), at(address(slot)), flat);
	end_as_begun(true);
}

/* The return address is looked for. */
void check_unwind(void)
{
	unsigned long cursor = 0;

	begin();
	__CPROVER_assume(now.found);
	place = TRAMPOLINE;
	__CPROVER_assert(fgraph_stack_find(&stack, &cursor, (unsigned long *)retp,
					   (unsigned long *)retp) == real,
			 "P4: an unwinder finds the return address");
	end_as_begun(true);
}
