// SPDX-License-Identifier: GPL-2.0
/* Find the type of a function by its name, and members of structures. */
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "trace_btf.h"

struct same_name {
	const struct module	*mod;
	const char		*name;
	unsigned int		nr;
};

static int count_symbol(void *data, unsigned long addr)
{
	struct same_name *same = data;

	same->nr++;
	return 0;
}

static int count_module_symbol(void *data, const char *name, struct module *mod,
			       unsigned long addr)
{
	struct same_name *same = data;

	if (mod == same->mod && !strcmp(name, same->name))
		same->nr++;
	return 0;
}

/*
 * Is a type in the BTF of @mod, or of vmlinux, that of all its functions of that name? pahole
 * before 1.25 writes the type of one of them. A later one leaves them out if their types differ.
 */
static bool btf_type_is_of_all(const struct module *mod, const char *name)
{
	struct same_name same = { .mod = mod, .name = name };

	if (CONFIG_PAHOLE_VERSION >= 125)
		return true;
	if (mod)
		module_kallsyms_on_each_symbol(count_module_symbol, &same);
	else
		kallsyms_on_each_match_symbol(count_symbol, name, &same);
	return same.nr == 1;
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
 * there is no BTF for it, or if there are several functions of that name and BTF does not say that
 * they have the same type.
 */
int trace_btf_get_func(struct trace_btf_func *func, const char *symbol)
{
	unsigned long addr = kallsyms_lookup_name(symbol);
	const char *name = strchr(symbol, ':');
	struct btf *btf = NULL;
	struct module *mod;
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
	if (btf_type_is_of_all(mod, name))
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
