/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model: tasks whose machine stacks, calls, users and users' data are plain
 * arrays. What the core says is held against them.
 */
#ifndef _MODEL_H
#define _MODEL_H

#include "fake.h"
#include "fgraph_internal.h"

#define MAX_TASKS	3
#define MAX_CALLS	160
#define MAX_TAILS	5
#define MAX_ENTRIES	80
#define MAX_USERS	88
#define MAX_DEAD	256
#define MAX_CHUNKS	1024
#define PLACE_WORDS	40

struct user {
	struct fgraph_ops	gops;
	/*
	 * Which calls to refuse: bit n & 7 of it for function n. When it registers,
	 * 0xff is for a user who is told of entries alone, and refuses none.
	 */
	unsigned char		veto;
	/* Ask all that can be asked in callbacks. */
	bool			ask;
	/* No entry callback: wants every return. */
	bool			silent;
	/* The next one of those who are linked. */
	struct user		*then;
	/* Called by ftrace, not by a kprobe. */
	bool			traced;
	unsigned long		missed;
};

/* A user of a call. */
struct entry {
	struct user		*u;
	unsigned long		tag;
	/* NULL if the user is silent, until somebody was told. */
	unsigned long		*data;
	unsigned long		*retp;
	size_t			size;
	int			entered;
	bool			missed;
	bool			told;
	bool			refused;
};

/* A function that was called, or jumped to. */
struct tail {
	unsigned long		func;
	int			nr;
	struct entry		*entry;
	/* As told at the return. */
	const struct fgraph_frame *frame;
};

enum call_state { SETTLED, ENTERING, RETURNING };

struct call {
	unsigned long		*retp;
	/* Where the return address is now. */
	unsigned long		*slot;
	unsigned long		*old_sp;
	unsigned long		ret;
	unsigned long		func;
	bool			full;
	enum call_state		state;
	struct ftrace_regs	fregs;
	/* What is being hooked, and how many of these surely are in a tail[]. */
	struct entry		*entering;
	int			nr_entering;
	int			settled;
	/* Whose users are being told. */
	struct tail		*telling;
	int			nr;
	struct tail		tail[MAX_TAILS];
};

/* A frame that will not return. */
struct dead {
	unsigned long		*retp;
	unsigned long		ret;
	unsigned long		func;
};

struct task {
	struct task_struct	t;
	unsigned long		*sp;
	int			nr_calls;
	int			nr_dead;
	/* So many calls there were, no two of which return to the same place. */
	unsigned int		made;
	/* The walk of somebody who is slow. */
	unsigned long		stale;
	struct call		call[MAX_CALLS];
	struct dead		dead[MAX_DEAD];
	/* Of each call: of each tail[], and those entering. */
	struct entry		entry[MAX_CALLS][MAX_TAILS + 1][MAX_ENTRIES];
};

extern struct task model_task[MAX_TASKS];
extern struct task *model_now;
extern struct user model_user[MAX_USERS];
/* Calls may be missed: there is no memory; or never returned from. */
extern bool model_no_memory;
/* Interrupts come between any two instructions. */
extern bool model_stepped;
extern unsigned long model_checks;
/* Called around what may be interrupted, and in callbacks. */
extern void (*model_step)(bool on);
extern void (*model_in_callback)(bool drops);

#define STEP(expr)							\
	({								\
		__typeof__(expr) __val;					\
									\
		model_step(true);					\
		__val = (expr);						\
		model_step(false);					\
		__val;							\
	})

void model_init(void);
void model_start(void);
void model_end(void);
void model_switch(int task);
void model_exit_task(int task);

int model_register(struct user *u, size_t data_size, unsigned int flags, bool traced);
int model_unregister(struct user *u);

struct call *model_call(unsigned long func);
struct call *model_top(void);
void model_hook(struct call *c, struct user *u);
void model_link(struct user **users, int nr);
void model_hook_linked(struct call *c, struct user *u);
void model_check_memory(void);
void model_check_missed(struct user *u);
void model_body(struct call *c);
void model_tail(struct call *c, unsigned long func);
void model_leave(struct call *c);
void model_abandon(int calls);
void model_unwind(struct task *t, unsigned long cursor, int skip, unsigned long add);
void model_check(struct task *t);

/* step.c: before an instruction. */
void step_point(void);

/* callbacks.c */
int model_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		struct ftrace_regs *fregs);
void model_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		  struct fgraph_regs *regs);

/* for them */
void model_callback(bool drops);
struct entry *model_entered(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			    void *data, struct ftrace_regs *fregs);
struct entry *model_returned(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			     void *data, struct fgraph_regs *regs);
void model_kept(const struct entry *e);
void model_asked(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *parent,
		 struct fgraph_ops **users, int nr);

/*
 * Private data: each slot looks like a frame of this very call that has another
 * return address. Of large data only some is looked at.
 */
static __always_inline unsigned long model_data(const struct entry *e, size_t word)
{
	switch (word % 8) {
	case 0:
		return FGRAPH_FRAME;
	case 3:
		return 0xbad0000 + word;
	case 4:
		return (unsigned long)e->retp;
	default:
		return e->tag + word;
	}
}

static __always_inline size_t model_data_stride(const struct entry *e)
{
	return e->size <= 1024 ? 1 : 68;
}

#endif /* _MODEL_H */
