/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a hooked call costs natively: what the parts of the program share.
 *
 * fake.h is that of the core's tests. What the core reads of the kernel in each hooked call is
 * here one load or store, as it is there, where fake.h needs more, or less.
 */
#ifndef _NATIVE_H
#define _NATIVE_H

#include "fake.h"

#undef preempt_count
#define preempt_count()		READ_ONCE(fake_preempt_count)
#undef kprobe_running
#define kprobe_running()	READ_ONCE(native_current_kprobe)
#define raw_cpu_read(var)	READ_ONCE(var)
/* The name that 6.1 has for it, which the core of 6.1 translates, and that of 7.3. */
#ifdef HAS_RCU_DYNTICKS_IDX
#define RCU_DYNTICKS_IDX	0x100
#else
#define CT_RCU_WATCHING		0x100
#endif

struct native_context_tracking {
	atomic_t		state;
};

extern struct native_context_tracking context_tracking;
extern void *native_current_kprobe;
extern unsigned long native_kprobe_status;

struct fgraph_ops;
struct fgraph_regs;
struct fgraph_stack;
struct ftrace_ops;
struct ftrace_regs;
struct pt_regs;

/**
 * struct core - what main.c uses of a copy of the core
 * @add:	registers a user
 * @want:	says which users want the function whose pad is at @ip, oldest first
 * @empty:	true if the shadow stack has no record
 */
struct core {
	int			(*add)(struct fgraph_ops *gops);
	void			(*want)(unsigned long ip, struct fgraph_ops **users,
					unsigned int nr);
	bool			(*empty)(struct fgraph_stack *st);
};

extern const struct core hijack_core, jmp_core;

/**
 * struct fgraph_site - the users that want the calls of a function, as in fgraph_ftrace.c
 * @only:	the user, if it is the only one, else NULL
 * @nr:		number of elements of @users
 * @simple:	fgraph_is_simple() is true for all users
 * @look_up:	not used here
 * @users:	the users, oldest first
 */
struct fgraph_site {
	struct fgraph_ops	*only;
	unsigned int		nr;
	bool			simple;
	bool			look_up;
	struct fgraph_ops	*users[16];
};

/**
 * struct stub_record - the function that a stub is for
 * @ip:		the function's pad
 * @site:	the users that want the function
 *
 * A page of stubs begins with the address of an array of these, one for each stub.
 */
struct stub_record {
	unsigned long		ip;
	struct fgraph_site	*site;
};

/* sites.S: the records of its stubs. */
#define STUB_SHIFT		5
#define STUB_PAGE		4096UL

extern struct stub_record stub_records[STUB_PAGE >> STUB_SHIFT];
extern char stubs_start[], stubs_end[];

/* What both return registers have. */
struct native_value {
	unsigned long		low;
	unsigned long		high;
};

/* sites.S: functions with one pad each, which is named after what it leads to. */
typedef struct native_value native_fn(long a, long b, long c, long d, long e, long f);

native_fn f_plain, f_floor, f_floor_both, f_hijack, f_jmp, f_stub, f_stub_full;
native_fn f_stub_tail, f_hijack_tail;
/* Call themselves @a times, with a pad each. */
native_fn f_deep_hijack, f_deep_stub;

/*
 * sites.S: calls @f with the six arguments of @args, and stores both return registers there. All
 * registers that @f must preserve have a value of which @f's caller is asked afterwards: returns
 * true if they have kept it. The return address is check_call_ret.
 */
bool check_call(native_fn *f, unsigned long *args);
extern char check_call_ret[];

#define CHECK_SAVED		0x5a5a1234

/*
 * caller.c: makes @calls calls of @f from @depth + 1 functions, returns ticks of the TSC. The CPU
 * may overlap the calls, or each waits until the one before is complete.
 */
unsigned long caller_run(native_fn *f, int depth, int calls);
unsigned long caller_run_apart(native_fn *f, int depth, int calls);

/* caller.c: makes one call of @f, with a SIGTRAP after each instruction. */
void caller_step(native_fn *f);

/* The C functions of one copy of the core that a hooked call calls. */
void hijack_fgraph_ftrace_light(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs);
unsigned long hijack_fgraph_return_light(unsigned long *retp, struct fgraph_regs *regs);
unsigned long hijack_fgraph_return_full(struct pt_regs *regs);
bool hijack_stub_entered(struct pt_regs *regs, unsigned long at);
void hijack_stub_left_light(unsigned long *retp, struct fgraph_regs *regs);
void hijack_stub_left_full(struct pt_regs *regs);

/* caller.c: makes calls of these, as a loop of @calls hooked calls would. Returns ticks. */
unsigned long caller_run_hijack(unsigned long ip, int calls, bool full);
unsigned long caller_run_stub(unsigned long stub, int calls, bool full);

/* users.c */
enum { KRETPROBE, GRAPH, CHECK_LIGHT, CHECK_FULL, NR_KINDS };

#define NR_USERS		16

void users_init(int core, const struct core *c);
struct fgraph_ops **users_of(int core, int kind);
extern unsigned long users_entries, users_returns;

/* The floor: all that happens at an entry and at a return. */
void floor_count_entry(void);
void floor_count(void);

/* What the checking users compare with. */
struct check {
	unsigned long		args[6];
	unsigned long		func;
	unsigned long		value;
	unsigned long		value_high;
	native_fn		*nested;
	bool			refuse;
	bool			any_call;
};

extern struct check users_check;

#endif /* _NATIVE_H */
