/* SPDX-License-Identifier: GPL-2.0 */
/* Print values according to their BTF types. */
#ifndef _TRACE_BTF_H
#define _TRACE_BTF_H

#include <linux/btf.h>
#include <linux/types.h>

#include "trace_btf_args.h"

struct module;
struct trace_seq;

#ifdef CONFIG_TRACE_BTF
/**
 * struct trace_btf_func - the type of a function
 * @btf:	the BTF that has the type, or NULL
 * @proto:	the BTF_KIND_FUNC_PROTO
 */
struct trace_btf_func {
	struct btf		*btf;
	const struct btf_type	*proto;
};

/**
 * struct trace_btf_member - a member of a struct or union
 * @type:	id of its type
 * @offset:	offset of the member, in bits
 * @size:	size of a bitfield in bits; 0 if the member is not a bitfield
 */
struct trace_btf_member {
	u32	type;
	u32	offset;
	u32	size;
};

/* Is this an enum of 64 bits in BTF without BTF_KIND_ENUM64, which cuts its values to 32? */
static inline bool btf_enum_is_cut(const struct btf_type *t)
{
	return btf_type_is_enum(t) && t->size > sizeof(s32);
}

u32 trace_btf_first_id(const struct module *mod);
bool trace_btf_same_types(const struct btf_type *a, const struct btf_type *b);
int trace_btf_get_func(struct trace_btf_func *func, const char *symbol);
void trace_btf_put_func(struct trace_btf_func *func);
bool trace_btf_find_member(const struct btf *btf, u32 id, const char *name,
			   struct trace_btf_member *m);
void trace_btf_print(struct trace_seq *s, const struct btf *btf, u32 id,
		     const unsigned long *words);
void trace_btf_print_hex(struct trace_seq *s, const struct btf *btf, u32 id,
			 const unsigned long *words);
void trace_btf_print_return(struct trace_seq *s, const struct btf *btf, u32 id,
			    const unsigned long *words);
#endif

#endif /* _TRACE_BTF_H */
