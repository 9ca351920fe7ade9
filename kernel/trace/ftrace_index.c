// SPDX-License-Identifier: GPL-2.0
/*
 * Which ftrace_ops to call for a function, where several are registered.
 *
 * ftrace's list function would ask the filter of each. Here those that are for a
 * few functions are found by the function's address. All is made anew when an ops
 * comes or goes, or a filter changes: under ftrace_lock, from the filters alone.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/workqueue.h>

#include "ftrace_internal.h"
#include "ftrace_index.h"
#include "trace.h"

/*
 * Of more functions than that, the filter is asked. It bounds what is made for
 * each ops whenever one changes: 36 to 40 KB.
 */
#define FTRACE_INDEX_FUNCTIONS	1024

/* Without one, the filter of each ops is asked. */
struct ftrace_index __rcu *ftrace_index;

static struct ftrace_hash *filter_of(struct ftrace_ops *ops)
{
	return rcu_dereference_protected(ops->func_hash->filter_hash,
					 lockdep_is_held(&ftrace_lock));
}

static struct ftrace_hash *notrace_of(struct ftrace_ops *ops)
{
	return rcu_dereference_protected(ops->func_hash->notrace_hash,
					 lockdep_is_held(&ftrace_lock));
}

/* An empty filter means all functions, or those of modules yet to come. */
static bool is_asked(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter = filter_of(ops);

	return !filter || !filter->count || filter->count > FTRACE_INDEX_FUNCTIONS;
}

/* The list ends in a stub, whose next is NULL. */
static struct ftrace_ops *called(struct ftrace_ops *ops)
{
	while (ops && (ops->flags & FTRACE_OPS_FL_STUB))
		ops = rcu_dereference_protected(ops->next, lockdep_is_held(&ftrace_lock));
	return ops;
}

static struct ftrace_ops *first_called(void)
{
	return called(rcu_dereference_protected(ftrace_ops_list,
						lockdep_is_held(&ftrace_lock)));
}

static struct ftrace_ops *next_called(struct ftrace_ops *ops)
{
	return called(rcu_dereference_protected(ops->next, lockdep_is_held(&ftrace_lock)));
}

/*
 * Take each function of an ops to its bucket: only count it, at two further, or
 * enter it, where one further says.
 */
static void add_functions(struct ftrace_index *index, struct ftrace_ops *ops, bool enter)
{
	struct ftrace_hash *filter = filter_of(ops);
	struct ftrace_hash *except = notrace_of(ops);
	struct ftrace_func_entry *func;
	unsigned long i;

	for (i = 0; i < 1UL << filter->size_bits; i++) {
		hlist_for_each_entry(func, &filter->buckets[i], hlist) {
			unsigned int bucket = ftrace_index_bucket(index, func->ip);

			/* Nothing is called at 0: the function's module has gone. */
			if (!func->ip || ftrace_lookup_ip(except, func->ip))
				continue;
			if (!enter) {
				index->bucket[bucket + 2]++;
				continue;
			}
			index->entry[index->bucket[bucket + 1]++] = (struct ftrace_index_entry) {
				.ip = func->ip,
				.ops = ops,
			};
		}
	}
}

/* By functions, what may be called at once together, and otherwise as they came. */
static int compare(const void *a, const void *b)
{
	const struct ftrace_index_entry *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	if (x->ops->batch_func != y->ops->batch_func)
		return x->ops->batch_func < y->ops->batch_func ? -1 : 1;
	if (x->ops->batch_func &&
	    ftrace_ops_needs_regs(x->ops) != ftrace_ops_needs_regs(y->ops))
		return ftrace_ops_needs_regs(x->ops) ? 1 : -1;
	if (x->ops->batch_func && !x->ops->batch_first_func != !y->ops->batch_first_func)
		return x->ops->batch_first_func ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

/* Usually all is in order already: few buckets have two functions, or two kinds. */
static void sort_bucket(struct ftrace_index_entry *entry, struct ftrace_index_entry *end)
{
	struct ftrace_index_entry *at;
	bool sorted = true;

	for (at = entry; at < end; at++) {
		at->nr = at - entry;
		sorted &= at == entry || compare(at - 1, at) < 0;
	}
	if (!sorted)
		sort(entry, end - entry, sizeof(*entry), compare, NULL);
}

/* Does it rely on ftrace against recursion, or where RCU does not watch? */
static bool needs_help(struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
}

/*
 * May both be called at once, on the same conditions? Only the first of a batch has
 * a batch_first_func: whoever is passed to a batch_func has none.
 */
static bool go_together(struct ftrace_ops *a, struct ftrace_ops *b)
{
	return a->batch_func && a->batch_func == b->batch_func && !b->batch_first_func &&
	       a->func == a->saved_func && b->func == b->saved_func &&
	       !needs_help(a) && !needs_help(b) &&
	       ftrace_ops_needs_regs(a) == ftrace_ops_needs_regs(b);
}

static void find_batches(struct ftrace_index_entry *entry, struct ftrace_index_entry *end,
			 bool others)
{
	struct ftrace_index_entry *at;

	for (at = end; at-- > entry;) {
		bool more = at + 1 < end && at[1].ip == at->ip;

		at->nr = more ? at[1].nr + 1 : 1;
		if (more && at[1].batch < U16_MAX && go_together(at->ops, at[1].ops)) {
			at->batch = at[1].batch + 1;
			at->batch_func = at->ops->batch_first_func ?: at->ops->batch_func;
		} else {
			at->batch = 1;
			at->batch_func = NULL;
		}
		if (others || needs_help(at->ops) || (more && at[1].call == FTRACE_INDEX_OTHER))
			at->call = FTRACE_INDEX_OTHER;
		else if (at->batch < at->nr)
			at->call = FTRACE_INDEX_PLAIN;
		else
			at->call = at->nr > 1 ? FTRACE_INDEX_BATCH : FTRACE_INDEX_ONE;
		at->regs = ftrace_ops_needs_regs(at->ops) || (more && at[1].regs);
	}
}

static struct ftrace_index *make_index(void)
{
	unsigned long functions = 0, entries = 0, buckets, i;
	struct ftrace_index *index;
	struct ftrace_ops *ops;
	size_t size;

	for (ops = first_called(); ops; ops = next_called(ops)) {
		/* The list function says so. */
		if (!ops->func)
			return NULL;
		entries++;
		if (!is_asked(ops))
			functions += filter_of(ops)->count;
	}
	if (!entries)
		return NULL;

	/* Each ops has an entry more than it needs, if it is not to be asked. */
	entries += functions;
	buckets = roundup_pow_of_two(max(functions, 2UL));
	size = ALIGN(struct_size(index, bucket, buckets + 2), sizeof(long));
	index = kvzalloc(size_add(size, array_size(entries, sizeof(*index->entry))), GFP_KERNEL);
	if (!index)
		return NULL;
	index->bits = ilog2(buckets);
	index->entry = (void *)index + size;

	for (ops = first_called(); ops; ops = next_called(ops)) {
		if (!is_asked(ops))
			add_functions(index, ops, false);
	}
	for (i = 2; i < buckets + 2; i++)
		index->bucket[i] += index->bucket[i - 1];
	for (ops = first_called(); ops; ops = next_called(ops)) {
		if (!is_asked(ops))
			add_functions(index, ops, true);
	}

	index->asked = index->entry + index->bucket[buckets];
	index->end = index->asked;
	for (ops = first_called(); ops; ops = next_called(ops)) {
		if (is_asked(ops))
			(index->end++)->ops = ops;
	}

	for (i = 0; i < buckets; i++) {
		struct ftrace_index_entry *entry = index->entry + index->bucket[i];
		struct ftrace_index_entry *end = index->entry + index->bucket[i + 1];

		sort_bucket(entry, end);
		find_batches(entry, end, index->end > index->asked);
	}
	return index;
}

static void nothing(struct work_struct *work)
{
}

static void free_replaced(struct work_struct *work);
static DECLARE_DELAYED_WORK(free_work, free_replaced);
/* Protected by ftrace_lock. */
static struct ftrace_index *replaced;

/*
 * When each CPU has passed through the scheduler: functions that are traced may be
 * called where RCU does not watch. It is what rude RCU tasks waits for, too. But
 * that waits 100 ms after each turn, and whoever unregisters an ops needs the next.
 */
static void free_replaced(struct work_struct *work)
{
	struct ftrace_index *index, *next;

	mutex_lock(&ftrace_lock);
	index = replaced;
	replaced = NULL;
	mutex_unlock(&ftrace_lock);

	while (schedule_on_each_cpu(nothing))
		msleep(20);
	for (; index; index = next) {
		next = index->next;
		kvfree(index);
	}
}

/*
 * Before an ops may be called for more functions, and before one that is called
 * no more may go.
 */
void ftrace_index_update(void)
{
	struct ftrace_index *old;

	old = rcu_replace_pointer(ftrace_index, make_index(), lockdep_is_held(&ftrace_lock));
	if (!old)
		return;
	/* Nothing else runs yet, not even the worker. */
	if (system_state < SYSTEM_SCHEDULING) {
		kvfree(old);
		return;
	}
	old->next = replaced;
	replaced = old;
	/* Those of a burst together, but not too many. */
	queue_delayed_work(system_unbound_wq, &free_work, HZ / 50);
}
