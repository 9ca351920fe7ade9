/* SPDX-License-Identifier: GPL-2.0 */
/* What step.c interrupts (scenarios.c), by what (interrupts.c), and the users of both. */
#ifndef _STEP_H
#define _STEP_H

#include "model.h"

/**
 * struct kind - what interrupts
 * @name:	for messages
 * @run:	the calls that it makes
 * @same_stack:	on the stack of what it interrupts, or on its own
 * @irq:	not from NMI
 * @big:	only where there is a user with that much data
 */
struct kind {
	const char	*name;
	void		(*run)(void);
	bool		same_stack;
	bool		irq;
	bool		big;
};

/**
 * struct scenario - what is interrupted
 * @name:	for messages
 * @setup:	what was before
 * @run:	the code that is interrupted
 * @big:	there is a user with as much data as there may be
 * @many:	there are more users than fit into a chunk
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

/* The users, by their place in model_user. */
enum {
	SHORT, DATA, FULL, ASK, VETO, BIG, LARGE, NONE,
	/* No entry callback; with those "simple" that have little data. */
	SIMPLE,
	/* As kretprobes of one function: a chain, the newest first. */
	CHAIN_0, CHAIN_24, CHAIN_ENTRY, CHAIN_DATA, CHAIN_NEVER, CHAIN_32, CHAIN_8, CHAIN_VETO,
	CHAIN_16,
	/* More than fit into a chunk. */
	MANY, MANY_END = MANY + 66,
};

static_assert(MANY_END <= MAX_USERS && MANY_END - MANY < MAX_ENTRIES);

/* These are a chain. */
#define link(...)								\
	link_users((const int[]){ __VA_ARGS__ },				\
		   sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

void link_users(const int *users, int nr);
void register_users(bool big, bool many);
void hook(struct call *c, int user);
struct call *call(unsigned long func, int user);
void hook_chain(struct call *c, int user);
struct call *call_chain(unsigned long func, int user);

/* Some of what interrupts also comes before. */
void by_large(void);
void by_big(void);
void by_last(void);
void by_refill(void);
extern struct fgraph_ops last_user;

#endif /* _STEP_H */
