// SPDX-License-Identifier: GPL-2.0
/* Makes the calls that are timed. Compiled like the kernel, so callers return as it does, too. */
#include "fgraph_internal.h"

static unsigned long ticks(void)
{
	unsigned int low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) : : "memory");
	return (unsigned long)high << 32 | low;
}

static noinline unsigned long call_at(native_fn *f, long a, int depth)
{
	unsigned long value;

	if (!depth)
		return f(a, 2, 3, 4, 5, 6).low + 1;
	value = call_at(f, a, depth - 1);
	barrier();
	return value + 1;
}

unsigned long caller_run(native_fn *f, int depth, int calls)
{
	unsigned long start = ticks();
	int i;

	for (i = 0; i < calls; i++)
		expect(call_at(f, i, depth) == i + 20 + depth + 1);
	return ticks() - start;
}

unsigned long caller_run_apart(native_fn *f, int depth, int calls)
{
	unsigned long start = ticks();
	int i;

	for (i = 0; i < calls; i++) {
		expect(call_at(f, i, depth) == i + 20 + depth + 1);
		asm volatile("lfence" : : : "memory");
	}
	return ticks() - start;
}

/* With the trap flag set, each instruction ends in a SIGTRAP, which main.c counts. */
static __always_inline void flip_trap_flag(void)
{
	asm volatile("pushfq; xorq $0x100, (%%rsp); popfq" : : : "memory", "cc");
}

void caller_step(native_fn *f)
{
	flip_trap_flag();
	f(1, 2, 3, 4, 5, 6);
	flip_trap_flag();
}

/* The registers at entry, or after the return, and the place of the return address above them. */
struct place {
	struct pt_regs		regs;
	unsigned long		at[2];
};

unsigned long caller_run_hijack(unsigned long ip, int calls, bool full)
{
	struct place place = { }, after = { };
	unsigned long start;
	int i;

	/* A full trampoline leaves its registers where those of the entry were. */
	place.regs.sp = (unsigned long)place.at;
	place.regs.cs = full ? 0x10 : 0;
	start = ticks();
	for (i = 0; i < calls; i++) {
		place.at[0] = (unsigned long)check_call_ret;
		hijack_fgraph_ftrace_light(ip, place.at[0], NULL, (void *)&place.regs);
		if (full)
			hijack_fgraph_return_full(&place.regs);
		else
			hijack_fgraph_return_light(place.at, (void *)&after.regs);
	}
	return ticks() - start;
}

#ifdef CONFIG_FGRAPH_STUBS
unsigned long caller_run_stub(unsigned long ip, int calls, bool full)
{
	struct place place = { };
	/* In the frame of fgraph_stub_leave_full they are right below the return address. */
	struct pt_regs *after = full ? (void *)place.at + 8 - sizeof(*after) : &place.regs;
	unsigned long start;
	int i;

	place.at[1] = (unsigned long)check_call_ret;
	start = ticks();
	for (i = 0; i < calls; i++) {
		expect(stub_fgraph_stub_entered(&place.regs, ip));
		if (full)
			stub_fgraph_stub_left_full(after);
		else
			stub_fgraph_stub_left_light(&place.at[1], (void *)after);
	}
	return ticks() - start;
}
#endif
