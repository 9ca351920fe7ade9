/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model: tasks with their machine stacks, calls, users and users' data in plain arrays. All
 * that the core does is compared with it.
 */
#ifndef _MODEL_H
#define _MODEL_H

#include "port.h"
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
	 * Which calls to refuse: a call of function n if bit n & 7 is set. A user that is
	 * registered with 0xff has no return callback instead, and refuses no call.
	 */
	unsigned char		veto;
	/* The return callback calls fgraph_parent_data() and fgraph_frame_users(). */
	bool			ask;
	/* The user has no entry callback and gets every return. */
	bool			silent;
	/* The next user that ftrace hooks the same call for, see model_link(). */
	struct user		*then;
	/* The user is called by ftrace, not by a kprobe. */
	bool			traced;
	/* How many calls the user has missed since it was registered. */
	unsigned long		missed;
};

/* A user of a call. */
struct entry {
	struct user		*u;
	/* The user's tag at the entry: later, @u may be registered anew. */
	unsigned long		tag;
	/* The private data; of a silent user NULL until the return calls it. */
	unsigned long		*data;
	unsigned long		*retp;
	/* The size of the private data in bytes. */
	size_t			size;
	/* How often the entry callback was called. */
	int			entered;
	bool			missed;
	/* The return callback was called. */
	bool			told;
	bool			refused;
};

/*
 * A function of a call, with the users that want its return. The first one was called, the
 * others were reached by tail calls. For the core, each is a frame.
 */
struct tail {
	unsigned long		func;
	/* The number of elements of @entry. */
	int			nr;
	struct entry		*entry;
	/* The frame that was passed to a return callback, or NULL. */
	const struct fgraph_frame *frame;
};

enum call_state { SETTLED, ENTERING, RETURNING };

struct call {
	unsigned long		*retp;
	/* Where the return address is now. */
	unsigned long		*slot;
	/* The task's stack pointer before the call. */
	unsigned long		*old_sp;
	/* The real return address. */
	unsigned long		ret;
	/* The function that runs, after tail calls the last one. */
	unsigned long		func;
	/* A user of the call needs all registers at return. */
	bool			full;
	enum call_state		state;
	struct ftrace_regs	fregs;
	/* The users for which the call is being hooked. */
	struct entry		*entering;
	int			nr_entering;
	/* The first so many of @entering are done with, and in a tail[] if they want it. */
	int			settled;
	/* The tail[] for those that want the return, or NULL if the first of them opens one. */
	struct tail		*into;
	/* The one whose users the return is calling. */
	struct tail		*telling;
	/* The number of elements of @tail. */
	int			nr;
	struct tail		tail[MAX_TAILS];
};

/* A frame of a call that will never return. */
struct dead {
	unsigned long		*retp;
	unsigned long		ret;
	unsigned long		func;
};

struct task {
	struct task_struct	t;
	unsigned long		*sp;
	int			nr_calls;
	/* How many frames were abandoned; @dead has the last MAX_DEAD of them. */
	int			nr_dead;
	/* The number of calls so far, which makes their return addresses differ. */
	unsigned int		made;
	/* The cursor of an unwinder that takes one step at each check. */
	unsigned long		stale;
	struct call		call[MAX_CALLS];
	struct dead		dead[MAX_DEAD];
	/* For each call, the entries of each tail[], and last those of entering. */
	struct entry		entry[MAX_CALLS][MAX_TAILS + 1][MAX_ENTRIES];
};

extern struct task model_task[MAX_TASKS];
extern struct task *model_now;
extern struct user model_user[MAX_USERS];
/* There is no memory, so that calls may be missed. */
extern bool model_no_memory;
/* Interrupts may come at each instruction of the core. */
extern bool model_stepped;
/* What each slot of private data begins with, FGRAPH_FRAME unless a test changes it. */
extern unsigned long model_data_head;
/* The number of calls of model_check(). */
extern unsigned long model_checks;
/* Called before and after each call of the core that may be interrupted. */
extern void (*model_step)(bool on);
/* Called in each callback. @drops: calls that it abandons are dropped when it ends. */
extern void (*model_in_callback)(bool drops);
/* What model_in_callback is at first: nothing happens. */
void model_no_callback(bool drops);

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
void model_throw(int calls);
void model_unwind(struct task *t, unsigned long cursor, int skip, unsigned long add);
void model_check(struct task *t);

/* step.c: called before an instruction of the core. */
void step_point(void);

/* callbacks.c */
void model_hook_one(struct fgraph_ops *gops, unsigned long func, struct ftrace_regs *fregs);
int model_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		struct ftrace_regs *fregs);
void model_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
		  struct fgraph_regs *regs);

/* Called by callbacks.c. */
void model_callback(bool drops);
struct entry *model_entered(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			    void *data, struct ftrace_regs *fregs);
struct entry *model_returned(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			     void *data, struct fgraph_regs *regs);
void model_kept(const struct entry *e);
void model_asked(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *parent,
		 struct fgraph_ops **users, int nr);

/*
 * A word of private data: each slot looks like a frame of this very call with another return
 * address, so that an unwinder which takes data for a record fails; step.c -o has
 * the header of a chunk there, with a wild address and size. Of large data only every
 * model_data_stride()th word is written and checked.
 */
static __always_inline unsigned long model_data(const struct entry *e, size_t word)
{
	switch (word % 8) {
	case 0:
		return model_data_head;
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
