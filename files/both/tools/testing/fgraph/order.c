// SPDX-License-Identifier: GPL-2.0
/*
 * Readers on other CPUs. A CPU's stores become visible to others in any order, unless smp_wmb() or
 * a stronger operation is in between; barrier() orders them for the same CPU only.
 *
 * The core is stepped, and what an instruction has changed in shadow stacks is noted as stores.
 * After each of them, the readers are called whose CPU sees the stack without a lock: the one that
 * trims stacks when there are no users, and the unwinder of another task. order-reader.c has them,
 * with order_load() for each load. At first all loads return what is in memory. Then a reader is
 * called again for each older value that one of its loads may return, for some readers also for
 * each older value that a second load may return then.
 *
 * A load may return an older value if nothing that the reader has loaded before is ordered after
 * the store which has overwritten that value: the reader may have been slow, so the store need not
 * be a recent one. This is for readers whose loads are in the order of the program, by address
 * dependencies. Loads of an unwinder only depend on the pointer to the chunk.
 *
 * A reader must not load anything outside of the stack and its chunks, must come to an end, and
 * must not take a stack for empty before it is.
 */
#include <stdio.h>

#include "model.h"
#include "order.h"

#define MAX_STORES	0x40000
#define MAX_AREAS	64
#define MAX_CANDIDATES	4096
/* More than any reader loads from the largest stack of a scenario. */
#define MAX_LOADS	20000
#define CHUNK_WORDS	(FGRAPH_BIG_CHUNK_SIZE / sizeof(long))
/* Only these words of a chunk are written before it is part of a stack. */
#define START_WORDS	(2 * FGRAPH_SLOT / sizeof(long))

/**
 * struct store - a store of the core
 * @word:	where
 * @old:	what was there before
 * @epoch:	stores of an earlier epoch become visible earlier
 * @before:	the last store to the same word before this one, or -1
 */
struct store {
	const unsigned long	*word;
	unsigned long		old;
	unsigned long		epoch;
	int			before;
};

/**
 * struct area - a chunk, or the task's pointer to its stack
 * @start:	the memory
 * @words:	its size; a chunk that is not linked yet is only written at its start
 * @serial:	tells a chunk from an earlier one in the same memory
 * @linked:	it is part of the stack
 * @seen:	the reader follows a pointer to this area that was stored in this epoch
 * @value:	what is in each word
 * @last:	the last store to each word, or -1
 */
struct area {
	unsigned long		*start;
	unsigned int		words;
	unsigned long		serial;
	bool			linked;
	unsigned long		seen;
	unsigned long		value[CHUNK_WORDS];
	int			last[CHUNK_WORDS];
};

/**
 * struct reader - a reader
 * @in_order:	its loads are in the order of the program
 * @stale:	how many loads return older values at the same time
 * @window:	how many of the last stores may be invisible
 */
struct reader {
	bool			in_order;
	int			stale;
	int			window;
};

static const struct reader trimmer = { true, 2, 96 };
static const struct reader unwinder = { false, 1, 48 };

static struct store stores[MAX_STORES];
static int nr_stores;
static struct area areas[MAX_AREAS];
static int nr_areas;
/* What fake_chunk_changes was when @areas was made. */
static unsigned long changes;
static struct fgraph_stack **place;
static struct order_counts *counts;

/* The reader that runs, and how many loads it has done. */
static const struct reader *reader;
static int loads;
/* The stores that it does not see. The first so many of them were not seen by a load already. */
static int stale[2];
static int nr_stale, nr_hit;
/* The latest epoch of which it has seen a store. */
static unsigned long seen;
/* The stores that it might not have seen, too. */
static int candidates[MAX_CANDIDATES];
static int nr_candidates;
/* For each store, the run of a reader in which it has last become a candidate. */
static unsigned long candidate_in[MAX_STORES];

static struct area *area_of(const void *p)
{
	static int last;
	int i;

	if (last < nr_areas && p - (void *)areas[last].start < areas[last].words * sizeof(long))
		return &areas[last];
	for (i = 0; i < nr_areas; i++) {
		if (p - (void *)areas[i].start < areas[i].words * sizeof(long)) {
			last = i;
			return &areas[i];
		}
	}
	return NULL;
}

/* Begin to watch memory. */
static void add_area(void *start, size_t size, unsigned long serial)
{
	struct area *a = &areas[nr_areas++];

	expect(nr_areas <= MAX_AREAS);
	a->start = start;
	a->words = size / sizeof(long);
	a->serial = serial;
	a->linked = false;
	memcpy(a->value, start, size);
	memset(a->last, -1, sizeof(a->last));
}

/* Watch all chunks that are allocated. */
static void find_areas(void)
{
	int i, j;

	if (fake_chunk_changes == changes)
		return;
	changes = fake_chunk_changes;
	for (i = 1; i < nr_areas; i++) {
		for (j = 0; j < fake_allocs; j++) {
			if (fake_chunk[j].serial == areas[i].serial)
				break;
		}
		/* The chunk was freed. */
		if (j == fake_allocs)
			areas[i--] = areas[--nr_areas];
	}
	for (j = 0; j < fake_allocs; j++) {
		for (i = 1; i < nr_areas && areas[i].serial != fake_chunk[j].serial; i++)
			;
		if (i < nr_areas)
			continue;
		add_area(fake_chunk[j].start, fake_chunk[j].size, fake_chunk[j].serial);
		areas[i].words = START_WORDS;
	}
}

/* All of the chunks of the stack is watched. */
static void find_linked(void)
{
	struct fgraph_stack *st = *place;
	struct fgraph_chunk *c;

	for (c = st ? st->first : NULL; c; c = c->next) {
		struct area *a = area_of(c);

		expect(a);
		a->words = (unsigned long *)c->end - a->start;
		a->linked = true;
	}
}

static void add_store(struct area *a, unsigned int i)
{
	expect(nr_stores < MAX_STORES);
	stores[nr_stores] = (struct store) {
		.word = a->start + i, .old = a->value[i], .epoch = fake_store_epoch,
		.before = a->last[i],
	};
	a->last[i] = nr_stores++;
	a->value[i] = a->start[i];
	counts->stores++;
}

/* Note what has changed. Returns true if anything has. */
static bool find_stores(void)
{
	int before = nr_stores;
	unsigned int i, j;

	for (i = 0; i < nr_areas; i++) {
		struct area *a = &areas[i];

		if (!memcmp(a->start, a->value, a->words * sizeof(long)))
			continue;
		for (j = 0; j < a->words; j++) {
			if (a->start[j] != a->value[j])
				add_store(a, j);
		}
	}
	return nr_stores > before;
}

static void add_candidate(int s)
{
	if (candidate_in[s] == counts->reads)
		return;
	candidate_in[s] = counts->reads;
	expect(nr_candidates < MAX_CANDIDATES);
	candidates[nr_candidates++] = s;
}

/* The store in @stale to a word that the reader does not see, or -1. */
static int stale_store(const unsigned long *word, unsigned long from)
{
	int i;

	for (i = 0; i < nr_stale; i++) {
		if (stores[stale[i]].word == word && stores[stale[i]].epoch >= from) {
			if (i == nr_hit)
				nr_hit++;
			return stale[i];
		}
	}
	return -1;
}

/* The reader has seen a store of an epoch, whose value may be a pointer to a chunk. */
static void see(unsigned long value, unsigned long epoch)
{
	struct area *a;
	int i;

	if (epoch > seen)
		seen = epoch;
	/* The first chunk follows the header of the stack. */
	for (i = 1; i < nr_areas; i++) {
		a = &areas[i];
		if (value - (unsigned long)a->start <= FGRAPH_SLOT && epoch > a->seen)
			a->seen = epoch;
	}
}

unsigned long order_load(const unsigned long *word)
{
	struct area *a = area_of(word);
	unsigned long value, from;
	int last, s;

	/* A reader must not load anything else. */
	expect(a && a->linked);
	expect(++loads < MAX_LOADS);
	from = reader->in_order ? seen : a->seen;
	value = *word;
	last = a->last[word - a->start];
	s = stale_store(word, from);
	if (s >= 0) {
		value = stores[s].old;
		last = stores[s].before;
	} else if (nr_stale < reader->stale && nr_hit == nr_stale) {
		for (s = last; s >= 0 && stores[s].epoch >= from &&
		     s >= nr_stores - reader->window; s = stores[s].before)
			add_candidate(s);
	}
	see(value, last < 0 ? 0 : stores[last].epoch);
	return value;
}

void order_describe(char *buf, size_t size)
{
	int i, n;

	n = snprintf(buf, size, "%s after store %d", reader == &trimmer ? "trimmer" : "unwinder",
		     nr_stores);
	for (i = 0; i < nr_stale; i++)
		n += snprintf(buf + n, size - n, ", without store %d", stale[i] + 1);
}

/* Call a reader that does not see the stores in @stale, then for further ones. */
static void call_reader(const struct reader *r)
{
	static bool empty;
	int nr, i, *list;
	bool result;

	reader = r;
	loads = 0;
	nr_hit = 0;
	nr_candidates = 0;
	seen = 0;
	for (i = 0; i < nr_areas; i++)
		areas[i].seen = 0;
	counts->reads++;
	result = r == &trimmer ? order_read_empty(place) :
				 order_read_find(place, fake_current->stack);
	if (r == &trimmer && !nr_stale)
		empty = result;
	/* A reader must not take a stack for empty before it is. */
	expect(r != &trimmer || !result || empty);
	nr = nr_candidates;
	if (!nr)
		return;
	list = malloc(nr * sizeof(*list));
	memcpy(list, candidates, nr * sizeof(*list));
	for (i = 0; i < nr; i++) {
		stale[nr_stale++] = list[i];
		call_reader(r);
		nr_stale--;
	}
	free(list);
}

/* Called before each instruction of the core, and after the last one. */
void order_point(void)
{
	find_areas();
	find_linked();
	if (!find_stores() || !*place)
		return;
	if (!fgraph_nr_users)
		call_reader(&trimmer);
	call_reader(&unwinder);
}

/* Begin with the stack of the current task: all stores until now are visible. */
void order_begin(struct order_counts *c)
{
	counts = c;
	place = &fake_current->fgraph_stack;
	nr_stores = 0;
	nr_areas = 0;
	changes = 0;
	nr_stale = 0;
	memset(candidate_in, -1, sizeof(candidate_in));
	add_area(place, sizeof(*place), 0);
	areas[0].linked = true;
	find_areas();
	find_linked();
}
