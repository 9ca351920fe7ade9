/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fgraph_ftrace.c and the files of the stubs use of kernel headers, for user space; see
 * HEADERS_C in the Makefile. What the rest of the core uses is in fake.h, of the core's tests.
 *
 * BTF and kallsyms know of each function only that it may have a stub.
 */
#ifndef _NATIVE_KERNEL_C_H
#define _NATIVE_KERNEL_C_H

#include "fake.h"

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/log2.h>

#define __rcu
#define __force
#define __read_mostly
#define RCU_INITIALIZER(p)		(p)
#define rcu_dereference_raw(p)		READ_ONCE(p)
#define synchronize_rcu_tasks()		do { } while (0)
/* No module goes. */
#define hlist_splice_init(from, last, to)	do { } while (0)

#define PAGE_SIZE			4096UL
#define PAGE_MASK			(~(PAGE_SIZE - 1))
#define MODULE_NAME_LEN			56
#define KSYM_NAME_LEN			512
#define CONFIG_PAHOLE_VERSION		125
#define kzalloc_obj(obj)		((typeof(obj) *)kzalloc(sizeof(obj), 0))

/*
 * A static branch as the kernel patches it. The core that has NATIVE_STUBS_MADE is that of a kernel
 * which has made stubs, the others are as with fgraph_stubs=off.
 */
struct static_key_false {
	bool			enabled;
};

#define DECLARE_STATIC_KEY_FALSE(name)	extern struct static_key_false name
#define DEFINE_STATIC_KEY_FALSE(name)	struct static_key_false name
#define static_branch_enable(key)	((key)->enabled = true)
#define static_branch_unlikely(key)	unlikely(native_stubs_made())

static __always_inline bool native_stubs_made(void)
{
#ifdef NATIVE_STUBS_MADE
	asm goto("jmp %l[yes]" : : : : yes);
#else
	asm goto(".byte 0x0f, 0x1f, 0x44, 0, 0" : : : : yes);
#endif
	return false;
yes:
	return true;
}

/* ftrace */
#define notrace
#define MCOUNT_INSN_SIZE		5
#define ftrace_location(ip)		(ip)
/* No user has a filter. */
#define ftrace_ops_test(ops, ip, data)	true

extern struct mutex ftrace_lock;

/* Text. main.c has these functions. */
#define INT3_INSN_OPCODE		0xcc
#define CALL_INSN_OPCODE		0xe8
#define CALL_INSN_SIZE			5
#define JMP32_INSN_OPCODE		0xe9
#define EXECMEM_FTRACE			0

void *execmem_alloc_rw(int type, size_t size);
void execmem_free(void *page);
int set_memory_rox(unsigned long addr, int pages);
void *text_poke_copy(void *addr, const void *opcode, size_t len);

/* There is no call depth tracking. Which return thunk it is does not matter to a stub. */
#define x86_call_depth_emit_accounting(end, func, ip)	((void)(ip))
extern void (*x86_return_thunk)(void);
void __x86_return_thunk(void);
void its_return_thunk(void);

/* The parameter of the kernel. */
struct kernel_param;

struct kernel_param_ops {
	int			(*set)(const char *val, const struct kernel_param *kp);
	int			(*get)(char *buffer, const struct kernel_param *kp);
};

#define __core_param_cb(name, ops, arg, perm)	struct kernel_param
#define sysfs_match_string(strings, string)	(-EINVAL)
#define sysfs_emit(buffer, format, ...)		0

/* kallsyms */
#define is_kernel_inittext(ip)			false
#define kallsyms_on_each_match_symbol(fn, name, data)	fn(data, 0)
#define perf_event_ksymbol(...)			do { } while (0)

static inline const char *kallsyms_lookup(unsigned long addr, unsigned long *size,
					  unsigned long *offset, char **modname, char *name)
{
	*size = *offset = 0;
	*modname = NULL;
	return strcpy(name, "function");
}

/* BTF */
struct btf;

struct btf_type {
	u32			name_off;
	u32			type;
};

struct btf_param {
	u32			name_off;
};

struct btf_member;

static inline const struct btf_type *native_proto(struct btf **btf)
{
	static const struct btf_type proto;

	*btf = NULL;
	return &proto;
}

/* There are no modules, so names are not looked for. */
#define btf_put(btf)				do { } while (0)
#define btf_base_btf(btf)			NULL
#define btf_nr_types(btf)			0
#define btf_type_is_func(type)			false
#define btf_type_by_id(btf, id)			((const struct btf_type *)NULL)
#define btf_name_by_offset(btf, offset)		""
#define btf_find_func_proto(name, btf)		native_proto(btf)

struct trace_btf_walk {
	unsigned int		stack;
	bool			known;
};

#define trace_btf_walk_args(btf, proto)		((struct trace_btf_walk) { })
#define trace_btf_next_arg(walk)		false

#endif /* _NATIVE_KERNEL_C_H */
