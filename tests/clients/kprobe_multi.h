/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by kprobe_multi.c and its BPF programs. */
#define MAX_FUNCS	1024
#define MAX_DEPTH	32
/* It has eight bytes, so that it can be compared as one word. */
#define COMM		"kmtarget"
#define FIRST_COOKIE	1000000ULL
#define RETURN_COOKIE(c)	((c) << 32)

struct hits {
	__u64 entered, returned, no_stack;
	__s64 error;
};

struct stack_key {
	__u32 func, returns;
	__s64 stack;
};
