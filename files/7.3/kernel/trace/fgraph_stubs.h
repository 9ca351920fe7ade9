/* SPDX-License-Identifier: GPL-2.0 */
/* fgraph: the stubs of functions, see fgraph_stubs.c. */
#ifndef _FGRAPH_STUBS_H
#define _FGRAPH_STUBS_H

#include <linux/fgraph_stubs.h>

#ifdef CONFIG_FGRAPH_STUBS
#include <asm/fgraph_stub.h>

struct fgraph_ops;
struct fgraph_regs;
struct pt_regs;

/* What a stub does when the entry callbacks have been called. */
enum fgraph_stub_exit {
	FGRAPH_STUB_JUMP = 0,	/* jump to the function: the return is not wanted, or is replaced */
	FGRAPH_STUB_LIGHT = 1,	/* call it, and then the return callbacks */
	FGRAPH_STUB_FULL = -1,	/* the same, with all registers */
};

/* The values of the parameter fgraph_stubs= */
enum {
	FGRAPH_STUBS_OFF,
	FGRAPH_STUBS_ON,
	FGRAPH_STUBS_AUTO,
};

extern int fgraph_stubs_mode;

/* The exit for users with @flags, if one of them has @wanted the return. */
#define fgraph_stub_exit(wanted, flags)					\
	(!(wanted) ? FGRAPH_STUB_JUMP :					\
	 (flags) & FGRAPH_FULL_REGS ? FGRAPH_STUB_FULL : FGRAPH_STUB_LIGHT)

/* fgraph.c */
int fgraph_stub_hook_several(struct fgraph_ops **users, unsigned int nr, bool simple,
			     unsigned long func, struct pt_regs *regs);
void fgraph_stub_left_light(unsigned long *retp, struct fgraph_regs *regs);
void fgraph_stub_left_full(struct pt_regs *regs);

/* fgraph_ftrace.c */
int fgraph_stub_entered(struct pt_regs *regs, unsigned long ip);

/* fgraph_stubs.c. Called with ftrace_lock held */
void fgraph_stubs_reset(bool (*keep)(unsigned long ip));
void fgraph_stubs_use(unsigned long ip);
unsigned long fgraph_stub_of(unsigned long ip);
void fgraph_stubs_forget(unsigned long start, unsigned long end);

/* Of the architecture. The functions that write text may sleep */
bool arch_fgraph_stubs_wanted(void);
void *arch_fgraph_stub_page(void);
unsigned int arch_fgraph_stub_write(unsigned long stub, unsigned long ip);
#endif

#endif /* _FGRAPH_STUBS_H */
