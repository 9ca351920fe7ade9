/* SPDX-License-Identifier: GPL-2.0 */
/* Print values according to their BTF types. */
#ifndef _TRACE_BTF_H
#define _TRACE_BTF_H

#include <linux/btf.h>
#include <linux/types.h>

struct module;
struct trace_seq;

/* The number of words of the largest value that is passed in registers, or printed. */
#define TRACE_BTF_WORDS		2

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
 * struct trace_btf_walk - a walk through the arguments of a function
 * @btf:	the BTF that has the types
 * @regs:	number of argument registers taken so far
 * @stack:	number of words on the stack taken so far
 * @nr:		number of words of the current argument; 0 for a struct without members
 * @first:	index of the argument's first word: of the argument registers, or of the words
 *		on the stack if @on_stack
 * @on_stack:	the argument is on the stack
 * @memory:	the argument's word is the address of its value
 */
struct trace_btf_walk {
	const struct btf	*btf;
	unsigned int		regs;
	unsigned int		stack;
	unsigned int		nr;
	unsigned int		first;
	bool			on_stack;
	bool			memory;
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

u32 trace_btf_first_id(const struct module *mod);
int trace_btf_get_func(struct trace_btf_func *func, const char *symbol);
void trace_btf_put_func(struct trace_btf_func *func);
struct trace_btf_walk trace_btf_walk_args(const struct btf *btf, const struct btf_type *proto);
bool trace_btf_next_arg(struct trace_btf_walk *w, u32 id);
bool trace_btf_find_member(const struct btf *btf, u32 id, const char *name,
			   struct trace_btf_member *m);
int trace_btf_size(const struct btf *btf, u32 id);
void trace_btf_print(struct trace_seq *s, const struct btf *btf, u32 id,
		     const unsigned long *words);
void trace_btf_print_hex(struct trace_seq *s, const struct btf *btf, u32 id,
			 const unsigned long *words);
void trace_btf_print_return(struct trace_seq *s, const struct btf *btf, u32 id,
			    const unsigned long *words);
#endif

#endif /* _TRACE_BTF_H */
