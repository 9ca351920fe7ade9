/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by step.c, the scenarios that it interrupts (scenarios.c), and interrupts.c. */
#ifndef _STEP_H
#define _STEP_H

#include "model.h"

/**
 * struct kind - a kind of interrupts
 * @name:	name for messages
 * @run:	makes the calls of the interrupt
 * @same_stack:	use the machine stack of the interrupted code, not a stack of its own
 * @irq:	this does not happen in an NMI
 * @big:	needs the user BIG
 */
struct kind {
	const char	*name;
	void		(*run)(void);
	bool		same_stack;
	bool		irq;
	bool		big;
};

/**
 * struct scenario - calls that are interrupted
 * @name:	name for messages
 * @setup:	prepares the stack and the users, without interrupts
 * @run:	makes the calls that are interrupted
 * @big:	the user BIG is registered, whose data have the maximum size
 * @many:	the users from MANY on are registered, more than fit into a chunk
 */
struct scenario {
	const char	*name;
	void		(*setup)(void);
	void		(*run)(void);
	bool		big;
	bool		many;
};

extern const struct kind kinds[];
extern const int nr_kinds;
extern const struct scenario scenarios[];
extern const int nr_scenarios;

/* The users, by their index in model_user. register_users() says what each is like. */
enum {
	SHORT, DATA, FULL, ASK, VETO, BIG, LARGE, NONE,
	/* Has no entry callback, and data that fit into a slot. */
	SIMPLE,
	/* These are linked at first, like kretprobes of one function, the newest first. */
	CHAIN_0, CHAIN_24, CHAIN_ENTRY, CHAIN_DATA, CHAIN_NEVER, CHAIN_32, CHAIN_8, CHAIN_VETO,
	CHAIN_16,
	/* Called by ftrace, with entry callbacks and data that fit into a slot. */
	BATCH_0, BATCH_1, BATCH_2, BATCH_3,
	/* There are more of these than fit into a chunk. */
	MANY, MANY_END = MANY + 66,
};

static_assert(MANY_END <= MAX_USERS && MANY_END - MANY < MAX_ENTRIES);

/* Link the given users, and unlink all others: hook_chain() hooks a call for all of them. */
#define link(...)								\
	link_users((const int[]){ __VA_ARGS__ },				\
		   sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

void link_users(const int *users, int nr);
void register_users(bool big, bool many);
void hook(struct call *c, int user);
struct call *call(unsigned long func, int user);
void hook_chain(struct call *c, int user);
struct call *call_chain(unsigned long func, int user);

/* Some kinds of interrupts that scenarios also use to set up a stack. */
void by_large(void);
void by_big(void);
void by_last(void);
void by_refill(void);
/* The next callback makes a call. */
void call_in_callback(void);
extern struct fgraph_ops last_user;

/* step.c: step_point() is called after that many more instructions; 0 for never. */
extern unsigned long step_left;

/* linear.c */
unsigned long linear_growth(int dispatchers);

#endif /* _STEP_H */
