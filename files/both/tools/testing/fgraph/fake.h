/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the kernel that fgraph's core uses: tasks, CPUs, contexts, memory. All of them
 * are simulated in one thread, and the test decides what runs when.
 */
#ifndef _FAKE_H
#define _FAKE_H

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/types.h>

#define NOKPROBE_SYMBOL(f)
#define __visible
#define __uninitialized
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define container_of(p, type, member)	((type *)((void *)(p) - offsetof(type, member)))

#define GFP_NOWAIT		0x10
#define __GFP_NOWARN		0x20

/* Called when @what should hold but does not. Each test defines it. */
void __noreturn fake_fail(const char *file, int line, const char *what);

#define expect(cond)							\
	do {								\
		if (unlikely(!(cond)))					\
			fake_fail(__FILE__, __LINE__, #cond);		\
	} while (0)
#define panic(text)		fake_fail(__FILE__, __LINE__, text)
#define WARN_ON_ONCE(cond)						\
	({								\
		bool __warn = (cond);					\
									\
		expect(!__warn);					\
		__warn;							\
	})

#define __no_kcsan
/* There is one thread, so nothing races. */
#define data_race(expr)		(expr)

#include <linux/kernel.h>

/*
 * How often the stores before a point were ordered before those after it, for other CPUs. There is
 * one thread, so this is only counted, for order.c.
 */
extern unsigned long fake_store_epoch;

static __always_inline void fake_order_stores(void)
{
	barrier();
	WRITE_ONCE(fake_store_epoch, READ_ONCE(fake_store_epoch) + 1);
	barrier();
}

/* Atomic operations. There is one thread, but interrupts may come in between. */
#define atomic_read(v)		READ_ONCE((v)->counter)
#define atomic_inc(v)		((void)__atomic_fetch_add(&(v)->counter, 1, __ATOMIC_SEQ_CST))
#define atomic_dec_and_test(v)	(!__atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST))
#define atomic_long_read(v)	READ_ONCE((v)->counter)
#define atomic_long_set(v, i)	WRITE_ONCE((v)->counter, i)
#define atomic_long_add(i, v)	((void)__atomic_fetch_add(&(v)->counter, i, __ATOMIC_SEQ_CST))
#define atomic_long_sub(i, v)	((void)__atomic_fetch_sub(&(v)->counter, i, __ATOMIC_SEQ_CST))
#define atomic_long_inc(v)	atomic_long_add(1, v)
#define atomic_long_dec(v)	atomic_long_sub(1, v)
/* Barriers only have to keep the compiler from reordering, as there is one thread. */
#define smp_mb()		(__atomic_thread_fence(__ATOMIC_SEQ_CST), fake_order_stores())
/* As counted for order.c. */
#define smp_wmb()		fake_order_stores()
/* There is one thread. */
#define smp_mb__after_atomic()	smp_mb()
/* There is one thread. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
/* There is one thread. */
#define smp_store_release(p, v)	(fake_order_stores(), __atomic_store_n(p, v, __ATOMIC_RELEASE))
#define xchg(p, v)							\
	({								\
		__auto_type __p = (p);					\
		__typeof__(*__p) __new = (v);				\
									\
		fake_order_stores();					\
		__new = __atomic_exchange_n(__p, __new, __ATOMIC_SEQ_CST); \
		fake_order_stores();					\
		__new;							\
	})
/* This orders no stores for other CPUs. */
#define cmpxchg_local(p, o, n)						\
	({								\
		__auto_type __p = (p);					\
		__typeof__(*__p) __old = (o);				\
									\
		__atomic_compare_exchange_n(__p, &__old, n, false,	\
					    __ATOMIC_SEQ_CST,		\
					    __ATOMIC_SEQ_CST);		\
		__old;							\
	})
/* One that fails does not order stores, either. */
#define cmpxchg(p, o, n)						\
	({								\
		__auto_type __word = (p);				\
		__typeof__(*__word) __expected = (o), __found;		\
									\
		if (READ_ONCE(*__word) == __expected)			\
			fake_order_stores();				\
		__found = cmpxchg_local(__word, __expected, n);		\
		if (__found == __expected)				\
			fake_order_stores();				\
		__found;						\
	})

/* How often preemption is disabled. */
extern int fake_preempt_count;
/* The context: 0 for a task, 1 for a softirq, 2 for an interrupt, 3 for an NMI. */
extern int fake_context;

/* The kernel's bits of preempt_count(); fake_context_count[] has those of each context. */
#define SOFTIRQ_OFFSET		0x100
#define HARDIRQ_MASK		0xf0000
#define NMI_MASK		0xf00000

extern const int fake_context_count[4];

#define preempt_count()		(fake_preempt_count + fake_context_count[fake_context])
#define irqs_disabled()		(fake_context >= 2)

static __always_inline void preempt_disable_notrace(void)
{
	/* The first barrier keeps reads that come before this from being moved behind it. */
	barrier();
	fake_preempt_count++;
	barrier();
}

static __always_inline void preempt_enable_notrace(void)
{
	barrier();
	fake_preempt_count--;
}

/* Tasks. */
#define THREAD_SIZE		65536UL

struct fgraph_stack;

struct task_struct {
	struct fgraph_stack	*fgraph_stack;
	atomic_t		tracing_graph_pause;
	void			*stack;
	struct task_struct	*next;
};

extern struct task_struct *fake_current;
extern struct task_struct *fake_tasks;

#define current			READ_ONCE(fake_current)
#define for_each_process_thread(g, t) \
	for (struct task_struct *__t = fake_tasks; ((g) = (t) = __t); __t = __t->next)
#define rcu_read_lock()		do { } while (0)
#define rcu_read_unlock()	do { } while (0)

static inline struct task_struct *idle_task(int cpu)
{
	return NULL;
}

/* Like a stack pointer on an interrupt's stack: below the places of all calls there. */
extern unsigned long fake_stack_pointer;

#define current_stack_pointer	READ_ONCE(fake_stack_pointer)

static inline void *task_stack_page(struct task_struct *t)
{
	return t->stack;
}

/* CPUs. A pointer to per-CPU data points to the data of CPU 0. */
#define FAKE_CPUS		3

extern int fake_cpu;
extern bool fake_online[FAKE_CPUS];
extern long fake_cpu_offset[FAKE_CPUS];
extern char __start_fake_percpu[], __stop_fake_percpu[];

#define per_cpu_ptr(p, cpu)						\
	({								\
		/* Keep the compiler from knowing the variable. */	\
		void *__ptr = (p);					\
									\
		asm("" : "+r" (__ptr));					\
		(__typeof__(p))(__ptr + fake_cpu_offset[cpu]);		\
	})
#define this_cpu_ptr(p)		per_cpu_ptr(p, smp_processor_id())
#define cpu_online(cpu)		(fake_online[cpu])
#define nr_cpu_ids		FAKE_CPUS
#define cpu_possible(cpu)	((cpu) < FAKE_CPUS)
#define for_each_possible_cpu(cpu) \
	for (int __cpu = 0; ((cpu) = __cpu) < FAKE_CPUS; __cpu++)
#define for_each_online_cpu(cpu) \
	for (int __cpu = -1; ((cpu) = __cpu = fake_next_online(__cpu)) < FAKE_CPUS;)

static inline int fake_next_online(int cpu)
{
	do
		cpu++;
	while (cpu < FAKE_CPUS && !fake_online[cpu]);
	return cpu;
}

#define cpus_read_lock()	do { } while (0)
#define cpus_read_unlock()	do { } while (0)
#define SYSTEM_SCHEDULING	1
#define system_state		2

static __always_inline int smp_processor_id(void)
{
	if (unlikely(!fake_preempt_count))
		fake_fail(__FILE__, __LINE__, "preemption enabled");
	return fake_cpu;
}

/* How many allocations succeed before all fail; -1 if all succeed. */
extern int fake_memory_left;
/* The number of chunks that are allocated. */
extern long fake_allocs;

/* These chunks, in any order. @serial differs for each allocation. */
struct fake_chunk {
	void			*start;
	size_t			size;
	unsigned long		serial;
};

extern struct fake_chunk fake_chunk[4096];
/* How many allocations and frees there were. */
extern unsigned long fake_chunk_changes;

void *kzalloc(size_t size, int gfp);
void *kcalloc(size_t nr, size_t size, int gfp);
void kfree(void *p);

/* Locks. */
struct mutex {
	bool locked;
};

#define DEFINE_MUTEX(m)		struct mutex m
#define lockdep_assert_held(m)	expect((m)->locked)

static inline void mutex_lock(struct mutex *m)
{
	expect(!m->locked);
	m->locked = true;
}

static inline void mutex_unlock(struct mutex *m)
{
	expect(m->locked);
	m->locked = false;
}

/* irq_works and works run when the test calls fake_run_irq_works() or fake_run_works(). */
struct irq_work {
	void			(*func)(struct irq_work *work);
	struct irq_work		*next;
	bool			pending;
	bool			hard;
	int			cpu;
};

#define IRQ_WORK_INIT(f)	{ .func = (f) }
#define IRQ_WORK_INIT_HARD(f)	{ .func = (f), .hard = true }

void irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

struct work_struct {
	void			(*func)(struct work_struct *work);
	struct work_struct	*next;
	bool			pending;
};

#define DECLARE_WORK(w, f)	struct work_struct w = { .func = (f) }
#define INIT_WORK(w, f)		(*(w) = (struct work_struct){ .func = (f) })

void schedule_work(struct work_struct *work);

#define work_pending(w)		READ_ONCE((w)->pending)

static inline void schedule_work_on(int cpu, struct work_struct *work)
{
	schedule_work(work);
}

void flush_work(struct work_struct *work);

/*
 * A CPU comes up or goes down. As with PREEMPT_RT, one that goes down still runs irq_works that
 * are hard; the others wait until it is back.
 */
void fake_set_online(int cpu, bool online);

/* Run all pending irq_works of CPUs that are online, or works. */
void fake_run_irq_works(void);
void fake_run_works(void);

/* Numbers. */
struct ida {
	unsigned char		used[8192];
};

#define DEFINE_IDA(i)		struct ida i

/* ida_alloc_max() treats lower ids as used. */
extern unsigned int fake_lowest_id;

int ida_alloc_max(struct ida *ida, unsigned int max, int gfp);
void ida_free(struct ida *ida, unsigned int id);

/* ftrace */
#include <asm/ptrace.h>

struct ftrace_regs {
	struct pt_regs		regs;
};

struct ftrace_ops;

/* No handler of a kprobe ever runs here. */
#define kprobe_running()	false

void fake_init(void);

#endif /* _FAKE_H */
