// SPDX-License-Identifier: GPL-2.0
/* The model, see model.h: what calls, users and data should be, compared with what they are. */
#include "model.h"

struct task model_task[MAX_TASKS];
struct task *model_now;
struct user model_user[MAX_USERS];
bool model_no_memory;
bool model_stepped;
unsigned long model_data_head = FGRAPH_FRAME;
unsigned long model_checks;

static void no_step(bool on)
{
}

void model_no_callback(bool drops)
{
}

void (*model_step)(bool on) = no_step;
void (*model_in_callback)(bool drops) = model_no_callback;

static struct user *user_of(struct fgraph_ops *gops)
{
	return container_of(gops, struct user, gops);
}

/*
 * For each generation of tags, whether its user is silent. One test registers fewer users than
 * there are elements.
 */
static bool silent_tags[1 << 16];

static bool *silent_tag(unsigned long tag)
{
	return &silent_tags[(tag >> FGRAPH_ID_BITS) % ARRAY_SIZE(silent_tags)];
}

/* Is the user of an entry still the one that was registered at the time of the call? */
static bool is_registered(const struct entry *e)
{
	return e->tag == e->u->gops.user.tag;
}

/* The user of a tag, found like a return does it, or NULL. */
static struct fgraph_ops *user_by_tag(unsigned long tag)
{
	struct fgraph_row *row = fgraph_row(tag & FGRAPH_ID_MASK);

	return row->tag == tag ? row->gops : NULL;
}

/* The newest call whose return address is at @retp, or NULL. */
static struct call *call_at(struct task *t, const unsigned long *retp)
{
	struct call *c;

	for (c = t->call + t->nr_calls; c-- > t->call;) {
		if (c->retp == retp)
			return c;
	}
	return NULL;
}

struct call *model_top(void)
{
	return model_now->nr_calls ? &model_now->call[model_now->nr_calls - 1] : NULL;
}

static void new_task(struct task *t)
{
	memset(&t->t, 0, offsetof(struct task_struct, stack));
	t->sp = t->t.stack + THREAD_SIZE;
	t->nr_calls = 0;
	t->nr_dead = 0;
	t->stale = 0;
}

void model_init(void)
{
	int i;

	fake_init();
	for (i = 0; i < MAX_TASKS; i++) {
		model_task[i].t.stack = aligned_alloc(THREAD_SIZE, THREAD_SIZE);
		model_task[i].t.next = fake_tasks;
		fake_tasks = &model_task[i].t;
	}
}

static void model_missed(struct fgraph_ops *gops);

void model_start(void)
{
	int i;

	for (i = 0; i < MAX_TASKS; i++)
		new_task(&model_task[i]);
	memset(model_user, 0, sizeof(model_user));
	for (i = 0; i < MAX_USERS; i++)
		model_user[i].gops.user.note_miss = model_missed;
	for (i = 0; i < FAKE_CPUS; i++)
		fake_online[i] = !i;
	fake_cpu = 0;
	fake_context = 0;
	fake_preempt_count = 0;
	fake_memory_left = -1;
	fake_lowest_id = 0;
	model_no_memory = false;
	model_switch(0);
}

void model_check_memory(void)
{
	struct fgraph_usage usage;

	fgraph_usage(&usage);
	expect(fake_allocs == (long)(usage.chunks + usage.reserve_chunks));
	if (!fgraph_nr_users)
		expect(!usage.reserve_chunks);
}

/* The core must have counted the same misses. Only valid while no call is being hooked. */
void model_check_missed(struct user *u)
{
	expect(fgraph_missed(&u->gops, FGRAPH_MISS_MEMORY) +
	       fgraph_missed(&u->gops, FGRAPH_MISS_NESTED) == u->missed);
}

/* Unregister all users and end all tasks: then all memory must have been freed. */
void model_end(void)
{
	int i;

	fake_run_irq_works();
	fake_run_works();
	model_check_memory();
	expect(!fake_preempt_count && !fake_context);
	for (i = 0; i < MAX_USERS; i++) {
		model_check_missed(&model_user[i]);
		if (model_user[i].gops.user.tag)
			expect(!model_unregister(&model_user[i]));
	}
	model_check_memory();
	for (i = 0; i < MAX_TASKS; i++) {
		/* Only stacks that are not empty may be left. */
		expect(!model_task[i].t.fgraph_stack ||
		       !fgraph_stack_empty(model_task[i].t.fgraph_stack));
		model_exit_task(i);
	}
	/* Works and irq_works that were queued on a CPU that went down run when it is back. */
	for (i = 0; i < FAKE_CPUS; i++)
		fake_set_online(i, true);
	fake_run_irq_works();
	fake_run_works();
	model_check_memory();
	expect(!fake_allocs);
}

void model_switch(int task)
{
	model_now = &model_task[task];
	fake_current = &model_now->t;
}

void model_exit_task(int task)
{
	fgraph_free_task(&model_task[task].t);
	expect(!model_task[task].t.fgraph_stack);
	new_task(&model_task[task]);
}

int model_register(struct user *u, size_t data_size, unsigned int flags, bool traced)
{
	int ret;

	u->gops.data_size = data_size;
	u->gops.entryfunc = u->silent ? NULL : model_entry;
	u->gops.retfunc = !u->silent && u->veto == 0xff ? NULL : model_return;
	u->gops.flags = flags;
	u->traced = traced;
	ret = fgraph_user_add(&u->gops);
	if (!ret) {
		expect(u->gops.user.tag);
		expect(user_by_tag(u->gops.user.tag) == &u->gops);
		/* A record has room for 24 bytes of data. */
		expect(!u->gops.user.slots == (data_size <= 24));
		*silent_tag(u->gops.user.tag) = u->silent;
		u->missed = 0;
	} else {
		expect(!u->gops.user.tag);
		/* The counters may have been reset or not. */
		u->missed = fgraph_missed(&u->gops, FGRAPH_MISS_MEMORY) +
			    fgraph_missed(&u->gops, FGRAPH_MISS_NESTED);
	}
	return ret;
}

int model_unregister(struct user *u)
{
	unsigned long tag = u->gops.user.tag;
	int ret;

	ret = fgraph_user_retire(&u->gops);
	expect(!tag || !user_by_tag(tag));
	fgraph_synchronize();
	fgraph_user_remove(&u->gops);
	expect(!u->gops.user.tag);
	return ret;
}

/* Call a function: its return address is put on the machine stack, or in a register. */
struct call *model_call(unsigned long func)
{
	struct task *t = model_now;
	struct call *c = &t->call[t->nr_calls];
	int i;

	expect(t->nr_calls < MAX_CALLS);
	for (i = 0; i < MAX_TAILS; i++)
		c->tail[i].entry = t->entry[t->nr_calls][i];
	c->entering = t->entry[t->nr_calls][MAX_TAILS];
	c->nr_entering = 0;
	c->old_sp = t->sp;
	t->sp -= PLACE_WORDS;
	c->retp = t->sp;
	c->func = func;
	c->ret = 0x7000000 + ((unsigned long)t->made++ << 24) + 64 * func + t->nr_calls;
	c->nr = 0;
	c->full = false;
	c->state = SETTLED;
	memset(&c->fregs, 0, sizeof(c->fregs));
	c->fregs.regs.sp = (unsigned long)c->retp;
	c->slot = fgraph_entry_place(&c->fregs.regs);
	*c->slot = c->ret;
	t->nr_calls++;
	return c;
}

/* The function begins: if its return address is in a register, it is saved on the stack. */
void model_body(struct call *c)
{
	unsigned long *slot = fgraph_record_place(c->retp);

	*slot = *c->slot;
	c->slot = slot;
}

/* The function ends in a tail call of another one. */
void model_tail(struct call *c, unsigned long func)
{
	unsigned long *slot = fgraph_entry_place(&c->fregs.regs);

	*slot = *c->slot;
	c->slot = slot;
	c->func = func;
}

/*
 * The operations of the core that are under way, the innermost last: the context of the callback
 * that runs in it, or NOT_RUNNING before and after the callback.
 */
#define NOT_RUNNING	-1

static int running[16];
static int nr_running;

static void op_starts(void)
{
	expect(nr_running < ARRAY_SIZE(running));
	running[nr_running++] = NOT_RUNNING;
}

static void callback_starts(void)
{
	expect(nr_running && running[nr_running - 1] == NOT_RUNNING);
	running[nr_running - 1] = fake_context;
}

/* Called at the end of each callback. @drops: see model_in_callback. */
void model_callback(bool drops)
{
	model_in_callback(drops);
	running[nr_running - 1] = NOT_RUNNING;
}

/* Does the newest record say that a callback runs in this context? */
static bool in_callback(int context)
{
	int outer = fake_context;
	unsigned long above, within;

	fgraph_newest(current->fgraph_stack->top, &above);
	fake_context = context;
	within = fgraph_context_within(above);
	fake_context = outer;
	return within & FGRAPH_NESTED;
}

/* An operation is over. If a callback made it, the stack must still say that a callback runs. */
static void op_ends(void)
{
	nr_running--;
	if (nr_running && running[nr_running - 1] != NOT_RUNNING)
		expect(in_callback(running[nr_running - 1]));
}

static bool has_entry(const struct tail *f, unsigned long tag)
{
	int i;

	for (i = 0; i < f->nr; i++) {
		if (f->entry[i].tag == tag)
			return true;
	}
	return false;
}

static struct tail *newest_tail(struct call *c)
{
	return c->nr ? &c->tail[c->nr - 1] : NULL;
}

/* Will the users that are called at an entry join the frame of @f, instead of opening one? */
static bool joins(const struct call *c, const struct tail *f)
{
	int i;

	if (!f || f->func != c->func)
		return false;
	for (i = 0; i < c->nr_entering; i++) {
		if (has_entry(f, c->entering[i].tag))
			return false;
	}
	return true;
}

/* The first @nr users of c->entering were called or missed the call: note the result. */
static void settle(struct call *c, int nr)
{
	for (; c->settled < nr; c->settled++) {
		struct entry *e = &c->entering[c->settled];
		struct tail *f;

		expect(e->entered == (e->tag && !e->u->silent && !e->missed));
		if (!e->tag || e->refused || e->missed)
			continue;
		if (!c->into) {
			c->into = &c->tail[c->nr++];
			c->into->func = c->func;
			c->into->nr = 0;
		}
		f = c->into;
		f->entry[f->nr++] = *e;
		if (e->u->gops.flags & FGRAPH_FULL_REGS)
			c->full = true;
	}
}

/* A user's entry callback is called, or the user misses the call: users come in their order. */
static struct entry *turn_of(struct call *c, struct fgraph_ops *gops)
{
	struct entry *e;

	for (e = &c->entering[c->settled]; e->u != user_of(gops); e++)
		expect(e < &c->entering[c->nr_entering - 1]);
	settle(c, e - c->entering);
	expect(!e->entered && !e->missed);
	return e;
}

struct entry *model_entered(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			    void *data, struct ftrace_regs *fregs)
{
	struct call *c = call_at(model_now, frame->retp);
	struct entry *e;

	expect(c && c->state == ENTERING);
	e = turn_of(c, gops);
	expect(e->tag);
	expect(frame->func == c->func && frame->ret == c->ret);
	expect(fregs == &c->fregs);
	expect(!((unsigned long)data % sizeof(long)));
	expect(fake_preempt_count);
	e->entered++;
	e->data = data;
	callback_starts();
	return e;
}

static void reserve_chunks(unsigned long *usual, unsigned long *big)
{
	struct fgraph_usage usage;

	fgraph_usage(&usage);
	*big = usage.reserve_bytes / FGRAPH_CHUNK_SIZE - usage.reserve_chunks;
	*usual = usage.reserve_chunks - *big;
}

/* The chunks in reserve before an operation, and its number: later ones may take chunks, too. */
struct before {
	unsigned long	usual;
	unsigned long	big;
	unsigned long	ops;
};

static unsigned long ops;

static struct before before_op(void)
{
	struct before b = { .ops = ++ops };

	/* With interrupts at each instruction, there is always enough memory or none. */
	if (!model_stepped)
		reserve_chunks(&b.usual, &b.big);
	return b;
}

/*
 * May the last of @users users, with @size bytes of data, miss the call? Only if the reserve may
 * have run out. Each user may need a chunk, and the first one may need another for a new stack.
 */
static bool may_miss(const struct before *b, size_t size, unsigned long users)
{
	if (model_stepped)
		return model_no_memory;
	return b->ops != ops || b->usual <= users ||
	       (b->big < users && size > FGRAPH_CHUNK_SIZE - 3 * FGRAPH_SLOT);
}

/* Is this a call by a callback of a call by a callback? Such a call is missed. */
static bool within_callbacks(void)
{
	return nr_running > 1 && running[nr_running - 1] == fake_context &&
	       running[nr_running - 2] == fake_context;
}

/* The innermost call that is being hooked, or NULL. */
static struct call *hooking;

/* A user misses a call: the note_miss callback of all users. */
static void model_missed(struct fgraph_ops *gops)
{
	struct entry *e;

	expect(hooking && hooking->state == ENTERING);
	e = turn_of(hooking, gops);
	e->missed = true;
	e->u->missed++;
}

/*
 * Hook a call like fgraph_ftrace.c does, if c->entering are the users of the function in the order
 * in which they are called: a site has them the other way round.
 */
static void hook_site(struct call *c)
{
	struct fgraph_ops *users[MAX_ENTRIES];
	bool simple = true;
	int i;

	for (i = 0; i < c->nr_entering; i++) {
		struct fgraph_ops *gops = &c->entering[i].u->gops;

		users[c->nr_entering - 1 - i] = gops;
		simple &= fgraph_is_simple(gops);
	}
	if (simple && c->nr_entering == 1)
		STEP((model_hook_one(users[0], c->func, &c->fregs), 0));
	else
		STEP((fgraph_hook_several(users, c->nr_entering, simple, c->func, &c->fregs), 0));
}

/* Hook a call like fgraph_ftrace.c or the handler of a kprobe does. */
static void hook(struct call *c, bool traced)
{
	preempt_disable_notrace();
	if (traced)
		hook_site(c);
	else
		STEP((fgraph_hook(&c->entering->u->gops, c->func, &c->fregs.regs), 0));
	preempt_enable_notrace();
}

/* Add a user that is called at the entry of a call. The newest users are called first. */
static void add_entering(struct call *c, struct user *u)
{
	struct entry *e;

	expect(c->nr_entering < MAX_ENTRIES);
	for (e = &c->entering[c->nr_entering++]; e > c->entering; e--) {
		if (e[-1].tag >> FGRAPH_ID_BITS > u->gops.user.tag >> FGRAPH_ID_BITS)
			break;
		*e = e[-1];
	}
	*e = (struct entry) {
		.u = u, .tag = u->gops.user.tag, .size = u->gops.data_size,
		.retp = c->retp,
		.refused = !u->silent && (u->veto & 1 << (c->func & 7)),
	};
}

/* Hook the newest call for a user, or with @linked for that user and all linked behind it. */
static void hook_from(struct call *c, struct user *u, bool linked)
{
	struct fgraph_stack *st = fake_current->fgraph_stack;
	struct before before = before_op();
	struct tail *f = newest_tail(c);
	void *top = st ? st->top : NULL;
	bool traced = linked || u->traced;
	bool busy = traced && st && within_callbacks();
	int nr, i, tails = c->nr, entries = f ? f->nr : 0;
	struct call *outer = hooking;
	struct user *v;

	expect(c == model_top() && c->state == SETTLED);
	c->settled = 0;
	for (v = u; v; v = linked ? v->then : NULL) {
		/* A user that is not registered is not called. */
		if (v->gops.user.tag)
			add_entering(c, v);
	}
	nr = c->nr_entering;
	c->into = joins(c, f) ? f : NULL;
	/* Several users open one frame at most, for which there must be room in the model. */
	if (!nr || (!c->into && c->nr == MAX_TAILS) || entries + nr > MAX_ENTRIES) {
		c->nr_entering = 0;
		return;
	}
	c->state = ENTERING;
	op_starts();
	hooking = c;
	hook(c, traced);
	hooking = outer;
	op_ends();
	c->state = SETTLED;

	settle(c, nr);
	for (i = 0; i < nr; i++) {
		struct entry *e = &c->entering[i];

		expect(!e->missed || busy || may_miss(&before, e->size, i + 1));
		expect(e->missed || !busy);
	}
	c->nr_entering = 0;
	/* If no user wants the return, nothing is left on the stack. */
	f = newest_tail(c);
	if (st && !model_now->nr_dead && c->nr == tails && (!f || f->nr == entries))
		expect(st->top == top);
	expect(*c->slot == (!c->nr ? c->ret : c->full ?
			    (unsigned long)fgraph_trampoline_full :
			    (unsigned long)fgraph_trampoline_light));
}

void model_hook(struct call *c, struct user *u)
{
	hook_from(c, u, false);
}

/* Link users, and unlink all others. Must not be called while a call is being hooked. */
void model_link(struct user **users, int nr)
{
	int i;

	for (i = 0; i < MAX_USERS; i++)
		model_user[i].then = NULL;
	for (i = 1; i < nr; i++)
		users[i - 1]->then = users[i];
}

void model_hook_linked(struct call *c, struct user *u)
{
	hook_from(c, u, true);
}

/* The newest entry whose user the return has not called yet; @tail is set to its function. */
static struct entry *next_entry(struct call *c, struct tail **tail)
{
	int i, j;

	for (i = c->nr; i-- > 0;) {
		*tail = &c->tail[i];
		for (j = (*tail)->nr; j-- > 0;) {
			struct entry *e = &(*tail)->entry[j];

			if (!e->told && is_registered(e))
				return e;
		}
	}
	return NULL;
}

/* All users of @f are in one frame, in which no user of another function is. */
static void learn_frame(struct call *c, struct tail *f, const struct fgraph_frame *frame)
{
	int i;

	for (i = 0; i < c->nr; i++)
		expect(&c->tail[i] == f || c->tail[i].frame != frame);
	expect(!f->frame || f->frame == frame);
	f->frame = frame;
}

/* Private data are where they were at the entry; a silent user sees them for the first time. */
static void learn_data(struct entry *e, void *data)
{
	expect(data && !((unsigned long)data % sizeof(long)));
	if (e->u->silent && !e->data)
		e->data = data;
	expect(data == e->data);
}

/* Private data have not changed since the user wrote them. */
void model_kept(const struct entry *e)
{
	size_t i;

	for (i = 0; i < e->size / sizeof(long); i += model_data_stride(e))
		expect(e->data[i] == model_data(e, i));
}

struct entry *model_returned(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			     void *data, struct fgraph_regs *regs)
{
	struct call *c = call_at(model_now, frame->retp);
	struct tail *f;
	struct entry *e;

	expect(c && c->state == RETURNING);
	e = next_entry(c, &f);
	expect(e && &e->u->gops == gops);
	expect(frame->func == f->func && frame->ret == c->ret);
	learn_frame(c, f, frame);
	learn_data(e, data);
	expect(fake_preempt_count);
	if (!e->u->silent)
		model_kept(e);
	if (gops->flags & FGRAPH_FULL_REGS)
		expect(fgraph_get_regs(regs));
	if (fgraph_get_regs(regs))
		expect(fake_regs_ip(fgraph_get_regs(regs)) == c->ret);
	expect(fgraph_return_value(regs) == c->func);
	e->told = true;
	c->telling = f;
	callback_starts();
	return e;
}

/*
 * The user's nearest entry that is older than the frame of @f, or NULL. @known is set to false if
 * the core may find another one.
 */
static struct entry *parent_of(struct task *t, struct call *c, struct tail *f,
			       unsigned long tag, bool *known)
{
	int i, j = f - c->tail;

	*known = !t->nr_dead;
	for (;; c--, j = c->nr) {
		if (c->state == ENTERING)
			*known = false;
		while (j-- > 0) {
			for (i = c->tail[j].nr; i-- > 0;) {
				if (c->tail[j].entry[i].tag != tag)
					continue;
				/* This call is returning, so its records may be gone. */
				if (c->state == RETURNING && c != model_top())
					*known = false;
				return &c->tail[j].entry[i];
			}
		}
		if (c == t->call)
			return NULL;
	}
}

void model_asked(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *parent,
		 struct fgraph_ops **users, int nr)
{
	struct call *c = call_at(model_now, frame->retp);
	struct tail *f = c->telling;
	struct entry *expected;
	bool known;
	int i, n = 0;

	expected = parent_of(model_now, c, f, gops->user.tag, &known);
	if (known && expected)
		learn_data(expected, parent);
	else if (known)
		expect(!parent);
	for (i = f->nr; i-- > 0;) {
		if (!is_registered(&f->entry[i]))
			continue;
		if (n < 4 && n < nr)
			expect(users[n] == &f->entry[i].u->gops);
		n++;
	}
	expect(nr == n);
}

/* Return from the newest call, through a trampoline if the call was hooked. */
void model_leave(struct call *c)
{
	struct task *t = model_now;
	unsigned long addr = *c->slot, ret;
	struct tail *f;

	expect(c == model_top() && c->state == SETTLED);
	if (c->nr) {
		int i, j;

		for (i = 0; i < c->nr; i++) {
			c->tail[i].frame = NULL;
			for (j = 0; j < c->tail[i].nr; j++)
				c->tail[i].entry[j].told = false;
		}
		c->state = RETURNING;
		op_starts();
		if (addr == (unsigned long)fgraph_trampoline_full) {
			struct pt_regs *regs = (void *)c->retp - sizeof(*regs);

			while (fgraph_full_retp(regs) != c->retp)
				regs = (void *)regs - sizeof(long);
			memset(regs, 0, sizeof(*regs));
			set_full(regs);
			regs_return_value(regs) = c->func;
			ret = STEP(fgraph_return_full(regs));
		} else {
			unsigned long light[LIGHT_REGS_SIZE / sizeof(long)] = { };
			struct fgraph_regs *regs = (void *)light;

			set_return_value(regs, c->func);
			expect(addr == (unsigned long)fgraph_trampoline_light);
			ret = STEP(fgraph_return_light(c->retp, regs));
		}
		op_ends();
		expect(ret == c->ret);
		expect(!next_entry(c, &f));
	} else {
		expect(addr == c->ret);
	}
	t->sp = c->old_sp;
	t->nr_calls--;
}

/* Leave the newest calls without returning from them, as longjmp() does. */
void model_abandon(int calls)
{
	struct task *t = model_now;
	struct call *c;
	int i;

	while (calls-- && (c = model_top())) {
		for (i = 0; i < c->nr; i++) {
			t->dead[t->nr_dead++ % MAX_DEAD] = (struct dead) {
				.retp = c->retp, .ret = c->ret, .func = c->tail[i].func,
			};
		}
		t->sp = c->old_sp;
		t->nr_calls--;
	}
}

/* Leave the newest calls as bpf_throw() does: the core drops their frames. */
void model_throw(int calls)
{
	struct task *t = model_now;
	int nr_dead = t->nr_dead;

	model_abandon(calls);
	op_starts();
	STEP((fgraph_abandon_calls(t->sp), 0));
	op_ends();
	t->nr_dead = nr_dead;
}

/* Is the record at @cursor the next one below the frame of @retp? */
static bool is_below(struct task *t, unsigned long cursor, const unsigned long *retp)
{
	struct fgraph_frame *frame, *older;

	for (frame = READ_ONCE(t->t.fgraph_stack->top); frame; frame = older) {
		older = fgraph_older(frame);
		if ((unsigned long)older == cursor)
			return frame->retp == retp;
	}
	return false;
}

/*
 * Walk a machine stack like an unwinder, without the @skip newest calls: fgraph_ret_addr() must
 * find each real return address, and so must another CPU, whose search begins at @cursor. @add is
 * added to the addresses of trampolines.
 */
void model_unwind(struct task *t, unsigned long cursor, int skip, unsigned long add)
{
	unsigned long none = cursor, own = 0;
	struct call *c;

	/* No call is hooked at this place, so no return address is found. */
	expect(!fgraph_ret_addr(&t->t, &own, (unsigned long)fgraph_trampoline_light,
				t->t.stack, t->t.stack));
	expect(!t->t.fgraph_stack ||
	       !fgraph_stack_find(t->t.fgraph_stack, &none, t->t.stack, t->t.stack));
	for (c = t->call + t->nr_calls; c-- > t->call;) {
		unsigned long addr = *c->slot, ret;

		if (skip-- > 0)
			continue;
		/* An unwinder may find an address within the trampoline's first instructions. */
		if (fgraph_is_trampoline(addr))
			addr += add;
		ret = fgraph_ret_addr(&t->t, &own, addr, c->retp, c->retp);
		expect(ret == c->ret);
		if (!fgraph_is_trampoline(addr))
			continue;
		ret = fgraph_stack_find(t->t.fgraph_stack, &cursor, c->retp, c->retp);
		expect(ret == c->ret);
		/* The next search begins where this one ended. */
		expect(is_below(t, own, c->retp) && cursor == own);
	}
}

static bool is_dead(struct task *t, const struct fgraph_frame *frame)
{
	int i, n = t->nr_dead < MAX_DEAD ? t->nr_dead : MAX_DEAD;

	if (t->nr_dead > MAX_DEAD)
		return true;
	for (i = 0; i < n; i++) {
		if (t->dead[i].retp == frame->retp && t->dead[i].ret == frame->ret &&
		    t->dead[i].func == frame->func)
			return true;
	}
	return false;
}

static bool has_tag(const struct call *c, unsigned long tag)
{
	int i, j;

	for (i = 0; i < c->nr; i++) {
		for (j = 0; j < c->tail[i].nr; j++) {
			if (c->tail[i].entry[j].tag == tag)
				return true;
		}
	}
	for (i = 0; i < c->nr_entering; i++) {
		if (c->entering[i].tag == tag)
			return true;
	}
	return false;
}

/*
 * A frame that can be seen must be that of a call, or an abandoned one. The search begins at
 * @from, which is set to the call that was found.
 */
static void check_frame(struct task *t, struct call **from, const struct fgraph_frame *frame)
{
	struct call *c;
	int i;

	for (c = *from + 1; c-- > t->call;) {
		if (c->retp != frame->retp)
			continue;
		if (c->ret != frame->ret)
			break;
		*from = c;
		if (!has_tag(c, frame->tag))
			break;
		if (c->func == frame->func)
			return;
		for (i = 0; i < c->nr; i++) {
			if (c->tail[i].func == frame->func)
				return;
		}
		break;
	}
	expect(is_dead(t, frame));
}

/* An entry that can be seen must be that of a user of a call, or of an abandoned one. */
static void check_entry(struct task *t, const struct fgraph_entry *entry)
{
	struct call *c = call_at(t, entry->frame->retp);

	expect(fgraph_kind(fgraph_head(entry->frame)) == FGRAPH_FRAME);
	if (!c || c->ret != entry->frame->ret || !has_tag(c, entry->tag))
		expect(is_dead(t, entry->frame));
}

/* A place in the model, of older() */
struct pos {
	struct call	*c;
	int		tail;
	int		entry;
};

/* The next older entry that must be on the stack, or NULL. */
static struct entry *older(struct task *t, struct pos *p)
{
	for (;;) {
		if (p->entry > 0) {
			p->entry--;
			return &p->c->tail[p->tail].entry[p->entry];
		}
		if (p->tail > 0) {
			p->tail--;
			p->entry = p->c->tail[p->tail].nr;
			continue;
		}
		if (p->c == t->call)
			return NULL;
		p->c--;
		/* The records of a call that is returning may be there or not. */
		if (p->c->state == RETURNING)
			continue;
		p->tail = p->c->nr;
		p->entry = 0;
	}
}

/*
 * Check the slots of data below a header, which must not change while the record can be seen. A
 * silent user may not have written its data yet.
 */
static void check_data(const void *rec, unsigned long head)
{
	bool silent = *silent_tag(((struct fgraph_entry *)rec)->tag);
	unsigned long slots = fgraph_slots(head), i, first;

	/* Larger data are not written completely, see model_data_stride(). */
	if (slots > 16)
		return;
	for (i = 1; i <= slots; i++) {
		first = fgraph_head(rec - i * FGRAPH_SLOT);
		expect(first == model_data_head || (silent && !first));
	}
}

static void check_clean(void *from, void *end)
{
	for (; from < end; from += FGRAPH_SLOT)
		expect(!fgraph_head(from));
}

/**
 * struct walk - a walk of a stack, from the top down to the bottom
 * @t:		the task
 * @st:		the task's stack
 * @rec:	the header that is looked at
 * @chunk:	the chunk that has @rec
 * @used:	for each chunk, whether the walk has been in it
 * @call:	frames further down are of this call or of older ones
 * @next:	the newest entry of the model that was not found yet, or NULL
 * @pos:	where @next is in the model
 */
struct walk {
	struct task		*t;
	struct fgraph_stack	*st;
	void			*rec;
	struct fgraph_chunk	*chunk;
	bool			used[MAX_CHUNKS];
	struct call		*call;
	struct entry		*next;
	struct pos		pos;
	u32			calls;		/* of the record above */
	u32			fewer;		/* how many fewer may be left for this one */
};

/* Check the headers of all chunks, and find the chunk of the top. */
static void check_chunks(struct walk *w)
{
	struct fgraph_chunk *c;
	int n;

	for (n = 0, c = w->st->first; c; c = c->next, n++) {
		void *start = (void *)c - (c == w->st->first) * FGRAPH_SLOT;

		expect(n < MAX_CHUNKS);
		expect(c->head == FGRAPH_CHUNK);
		expect((void *)c->end - start == FGRAPH_CHUNK_SIZE ||
		       c->end == (void *)c + FGRAPH_BIG_CHUNK_SIZE);
		if (w->rec >= (void *)c && w->rec < c->end) {
			w->chunk = c;
			w->used[n] = true;
			check_clean(w->rec + FGRAPH_SLOT, c->end);
		}
	}
	expect(w->chunk);
}

/* The walk has come to the header of a chunk, which must lead to an older chunk. */
static void check_link(struct walk *w)
{
	struct fgraph_chunk *lower;
	int n;

	w->rec = w->chunk->older_top;
	for (n = 0, lower = w->st->first; lower != w->chunk; lower = lower->next, n++) {
		if (w->rec >= (void *)lower && w->rec < lower->end)
			break;
	}
	expect(lower != w->chunk);
	w->used[n] = true;
	w->chunk = lower;
	/* The slots above were too few for the next record. */
	check_clean(w->rec + FGRAPH_SLOT, lower->end);
}

/*
 * A frame counts as one more call than what is below it. Where a reserved record is, or one
 * whose call returned early, that is not known. Nor is it after calls were abandoned: the core
 * may have counted them when an interrupt drops them.
 */
static void check_calls(struct walk *w, unsigned long head)
{
	u32 calls = (head & FGRAPH_CALLS_MASK) >> FGRAPH_CALLS_SHIFT;

	if (w->fewer != -1U)
		expect(calls <= w->calls && calls + w->fewer >= w->calls);
	w->calls = calls;
	w->fewer = 0;
	if (fgraph_kind(head) == FGRAPH_FRAME)
		w->calls--;
	else if (fgraph_kind(head) != FGRAPH_ENTRY)
		w->fewer = 1;
}

/* Check a record, and go on to the next header. */
static void check_record(struct walk *w)
{
	unsigned long head = fgraph_head(w->rec);
	struct fgraph_frame *frame = w->rec;
	struct fgraph_entry *entry = w->rec;

	expect(w->rec - fgraph_size(head) >= (void *)w->chunk);
	if (fgraph_kind(head) != FGRAPH_NONE && !w->t->nr_dead)
		check_calls(w, head);
	switch (fgraph_kind(head)) {
	case FGRAPH_NONE:
		expect(!head);
		break;
	case FGRAPH_DONE:
		expect(w->t->nr_dead);
		break;
	case FGRAPH_RESERVED:
		break;
	case FGRAPH_FRAME:
		check_frame(w->t, &w->call, frame);
		check_data(frame, head);
		if (w->next && frame->tag == w->next->tag && frame->retp == w->next->retp)
			w->next = older(w->t, &w->pos);
		break;
	default:
		expect(fgraph_kind(head) == FGRAPH_ENTRY);
		check_entry(w->t, entry);
		check_data(entry, head);
		if (w->next && entry->tag == w->next->tag &&
		    entry->frame->retp == w->next->retp)
			w->next = older(w->t, &w->pos);
		break;
	}
	w->rec -= fgraph_size(head);
}

/* Chunks that the walk has not been in must be empty. */
static void check_unused(const struct walk *w)
{
	struct fgraph_chunk *c;
	int n;

	for (n = 0, c = w->st->first; c; c = c->next, n++) {
		if (!w->used[n])
			check_clean((void *)c + FGRAPH_SLOT, c->end);
	}
}

/*
 * Check the rules of fgraph_stack.h that hold at any instant: headers lead from the top down to
 * the bottom, all slots above the top are free, a record that can be seen is complete, and there
 * is a record for each user of each call.
 */
static void check_records(struct task *t, struct fgraph_stack *st)
{
	struct walk w = {
		.t = t, .st = st, .rec = READ_ONCE(st->top), .pos.c = t->call + t->nr_calls,
		.fewer = -1U,
	};

	w.call = w.pos.c - 1;
	w.next = older(t, &w.pos);
	check_chunks(&w);
	for (;;) {
		expect(!((unsigned long)w.rec % FGRAPH_SLOT));
		if (w.rec != w.chunk) {
			check_record(&w);
			continue;
		}
		expect(fgraph_kind(fgraph_head(w.rec)) == FGRAPH_CHUNK);
		if (w.chunk == st->first)
			break;
		check_link(&w);
	}
	expect(w.fewer == -1U || w.calls <= w.fewer);
	expect(!w.next);
	check_unused(&w);
}

void model_check(struct task *t)
{
	struct fgraph_stack *st = t->t.fgraph_stack;
	struct call *c;

	model_checks++;
	if (st)
		check_records(t, st);
	model_unwind(t, 0, 0, 0);
	if (!st || !t->nr_calls)
		return;
	/*
	 * A walk by another CPU that began long ago takes one step each time: it must not read
	 * wild memory.
	 */
	c = &t->call[model_checks % t->nr_calls];
	fgraph_stack_find(st, &t->stale, c->retp, c->retp);
}
