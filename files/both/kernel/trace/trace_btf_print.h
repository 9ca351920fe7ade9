/* SPDX-License-Identifier: GPL-2.0 */
/* Print values according to their BTF types. */
#ifndef _TRACE_BTF_PRINT_H
#define _TRACE_BTF_PRINT_H

#include <linux/btf.h>
#include <linux/types.h>

struct trace_seq;

/* Is this an enum of 64 bits in BTF without BTF_KIND_ENUM64, which cuts its values to 32? */
static inline bool btf_enum_is_cut(const struct btf_type *t)
{
	return btf_type_is_enum(t) && t->size > sizeof(s32);
}

void trace_btf_print(struct trace_seq *s, const struct btf *btf, u32 id,
		     const unsigned long *words);
void trace_btf_print_hex(struct trace_seq *s, const struct btf *btf, u32 id,
			 const unsigned long *words);
void trace_btf_print_return(struct trace_seq *s, const struct btf *btf, u32 id,
			    const unsigned long *words);

#endif /* _TRACE_BTF_PRINT_H */
