/* SPDX-License-Identifier: GPL-2.0-only */
/* What the loader and the BPF programs of kprobe_multi share. */
#define MAX_FUNCS	1024
#define MAX_DEPTH	32
/* Eight bytes: compared as one word. */
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
