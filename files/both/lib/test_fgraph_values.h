/* SPDX-License-Identifier: GPL-2.0 */
/* What functions of the module test_fgraph_values got and returned. */
#ifndef _LIB_TEST_FGRAPH_VALUES_H
#define _LIB_TEST_FGRAPH_VALUES_H

#include <linux/compiler.h>
#include <linux/types.h>

void values_begin(const char *func);
void values_end(void);
void values_int(const char *name, const char *fetch, bool is_signed, u64 value);
void values_member(const char *fetch, bool is_signed, u64 value);
void values_bool(const char *name, const char *fetch, bool value);
void values_pointer(const char *name, const void *value);
void values_enum(const char *name, const char *text, size_t size, s64 value);
void values_struct(const char *name, const void *value, unsigned int size);
void values_int128(const char *name, const void *value);
void values_known_nowhere(const char *name);
void values_return(const char *event, const char *tracer);
void values_floats(void);

#define NOTE_INT(x)		values_int(#x, NULL, is_signed_type(typeof(x)), (u64)(x))
#define NOTE_BOOL(x)		values_bool(#x, NULL, x)
#define NOTE_POINTER(x)		values_pointer(#x, (const void *)(x))
#define NOTE_ENUM(x, text)	values_enum(#x, text, sizeof(x), (s64)(x))
#define NOTE_STRUCT(x)		values_struct(#x, &(x), sizeof(x))
#define NOTE_INT128(x)		values_int128(#x, &(x))
#define NOTE_MEMBER(x)		values_member(#x, is_signed_type(typeof(x)), x)
#define NOTE_ELEMENT(name, x)	values_int(name, #x, is_signed_type(typeof(x)), x)

#endif /* _LIB_TEST_FGRAPH_VALUES_H */
