// SPDX-License-Identifier: GPL-2.0
/*
 * Print values according to their BTF types. The values were copied from registers or memory
 * when an event happened; they are printed when the event is read.
 */
#include <linux/bits.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include "trace_btf.h"
#include "trace_output.h"

/**
 * trace_btf_first_id() - the first type that a BTF has on its own
 * @mod:	the module, or NULL for vmlinux
 *
 * The ids of a module's own types follow those of vmlinux.
 *
 * Return: the id.
 */
u32 trace_btf_first_id(const struct module *mod)
{
	return mod ? btf_nr_types(bpf_get_btf_vmlinux()) : 1;
}

/**
 * trace_btf_same_types() - do two prototypes differ only in the names of arguments?
 * @a:		a BTF_KIND_FUNC_PROTO
 * @b:		another one of the same BTF
 *
 * Return: true if arguments and return value have the same types.
 */
bool trace_btf_same_types(const struct btf_type *a, const struct btf_type *b)
{
	int i;

	if (a->type != b->type || btf_vlen(a) != btf_vlen(b))
		return false;
	for (i = 0; i < btf_vlen(a); i++) {
		if (btf_params(a)[i].type != btf_params(b)[i].type)
			return false;
	}
	return true;
}

/**
 * trace_btf_get_func() - find the type of a function
 * @func:	to be filled in
 * @symbol:	name of the function, or "MODULE:NAME" for a function of that module
 *
 * The caller must call trace_btf_put_func() afterwards.
 *
 * Context: process. May sleep.
 *
 * Return: 0; -ENOENT if the symbol does not exist, perhaps as its module is not loaded, if
 * there is no BTF for it, or if BTF has several functions of that name and of other types.
 */
int trace_btf_get_func(struct trace_btf_func *func, const char *symbol)
{
	unsigned long addr = kallsyms_lookup_name(symbol);
	const char *name = strchr(symbol, ':');
	struct module *mod;
	struct btf *btf;
	int ret = -ENOENT;
	u32 id;

	if (!addr)
		return -ENOENT;
	name = name ? name + 1 : symbol;
	preempt_disable();
	mod = __module_address(addr);
	if (mod && !try_module_get(mod))
		addr = 0;
	preempt_enable();
	if (!addr)
		return -ENOENT;
	btf = btf_get_module_btf(mod);
	if (mod)
		module_put(mod);
	if (IS_ERR_OR_NULL(btf))
		return -ENOENT;

	for (id = trace_btf_first_id(mod); id < btf_nr_types(btf); id++) {
		const struct btf_type *t = btf_type_by_id(btf, id);

		if (!btf_type_is_func(t) || strcmp(btf_name_by_offset(btf, t->name_off), name))
			continue;
		t = btf_type_by_id(btf, t->type);
		if (ret) {
			func->proto = t;
			ret = 0;
		} else if (!trace_btf_same_types(func->proto, t)) {
			/* BTF does not say which of two functions with this name is at @addr. */
			ret = -ENOENT;
			break;
		}
	}
	if (ret)
		btf_put(btf);
	else
		func->btf = btf;
	return ret;
}

/**
 * trace_btf_put_func() - release the type of a function
 * @func:	filled in by trace_btf_get_func(), or all zero
 */
void trace_btf_put_func(struct trace_btf_func *func)
{
	if (func->btf)
		btf_put(func->btf);
	func->btf = NULL;
}

/**
 * trace_btf_find_member() - find a member of a struct or union
 * @btf:	the BTF that has the types
 * @id:		id of the struct or union
 * @name:	name of the member, which may be within a member that has no name
 * @m:		to be filled in
 *
 * Return: true if the member was found.
 */
bool trace_btf_find_member(const struct btf *btf, u32 id, const char *name,
			   struct trace_btf_member *m)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	const struct btf_member *member;
	u32 i;

	for_each_member(i, t, member) {
		u32 offset = __btf_member_bit_offset(t, member);

		if (!member->name_off) {
			const struct btf_type *inner =
				btf_type_skip_modifiers(btf, member->type, NULL);

			/* Unnamed bitfields are padding and have no members. */
			if (!btf_type_is_struct(inner) ||
			    !trace_btf_find_member(btf, member->type, name, m))
				continue;
			m->offset += offset;
			return true;
		}
		if (strcmp(btf_name_by_offset(btf, member->name_off), name))
			continue;
		m->type = member->type;
		m->offset = offset;
		m->size = __btf_member_bitfield_size(t, member);
		return true;
	}
	return false;
}

static void print_int(struct trace_seq *s, const struct btf_type *t, const unsigned long *words)
{
	u64 value = trace_btf_narrow(words[0], t->size);

	if (t->size > sizeof(u64))
		trace_seq_printf(s, "0x%lx%016lx", words[1], words[0]);
	else if (btf_int_encoding(t) & BTF_INT_BOOL && value <= 1)
		trace_seq_puts(s, value ? "true" : "false");
	else if (btf_int_encoding(t) & BTF_INT_SIGNED)
		trace_seq_printf(s, "%ld", trace_btf_narrow_signed(words[0], t->size));
	else
		trace_seq_printf(s, "0x%llx", value);
}

/*
 * Print the name that an enum has for a value, or the number if it has none. Of an enum of 64
 * bits, BTF without BTF_KIND_ENUM64 has only half of each value, and no sign.
 */
static void print_enum(struct trace_seq *s, const struct btf *btf, const struct btf_type *t,
		       unsigned long word)
{
	u64 value = trace_btf_narrow(word, t->size);
	u32 name = 0;
	int i;

	for (i = 0; i < btf_vlen(t) && !name && !btf_enum_is_cut(t); i++) {
		if (btf_is_enum64(t)) {
			if (trace_btf_narrow(btf_enum64_value(&btf_enum64(t)[i]), t->size) == value)
				name = btf_enum64(t)[i].name_off;
		} else if (trace_btf_narrow(btf_enum(t)[i].val, t->size) == value) {
			name = btf_enum(t)[i].name_off;
		}
	}
	if (name)
		trace_seq_puts(s, btf_name_by_offset(btf, name));
	else if (btf_type_kflag(t))
		trace_seq_printf(s, "%ld", trace_btf_narrow_signed(word, t->size));
	else
		trace_seq_printf(s, "0x%llx", value);
}

/* Print the words of a value, such as a struct that was passed by value, without members. */
static void print_words(struct trace_seq *s, int size, const unsigned long *words)
{
	trace_seq_putc(s, '{');
	for (; size > 0; size -= sizeof(long), words++) {
		trace_seq_printf(s, "0x%lx",
				 trace_btf_narrow(*words, min_t(int, size, sizeof(long))));
		if (size > sizeof(long))
			trace_seq_puts(s, ", ");
	}
	trace_seq_putc(s, '}');
}

/**
 * trace_btf_print() - print a value according to its type
 * @s:		the sequence to print to
 * @btf:	the BTF that has the type
 * @id:		id of the type
 * @words:	the value, in as many words as its size takes, up to TRACE_BTF_WORDS
 *
 * A bool is printed as true or false, signed numbers in decimal, other numbers and pointers in
 * hexadecimal, and values of an enum by name. A value of more than TRACE_BTF_WORDS words is
 * printed as "...".
 *
 * Context: any; the caller makes sure that @btf is not freed.
 */
void trace_btf_print(struct trace_seq *s, const struct btf *btf, u32 id,
		     const unsigned long *words)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	int size = trace_btf_size(btf, id);

	if (size < 0 || size > TRACE_BTF_WORDS * sizeof(long))
		trace_seq_puts(s, "...");
	else if (btf_type_is_int(t))
		print_int(s, t, words);
	else if (btf_is_any_enum(t))
		print_enum(s, btf, t, words[0]);
	else if (btf_type_is_struct(t))
		print_words(s, size, words);
	else
		trace_seq_printf(s, "0x%lx", words[0]);
}

/**
 * trace_btf_print_hex() - print a return value in hexadecimal, whatever its type
 * @s:		the sequence to print to
 * @btf:	the BTF that has the type
 * @id:		id of the type, which is used for the size only
 * @words:	the value, see trace_btf_print()
 */
void trace_btf_print_hex(struct trace_seq *s, const struct btf *btf, u32 id,
			 const unsigned long *words)
{
	int size = trace_btf_size(btf, id);

	if (trace_btf_classify(btf, id) != TRACE_BTF_REGS)
		trace_seq_puts(s, "...");
	else if (size > sizeof(long))
		print_words(s, size, words);
	else
		trace_seq_printf(s, "0x%lx", trace_btf_narrow(words[0], size));
}

/**
 * trace_btf_print_return() - print the return value of a function
 * @s:		the sequence to print to
 * @btf:	the BTF that has the type
 * @id:		id of the type
 * @words:	the value, see trace_btf_print()
 *
 * Prints errors, also those in pointers, by name, and all else like trace_btf_print(). A value
 * that is not in general registers is printed as "...".
 */
void trace_btf_print_return(struct trace_seq *s, const struct btf *btf, u32 id,
			    const unsigned long *words)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);

	if (trace_btf_classify(btf, id) != TRACE_BTF_REGS) {
		trace_seq_puts(s, "...");
		return;
	}
	if (btf_type_is_ptr(t) && trace_print_error(s, words[0]))
		return;
	if (btf_type_is_small_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED &&
	    t->size >= sizeof(int) &&
	    trace_print_error(s, trace_btf_narrow_signed(words[0], t->size)))
		return;
	trace_btf_print(s, btf, id, words);
}
