/* SPDX-License-Identifier: GPL-2.0 */
/* Values as text, by their BTF types. */
#ifndef _TRACE_BTF_H
#define _TRACE_BTF_H

#include <linux/btf.h>
#include <linux/types.h>

struct trace_seq;

/* The widest value that is passed in registers, or whose words are shown. */
#define TRACE_BTF_WORDS		2

#ifdef CONFIG_TRACE_BTF
/**
 * struct trace_btf_func - the type of a function
 * @btf:	where it is, or NULL
 * @proto:	its BTF_KIND_FUNC_PROTO
 */
struct trace_btf_func {
	struct btf		*btf;
	const struct btf_type	*proto;
};

/**
 * struct trace_btf_walk - where the arguments of a function are, one after the other
 * @btf:	where the types are
 * @regs:	registers taken so far
 * @stack:	words of the stack taken so far
 * @nr:		words of the argument at hand, 0 for a struct without members
 * @first:	the first of them, counted in registers or on the stack
 * @on_stack:	which of the two
 * @memory:	the word is the address of the argument
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
 * @type:	its type
 * @offset:	where it begins, in bits
 * @size:	bits of a bitfield, 0 for what is none
 */
struct trace_btf_member {
	u32	type;
	u32	offset;
	u32	size;
};

int trace_btf_get_func(struct trace_btf_func *func, const char *symbol);
void trace_btf_put_func(struct trace_btf_func *func);
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
