/* SPDX-License-Identifier: GPL-2.0 */
/* What trace_func_args.c needs of the kernel, and what differs between kernels. */
#ifndef _TRACE_FUNC_ARGS_PORT_H
#define _TRACE_FUNC_ARGS_PORT_H

#include <linux/ftrace_regs.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/ptrace.h>

/* Are there types at all? */
#define TRACE_FUNC_BTF		1
/* How many argument registers there are, all of which ftrace saves. */
#if defined(CONFIG_X86_64) || defined(CONFIG_ARM64)
#define TRACE_FUNC_ALL_REGS	NR_REG_ARGUMENTS
#else
#define TRACE_FUNC_ALL_REGS	FTRACE_REGS_MAX_ARGS
#endif

/* Does the buffer of struct trace_array @tr take events here? */
#define func_args_can_write(tr) \
	ring_buffer_record_is_on_cpu((tr)->array_buffer.buffer, smp_processor_id())

#define func_args_register(fregs, n)	ftrace_regs_get_argument(fregs, n)
#define func_args_stack(fregs)		ftrace_regs_get_stack_pointer(fregs)

/* Call @fn for each symbol of a module, or of vmlinux, until it does not return 0. */
static inline int func_on_each_symbol(const struct module *mod,
				      int (*fn)(void *, const char *, unsigned long), void *data)
{
	if (mod)
		return module_kallsyms_on_each_symbol(mod->name, fn, data);
	return kallsyms_on_each_symbol(fn, data);
}

static inline int func_on_each_module_symbol(int (*fn)(void *, const char *, unsigned long),
					     void *data)
{
	return module_kallsyms_on_each_symbol(NULL, fn, data);
}

#endif /* _TRACE_FUNC_ARGS_PORT_H */
