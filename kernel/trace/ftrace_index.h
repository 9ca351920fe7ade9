/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FTRACE_INDEX_H
#define _FTRACE_INDEX_H

#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/rcupdate.h>

#ifdef CONFIG_DYNAMIC_FTRACE

/**
 * struct ftrace_index - which ftrace_ops to call for a function
 * @next:	the one that was replaced before, to be freed as well
 * @bits:	the functions are hashed to 1 << @bits buckets
 * @asked:	the first entry behind those: ops whose filter must be asked
 * @end:	and behind them
 * @entry:	what is in the same bucket stands together, and there what is for
 *		the same function: who may be called at once, newest ops first
 * @bucket:	the first entry of each bucket, the last one's end
 *
 * Never written once it can be found.
 */
struct ftrace_index {
	struct ftrace_index		*next;
	unsigned int			bits;
	struct ftrace_index_entry	*asked;
	struct ftrace_index_entry	*end;
	struct ftrace_index_entry	*entry;
	unsigned int			bucket[];
};

extern struct ftrace_index __rcu *ftrace_index;

/* Called with ftrace_lock held. */
void ftrace_index_update(void);

static __always_inline unsigned int ftrace_index_bucket(const struct ftrace_index *index,
							unsigned long ip)
{
	return hash_long(ip, index->bits);
}

/* The first entry of a function, if it has any. With preemption disabled. */
static __always_inline const struct ftrace_index_entry *
ftrace_index_find(const struct ftrace_index *index, unsigned long ip)
{
	unsigned int bucket = ftrace_index_bucket(index, ip);
	const struct ftrace_index_entry *entry = index->entry + index->bucket[bucket];
	const struct ftrace_index_entry *end = index->entry + index->bucket[bucket + 1];

	for (; entry < end; entry++) {
		if (entry->ip == ip)
			return entry;
	}
	return NULL;
}

/* Must all registers have been saved for this one? */
static __always_inline bool ftrace_ops_needs_regs(struct ftrace_ops *ops)
{
	return IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) &&
	       (ops->flags & FTRACE_OPS_FL_SAVE_REGS);
}

#else /* !CONFIG_DYNAMIC_FTRACE */
static inline void ftrace_index_update(void) { }
#endif /* CONFIG_DYNAMIC_FTRACE */

#endif /* _FTRACE_INDEX_H */
