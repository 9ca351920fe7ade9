/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph: what unwinders and those who print addresses need to know of stubs.
 *
 * A stub is the code that calls a function for fgraph: see kernel/trace/fgraph_stubs.c.
 */
#ifndef _LINUX_FGRAPH_STUBS_H
#define _LINUX_FGRAPH_STUBS_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/types.h>

#ifdef CONFIG_FGRAPH_STUBS
/* Is there a stub? Enabled before the first one is used, and never disabled again. */
DECLARE_STATIC_KEY_FALSE(fgraph_stubs_made);
/* No stub is below this address; ULONG_MAX as long as there are none. */
extern unsigned long fgraph_stubs_low;
/* No stub is at this address or above; 0 as long as there are none. */
extern unsigned long fgraph_stubs_high;
/* A return address in a stub that is never freed, to return to from any function. */
extern unsigned long fgraph_stubs_return;

unsigned long __fgraph_stub_start(unsigned long addr);
bool __fgraph_stub_is_return(unsigned long addr);
unsigned long __fgraph_stub_stands_for(unsigned long addr, bool interrupted);
unsigned long fgraph_stub_caller(void *low);
int fgraph_stub_lookup(unsigned long addr, unsigned long *size, unsigned long *offset,
		       char *name);

/* Is an address in a stub? For any context, and any address. */
static __always_inline bool is_fgraph_stub(unsigned long addr)
{
	return unlikely(addr >= READ_ONCE(fgraph_stubs_low)) && __fgraph_stub_start(addr);
}

/**
 * fgraph_stub_is_return() - is a return address that of a function which a stub has called?
 * @addr:	a return address as found on a machine stack
 *
 * If it is, the real return address is in the next word of the stack.
 *
 * Context: any.
 */
static __always_inline bool fgraph_stub_is_return(unsigned long addr)
{
	/* Most callers are in the kernel, which is below. */
	return static_branch_unlikely(&fgraph_stubs_made) &&
	       unlikely(addr >= READ_ONCE(fgraph_stubs_low)) && __fgraph_stub_is_return(addr);
}

/*
 * Like fgraph_stub_is_return(), but may also be true for another address, as of a module. Makes no
 * call, for which hot code would have to save registers.
 */
static __always_inline bool fgraph_stub_may_be_return(unsigned long addr)
{
	return static_branch_unlikely(&fgraph_stubs_made) && addr >= READ_ONCE(fgraph_stubs_low) &&
	       addr < READ_ONCE(fgraph_stubs_high);
}

/**
 * fgraph_stub_stands_for() - replace an address in a stub for an unwinder
 * @addr:	a return address, or the instruction pointer of an interrupt
 * @interrupted: it is an instruction pointer
 *
 * Context: any.
 *
 * Return: an address of the kernel or of a module at which the stack has the same contents: in the
 * function before it has changed the stack, or at the start of what a stub jumps to when the
 * function has returned. @addr if that is not in a stub, or fgraph_stub_is_return().
 */
static __always_inline unsigned long fgraph_stub_stands_for(unsigned long addr, bool interrupted)
{
	if (likely(addr < READ_ONCE(fgraph_stubs_low)))
		return addr;
	return __fgraph_stub_stands_for(addr, interrupted);
}
#else
static inline bool is_fgraph_stub(unsigned long addr) { return false; }
static inline bool fgraph_stub_is_return(unsigned long addr) { return false; }
static inline unsigned long fgraph_stub_caller(void *low) { return 0; }
static inline unsigned long fgraph_stub_stands_for(unsigned long addr, bool interrupted)
{
	return addr;
}

static inline int fgraph_stub_lookup(unsigned long addr, unsigned long *size,
				     unsigned long *offset, char *name)
{
	return 0;
}
#endif

#endif /* _LINUX_FGRAPH_STUBS_H */
