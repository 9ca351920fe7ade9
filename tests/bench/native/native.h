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
 * @stub:	makes the stub of that function, and returns its address; NULL if the core knows none
 */
struct core {
	int			(*add)(struct fgraph_ops *gops);
	void			(*want)(unsigned long ip, struct fgraph_ops **users,
					unsigned int nr);
	bool			(*empty)(struct fgraph_stack *st);
	unsigned long		(*stub)(unsigned long ip);
};

extern const struct core hijack_core, jmp_core, stub_core;

/* What both return registers have. */
struct native_value {
	unsigned long		low;
	unsigned long		high;
};

/*
 * sites.S: functions with one pad each, which is named after what it leads to. Those of stubs are
 * for main.c to patch. f_mixed_tail calls ftrace_caller, of the core that has stubs.
 */
typedef struct native_value native_fn(long a, long b, long c, long d, long e, long f);

native_fn f_plain, f_floor, f_floor_both;
native_fn f_hijack, f_jmp, f_stub, f_other_hijack, f_other_jmp, f_other_stub;
/* End in a tail call of f_hijack or f_stub. */
native_fn f_tail_hijack, f_tail_stub, f_mixed_tail;
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
int stub_fgraph_stub_entered(struct pt_regs *regs, unsigned long ip);
void stub_fgraph_stub_left_light(unsigned long *retp, struct fgraph_regs *regs);
void stub_fgraph_stub_left_full(struct pt_regs *regs);

/* caller.c: makes calls of these, as a loop of @calls hooked calls would. Returns ticks. */
unsigned long caller_run_hijack(unsigned long ip, int calls, bool full);
unsigned long caller_run_stub(unsigned long ip, int calls, bool full);

/* users.c */
enum { KRETPROBE, GRAPH, CHECK_LIGHT, CHECK_FULL, NR_KINDS };

#define NR_USERS		16

void users_init(int core, const struct core *c);
struct fgraph_ops **users_of(int core, int kind);
extern unsigned long users_entries, users_returns;

/* The floor: all that happens at an entry and at a return. */
void floor_count_entry(void);
void floor_count(void);

/* What becomes of the return address of a hooked call. */
enum { ANY_WAY, REPLACED, KEPT };

/**
 * struct check - what the checking users compare with
 * @args:	the arguments
 * @func:	the function, if not 0
 * @value:	what the function returns
 * @value_high:	the second word of that
 * @way:	if not ANY_WAY, what has become of the return address
 * @nested:	a function for callbacks to call, if not NULL
 * @refuse:	entry callbacks do not want the return
 * @any_call:	nothing of this holds, as callbacks are called for other calls
 */
struct check {
	unsigned long		args[6];
	unsigned long		func;
	unsigned long		value;
	unsigned long		value_high;
	int			way;
	native_fn		*nested;
	bool			refuse;
	bool			any_call;
};

extern struct check users_check;

#endif /* _NATIVE_H */
