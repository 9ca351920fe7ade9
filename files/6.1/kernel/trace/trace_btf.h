/* SPDX-License-Identifier: GPL-2.0 */
/* Find the type of a function by its name, and members of structures. */
#ifndef _TRACE_BTF_H
#define _TRACE_BTF_H

#include <linux/btf.h>
#include <linux/types.h>

#include "trace_btf_args.h"
#include "trace_btf_print.h"

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

int trace_btf_get_func(struct trace_btf_func *func, const char *symbol);
void trace_btf_put_func(struct trace_btf_func *func);
bool trace_btf_find_member(const struct btf *btf, u32 id, const char *name,
			   struct trace_btf_member *m);
#endif

#endif /* _TRACE_BTF_H */
