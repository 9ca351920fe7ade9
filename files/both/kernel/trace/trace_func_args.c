// SPDX-License-Identifier: GPL-2.0
/*
 * The arguments and the return values of functions, for the function tracers.
 *
 * At entry and at return the words of the values are copied into the ring buffer. They are
 * printed when the trace is read, according to the types that BTF has for the function: either
 * as Linux 7.3 prints them, or, if "typed", with all that the types tell.
 *
 * BTF has functions by name, but tracers know the address of the function's call to ftrace. So
 * there are tables from that address to the type, one for vmlinux and one for each module.
 * They are made when a tracer or a reader first needs them, and stay, as a trace can be read long
 * after its tracer was switched; that of a module goes with it. A function is not in a table if
 * another one in vmlinux or in the same module has the same name, or if BTF has several types for
 * that name, as it does not say which one is meant. Of such functions no arguments are printed; if
 * typed, the words are printed in hexadecimal.
 *
 * Readers run in callbacks of ftrace, in any context with preemption disabled, or print a trace
 * and disable preemption. Writers hold func_args_mutex.
 */
#define pr_fmt(fmt)	"trace_func_args: " fmt

#include <linux/bpf.h>
#include <linux/bsearch.h>
#include <linux/btf.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/trace_seq.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "fgraph_users.h"
#include "trace_btf_args.h"
#include "trace_btf_print.h"
#include "trace_func_args.h"
#include "trace_func_args_port.h"
#include "trace_output.h"

#if TRACE_FUNC_BTF
/**
 * struct func_type - the type of a function
 * @ip:		address of the function's call to ftrace: 32 bits tell functions of vmlinux, or of
 *		one module, apart
 * @id:		id of the function's BTF_KIND_FUNC; 0 if this element is free
 * @words:	how many words of its values are recorded
 * @described:	bit mask of instances, see &trace_func_type.described
 */
struct func_type {
	u32			ip;
	u32			id;
	struct trace_func_words	words;
	atomic_t		described;
};

/**
 * struct func_table - the functions of vmlinux or of a module, by address
 * @list:	links all tables
 * @old:	links tables that are to be freed
 * @mod:	the module, or NULL for vmlinux
 * @btf:	the BTF that has the types
 * @start:	lowest address of a function in the table
 * @end:	highest address of a function in the table
 * @bits:	@funcs has 1 << @bits elements
 * @nr:		number of functions in the table
 * @funcs:	open addressing: a search goes on with the next element
 */
struct func_table {
	struct list_head	list;
	struct func_table	*old;
	struct module		*mod;
	struct btf		*btf;
	unsigned long		start;
	unsigned long		end;
	unsigned int		bits;
	unsigned int		nr;
	struct func_type	funcs[];
};

/* Protects func_tables against other writers, and the two below. */
static DEFINE_MUTEX(func_args_mutex);
static LIST_HEAD(func_tables);
/* BTF can be parsed. Tracers on the kernel's command line start before that. */
static bool func_args_ready;
/* The tables are wanted, and made if BTF could be parsed. */
static bool func_args_made;

static unsigned int func_slot(const struct func_table *table, unsigned long ip)
{
	return hash_long(ip, table->bits);
}
NOKPROBE_SYMBOL(func_slot);

/* Find a function by its @ip and set @in to its table. Any context, preemption disabled. */
static struct func_type *func_find(unsigned long ip, const struct func_table **in)
{
	struct func_table *table;
	unsigned int i;

	list_for_each_entry_rcu(table, &func_tables, list, true) {
		if (ip < table->start || ip > table->end)
			continue;
		*in = table;
		i = func_slot(table, ip);
		while (table->funcs[i].id) {
			if (table->funcs[i].ip == (u32)ip)
				return &table->funcs[i];
			i = (i + 1) & (BIT(table->bits) - 1);
		}
	}
	return NULL;
}
NOKPROBE_SYMBOL(func_find);

static const struct btf_type *func_proto(const struct btf *btf, u32 id)
{
	return btf_type_by_id(btf, btf_type_by_id(btf, id)->type);
}

/* Is this a pointer to char, and not to void or to other bytes? */
static bool func_is_string(const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);

	if (!t || !btf_type_is_ptr(t))
		return false;
	t = btf_type_skip_modifiers(btf, t->type, NULL);
	return t && btf_type_is_int(t) && !strcmp(btf_name_by_offset(btf, t->name_off), "char");
}

static struct trace_func_words func_count_words(const struct btf *btf, u32 id)
{
	const struct btf_type *proto = func_proto(btf, id);
	struct trace_btf_walk w = trace_btf_walk_args(btf, proto);
	struct trace_func_words words = { };
	int size = trace_btf_size(btf, proto->type);

	while (trace_btf_next_arg(&w)) {
		if (w.known && !w.on_stack && func_is_string(btf, w.type) &&
		    hweight8(words.strings) < TRACE_FUNC_MAX_STRINGS)
			words.strings |= BIT(w.first);
	}
	words.regs = clamp_t(unsigned int, w.regs, TRACE_FUNC_REGS, TRACE_FUNC_ALL_REGS);
	words.stack = min_t(unsigned int, w.stack, TRACE_FUNC_MAX_VALUES - words.regs);
	/* One word, which is not shown, stands for a return value that is elsewhere. */
	if (size)
		words.ret = 1;
	if (trace_btf_classify(btf, proto->type) == TRACE_BTF_REGS)
		words.ret = DIV_ROUND_UP(size, sizeof(long));
	return words;
}

/**
 * struct func_name - a function that BTF knows, while its table is made
 * @name:	name of the function
 * @id:		id of its BTF_KIND_FUNC
 * @nr:		number of symbols with that name, and of further types that BTF has for it
 * @addr:	address of one of these symbols
 */
struct func_name {
	const char	*name;
	u32		id;
	unsigned int	nr;
	unsigned long	addr;
};

/* All functions that BTF knows of vmlinux or of a module, sorted by name. */
struct func_names {
	struct module		*mod;
	unsigned int		nr;
	struct func_name	*names;
};

static int func_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct func_name *)a)->name, ((const struct func_name *)b)->name);
}

static int func_note_symbol(void *data, const char *symbol, unsigned long addr)
{
	const struct func_names *all = data;
	struct func_name key = { .name = symbol }, *found;
	struct module *mod = all->mod;

	if (!mod && !core_kernel_text(addr))
		return 0;
	found = bsearch(&key, all->names, all->nr, sizeof(key), func_compare_names);
	if (!found)
		return 0;
	found->nr++;
	/* Another module's function may be there when the init section has been freed. */
	if (!mod || !within_module_init(addr, mod))
		found->addr = addr;
	return 0;
}

static const char *func_name(const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_type_by_id(btf, id);

	return t && btf_type_is_func(t) ? btf_name_by_offset(btf, t->name_off) : NULL;
}

/* Leave one element for each name. If the types differ, it is not the only one by @nr. */
static void func_names_merge(struct func_names *all, const struct btf *btf)
{
	struct func_name *last = all->names;
	unsigned int i;

	for (i = 1; i < all->nr; i++) {
		if (strcmp(last->name, all->names[i].name))
			*++last = all->names[i];
		else if (!trace_btf_same_types(func_proto(btf, last->id),
					       func_proto(btf, all->names[i].id)))
			last->nr++;
	}
	if (all->nr)
		all->nr = last - all->names + 1;
}

/* Collect the functions that BTF knows, with their addresses. Returns a count or -ENOMEM. */
static int func_names_get(struct func_names *all, const struct btf *btf)
{
	u32 id, first = trace_btf_first_id(all->mod), last = btf_nr_types(btf);

	for (id = first; id < last; id++)
		all->nr += !!func_name(btf, id);
	all->names = kvcalloc(all->nr, sizeof(all->names[0]), GFP_KERNEL);
	if (!all->names)
		return -ENOMEM;
	all->nr = 0;
	for (id = first; id < last; id++) {
		if (!func_name(btf, id))
			continue;
		all->names[all->nr].name = func_name(btf, id);
		all->names[all->nr++].id = id;
	}
	sort(all->names, all->nr, sizeof(all->names[0]), func_compare_names, NULL);
	func_names_merge(all, btf);
	func_on_each_symbol(all->mod, func_note_symbol, all);
	return all->nr;
}

static void func_table_add(struct func_table *table, unsigned long ip, u32 id)
{
	unsigned int i = func_slot(table, ip);

	while (table->funcs[i].id) {
		/* The function has two names, and the first one stays. */
		if (table->funcs[i].ip == (u32)ip)
			return;
		i = (i + 1) & (BIT(table->bits) - 1);
	}
	table->funcs[i].ip = ip;
	table->funcs[i].id = id;
	table->funcs[i].words = func_count_words(table->btf, id);
	table->start = min(table->start, ip);
	table->end = max(table->end, ip);
	table->nr++;
}

static struct func_table *func_table_make(const struct func_names *all, struct btf *btf)
{
	/* At least a quarter of the elements stays free. */
	unsigned int i, bits = order_base_2(all->nr + all->nr / 3 + 1);
	struct func_table *table;

	table = kvzalloc(struct_size(table, funcs, BIT(bits)), GFP_KERNEL);
	if (!table)
		return NULL;
	table->mod = all->mod;
	table->btf = btf;
	table->bits = bits;
	table->start = ULONG_MAX;
	for (i = 0; i < all->nr; i++) {
		const struct func_name *func = &all->names[i];
		unsigned long ip = func->nr == 1 ? ftrace_location(func->addr) : 0;

		if (ip)
			func_table_add(table, ip, func->id);
		cond_resched();
	}
	return table;
}

static bool func_table_exists(const struct module *mod)
{
	struct func_table *table;

	list_for_each_entry(table, &func_tables, list) {
		if (table->mod == mod)
			return true;
	}
	return false;
}

/* Make the table of vmlinux or of a module. Returns -ENOMEM, or 0, also if there is no BTF. */
static int func_table_new(struct module *mod)
{
	struct func_names all = { .mod = mod };
	struct func_table *table = NULL;
	struct btf *btf;

	if (func_table_exists(mod))
		return 0;
	btf = btf_get_module_btf(mod);
	if (IS_ERR_OR_NULL(btf))
		return 0;
	if (func_names_get(&all, btf) >= 0)
		table = func_table_make(&all, btf);
	kvfree(all.names);
	if (!table) {
		btf_put(btf);
		return -ENOMEM;
	}
	list_add_tail_rcu(&table->list, &func_tables);
	return 0;
}

/* Free the table of a module, or all tables if @mod is NULL. */
static void func_tables_drop(const struct module *mod)
{
	struct func_table *table, *next, *old = NULL;

	list_for_each_entry_safe(table, next, &func_tables, list) {
		if (mod && table->mod != mod)
			continue;
		list_del_rcu(&table->list);
		table->old = old;
		old = table;
	}
	if (!old)
		return;
	/* func_find() may be running, also where RCU does not watch, with preemption disabled. */
	fgraph_synchronize();
	for (; old; old = next) {
		next = old->old;
		btf_put(old->btf);
		kvfree(old);
	}
}

/* The modules that are loaded, before a table of each is made. */
struct func_modules {
	unsigned int	nr;
	unsigned int	room;
	struct module	**mods;
};

/* Note the module of a symbol. The symbols of one module come one after the other. */
static int func_note_module(void *data, const char *symbol, unsigned long addr)
{
	struct func_modules *all = data;
	struct module *mod;

	preempt_disable();
	mod = __module_address(addr);
	preempt_enable();
	if (!mod || (all->nr && all->mods[all->nr - 1] == mod))
		return 0;
	if (all->nr == all->room) {
		unsigned int room = max(2 * all->room, 64U);
		void *mods = kvmalloc_array(room, sizeof(all->mods[0]), GFP_KERNEL);

		if (!mods)
			return -ENOMEM;
		if (all->nr)
			memcpy(mods, all->mods, all->nr * sizeof(all->mods[0]));
		kvfree(all->mods);
		all->mods = mods;
		all->room = room;
	}
	all->mods[all->nr++] = mod;
	return 0;
}

/*
 * Make the tables of vmlinux and of all modules. A module that goes meanwhile has to wait for
 * func_args_mutex in func_args_module(). If it has already been there, its BTF is gone and no
 * table is made for it.
 */
static int func_tables_make(void)
{
	struct func_modules all = { };
	int ret = func_table_new(NULL);
	unsigned int i;

	/* Without modules this returns -EOPNOTSUPP. */
	if (!ret && IS_ENABLED(CONFIG_MODULES))
		ret = func_on_each_module_symbol(func_note_module, &all);
	for (i = 0; i < all.nr && !ret; i++)
		ret = func_table_new(all.mods[i]);
	kvfree(all.mods);
	if (ret)
		func_tables_drop(NULL);
	return ret;
}

#ifdef CONFIG_MODULES
/*
 * Make or free the table of a module that comes or goes. If there is no memory for it, values
 * of its functions are printed in hexadecimal.
 */
static int func_args_module(struct notifier_block *nb, unsigned long event, void *mod)
{
	mutex_lock(&func_args_mutex);
	if (func_args_made && event == MODULE_STATE_COMING)
		func_table_new(mod);
	else if (event == MODULE_STATE_GOING)
		func_tables_drop(mod);
	mutex_unlock(&func_args_mutex);
	return NOTIFY_OK;
}

static struct notifier_block func_args_notifier = {
	.notifier_call = func_args_module,
	/* Lower than btf_module_notify(), which must have added the module's BTF before. */
	.priority = -1,
};

static int __init func_args_watch_modules(void)
{
	return register_module_notifier(&func_args_notifier);
}
core_initcall(func_args_watch_modules);
#endif /* CONFIG_MODULES */

/* Make the tables for tracers that were started by the kernel's command line. */
static int __init func_args_init(void)
{
	mutex_lock(&func_args_mutex);
	func_args_ready = true;
	if (func_args_made && func_tables_make()) {
		func_args_made = false;
		pr_warn("no memory for the types of functions, their values are hexadecimal\n");
	}
	mutex_unlock(&func_args_mutex);
	return 0;
}
core_initcall(func_args_init);

/**
 * trace_func_args_make() - make the tables of functions, if they do not exist yet
 *
 * Must be called before trace_func_words(). Does nothing without BTF. When the kernel boots,
 * the tables are made later, by func_args_init().
 *
 * Context: process, or early boot. May sleep. The first call takes tens of milliseconds.
 *
 * Return: 0, or -ENOMEM.
 */
int trace_func_args_make(void)
{
	int ret = 0;

	mutex_lock(&func_args_mutex);
	if (!func_args_made && func_args_ready)
		ret = func_tables_make();
	if (!ret) {
		/* Pairs with smp_load_acquire() in func_args_want(). */
		smp_store_release(&func_args_made, true);
	}
	mutex_unlock(&func_args_mutex);
	return ret;
}

/*
 * Make the tables for a reader, if it may sleep: the trace may be one of an earlier boot.
 * ftrace_dump() disables interrupts, and so does whoever prints a tracepoint at once.
 */
static void func_args_want(void)
{
	/* Pairs with smp_store_release() in trace_func_args_make(). */
	if (!smp_load_acquire(&func_args_made) && !irqs_disabled())
		trace_func_args_make();
}

/**
 * trace_func_type() - what is the type of a function that has not been described?
 * @ip:		address of the function's call to ftrace
 * @instance:	bit of the instance in &trace_func_type.described
 * @type:	to be filled in; valid as long as preemption is disabled
 *
 * Context: any, preemption disabled.
 *
 * Return: false if the type is not known, or the function has been described.
 */
bool trace_func_type(unsigned long ip, u32 instance, struct trace_func_type *type)
{
	const struct func_table *table;
	struct func_type *func = func_find(ip, &table);

	if (!func || atomic_read(&func->described) & instance)
		return false;
	type->module = table->mod ? module_name(table->mod) : NULL;
	type->name = func_name(table->btf, func->id);
	type->btf = table->btf;
	type->proto = func_proto(table->btf, func->id);
	type->described = &func->described;
	return true;
}
NOKPROBE_SYMBOL(trace_func_type);

/**
 * trace_func_forget() - take it that no function has been described
 * @instances:	bit mask of the instances that this is about
 *
 * Context: process. May sleep.
 */
void trace_func_forget(u32 instances)
{
	struct func_table *table;
	unsigned int i;

	mutex_lock(&func_args_mutex);
	list_for_each_entry(table, &func_tables, list) {
		for (i = 0; i < BIT(table->bits); i++) {
			if (atomic_read(&table->funcs[i].described) & instances)
				atomic_andnot(instances, &table->funcs[i].described);
		}
		cond_resched();
	}
	mutex_unlock(&func_args_mutex);
}

/* Print a string, or the address where there was none. */
static void func_print_string(struct trace_seq *s, unsigned long addr, const char *string)
{
	unsigned int max = TRACE_FUNC_STRING_WORDS * sizeof(long) - 1;

	if (!string[0] && string[1])
		trace_seq_printf(s, "0x%lx", addr);
	else
		trace_seq_printf(s, "\"%*pE\"", (int)strnlen(string, max), string);
}

/*
 * The strings that are behind the values among @nr recorded words, as &trace_func_words.strings,
 * and in @from the first of them.
 */
static unsigned int func_strings(const struct func_type *func, const unsigned long *words,
				 unsigned int nr, const unsigned long **from)
{
	unsigned int nr_values = func->words.regs + func->words.stack;

	*from = words + nr_values;
	return nr > nr_values && nr == trace_func_nr_args(func->words) ? func->words.strings : 0;
}

/* Print a number in decimal, and the name that the enum has for it, if any. */
static void func_plain_enum(struct trace_seq *s, const struct btf *btf, const struct btf_type *t,
			    unsigned long word)
{
	const struct btf_enum *enums = btf_enum(t);
	unsigned long value = trace_btf_narrow(word, t->size);
	unsigned int i;

	trace_seq_printf(s, "%ld",
			 btf_type_kflag(t) ? trace_btf_narrow_signed(word, t->size) : (long)value);
	for (i = 0; i < btf_type_vlen(t); i++) {
		if (trace_btf_narrow(enums[i].val, t->size) != value)
			continue;
		trace_seq_printf(s, " [%s]", btf_name_by_offset(btf, enums[i].name_off));
		return;
	}
}

/* Print a value of @nr registers as Linux 7.3 prints it. */
static void func_plain_value(struct trace_seq *s, const struct btf *btf, u32 id,
			     const unsigned long *words, unsigned int nr)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	unsigned int i;

	if (nr == 1 && btf_type_is_ptr(t)) {
		trace_seq_printf(s, "0x%lx", words[0]);
	} else if (nr == 1 && btf_type_is_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED) {
		trace_seq_printf(s, "%ld", trace_btf_narrow_signed(words[0], t->size));
	} else if (nr == 1 && btf_type_is_int(t)) {
		trace_seq_printf(s, "0x%lx", trace_btf_narrow(words[0], t->size));
	} else if (nr == 1 && btf_type_is_enum(t)) {
		func_plain_enum(s, btf, t, words[0]);
	} else {
		trace_seq_printf(s, "(%s)[", btf_type_str(t));
		for (i = 0; i < nr; i++)
			trace_seq_printf(s, "%s0x%lx", i ? ":" : "",
					 trace_btf_narrow(words[i], t->size - i * sizeof(long)));
		trace_seq_putc(s, ']');
	}
}

/* Print arguments as Linux 7.3 does, and "..." for one that is not in a register that it keeps. */
static void func_plain_args(struct trace_seq *s, const struct func_table *table,
			    const struct func_type *func, const unsigned long *words,
			    unsigned int nr)
{
	struct trace_btf_walk w = trace_btf_walk_args(table->btf,
						      func_proto(table->btf, func->id));
	const unsigned long *string;
	unsigned int strings;

	if (nr < TRACE_FUNC_REGS)
		return;
	strings = func_strings(func, words, nr, &string);
	while (trace_btf_next_arg(&w)) {
		bool known = w.known && !w.memory && !w.on_stack &&
			     w.first + w.nr <= TRACE_FUNC_REGS;

		if (w.number > 1)
			trace_seq_puts(s, ", ");
		/* Then none of the rest is in one of these registers either. */
		if (!known && (w.lost || w.regs >= TRACE_FUNC_REGS)) {
			trace_seq_puts(s, "...");
			break;
		}
		if (*trace_btf_arg_name(&w))
			trace_seq_printf(s, "%s=", trace_btf_arg_name(&w));
		if (!known) {
			trace_seq_puts(s, "...");
		} else if (strings & BIT(w.first)) {
			func_print_string(s, words[w.first], (const char *)string);
			string += TRACE_FUNC_STRING_WORDS;
		} else {
			func_plain_value(s, table->btf, w.type, words + w.first, w.nr);
		}
	}
}

/*
 * Print arguments by name and type. Returns false if the function takes another number of words
 * than was recorded: another module has been loaded to its address.
 */
static bool func_typed_args(struct trace_seq *s, const struct func_table *table,
			    const struct func_type *func, const unsigned long *words,
			    unsigned int nr)
{
	struct trace_btf_walk w = trace_btf_walk_args(table->btf,
						      func_proto(table->btf, func->id));
	const unsigned long *string;
	unsigned int strings = func_strings(func, words, nr, &string);

	/* Events from before the option was set have no more than some registers. */
	if (!strings && nr != TRACE_FUNC_REGS && nr != func->words.regs + func->words.stack)
		return false;

	trace_seq_putc(s, '(');
	while (trace_btf_next_arg(&w)) {
		const char *name = trace_btf_arg_name(&w);
		unsigned int first = w.on_stack ? func->words.regs + w.first : w.first;

		if (w.number > 1)
			trace_seq_puts(s, ", ");
		if (*name)
			trace_seq_printf(s, "%s=", name);
		if (!w.known || w.memory ||
		    first + w.nr > min_t(unsigned int, nr, func->words.regs + func->words.stack)) {
			trace_seq_puts(s, "...");
		} else if (!w.on_stack && strings & BIT(first)) {
			func_print_string(s, words[first], (const char *)string);
			string += TRACE_FUNC_STRING_WORDS;
		} else {
			trace_btf_print(s, table->btf, w.type, words + first);
		}
	}
	trace_seq_putc(s, ')');
	return true;
}

/* Print a return value by its type. Returns false if too few words of it were recorded. */
static bool func_print_return(struct trace_seq *s, const struct func_table *table,
			      const struct func_type *func, const unsigned long *words,
			      unsigned int nr, bool hex)
{
	u32 id = func_proto(table->btf, func->id)->type;

	if (nr < func->words.ret)
		return false;
	if (hex)
		trace_btf_print_hex(s, table->btf, id, words);
	else
		trace_btf_print_return(s, table->btf, id, words);
	return true;
}
#else /* !TRACE_FUNC_BTF */
struct func_table;

struct func_type {
	struct trace_func_words	words;
};

static const struct func_type *func_find(unsigned long ip, const struct func_table **in)
{
	return NULL;
}
NOKPROBE_SYMBOL(func_find);

static void func_plain_args(struct trace_seq *s, const struct func_table *table,
			    const struct func_type *func, const unsigned long *words,
			    unsigned int nr)
{
}

static bool func_typed_args(struct trace_seq *s, const struct func_table *table,
			    const struct func_type *func, const unsigned long *words,
			    unsigned int nr)
{
	return false;
}

static bool func_print_return(struct trace_seq *s, const struct func_table *table,
			      const struct func_type *func, const unsigned long *words,
			      unsigned int nr, bool hex)
{
	return false;
}

int trace_func_args_make(void)
{
	return 0;
}

static void func_args_want(void)
{
}

bool trace_func_type(unsigned long ip, u32 instance, struct trace_func_type *type)
{
	return false;
}

void trace_func_forget(u32 instances)
{
}
#endif /* !TRACE_FUNC_BTF */

/**
 * trace_func_words() - how many words of a function's values are to be recorded?
 * @ip:		address of the function's call to ftrace
 * @want:	bits of &enum trace_func_want
 *
 * Context: any, preemption disabled.
 *
 * Return: the numbers of words. They may change when a module comes or goes.
 */
struct trace_func_words trace_func_words(unsigned long ip, unsigned int want)
{
	struct trace_func_words words = { .regs = TRACE_FUNC_REGS, .ret = 1 };
	const struct func_table *table;
	const struct func_type *func;

	if (!want)
		return words;
	func = func_find(ip, &table);
	if (func)
		words = func->words;
	else
		words.regs = TRACE_FUNC_ALL_REGS;
	if (!(want & TRACE_FUNC_STRINGS))
		words.strings = 0;
	return words;
}
NOKPROBE_SYMBOL(trace_func_words);

/*
 * Copy a string of the kernel. If that faults, it is empty and its second byte is not zero; so it
 * is for an address of user space, which cannot be read in any context.
 */
static void func_save_string(unsigned long *to, unsigned long addr)
{
	unsigned int size = TRACE_FUNC_STRING_WORDS * sizeof(*to);
	char *string = (char *)to;

	memset(to, 0, size);
	if (strncpy_from_kernel_nofault(string, (const void *)addr, size) < 0) {
		string[0] = 0;
		string[1] = 1;
	}
}
NOKPROBE_SYMBOL(func_save_string);

/**
 * trace_func_args_save() - record the arguments of a function that is entered
 * @to:		array of trace_func_nr_args(@nr) words to be filled in
 * @nr:		numbers of words, from trace_func_words()
 * @fregs:	the registers at entry
 *
 * Context: any, in a callback of ftrace.
 */
void trace_func_args_save(unsigned long *to, struct trace_func_words nr,
			  struct ftrace_regs *fregs)
{
	/* On x86 the return address is below the first argument on the stack. */
	unsigned long *stack = (unsigned long *)func_args_stack(fregs) + IS_ENABLED(CONFIG_X86);
	unsigned int strings = nr.strings;
	unsigned int i;

	for (i = 0; i < nr.regs; i++)
		*to++ = func_args_register(fregs, i);
	/* NOCHECK: KASAN may have poisoned the caller's stack frame. */
	for (i = 0; i < nr.stack; i++)
		*to++ = READ_ONCE_NOCHECK(stack[i]);
	for (i = 0; strings; i++, strings >>= 1) {
		if (!(strings & 1))
			continue;
		func_save_string(to, func_args_register(fregs, i));
		to += TRACE_FUNC_STRING_WORDS;
	}
}
NOKPROBE_SYMBOL(trace_func_args_save);

/* Print arguments with all that is known of them, or in hexadecimal. */
static void func_print_typed(struct trace_seq *s, const struct func_table *table,
			     const struct func_type *func, const unsigned long *words,
			     unsigned int nr)
{
	unsigned int i;

	if (func && func_typed_args(s, table, func, words, nr))
		return;
	for (i = 0; i < nr; i++)
		trace_seq_printf(s, i ? ", 0x%lx" : "(0x%lx", words[i]);
	trace_seq_putc(s, ')');
}

/*
 * Find a function for a reader, as func_find() does, and keep its table until func_put(). Sleeps
 * only with interrupts enabled, if no one has wanted the tables before.
 */
static const struct func_type *func_get(unsigned long ip, const struct func_table **in)
{
	func_args_want();
	preempt_disable_notrace();
	return func_find(ip, in);
}

static void func_put(void)
{
	preempt_enable_notrace();
}

/**
 * trace_func_args_print() - print arguments in parentheses
 * @s:		the sequence to print to
 * @ip:		address of the function's call to ftrace
 * @words:	the words that trace_func_args_save() recorded
 * @nr:		number of words, TRACE_FUNC_REGS at least
 * @typed:	print them by type, not as Linux 7.3 prints them
 *
 * If the type of the function is not known, "()" is printed, but all words in hexadecimal if
 * @typed, or if no types are known at all.
 *
 * Context: process, may sleep; or any with interrupts disabled.
 */
void trace_func_args_print(struct trace_seq *s, unsigned long ip, const unsigned long *words,
			   unsigned int nr, bool typed)
{
	const struct func_table *table;
	const struct func_type *func;

	func = func_get(ip, &table);
	if (typed || !TRACE_FUNC_BTF) {
		func_print_typed(s, table, func, words, nr);
	} else {
		trace_seq_putc(s, '(');
		if (func)
			func_plain_args(s, table, func, words, nr);
		trace_seq_putc(s, ')');
	}
	func_put();
}

/**
 * trace_func_returns() - does a function return something?
 * @ip:		address of the function's call to ftrace
 *
 * Context: process, may sleep; or any with interrupts disabled.
 *
 * Return: false if it is known to return void.
 */
bool trace_func_returns(unsigned long ip)
{
	const struct func_table *table;
	const struct func_type *func;
	bool ret;

	func = func_get(ip, &table);
	ret = !func || func->words.ret;
	func_put();
	return ret;
}

/**
 * trace_func_return_print() - print a return value by its type
 * @s:		the sequence to print to
 * @ip:		address of the function's call to ftrace
 * @words:	the return registers
 * @nr:		number of words that were recorded, not 0
 * @hex:	print in hexadecimal, whatever the type
 *
 * If the type is not known, or needs more words than @nr, only the first register is printed. It
 * is taken for an error if it is a small negative number of 64 or of 32 bits.
 *
 * Context: process, may sleep; or any with interrupts disabled.
 */
void trace_func_return_print(struct trace_seq *s, unsigned long ip, const unsigned long *words,
			     unsigned int nr, bool hex)
{
	const struct func_table *table;
	const struct func_type *func;

	func = func_get(ip, &table);
	if (func && func_print_return(s, table, func, words, nr, hex))
		goto out;
	if (hex || (!trace_print_error(s, words[0]) &&
		    (words[0] >> 32 || !trace_print_error(s, (int)words[0]))))
		trace_seq_printf(s, "0x%lx", words[0]);
out:
	func_put();
}
