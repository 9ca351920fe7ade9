/* SPDX-License-Identifier: GPL-2.0 */
/* The arguments and the return values of functions, for the function tracers. */
#ifndef _TRACE_FUNC_ARGS_H
#define _TRACE_FUNC_ARGS_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/trace_seq.h>
#include <linux/types.h>

#include "trace_btf_args.h"

struct ftrace_regs;

/*
 * Of each call at least this many argument registers are recorded, however many the function
 * takes, so that an event has what it has in Linux 7.3.
 */
#define TRACE_FUNC_REGS		6

/**
 * enum trace_func_want - what is recorded of a call beyond TRACE_FUNC_REGS
 * @TRACE_FUNC_TYPED:	all words of its values, which are printed by type
 * @TRACE_FUNC_STRINGS:	all words of its arguments, and the strings behind pointers to char
 */
enum trace_func_want {
	TRACE_FUNC_TYPED	= BIT(0),
	TRACE_FUNC_STRINGS	= BIT(1),
};

/**
 * struct trace_func_words - how many words of a function's values are recorded
 * @regs:	argument registers, TRACE_FUNC_REGS at least
 * @stack:	words of arguments on the stack
 * @ret:	words of the return value; 0 for void, 1 for a value that is returned in memory,
 *		which is not recorded
 * @strings:	bit mask of the words in @regs that are pointers to strings to be recorded
 *
 * Without BTF for the function these are all argument registers and one return register.
 */
struct trace_func_words {
	u8	regs;
	u8	stack;
	u8	ret;
	u8	strings;
};

/**
 * struct trace_func_type - what BTF tells of a function
 * @module:	name of its module, or NULL
 * @name:	its name
 * @btf:	the BTF that has its type
 * @proto:	the BTF_KIND_FUNC_PROTO
 * @described:	bit mask of the instances whose buffer has the function's event func_proto
 */
struct trace_func_type {
	const char		*module;
	const char		*name;
	const struct btf	*btf;
	const struct btf_type	*proto;
	atomic_t		*described;
};

/* The most words of values that are recorded: arm64's 8 registers and as many on the stack. */
#define TRACE_FUNC_MAX_VALUES	16
/* The most strings that are recorded of a call, and the words that each takes, with its NUL. */
#define TRACE_FUNC_MAX_STRINGS	3
#define TRACE_FUNC_STRING_WORDS	4
/* The most words of arguments that are recorded. */
#define TRACE_FUNC_MAX_WORDS \
	(TRACE_FUNC_MAX_VALUES + TRACE_FUNC_MAX_STRINGS * TRACE_FUNC_STRING_WORDS)

#ifdef CONFIG_FUNCTION_TRACE_ARGS
int trace_func_args_make(void);
struct trace_func_words trace_func_words(unsigned long ip, unsigned int want);
void trace_func_args_save(unsigned long *to, struct trace_func_words nr,
			  struct ftrace_regs *fregs);
void trace_func_args_print(struct trace_seq *s, unsigned long ip, const unsigned long *words,
			   unsigned int nr, bool typed);
bool trace_func_type(unsigned long ip, u32 instance, struct trace_func_type *type);
void trace_func_forget(u32 instances);
bool trace_func_returns(unsigned long ip);
void trace_func_return_print(struct trace_seq *s, unsigned long ip, const unsigned long *words,
			     unsigned int nr, bool hex);
#else
static inline int trace_func_args_make(void) { return 0; }

static inline struct trace_func_words trace_func_words(unsigned long ip, unsigned int want)
{
	return (struct trace_func_words){ };
}

static inline void trace_func_args_save(unsigned long *to, struct trace_func_words nr,
					struct ftrace_regs *fregs) { }
static inline void trace_func_args_print(struct trace_seq *s, unsigned long ip,
					 const unsigned long *words, unsigned int nr,
					 bool typed)
{
	trace_seq_puts(s, "()");
}

static inline bool trace_func_returns(unsigned long ip) { return true; }
static inline void trace_func_return_print(struct trace_seq *s, unsigned long ip,
					   const unsigned long *words, unsigned int nr, bool hex)
{ }
#endif

static inline unsigned int trace_func_nr_args(struct trace_func_words nr)
{
	unsigned int words = nr.regs + nr.stack;

	/* There seldom are strings, and hweight8() is a call. */
	if (nr.strings)
		words += hweight8(nr.strings) * TRACE_FUNC_STRING_WORDS;
	return words;
}

#endif /* _TRACE_FUNC_ARGS_H */
