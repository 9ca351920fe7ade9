/* SPDX-License-Identifier: GPL-2.0 */
/* What functions of the module test_fgraph_values got and returned. */
#ifndef _LIB_TEST_FGRAPH_VALUES_H
#define _LIB_TEST_FGRAPH_VALUES_H

#include <linux/compiler.h>
#include <linux/types.h>

void values_begin(const char *func);
void values_end(void);
void values_int(const char *name, const char *fetch, bool is_signed, u64 value);
void values_known_nowhere(const char *name);
void values_return(const char *event, const char *tracer);
void values_floats(void);

/*
 * Define val_NAME(), whose parameters are @params, and call_NAME(), which calls it with @arguments
 * by a pointer, so that the compiler cannot change how it is called. val_NAME() notes its arguments
 * by the expression @notes and its result by @result, and returns @value.
 */
#define VALUES_FUNCTION(type, name, params, notes, result, value, arguments) \
static noinline type val_##name params					\
{									\
	values_begin("val_" #name);					\
	notes;								\
	result;								\
	values_end();							\
	return value;							\
}									\
									\
static typeof(val_##name) *target_val_##name = val_##name;		\
									\
static noinline void call_##name(void)					\
{									\
	CALL(val_##name)arguments;					\
}

#define CALL(func)	READ_ONCE(target_##func)

/* Note an argument. */
#define INT(x)		values_int(#x, NULL, is_signed_type(typeof(x)), (u64)(x))
#define NOWHERE(x)	values_known_nowhere(#x)

/* Note the result. A function without one returns NO_VALUE. */
#define NOTHING		((void)0)
#define NO_VALUE
#define RETURNS_NOWHERE	values_return("-", "...")

#endif /* _LIB_TEST_FGRAPH_VALUES_H */
