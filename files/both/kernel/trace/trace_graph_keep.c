// SPDX-License-Identifier: GPL-2.0
/*
 * graph_keep: function_graph writes only those trees of calls whose outermost call has returned
 * and matches an expression.
 *
 * Until then, the calls of a tree are records in memory that was allocated when the expression was
 * set: a pool of blocks of KEEP_BLOCK_SIZE bytes, of which @used has a bit each. A tree is a list
 * of blocks; the first one begins with struct keep_tree, and its number stands for the tree. The
 * calls of a tree are made by one task and by what interrupts it, and so is what changes the tree.
 * An interrupt or NMI may come at any instruction and add calls of its own. It returns from them
 * before the task goes on. So &keep_tree.state, which is replaced by cmpxchg(), has all that
 * decides where the next record goes and in which call it is.
 *
 * Blocks are given back when the outermost call returns. A call may never return: that of do_exit()
 * does not, and others may be abandoned. keep_task_free() gives back the trees of a task that has
 * died, keep_reclaim() those that the current task has abandoned, and trace_keep_reset() all when
 * function_graph stops. A frame finds by its @gen that its tree is gone.
 *
 * A tree is written with preemption disabled, so that a limit on its size bounds for how long that
 * is. Its first event is reserved before and committed after all others: until that commit, the
 * ring buffer shows none of them to readers. If there was no room for all, the first event says so,
 * and the rest of the tree is not shown. An interrupt in the meantime that has a tree to write
 * leaves it to the task that it has interrupted.
 *
 * An expression, with its pool, never changes. Another one is a new struct trace_keep, which
 * function_graph begins to use while its callbacks are unregistered. So callbacks need no locks.
 */
#include <linux/errname.h>
#include <linux/interrupt.h>
#include <linux/llist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <trace/events/sched.h>

#include "trace.h"
#include "trace_graph_keep.h"

#define KEEP_BLOCK_SHIFT	11
#define KEEP_BLOCK_SIZE		BIT(KEEP_BLOCK_SHIFT)
#define KEEP_BLOCKS_A_PAGE	(PAGE_SIZE >> KEEP_BLOCK_SHIFT)

/*
 * A record is named by its block, in the upper 16 bits, and its offset there, which is never 0. The
 * other two are values of &trace_keep_call.where: there is no tree; it had no room, or began while
 * tracing was off.
 */
#define KEEP_WHERE(block, offset)	((u32)(block) << 16 | (offset))
#define KEEP_NONE			0
#define KEEP_LOST			U32_MAX
/* What &trace_keep_call.tree is if not even the outermost call has room. */
#define KEEP_NO_TREE			U32_MAX
#define KEEP_MAX_BLOCKS			(U16_MAX - BITS_PER_LONG)

/* Sizes in kilobytes: what graph_keep_size has unless it is written, and the most that it takes. */
#define KEEP_TREE_KB		64
#define KEEP_TREE_MAX_KB	1024
#define KEEP_ALL_KB		4096
#define KEEP_ALL_MAX_KB		(KEEP_MAX_BLOCKS * KEEP_BLOCK_SIZE / 1024 / 1024 * 1024)

#define KEEP_ARGS	6

/* How often at most trees without room are said in the trace, if no tree is written. */
#define KEEP_SAY_NS	(100 * NSEC_PER_MSEC)

/**
 * struct keep_block - how each block begins
 * @prev:	where the tree's previous block ends
 * @nr:		how many blocks are before it
 * @next:	the next block, once the tree is complete
 * @end:	the offset at which its records end, once the tree is complete
 */
struct keep_block {
	u32	prev;
	u32	nr;
	u32	next;
	u32	end;
};

/**
 * struct keep_tree - how the first block of a tree begins
 * @block:	as all blocks
 * @state:	where the next record goes, in the upper 32 bits, and the innermost call
 * @first:	the record of the outermost call
 * @id:		a number for readers
 * @lost:	how many calls within had no room
 * @depth:	the greatest depth of a call
 * @trace_ctx:	that of the outermost call
 * @pending:	in &keep_cpu.pending
 * @args:	the first arguments of the outermost call
 */
struct keep_tree {
	struct keep_block	block;
	u64			state;
	u32			first;
	u32			id;
	atomic_t		lost;
	u32			depth;
	u32			trace_ctx;
	struct llist_node	pending;
	unsigned long		args[KEEP_ARGS];
};

/**
 * struct keep_slot - what outlasts a tree, for each block with which one may begin
 * @owner:	the task, if one begins here
 * @gen:	how many have begun and ended here
 * @level:	interrupt_context_level() of the outermost call
 */
struct keep_slot {
	struct task_struct	*owner;
	u32			gen;
	u8			level;
};

/**
 * struct keep_cpu - of each CPU
 * @pending:	complete trees that are to be written
 * @writing:	somebody does that
 * @reclaimed:	when keep_reclaim() has searched last, in jiffies
 * @kept:	number of trees that were written
 * @dropped:	number of trees for which the expression did not hold, or tracing was off
 */
struct keep_cpu {
	struct llist_head	pending;
	bool			writing;
	unsigned long		reclaimed;
	unsigned long		kept;
	unsigned long		dropped;
};

/**
 * struct trace_keep - an expression and the memory for trees
 * @tr:		the instance
 * @expr:	the expression as it was written
 * @filter:	what has become of it
 * @cpu:	of each CPU
 * @pages:	the memory of the blocks
 * @used:	the blocks that are in use, a bit each; of blocks that do not exist, too
 * @slots:	one for each block
 * @nr_blocks:	how many there are
 * @tree_blocks: how many a tree may have
 * @last_id:	the &keep_tree.id of the newest tree
 * @lost_trees:	number of trees for which there was no block
 * @lost_calls:	number of calls for which their tree had no room
 * @unwritten:	number of trees for which there was no room in the ring buffer
 * @unsaid:	how many @lost_trees the trace does not say yet
 * @said:	when it last said some
 * @probed:	keep_task_free() is called
 */
struct trace_keep {
	struct trace_array	*tr;
	char			*expr;
	struct event_filter	*filter;
	struct keep_cpu __percpu *cpu;
	void			**pages;
	unsigned long		*used;
	struct keep_slot	*slots;
	unsigned int		nr_blocks;
	unsigned int		tree_blocks;
	atomic_t		last_id;
	atomic_long_t		lost_trees;
	atomic_long_t		lost_calls;
	atomic_long_t		unwritten;
	atomic_t		unsaid;
	u64			said;
	bool			probed;
};

/* What expressions are about: the outermost call. They see it as an event. */
struct keep_match {
	struct trace_entry	ent;
	long			retval;
	long			error;
	u64			duration;
	unsigned long		func;
	unsigned long		args[KEEP_ARGS];
	unsigned int		depth;
};

static struct trace_event_class keep_class = {
	.system	= "ftrace",
	.fields	= LIST_HEAD_INIT(keep_class.fields),
};

static struct trace_event_call keep_event = {
	.class	= &keep_class,
	.name	= "graph_keep",
};

static struct keep_block *keep_block(struct trace_keep *keep, unsigned int block)
{
	return keep->pages[block / KEEP_BLOCKS_A_PAGE] +
	       (block % KEEP_BLOCKS_A_PAGE) * KEEP_BLOCK_SIZE;
}

static struct keep_tree *keep_tree(struct trace_keep *keep, unsigned int block)
{
	return container_of(keep_block(keep, block), struct keep_tree, block);
}

static struct trace_keep_record *keep_record(struct trace_keep *keep, u32 where)
{
	return (void *)keep_block(keep, where >> 16) + (u16)where;
}

static u64 keep_state(u32 end, u32 innermost)
{
	return (u64)end << 32 | innermost;
}

static u32 keep_end(u64 state)
{
	return state >> 32;
}

static size_t keep_size(unsigned int nr_args)
{
	struct trace_keep_record *rec;

	return ALIGN(struct_size(rec, args, nr_args), sizeof(u64));
}

/* Each CPU begins to look at a place of its own. Returns -1 if there is no block. */
static int keep_get_block(struct trace_keep *keep)
{
	unsigned int nr = BITS_TO_LONGS(keep->nr_blocks);
	unsigned int word = raw_smp_processor_id() * nr / nr_cpu_ids;
	unsigned long unused;
	unsigned int i, bit;

	for (i = 0; i < nr; i++, word++) {
		if (word >= nr)
			word = 0;
		while ((unused = ~READ_ONCE(keep->used[word]))) {
			bit = word * BITS_PER_LONG + __ffs(unused);
			if (!test_and_set_bit(bit, keep->used))
				return bit;
		}
	}
	return -1;
}

/* Pairs with test_and_set_bit() in keep_get_block(). */
static void keep_put_block(struct trace_keep *keep, unsigned int block)
{
	clear_bit_unlock(block, keep->used);
}

/*
 * Take the tree that begins in a slot away from its owner, a task, so that nobody else gives its
 * blocks back. Returns true if the caller has to do that, with keep_free_tree().
 */
static bool keep_claim(struct keep_slot *slot, struct task_struct *owner)
{
	return owner && cmpxchg(&slot->owner, owner, NULL) == owner;
}

/* Give the blocks of a tree back, which keep_claim() has given to the caller or which it owns. */
static void keep_free_tree(struct trace_keep *keep, unsigned int tree)
{
	unsigned int block = keep_end(keep_tree(keep, tree)->state) >> 16;
	unsigned int prev;

	WRITE_ONCE(keep->slots[tree].gen, keep->slots[tree].gen + 1);
	for (; block != tree; block = prev) {
		prev = keep_block(keep, block)->prev >> 16;
		keep_put_block(keep, block);
	}
	keep_put_block(keep, tree);
}

/*
 * There is no block. Give back the trees that the current task has abandoned: as it begins another
 * one, none of those that it has begun outside of interrupts is open. Returns true if there are
 * such.
 */
static bool keep_reclaim(struct trace_keep *keep)
{
	struct keep_cpu *cpu = this_cpu_ptr(keep->cpu);
	struct keep_slot *slot;
	bool found = false;
	unsigned long now;
	unsigned int i;

	/* What irq_enter_rcu() and irq_exit_rcu() call looks like a part of the task. */
	if (interrupt_context_level() || irqs_disabled())
		return false;
	/* The search is long, and in vain while the trees of others fill the pool. */
	now = jiffies;
	if (READ_ONCE(cpu->reclaimed) == now)
		return false;
	WRITE_ONCE(cpu->reclaimed, now);
	for (i = 0; i < keep->nr_blocks; i++) {
		slot = &keep->slots[i];
		if (READ_ONCE(slot->owner) != current || slot->level || !keep_claim(slot, current))
			continue;
		keep_free_tree(keep, i);
		found = true;
	}
	return found;
}

/* Trees of a task that has died are not used by anybody. */
static void keep_task_free(void *data, struct task_struct *task)
{
	struct trace_keep *keep = data;
	unsigned int i;

	for (i = 0; i < keep->nr_blocks; i++) {
		if (READ_ONCE(keep->slots[i].owner) == task && keep_claim(&keep->slots[i], task))
			keep_free_tree(keep, i);
	}
}

/**
 * trace_keep_reset() - forget the open trees
 * @keep:	the expression, or NULL
 *
 * Context: process, while function_graph is not registered. If it is registered again, the calls
 * in these trees have no frames.
 */
void trace_keep_reset(struct trace_keep *keep)
{
	unsigned int i;

	if (!keep)
		return;
	for (i = 0; i < keep->nr_blocks; i++) {
		if (keep_claim(&keep->slots[i], READ_ONCE(keep->slots[i].owner)))
			keep_free_tree(keep, i);
	}
}

/* Begin a tree. Returns false if there is no block. */
static bool keep_open(struct trace_keep *keep, struct trace_keep_call *call,
		      const struct trace_keep_entry *entry)
{
	struct keep_slot *slot;
	struct keep_tree *tree;
	int block;

	block = keep_get_block(keep);
	if (block < 0 && keep_reclaim(keep))
		block = keep_get_block(keep);
	if (block < 0)
		return false;

	tree = keep_tree(keep, block);
	tree->block.nr = 0;
	tree->first = KEEP_WHERE(block, sizeof(*tree));
	tree->state = keep_state(tree->first, KEEP_NONE);
	tree->id = 0;
	atomic_set(&tree->lost, 0);
	tree->depth = 0;
	tree->trace_ctx = entry->trace_ctx;
	memset(tree->args, 0, sizeof(tree->args));
	if (IS_ENABLED(CONFIG_FUNCTION_TRACE_ARGS) && entry->fregs)
		trace_graph_get_args(tree->args, KEEP_ARGS, entry->fregs);
	slot = &keep->slots[block];
	slot->level = interrupt_context_level();
	call->tree = block;
	call->gen = slot->gen;
	/* From now on, keep_task_free() finds it. */
	smp_store_release(&slot->owner, current);
	return true;
}

/* Get a block in which a record goes that does not fit behind @end, where it returns the place. */
static u32 keep_extend(struct trace_keep *keep, u32 end)
{
	unsigned int nr = keep_block(keep, end >> 16)->nr + 1;
	struct keep_block *added;
	int block;

	if (nr >= keep->tree_blocks)
		return KEEP_NONE;
	block = keep_get_block(keep);
	if (block < 0)
		return KEEP_NONE;
	added = keep_block(keep, block);
	added->prev = end;
	added->nr = nr;
	return KEEP_WHERE(block, sizeof(*added));
}

/* The depth of a call in the call of @parent. */
static u16 keep_depth(struct trace_keep *keep, u32 parent)
{
	return parent ? keep_record(keep, parent)->depth + 1 : 0;
}

/*
 * Add a record to a tree and make it that of the innermost call. The time of its entry is not
 * before that of any record before it: an interrupt that adds one after @time was read changes
 * &keep_tree.state. Returns KEEP_NONE if there is no room; then there is none for the rest of the
 * tree, either, which so shows no call without those around it.
 */
static u32 keep_add(struct trace_keep *keep, struct keep_tree *tree, size_t size, u32 *parent,
		    u64 *time)
{
	u32 where, end;
	u64 state;

	for (;;) {
		state = READ_ONCE(tree->state);
		barrier();
		*time = trace_clock_local();
		if (atomic_read(&tree->lost))
			return KEEP_NONE;
		end = keep_end(state);
		where = end;
		if ((u16)end + size > KEEP_BLOCK_SIZE)
			where = keep_extend(keep, end);
		if (where == KEEP_NONE)
			return KEEP_NONE;
		*parent = (u32)state;
		/* An interrupt that comes before the record is filled in asks for its depth. */
		keep_record(keep, where)->depth = keep_depth(keep, *parent);
		barrier();
		if (cmpxchg64_local(&tree->state, state, keep_state(where + size, where)) == state)
			break;
		if (where != end)
			keep_put_block(keep, where >> 16);
	}
	return where;
}

/* Is there still the tree of a call? */
static bool keep_is_open(struct trace_keep *keep, const struct trace_keep_call *call)
{
	return call->tree != KEEP_NO_TREE && READ_ONCE(keep->slots[call->tree].gen) == call->gen;
}

/* An interrupt that comes between the look and the change may have raised it further. */
static void keep_raise_depth(struct keep_tree *tree, u32 depth)
{
	u32 old, seen = READ_ONCE(tree->depth);

	while (depth > seen) {
		old = cmpxchg_local(&tree->depth, seen, depth);
		if (old == seen)
			break;
		seen = old;
	}
}

/**
 * trace_keep_enter() - a call begins
 * @keep:	the expression
 * @call:	the private data of the call, which are set
 * @parent:	those of the call around it, or NULL
 * @entry:	what is known of the call
 *
 * The return must be wanted in any case, so that the calls within find @call.
 *
 * Context: any, preemption disabled.
 *
 * Return: a record, of which the caller sets retaddr and args; NULL if there is no room.
 */
struct trace_keep_record *
trace_keep_enter(struct trace_keep *keep, struct trace_keep_call *call,
		 const struct trace_keep_call *parent, const struct trace_keep_entry *entry)
{
	u32 parent_where = parent ? READ_ONCE(parent->where) : KEEP_NONE;
	struct trace_keep_record *rec;
	struct keep_tree *tree;
	u64 time;
	u32 where;

	call->where = KEEP_LOST;
	call->tree = KEEP_NO_TREE;
	call->outermost = parent_where == KEEP_NONE;
	call->no_sleep = entry->no_sleep;
	if (entry->no_sleep)
		call->sleeptime = current->ftrace_sleeptime;

	if (call->outermost) {
		if (!tracer_tracing_is_on(keep->tr))
			return NULL;
		if (!keep_open(keep, call, entry)) {
			atomic_long_inc(&keep->lost_trees);
			atomic_inc(&keep->unsaid);
			return NULL;
		}
	} else {
		if (!keep_is_open(keep, parent))
			return NULL;
		call->tree = parent->tree;
		call->gen = parent->gen;
	}

	tree = keep_tree(keep, call->tree);
	where = keep_add(keep, tree, keep_size(entry->nr_args), &parent_where, &time);
	/* If the call around it is lost, there is no room for this one, either. */
	if (where == KEEP_NONE) {
		atomic_inc(&tree->lost);
		atomic_long_inc(&keep->lost_calls);
		return NULL;
	}
	rec = keep_record(keep, where);
	rec->func = entry->func;
	rec->retaddr = 0;
	rec->retval = 0;
	rec->retval_high = 0;
	rec->calltime = time;
	rec->rettime = 0;
	rec->slept = 0;
	rec->parent = parent_where;
	rec->depth = keep_depth(keep, parent_where);
	keep_raise_depth(tree, rec->depth);
	rec->trace_ctx = entry->trace_ctx;
	rec->cpu = raw_smp_processor_id();
	rec->nr_args = entry->nr_args;
	rec->hidden = false;
	/* An interrupt that sees this may look at the record. */
	barrier();
	WRITE_ONCE(call->where, where);
	return rec;
}

/* The call that is not hidden around that of @rec. */
static u32 keep_parent(struct trace_keep *keep, const struct trace_keep_record *rec)
{
	u32 parent = rec->parent;

	while (parent && keep_record(keep, parent)->hidden)
		parent = keep_record(keep, parent)->parent;
	return parent;
}

/**
 * struct keep_writer - somebody who writes a tree, or who looks how large it is
 * @keep:	the expression
 * @tree:	the tree
 * @buffer:	where it goes, or NULL
 * @events:	how many events it has
 * @size:	how many bytes of the ring buffer it needs at most
 * @failed:	an event could not be written
 */
struct keep_writer {
	struct trace_keep	*keep;
	struct keep_tree	*tree;
	struct trace_buffer	*buffer;
	unsigned int		events;
	size_t			size;
	bool			failed;
};

/* How long the call of @rec took, in nanoseconds; 0 if it has been abandoned. */
static u64 keep_duration(const struct trace_keep_record *rec)
{
	return rec->rettime ? rec->rettime - rec->calltime - rec->slept : 0;
}

static void keep_write_event(struct keep_writer *w, const struct trace_keep_record *rec,
			     enum trace_kept_kind kind)
{
	unsigned int nr_args = kind == TRACE_KEPT_RETURN ? 0 : rec->nr_args;
	struct ftrace_graph_kept_entry *entry;
	struct ring_buffer_event *event;

	w->events++;
	/* The ring buffer adds up to 8 bytes, and rounds up. */
	w->size += ALIGN(struct_size(entry, args, nr_args) + 8, 8);
	if (!w->buffer || w->failed)
		return;
	event = trace_buffer_lock_reserve(w->buffer, TRACE_GRAPH_KEPT,
					  struct_size(entry, args, nr_args), rec->trace_ctx);
	if (!event) {
		w->failed = true;
		return;
	}
	entry = ring_buffer_event_data(event);
	entry->func = rec->func;
	entry->retaddr = kind == TRACE_KEPT_RETURN ? 0 : rec->retaddr;
	entry->retval = kind == TRACE_KEPT_ENTRY ? 0 : rec->retval;
	entry->retval_high = kind == TRACE_KEPT_ENTRY ? 0 : rec->retval_high;
	/*
	 * The difference is the duration, without the time that does not count. What is shown of an
	 * entry is when it was, of a return when that was.
	 */
	entry->calltime = rec->calltime + (kind == TRACE_KEPT_RETURN ? rec->slept : 0);
	entry->rettime = 0;
	/* A call that has been abandoned ends when it began. */
	if (kind == TRACE_KEPT_RETURN)
		entry->rettime = rec->rettime ?: rec->calltime;
	else if (kind == TRACE_KEPT_LEAF)
		entry->rettime = rec->calltime + keep_duration(rec);
	entry->tree = w->tree->id;
	entry->depth = rec->depth;
	entry->cpu = rec->cpu;
	entry->kind = kind;
	memcpy(entry->args, rec->args, nr_args * sizeof(rec->args[0]));
	trace_buffer_unlock_commit_nostack(w->buffer, event);
}

/* The innermost calls end, up to @until. @opened says whether the first one has an event. */
static void keep_write_returns(struct keep_writer *w, u32 *innermost, u32 until, bool *opened)
{
	while (*innermost && *innermost != until) {
		struct trace_keep_record *rec = keep_record(w->keep, *innermost);

		keep_write_event(w, rec, *opened ? TRACE_KEPT_RETURN : TRACE_KEPT_LEAF);
		*innermost = keep_parent(w->keep, rec);
		*opened = true;
	}
}

/* Records are in the order of the entries of calls; each one's @parent is open at its entry. */
static void keep_write_events(struct keep_writer *w)
{
	struct keep_block *block = &w->tree->block;
	u32 where = w->tree->first, innermost = KEEP_NONE;
	bool opened = true;

	for (;;) {
		struct trace_keep_record *rec;

		if ((u16)where >= block->end) {
			if (block->next == KEEP_NONE)
				break;
			where = block->next;
			block = keep_block(w->keep, where >> 16);
			continue;
		}
		rec = keep_record(w->keep, where);
		if (!rec->hidden) {
			keep_write_returns(w, &innermost, keep_parent(w->keep, rec), &opened);
			if (!opened)
				keep_write_event(w, keep_record(w->keep, innermost),
						 TRACE_KEPT_ENTRY);
			innermost = where;
			opened = false;
		}
		where += keep_size(rec->nr_args);
	}
	keep_write_returns(w, &innermost, KEEP_NONE, &opened);
}

/* A tree is complete: let each block know where it ends, and the next one. */
static void keep_link_blocks(struct trace_keep *keep, struct keep_tree *tree)
{
	u32 end = keep_end(tree->state), next = KEEP_NONE;
	struct keep_block *block;

	for (;;) {
		block = keep_block(keep, end >> 16);
		block->end = (u16)end;
		block->next = next;
		if (!block->nr)
			return;
		next = KEEP_WHERE(end >> 16, sizeof(*block));
		end = block->prev;
	}
}

/*
 * Reserve the event with which a tree begins, or which says what had no room. Sets *@event if it
 * does.
 */
static struct ftrace_graph_tree_entry *
keep_reserve_head(struct trace_keep *keep, struct trace_buffer *buffer, unsigned int trace_ctx,
		  struct ring_buffer_event **event)
{
	struct ftrace_graph_tree_entry *head;

	*event = trace_buffer_lock_reserve(buffer, TRACE_GRAPH_TREE, sizeof(*head), trace_ctx);
	if (!*event)
		return NULL;
	head = ring_buffer_event_data(*event);
	head->func = 0;
	head->tree = 0;
	head->events = 0;
	head->written = 0;
	head->lost = 0;
	head->lost_trees = atomic_xchg(&keep->unsaid, 0);
	if (head->lost_trees)
		WRITE_ONCE(keep->said, trace_clock_local());
	return head;
}

/* Say that trees had no room, unless that was done a short time ago. */
static void keep_say_lost_trees(struct trace_keep *keep)
{
	struct trace_buffer *buffer = keep->tr->array_buffer.buffer;
	struct ring_buffer_event *event;

	if (!atomic_read(&keep->unsaid) ||
	    trace_clock_local() - READ_ONCE(keep->said) < KEEP_SAY_NS)
		return;
	if (keep_reserve_head(keep, buffer, tracing_gen_ctx(), &event))
		trace_buffer_unlock_commit_nostack(buffer, event);
}

/* Returns false if it was not written. */
static bool keep_write_tree(struct trace_keep *keep, struct keep_tree *tree)
{
	struct trace_buffer *buffer = keep->tr->array_buffer.buffer;
	struct keep_writer w = { .keep = keep, .tree = tree };
	struct ftrace_graph_tree_entry *head;
	struct ring_buffer_event *event;
	bool fits;

	keep_link_blocks(keep, tree);
	tree->id = atomic_inc_return(&keep->last_id);
	keep_write_events(&w);
	/* The ends of pages, and most of the first one, may have no room. */
	w.size += w.size / 16 + PAGE_SIZE;
	fits = w.size <= ring_buffer_size(buffer, raw_smp_processor_id());

	head = keep_reserve_head(keep, buffer, tree->trace_ctx, &event);
	if (!head)
		return false;
	head->func = keep_record(keep, tree->first)->func;
	head->tree = tree->id;
	head->events = w.events;
	head->lost = atomic_read(&tree->lost);
	if (fits) {
		w.buffer = buffer;
		/* It is nested in the one that is reserved, with which it will be seen. */
		ring_buffer_nest_start(buffer);
		keep_write_events(&w);
		ring_buffer_nest_end(buffer);
		head->written = !w.failed;
	}
	fits = head->written;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return fits;
}

static void keep_write_pending(struct trace_keep *keep, struct keep_cpu *cpu)
{
	struct llist_node *node = llist_reverse_order(llist_del_all(&cpu->pending));
	struct llist_node *next;

	for (; node; node = next) {
		struct keep_tree *tree = container_of(node, struct keep_tree, pending);

		next = node->next;
		if (keep_write_tree(keep, tree))
			cpu->kept++;
		else
			atomic_long_inc(&keep->unwritten);
		keep_free_tree(keep, tree->first >> 16);
	}
}

/*
 * Write a tree, and those that interrupts leave to this task meanwhile. If this is in an interrupt
 * of somebody who writes, leave it to that one.
 */
static void keep_write(struct trace_keep *keep, struct keep_tree *tree)
{
	struct keep_cpu *cpu;
	bool writer;

	preempt_disable_notrace();
	cpu = this_cpu_ptr(keep->cpu);
	writer = !READ_ONCE(cpu->writing);
	/* Before the tree is in the list: an interrupt must not take it for one to be written. */
	if (writer)
		WRITE_ONCE(cpu->writing, true);
	barrier();
	llist_add(&tree->pending, &cpu->pending);
	while (writer) {
		keep_write_pending(keep, cpu);
		barrier();
		WRITE_ONCE(cpu->writing, false);
		barrier();
		/* An interrupt may have left one after the last look, while @writing was set. */
		writer = !llist_empty(&cpu->pending);
		if (writer)
			WRITE_ONCE(cpu->writing, true);
		barrier();
	}
	preempt_enable_notrace();
}

/* A return value that may be an error: -1 to -MAX_ERRNO in a long or in an int. */
static long keep_error(unsigned long retval)
{
	long value = retval;

	if (IS_ENABLED(CONFIG_64BIT) && !((u64)retval >> 32))
		value = (int)retval;
	return IS_ERR_VALUE(value) ? value : 0;
}

static bool keep_matches(struct trace_keep *keep, struct keep_tree *tree,
			 const struct trace_keep_record *rec)
{
	struct keep_match match = {
		.error		= keep_error(rec->retval),
		.duration	= keep_duration(rec),
		.func		= rec->func,
		.depth		= tree->depth,
	};

	match.retval = match.error ?: (long)rec->retval;
	memcpy(match.args, tree->args, sizeof(match.args));
	tracing_generic_entry_update(&match.ent, 0, tree->trace_ctx);
	return filter_match_preds(keep->filter, &match);
}

/* The call of @rec is too short to be shown. If nothing was added after it, its room is free. */
static void keep_hide(struct keep_tree *tree, struct trace_keep_record *rec, u32 where)
{
	u64 state = keep_state(where + keep_size(rec->nr_args), rec->parent);

	rec->hidden = true;
	barrier();
	cmpxchg64_local(&tree->state, state, keep_state(where, rec->parent));
}

/* The innermost call is that around @rec; calls above, which were abandoned, are gone. */
static void keep_end_call(struct keep_tree *tree, const struct trace_keep_record *rec)
{
	u64 state;

	do {
		state = READ_ONCE(tree->state);
	} while (cmpxchg64_local(&tree->state, state, keep_state(keep_end(state), rec->parent)) !=
		 state);
}

/**
 * trace_keep_leave() - a call returns
 * @keep:	the expression
 * @call:	the private data of the call
 * @retval:	its return value
 * @retval_high: the second word of that, or 0
 * @rettime:	the time
 *
 * If it is the outermost call, its tree is written or not.
 *
 * Context: any, preemption disabled.
 */
void trace_keep_leave(struct trace_keep *keep, struct trace_keep_call *call,
		      unsigned long retval, unsigned long retval_high, u64 rettime)
{
	unsigned long thresh = READ_ONCE(*trace_array_thresh(keep->tr));
	unsigned int block = call->tree;
	struct trace_keep_record *rec;
	u32 where = call->where;
	struct keep_tree *tree;

	if (where == KEEP_LOST) {
		if (!call->outermost)
			return;
		/* What an interrupt calls from now on is not within this call. */
		WRITE_ONCE(call->where, KEEP_NONE);
		keep_say_lost_trees(keep);
		return;
	}
	if (where == KEEP_NONE || !keep_is_open(keep, call))
		return;

	tree = keep_tree(keep, block);
	rec = keep_record(keep, where);
	rec->retval = retval;
	rec->retval_high = retval_high;
	rec->rettime = rettime;
	if (call->no_sleep)
		rec->slept = current->ftrace_sleeptime - call->sleeptime;
	/*
	 * A tree without an owner cannot be claimed, so its blocks stay while it is written. This
	 * comes before @where is set: from then on, an interrupt finds no outermost call, begins a
	 * tree of its own and, if the pool is empty, claims what its task owns.
	 */
	if (call->outermost) {
		WRITE_ONCE(keep->slots[block].owner, NULL);
		barrier();
	}
	WRITE_ONCE(call->where, rec->parent);
	barrier();
	keep_end_call(tree, rec);
	if (!call->outermost) {
		if (keep_duration(rec) < thresh)
			keep_hide(tree, rec, where);
		return;
	}

	if (tracer_tracing_is_on(keep->tr) && keep_matches(keep, tree, rec)) {
		keep_write(keep, tree);
	} else {
		this_cpu_inc(keep->cpu->dropped);
		keep_free_tree(keep, block);
	}
}

enum {
	KEEP_ERR_NAME,
	KEEP_ERR_SIZE,
	KEEP_NR_ERRS,
};

static const char *keep_errs[KEEP_NR_ERRS] = {
	"Unknown name of an error",
	"Not the kilobytes of a tree and of all trees, or out of range",
};

/*
 * Replace names of errors by numbers, such as -ENOENT by -2, with spaces up to the length of the
 * name: positions in the expression stay.
 */
static int keep_translate(struct trace_array *tr, char *expr)
{
	char *p, *end, quote = 0;
	int err;

	for (p = expr; *p; p++) {
		if (quote || *p == '"' || *p == '\'') {
			if (!quote)
				quote = *p;
			else if (*p == quote)
				quote = 0;
			continue;
		}
		if (!isalnum(*p) && *p != '_')
			continue;
		for (end = p; isalnum(*end) || *end == '_'; end++)
			;
		if (*p == 'E') {
			char digits[8];
			const char *name;

			for (err = 1; err <= MAX_ERRNO; err++) {
				name = errname(err);
				if (name && strlen(name) == end - p && !memcmp(name, p, end - p))
					break;
			}
			if (err > MAX_ERRNO) {
				tracing_log_err(tr, "graph_keep", expr, keep_errs, KEEP_ERR_NAME,
						p - expr);
				return -EINVAL;
			}
			memset(p, ' ', end - p);
			memcpy(p, digits, snprintf(digits, sizeof(digits), "%d", err));
		}
		p = end - 1;
	}
	return 0;
}

static unsigned int keep_nr_pages(const struct trace_keep *keep)
{
	return DIV_ROUND_UP(keep->nr_blocks, KEEP_BLOCKS_A_PAGE);
}

static void keep_destroy(struct trace_keep *keep)
{
	unsigned int i;

	if (!keep)
		return;
	if (keep->probed) {
		unregister_trace_sched_process_free(keep_task_free, keep);
		tracepoint_synchronize_unregister();
	}
	free_event_filter(keep->filter);
	for (i = 0; keep->pages && i < keep_nr_pages(keep); i++)
		free_page((unsigned long)keep->pages[i]);
	kvfree(keep->pages);
	kvfree(keep->slots);
	bitmap_free(keep->used);
	free_percpu(keep->cpu);
	kfree(keep->expr);
	kfree(keep);
}

static unsigned int keep_tree_kb(const struct trace_array *tr)
{
	return tr->graph_keep_tree_kb ?: KEEP_TREE_KB;
}

static unsigned int keep_all_kb(const struct trace_array *tr)
{
	return tr->graph_keep_all_kb ?: KEEP_ALL_KB;
}

static int keep_alloc_pool(struct trace_keep *keep)
{
	unsigned int i, bits;

	keep->tree_blocks = keep_tree_kb(keep->tr) * 1024 / KEEP_BLOCK_SIZE;
	keep->nr_blocks = keep_all_kb(keep->tr) * 1024 / KEEP_BLOCK_SIZE;
	bits = round_up(keep->nr_blocks, BITS_PER_LONG);
	keep->used = bitmap_zalloc(bits, GFP_KERNEL);
	keep->slots = kvcalloc(keep->nr_blocks, sizeof(*keep->slots), GFP_KERNEL);
	keep->pages = kvcalloc(keep_nr_pages(keep), sizeof(*keep->pages), GFP_KERNEL);
	keep->cpu = alloc_percpu(struct keep_cpu);
	if (!keep->used || !keep->slots || !keep->pages || !keep->cpu)
		return -ENOMEM;
	bitmap_set(keep->used, keep->nr_blocks, bits - keep->nr_blocks);
	for (i = 0; i < keep_nr_pages(keep); i++) {
		keep->pages[i] = (void *)__get_free_page(GFP_KERNEL |
							 __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		if (!keep->pages[i])
			return -ENOMEM;
	}
	return 0;
}

static int keep_parse(struct trace_keep *keep)
{
	char *expr = kstrdup(keep->expr, GFP_KERNEL);
	int ret;

	if (!expr)
		return -ENOMEM;
	ret = keep_translate(keep->tr, expr);
	if (!ret)
		ret = create_event_filter(keep->tr, &keep_event, expr, true, &keep->filter);
	kfree(expr);
	return ret;
}

static struct trace_keep *keep_create(struct trace_array *tr, const char *expr)
{
	struct trace_keep *keep = kzalloc(sizeof(*keep), GFP_KERNEL);
	int ret;

	if (!keep)
		return ERR_PTR(-ENOMEM);
	keep->tr = tr;
	ret = -ENOMEM;
	keep->expr = kstrdup(expr, GFP_KERNEL);
	if (keep->expr)
		ret = keep_parse(keep);
	if (!ret)
		ret = keep_alloc_pool(keep);
	if (!ret)
		ret = register_trace_sched_process_free(keep_task_free, keep);
	keep->probed = !ret;
	if (ret) {
		keep_destroy(keep);
		return ERR_PTR(ret);
	}
	return keep;
}

/*
 * With event_mutex, as others who set filters, and trace_types_lock. Without an expression, all
 * trees are written as their calls are made, as if this were not.
 */
static int keep_set(struct trace_array *tr, const char *expr)
{
	struct trace_keep *keep = NULL, *old;
	int ret;

	if (expr) {
		keep = keep_create(tr, expr);
		if (IS_ERR(keep))
			return PTR_ERR(keep);
	}
	old = tr->graph_keep;
	ret = trace_graph_set_keep(tr, keep);
	keep_destroy(ret ? keep : old);
	return ret;
}

/**
 * trace_keep_free() - an instance is removed
 * @tr:		the instance, in which no tracer runs
 */
void trace_keep_free(struct trace_array *tr)
{
	keep_destroy(tr->graph_keep);
	tr->graph_keep = NULL;
}

static ssize_t keep_expr_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	ssize_t ret;
	char *text;

	mutex_lock(&trace_types_lock);
	text = kasprintf(GFP_KERNEL, "%s\n", tr->graph_keep ? tr->graph_keep->expr : "none");
	mutex_unlock(&trace_types_lock);
	if (!text)
		return -ENOMEM;
	ret = simple_read_from_buffer(ubuf, cnt, ppos, text, strlen(text));
	kfree(text);
	return ret;
}

static ssize_t keep_expr_write(struct file *file, const char __user *ubuf, size_t cnt,
			       loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	char *text, *expr;
	int ret;

	if (cnt >= PAGE_SIZE)
		return -EINVAL;
	text = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(text))
		return PTR_ERR(text);
	expr = strim(text);
	if (!*expr || !strcmp(expr, "0") || !strcmp(expr, "none"))
		expr = NULL;
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	ret = keep_set(tr, expr);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
	kfree(text);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static ssize_t keep_size_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	char text[32];
	int len;

	len = scnprintf(text, sizeof(text), "%u %u\n", keep_tree_kb(tr), keep_all_kb(tr));
	return simple_read_from_buffer(ubuf, cnt, ppos, text, len);
}

/*
 * Set the size of trees and of the pool, with event_mutex and trace_types_lock held. An expression
 * that is set gets memory of the new size.
 */
static int keep_set_size(struct trace_array *tr, unsigned int tree_kb, unsigned int all_kb)
{
	unsigned int old_tree = tr->graph_keep_tree_kb, old_all = tr->graph_keep_all_kb;
	int ret = 0;

	tr->graph_keep_tree_kb = tree_kb;
	tr->graph_keep_all_kb = all_kb;
	if (tr->graph_keep)
		ret = keep_set(tr, tr->graph_keep->expr);
	if (ret) {
		tr->graph_keep_tree_kb = old_tree;
		tr->graph_keep_all_kb = old_all;
	}
	return ret;
}

static ssize_t keep_size_write(struct file *file, const char __user *ubuf, size_t cnt,
			       loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	unsigned int tree_kb, all_kb;
	char text[32], rest;
	int ret;

	if (cnt >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, ubuf, cnt))
		return -EFAULT;
	text[cnt] = 0;
	strim(text);
	if (sscanf(text, "%u %u%c", &tree_kb, &all_kb, &rest) != 2 ||
	    tree_kb < KEEP_BLOCK_SIZE / 1024 || tree_kb > KEEP_TREE_MAX_KB || all_kb < tree_kb ||
	    all_kb > KEEP_ALL_MAX_KB) {
		tracing_log_err(tr, "graph_keep_size", text, keep_errs, KEEP_ERR_SIZE, 0);
		return -EINVAL;
	}
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	ret = keep_set_size(tr, tree_kb, all_kb);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static int keep_show_stats(struct trace_keep *keep, char *text, size_t size)
{
	unsigned long kept = 0, dropped = 0;
	int cpu;

	if (!keep)
		return scnprintf(text, size, "none\n");
	for_each_possible_cpu(cpu) {
		kept += per_cpu_ptr(keep->cpu, cpu)->kept;
		dropped += per_cpu_ptr(keep->cpu, cpu)->dropped;
	}
	return scnprintf(text, size,
			 "kept: %lu\ndropped: %lu\nunwritten: %lu\nlost_trees: %lu\n"
			 "lost_calls: %lu\nused_kb: %lu\n", kept, dropped,
			 atomic_long_read(&keep->unwritten), atomic_long_read(&keep->lost_trees),
			 atomic_long_read(&keep->lost_calls),
			 bitmap_weight(keep->used, keep->nr_blocks) * KEEP_BLOCK_SIZE / 1024);
}

static ssize_t keep_stats_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	char text[200];
	int len;

	mutex_lock(&trace_types_lock);
	len = keep_show_stats(tr->graph_keep, text, sizeof(text));
	mutex_unlock(&trace_types_lock);
	return simple_read_from_buffer(ubuf, cnt, ppos, text, len);
}

static const struct file_operations keep_expr_fops = {
	.open		= tracing_open_generic_tr,
	.read		= keep_expr_read,
	.write		= keep_expr_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

static const struct file_operations keep_size_fops = {
	.open		= tracing_open_generic_tr,
	.read		= keep_size_read,
	.write		= keep_size_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

static const struct file_operations keep_stats_fops = {
	.open		= tracing_open_generic_tr,
	.read		= keep_stats_read,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

/**
 * trace_keep_create_files() - the files of an instance that say which trees are kept
 * @tr:		the instance, or the top level
 * @parent:	its directory
 */
void trace_keep_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("graph_keep", TRACE_MODE_WRITE, parent, tr, &keep_expr_fops);
	trace_create_file("graph_keep_size", TRACE_MODE_WRITE, parent, tr, &keep_size_fops);
	trace_create_file("graph_keep_stats", TRACE_MODE_READ, parent, tr, &keep_stats_fops);
}

static const struct {
	const char	*type;
	const char	*name;
	int		offset;
	int		size;
	bool		is_signed;
} keep_fields[] = {
	{ "u64", "duration", offsetof(struct keep_match, duration), sizeof(u64) },
	{ "unsigned long", "func", offsetof(struct keep_match, func), sizeof(long) },
	{ "unsigned int", "depth", offsetof(struct keep_match, depth), sizeof(int) },
#if TRACE_KEEP_RETVAL
	{ "long", "retval", offsetof(struct keep_match, retval), sizeof(long), true },
	{ "long", "error", offsetof(struct keep_match, error), sizeof(long), true },
#endif
#ifdef CONFIG_FUNCTION_TRACE_ARGS
	{ "unsigned long", "arg1", offsetof(struct keep_match, args[0]), sizeof(long) },
	{ "unsigned long", "arg2", offsetof(struct keep_match, args[1]), sizeof(long) },
	{ "unsigned long", "arg3", offsetof(struct keep_match, args[2]), sizeof(long) },
	{ "unsigned long", "arg4", offsetof(struct keep_match, args[3]), sizeof(long) },
	{ "unsigned long", "arg5", offsetof(struct keep_match, args[4]), sizeof(long) },
	{ "unsigned long", "arg6", offsetof(struct keep_match, args[5]), sizeof(long) },
#endif
};

static __init int keep_define_fields(void)
{
	int ret = 0, i;

	for (i = 0; !ret && i < ARRAY_SIZE(keep_fields); i++)
		ret = trace_define_field(&keep_event, keep_fields[i].type, keep_fields[i].name,
					 keep_fields[i].offset, keep_fields[i].size,
					 keep_fields[i].is_signed, FILTER_OTHER);
	return ret;
}
fs_initcall(keep_define_fields);
