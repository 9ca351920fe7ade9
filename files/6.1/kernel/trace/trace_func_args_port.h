/* SPDX-License-Identifier: GPL-2.0 */
/* What trace_func_args.c needs of the kernel, and what differs between kernels. */
#ifndef _TRACE_FUNC_ARGS_PORT_H
#define _TRACE_FUNC_ARGS_PORT_H

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/ptrace.h>

/* Are there types at all? */
#define TRACE_FUNC_BTF		IS_ENABLED(CONFIG_TRACE_BTF)
/* How many argument registers there are, all of which ftrace saves. */
#define TRACE_FUNC_ALL_REGS	NR_REG_ARGUMENTS

/* Does the buffer of struct trace_array @tr take events here? */
#define func_args_can_write(tr)		tracer_tracing_is_on(tr)

#define func_args_register(fregs, n)	regs_get_kernel_argument(&(fregs)->regs, n)
#define func_args_stack(fregs)		((fregs)->regs.sp)

/*
 * struct func_symbols - a walk through symbols that calls @fn for each one that is wanted
 * @mod:	the only module whose symbols are wanted; NULL if all symbols of the walk are
 * @fn:		called with @data, the symbol's name and its address
 * @data:	passed on
 */
struct func_symbols {
	const struct module	*mod;
	int			(*fn)(void *data, const char *symbol, unsigned long addr);
	void			*data;
};

static inline int func_on_symbol(void *data, const char *symbol, struct module *mod,
				 unsigned long addr)
{
	struct func_symbols *all = data;

	return !all->mod || mod == all->mod ? all->fn(all->data, symbol, addr) : 0;
}

/* Call @fn for each symbol of a module, or of vmlinux, until it does not return 0. */
static inline int func_on_each_symbol(const struct module *mod,
				      int (*fn)(void *, const char *, unsigned long), void *data)
{
	struct func_symbols all = { .mod = mod, .fn = fn, .data = data };

	if (mod)
		return module_kallsyms_on_each_symbol(func_on_symbol, &all);
	return kallsyms_on_each_symbol(func_on_symbol, &all);
}

static inline int func_on_each_module_symbol(int (*fn)(void *, const char *, unsigned long),
					     void *data)
{
	struct func_symbols all = { .fn = fn, .data = data };

	return module_kallsyms_on_each_symbol(func_on_symbol, &all);
}

#endif /* _TRACE_FUNC_ARGS_PORT_H */
