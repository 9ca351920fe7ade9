/* SPDX-License-Identifier: GPL-2.0 */
/* Find the arguments of a function by their BTF types. */
#ifndef _TRACE_BTF_ARGS_H
#define _TRACE_BTF_ARGS_H

#include <linux/bits.h>
#include <linux/btf.h>
#include <linux/kconfig.h>
#include <linux/minmax.h>
#include <linux/types.h>

struct module;

/* The number of words of the largest value that is passed in registers, or printed. */
#define TRACE_BTF_WORDS		2
/* The number of floating point registers for arguments, on x86_64 and arm64. */
#define NR_FLOAT_ARGUMENTS	8
/*
 * Are the calling conventions known? Elsewhere an argument is taken to be in the next register, or
 * in several, and there are as many registers as it takes.
 */
#define TRACE_BTF_CONVENTIONS	(IS_ENABLED(CONFIG_X86_64) || IS_ENABLED(CONFIG_ARM64))

/**
 * struct trace_btf_walk - a walk through the parameters of a function
 * @btf:	the BTF that has the types
 * @params:	the parameters
 * @nr_params:	their number, with one for "..."
 * @regs:	number of argument registers taken so far
 * @floats:	number of floating point registers taken so far
 * @stack:	number of words on the stack taken so far
 * @lost:	BTF does not tell where the next arguments are
 * @number:	number of the current parameter, from 1 on
 * @type:	id of its type; 0 if it is "..."
 * @known:	it has one type and is in the words that @nr, @first and @on_stack tell. This is
 *		not so for floating point numbers, for "...", and if the walk is @lost
 * @nr:		number of words of the argument; 0 for a struct without members
 * @first:	index of the argument's first word: of the argument registers, or of the words
 *		on the stack if @on_stack
 * @on_stack:	the argument is on the stack
 * @memory:	the argument's word is the address of its value
 */
struct trace_btf_walk {
	const struct btf	*btf;
	const struct btf_param	*params;
	unsigned int		nr_params;
	unsigned int		regs;
	unsigned int		floats;
	unsigned int		stack;
	bool			lost;
	unsigned int		number;
	u32			type;
	bool			known;
	unsigned int		nr;
	unsigned int		first;
	bool			on_stack;
	bool			memory;
};

/**
 * enum trace_btf_class - how a function returns a value of a type
 * @TRACE_BTF_REGS:	in general registers, or not at all if it has no size
 * @TRACE_BTF_MEMORY:	in memory of its caller
 * @TRACE_BTF_UNKNOWN:	in floating point registers, or BTF does not tell
 */
enum trace_btf_class {
	TRACE_BTF_REGS,
	TRACE_BTF_MEMORY,
	TRACE_BTF_UNKNOWN,
};

/* The lowest @size bytes of a word, as the upper bytes of a register may be anything. */
static inline unsigned long trace_btf_narrow(unsigned long word, u32 size)
{
	return size < sizeof(word) ? word & (BIT(size * BITS_PER_BYTE) - 1) : word;
}

/* The lowest @size bytes of a word as a signed number. */
static inline long trace_btf_narrow_signed(unsigned long word, u32 size)
{
	unsigned int shift = BITS_PER_LONG - min_t(u32, size, sizeof(word)) * BITS_PER_BYTE;

	return (long)(word << shift) >> shift;
}

u32 trace_btf_first_id(const struct module *mod);
bool trace_btf_same_types(const struct btf_type *a, const struct btf_type *b);
int trace_btf_size(const struct btf *btf, u32 id);
enum trace_btf_class trace_btf_classify(const struct btf *btf, u32 id);
struct trace_btf_walk trace_btf_walk_args(const struct btf *btf, const struct btf_type *proto);
bool trace_btf_next_arg(struct trace_btf_walk *w);

/* The name of the parameter that the walk is at, which is empty if it has none. */
static inline const char *trace_btf_arg_name(const struct trace_btf_walk *w)
{
	return btf_name_by_offset(w->btf, w->params[w->number - 1].name_off);
}

#endif /* _TRACE_BTF_ARGS_H */
