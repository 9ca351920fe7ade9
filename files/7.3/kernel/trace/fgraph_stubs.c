// SPDX-License-Identifier: GPL-2.0
/*
 * The stubs of functions: hook the return of a call without replacing its return address.
 *
 * A return address that is replaced is mispredicted twice: the function's RET goes to a trampoline
 * where the CPU expects the caller, and the trampoline's RET goes where the CPU expects what the
 * trampoline's CALL has pushed. A stub is the code that calls one function for fgraph. ftrace makes
 * the function jump to it, instead of calling ftrace_caller, if no other ftrace_ops is on the
 * function:
 *
 *	caller		  function		  stub of the function	  fgraph
 *
 *	call function --> jmp stub -------------> call enter -----------> entry callbacks,
 *						       <----------------- frame
 *			  body:  <--------------- call body
 *			  ret -----------------------> :
 *						  jmp leave ------------> return callbacks,
 *	     <----------------------------------------------------------- frame is dropped, ret
 *
 * The frame has the flag FGRAPH_STUB. It is found by the place of the real return address, like any
 * other, but that address stays where it is. Callbacks cannot tell the difference.
 *
 * The fast paths of fgraph_stub_entered() open such a frame. If they do not apply - a callback is
 * running, the chunk is full, a user has much data, the call is a tail call - the general path
 * replaces the return address as without a stub, and the stub jumps to the body. A frame says how
 * its call was hooked, so both ways mix. A function may change between them at any time:
 *
 *   a task is between the jump to the stub and fgraph_stub_enter when another ftrace_ops comes
 *	The stub stays as it is, and serves the users that the function has by then. If none is
 *	left, it jumps to the body. The function does not call ftrace_caller as well, as its first
 *	instruction is done.
 *   a task sleeps in the body when the function changes
 *	Both ways a return finds its frame by the place of the return address.
 *   a breakpoint of text_poke is at the jump
 *	smp_text_poke_int3_handler() emulates the new jump or call. It is left before a stub runs.
 *
 * Which of both it is for a function must not change while fgraph's ops is on the function: ftrace
 * checks each instruction that it replaces. fgraph_choose_stubs() decides when the ops is about to
 * get the function, and &fgraph_stub.use remembers it.
 *
 * What may interrupt a stub: an interrupt or an NMI finds the stack of a function at its entry, and
 * either no frame or a complete one. What it hooks itself is lower on the stack. A task that is
 * preempted in a stub stays there as long as it likes:
 *
 *   The stubs of functions of the kernel stay for good, in at most FGRAPH_STUB_PAGES pages.
 *   The stubs of a module are forgotten with its functions. A task may still be in one, as its
 *   function has returned to it. So the memory is used again after a grace period of tasks RCU:
 *   all tasks were in user space, idle or have switched voluntarily, which nobody does in a stub or
 *   in what it calls but in the body, and that runs no more when its module goes.
 *
 * After a tail call of a function that a stub has called, the return address at the entry is one in
 * that stub. This call is hooked by replacing that address. Its frame has FGRAPH_AFTER_STUB, and
 * the real return address, for callbacks. When it returns, its trampoline goes on to
 * &fgraph_stubs_return, which is like the return address that was replaced: all stubs continue
 * alike, as what they call finds the frame by itself. No other call of a stub is a tail call, so
 * stubs never pile up on the machine stack.
 *
 * A stub calls the body, so the stack pointer is a word lower there than in a call without one.
 * Hence no function with arguments on the stack has a stub, or one with variable arguments, or
 * one that BTF does not describe. BTF must tell functions of one name apart: see
 * fgraph_stubs_wanted().
 *
 * Stubs are not used for users of all functions, or of very many: these have no site.
 */
#include <linux/btf.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <asm/sections.h>

#include "fgraph_internal.h"
#include "fgraph_stubs.h"
#include "ftrace_internal.h"
#include "trace_btf.h"
#include "trace_btf_args.h"

/* The most pages of stubs: 16383 functions, and 1 MB. */
#define FGRAPH_STUB_PAGES	256
#define FGRAPH_PAGE_STUBS	(PAGE_SIZE / FGRAPH_STUB_SIZE)

/**
 * struct fgraph_stub - a function that may have a stub
 * @node:	links the functions in fgraph_stub_table by @ip, or free stubs
 * @ip:		the address of the function's call to ftrace
 * @stub:	the address of its stub; 0 if it cannot have one
 * @use:	ftrace sends the function to its stub whenever fgraph's ops is alone on it
 */
struct fgraph_stub {
	struct hlist_node	node;
	unsigned long		ip;
	unsigned long		stub;
	bool			use;
};

/* All of these are protected by ftrace_lock. */
static DEFINE_HASHTABLE(fgraph_stub_table, 10);
/* Stubs of functions that have gone: those that may be used again, and those that may not yet. */
static HLIST_HEAD(fgraph_stubs_free);
static HLIST_HEAD(fgraph_stubs_gone);
/* The part of the last page that no stub was made in yet. */
static unsigned long fgraph_stubs_next, fgraph_stubs_end;

/*
 * The addresses of the pages, hashed. At most half full, and pages are only added, so that any
 * context can look. 0: free.
 */
static unsigned long fgraph_stub_pages[2 * FGRAPH_STUB_PAGES];
static unsigned int fgraph_nr_stub_pages;

DEFINE_STATIC_KEY_FALSE(fgraph_stubs_made);
unsigned long fgraph_stubs_low __read_mostly = ULONG_MAX;
unsigned long fgraph_stubs_high __read_mostly;
unsigned long fgraph_stubs_return __read_mostly;

/* The parameter fgraph_stubs=. Functions that are hooked already do not change. */
int fgraph_stubs_mode = FGRAPH_STUBS_OFF;

static const char *const fgraph_stubs_modes[] = {
	[FGRAPH_STUBS_OFF]	= "off",
	[FGRAPH_STUBS_ON]	= "on",
	[FGRAPH_STUBS_AUTO]	= "auto",
};

static int fgraph_stubs_set(const char *val, const struct kernel_param *kp)
{
	int mode = sysfs_match_string(fgraph_stubs_modes, val);

	if (mode < 0)
		return mode;
	WRITE_ONCE(fgraph_stubs_mode, mode);
	return 0;
}

static int fgraph_stubs_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", fgraph_stubs_modes[READ_ONCE(fgraph_stubs_mode)]);
}

static const struct kernel_param_ops fgraph_stubs_param = {
	.set = fgraph_stubs_set,
	.get = fgraph_stubs_get,
};

__core_param_cb(fgraph_stubs, &fgraph_stubs_param, NULL, 0644);

/* Are stubs made for functions that are hooked from now on? */
static bool fgraph_stubs_wanted(void)
{
	switch (READ_ONCE(fgraph_stubs_mode)) {
	case FGRAPH_STUBS_ON:
		return true;
	case FGRAPH_STUBS_AUTO:
		/*
		 * Before 1.25, pahole takes the prototype of a function from any function of this
		 * name, also from one that is inlined everywhere and is not in kallsyms.
		 */
		return CONFIG_PAHOLE_VERSION >= 125 && arch_fgraph_stubs_wanted();
	default:
		return false;
	}
}

/* The element of fgraph_stub_pages for the page at @page: it has the page, or is free. */
static unsigned long *fgraph_stub_page(unsigned long page)
{
	unsigned int i = hash_long(page, 31) % ARRAY_SIZE(fgraph_stub_pages);
	unsigned long at;

	while ((at = READ_ONCE(fgraph_stub_pages[i])) && at != page)
		i = (i + 1) % ARRAY_SIZE(fgraph_stub_pages);
	return &fgraph_stub_pages[i];
}
NOKPROBE_SYMBOL(fgraph_stub_page);

/* The start of the stub that has an address, which may be any; 0 if it is not in one. */
unsigned long __fgraph_stub_start(unsigned long addr)
{
	/* A stub is made before ftrace leads to it, and its page is entered before. */
	if (!READ_ONCE(*fgraph_stub_page(addr & PAGE_MASK)))
		return 0;
	return addr & ~(FGRAPH_STUB_SIZE - 1UL);
}
NOKPROBE_SYMBOL(__fgraph_stub_start);

/**
 * fgraph_stub_caller() - find the caller of a function that has made a tail call
 * @low:	a place on the stack of the current task, below the return address of the function
 *
 * Context: any. For a function whose return address is in a stub.
 *
 * Return: the real return address of the call at @low or above that was hooked last; 0 if there
 * is none.
 */
unsigned long fgraph_stub_caller(void *low)
{
	const struct fgraph_frame *frame;
	struct fgraph_stack *st;
	unsigned long cursor, ret = 0;

	preempt_disable_notrace();
	st = READ_ONCE(current->fgraph_stack);
	if (st) {
		frame = fgraph_stack_find_from(READ_ONCE(st->top), &cursor, low,
					       (unsigned long *)ULONG_MAX);
		if (frame)
			ret = READ_ONCE(frame->ret);
	}
	preempt_enable_notrace();
	return ret;
}
NOKPROBE_SYMBOL(fgraph_stub_caller);

/**
 * fgraph_stub_lookup() - name an address in a stub
 * @addr:	the address
 * @size:	set to the size of the stub, if not NULL
 * @offset:	set to the distance of @addr from its start, if not NULL
 * @name:	set to the name, at most KSYM_NAME_LEN characters
 *
 * Context: any. For kallsyms.
 *
 * Return: the length of the name; 0 if @addr is not in a stub.
 */
int fgraph_stub_lookup(unsigned long addr, unsigned long *size, unsigned long *offset, char *name)
{
	static const char prefix[] = "fgraph_stub.";
	unsigned long start = is_fgraph_stub(addr) ? __fgraph_stub_start(addr) : 0;
	unsigned long func_size, func_offset;
	char *modname;

	if (!start)
		return 0;
	if (!kallsyms_lookup(fgraph_stub_stands_for(start, true), &func_size, &func_offset,
			     &modname, name))
		name[0] = '\0';
	memmove(name + strlen(prefix), name, KSYM_NAME_LEN - strlen(prefix));
	memcpy(name, prefix, strlen(prefix));
	name[KSYM_NAME_LEN - 1] = '\0';
	if (size)
		*size = FGRAPH_STUB_SIZE;
	if (offset)
		*offset = addr - start;
	return strlen(name);
}

static int count_symbol(void *nr, unsigned long addr)
{
	(*(unsigned int *)nr)++;
	return 0;
}

/* Does no argument of a function of this prototype depend on the stack pointer? */
static bool all_in_registers(const struct btf *btf, const struct btf_type *proto)
{
	struct trace_btf_walk w = trace_btf_walk_args(btf, proto);

	/* The type of "..." is not known. */
	while (trace_btf_next_arg(&w)) {
		if (!w.known)
			return false;
	}
	return !w.stack;
}

/* May the function be called by a stub? */
static bool may_have_stub(unsigned long ip)
{
	static char name[MODULE_NAME_LEN + 1 + KSYM_NAME_LEN], *func = name + MODULE_NAME_LEN + 1;
	unsigned long size, offset;
	const struct btf_type *proto;
	unsigned int symbols = 0;
	struct btf *btf;
	char *modname;
	bool may;

	/* Memory of __init functions becomes something else. */
	if (is_kernel_inittext(ip))
		return false;
	if (!kallsyms_lookup(ip, &size, &offset, &modname, func) ||
	    ftrace_location(ip - offset) != ip)
		return false;
	/* The compiler has changed the arguments of a function with a suffix. */
	if (strchr(func, '.'))
		return false;
	if (modname) {
		unsigned int len = strlen(modname);

		if (len >= MODULE_NAME_LEN)
			return false;
		func[-1] = ':';
		proto = btf_find_func_proto(memcpy(func - 1 - len, modname, len), &btf);
	} else {
		kallsyms_on_each_match_symbol(count_symbol, func, &symbols);
		if (symbols != 1)
			return false;
		proto = btf_find_func_proto(func, &btf);
	}
	if (!proto)
		return false;
	may = all_in_registers(btf, proto);
	btf_put(btf);
	return may;
}

/* Take memory for a stub from a page. Returns 0 if there is none. */
static unsigned long fgraph_stub_alloc(void)
{
	unsigned long stub, page;

	if (fgraph_stubs_next == fgraph_stubs_end) {
		if (fgraph_nr_stub_pages == FGRAPH_STUB_PAGES)
			return 0;
		page = (unsigned long)arch_fgraph_stub_page();
		if (!page)
			return 0;
		fgraph_nr_stub_pages++;
		WRITE_ONCE(*fgraph_stub_page(page), page);
		/* Unwinders ask by this first. No stub of the page is in use yet. */
		if (page < fgraph_stubs_low)
			WRITE_ONCE(fgraph_stubs_low, page);
		if (page + PAGE_SIZE > fgraph_stubs_high)
			WRITE_ONCE(fgraph_stubs_high, page + PAGE_SIZE);
		fgraph_stubs_next = page;
		fgraph_stubs_end = page + PAGE_SIZE;
		perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, page, PAGE_SIZE, false,
				   "fgraph_stubs");
	}
	stub = fgraph_stubs_next;
	fgraph_stubs_next += FGRAPH_STUB_SIZE;
	return stub;
}

/* Make the stub that any function may return to. Its body is never called. */
static bool fgraph_make_common_stub(void)
{
	unsigned long stub;
	unsigned int ret;

	if (fgraph_stubs_return)
		return true;
	stub = fgraph_stub_alloc();
	ret = stub ? arch_fgraph_stub_write(stub, (unsigned long)fgraph_stub_caller) : 0;
	if (!ret)
		return false;
	/* ftrace leads to no stub yet, so nobody reads this before it has patched a function. */
	WRITE_ONCE(fgraph_stubs_return, stub + ret);
	static_branch_enable(&fgraph_stubs_made);
	return true;
}

/* Make a function known, with a stub if it can have one. Returns NULL if there is no memory. */
static struct fgraph_stub *fgraph_make_stub(unsigned long ip)
{
	struct fgraph_stub *s = NULL;

	if (!may_have_stub(ip)) {
		s = kzalloc_obj(*s);
		if (!s)
			return NULL;
	} else if (!fgraph_make_common_stub()) {
		return NULL;
	} else if (!hlist_empty(&fgraph_stubs_free)) {
		s = hlist_entry(fgraph_stubs_free.first, struct fgraph_stub, node);
		hlist_del(&s->node);
	} else {
		s = kzalloc_obj(*s);
		if (!s)
			return NULL;
		s->stub = fgraph_stub_alloc();
		if (!s->stub) {
			kfree(s);
			return NULL;
		}
	}
	if (s->stub && !arch_fgraph_stub_write(s->stub, ip)) {
		hlist_add_head(&s->node, &fgraph_stubs_free);
		return NULL;
	}
	s->ip = ip;
	hash_add(fgraph_stub_table, &s->node, ip);
	return s;
}

static struct fgraph_stub *fgraph_find_stub(unsigned long ip)
{
	struct fgraph_stub *s;

	hash_for_each_possible(fgraph_stub_table, s, node, ip) {
		if (s->ip == ip)
			return s;
	}
	return NULL;
}

/**
 * fgraph_stub_of() - the stub that a function is to be sent to
 * @ip:	the address of the function's call to ftrace
 *
 * Context: process, ftrace_lock held.
 *
 * Return: the address; 0 if the function has no stub or does not use it.
 */
unsigned long fgraph_stub_of(unsigned long ip)
{
	struct fgraph_stub *s = fgraph_find_stub(ip);

	return s && s->use ? s->stub : 0;
}

/**
 * fgraph_stubs_use() - send a function to its stub from now on, if it can have one
 * @ip:	the address of the function's call to ftrace; fgraph's ops is not on it
 *
 * Context: process, ftrace_lock held. May sleep.
 */
void fgraph_stubs_use(unsigned long ip)
{
	struct fgraph_stub *s;

	lockdep_assert_held(&ftrace_lock);

	/* Before that, text cannot be patched by text_poke_copy(). */
	if (system_state < SYSTEM_SCHEDULING || !fgraph_stubs_wanted())
		return;
	s = fgraph_find_stub(ip) ?: fgraph_make_stub(ip);
	if (s)
		s->use = s->stub;
}

/**
 * fgraph_stubs_reset() - send functions to their stubs no more
 * @keep:	returns true for the functions that must not change, by the address of the call to
 *		ftrace
 *
 * Context: process, ftrace_lock held.
 */
void fgraph_stubs_reset(bool (*keep)(unsigned long ip))
{
	struct fgraph_stub *s;
	int i;

	hash_for_each(fgraph_stub_table, i, s, node) {
		if (s->use && !keep(s->ip))
			s->use = false;
	}
}

/* Let the stubs of modules that have gone be used again. */
static void fgraph_stubs_recycle(struct work_struct *work)
{
	struct hlist_head gone;
	struct hlist_node *last;

	mutex_lock(&ftrace_lock);
	hlist_move_list(&fgraph_stubs_gone, &gone);
	mutex_unlock(&ftrace_lock);
	if (hlist_empty(&gone))
		return;

	synchronize_rcu_tasks();

	mutex_lock(&ftrace_lock);
	for (last = gone.first; last->next; last = last->next)
		;
	hlist_splice_init(&gone, last, &fgraph_stubs_free);
	mutex_unlock(&ftrace_lock);
}

static DECLARE_WORK(fgraph_stubs_recycle_work, fgraph_stubs_recycle);

/**
 * fgraph_stubs_forget() - forget the functions of a module, or of __init memory, that goes
 * @start:	lowest address of the functions
 * @end:	first address behind them
 *
 * Context: process, ftrace_lock held, after ftrace has forgotten them.
 */
void fgraph_stubs_forget(unsigned long start, unsigned long end)
{
	struct fgraph_stub *s;
	struct hlist_node *tmp;
	int i;

	hash_for_each_safe(fgraph_stub_table, i, tmp, s, node) {
		if (s->ip < start || s->ip >= end)
			continue;
		hash_del(&s->node);
		s->use = false;
		if (s->stub)
			hlist_add_head(&s->node, &fgraph_stubs_gone);
		else
			kfree(s);
	}
	if (!hlist_empty(&fgraph_stubs_gone))
		schedule_work(&fgraph_stubs_recycle_work);
}
