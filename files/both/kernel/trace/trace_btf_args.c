// SPDX-License-Identifier: GPL-2.0
/*
 * Find the arguments of a function in registers and on the stack, by their BTF types and the
 * calling conventions of x86_64 and arm64.
 */
#include <linux/align.h>
#include <linux/bpf.h>
#include <linux/err.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/ptrace.h>

#include "trace_btf_args.h"

/* Not used where the calling conventions are not known. */
#ifndef NR_REG_ARGUMENTS
#define NR_REG_ARGUMENTS	0
#endif

/**
 * trace_btf_size() - the size of a type
 * @btf:	the BTF that has the type
 * @id:		id of the type
 *
 * Return: the size in bytes; 0 for void; -ENOENT if the type has no known size.
 */
int trace_btf_size(const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	u32 size;

	if (!t)
		return -ENOENT;
	if (btf_type_is_void(t))
		return 0;
	t = btf_resolve_size(btf, t, &size);
	return IS_ERR(t) || size > INT_MAX ? -ENOENT : size;
}

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
 * struct arg_layout - what decides how an argument is passed, beyond its size
 * @align:	its alignment in bytes, by that of its members
 * @packed:	a member is not aligned to its size
 * @padded:	a structure is larger than its members need: it or a member is aligned by an
 *		attribute, which BTF does not have
 * @floats:	there are floating point numbers in it
 */
struct arg_layout {
	u32	align;
	bool	packed;
	bool	padded;
	bool	floats;
};

static bool btf_is_float(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info) == BTF_KIND_FLOAT;
}

static u32 btf_note_type(struct arg_layout *layout, const struct btf *btf, u32 id, u32 offset);

/* Add a struct or union, which is at @offset bits, to a layout. Returns its alignment. */
static u32 btf_note_struct(struct arg_layout *layout, const struct btf *btf,
			   const struct btf_type *t, u32 offset)
{
	const struct btf_member *member;
	u32 i, end = 0, align = 1;

	for_each_member(i, t, member) {
		u32 at = __btf_member_bit_offset(t, member);
		u32 bits = __btf_member_bitfield_size(t, member);
		int size = trace_btf_size(btf, member->type);

		/* A bitfield need not be aligned to its type. */
		align = max(align, btf_note_type(layout, btf, member->type,
						 bits ? 0 : offset + at));
		end = max_t(u32, end, at + (bits ?: max(size, 0) * BITS_PER_BYTE));
	}
	layout->padded |= roundup(DIV_ROUND_UP(end, BITS_PER_BYTE), align) < t->size;
	return align;
}

/* Add a type, which is at @offset bits, to a layout. Returns its alignment in bytes. */
static u32 btf_note_type(struct arg_layout *layout, const struct btf *btf, u32 id, u32 offset)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	int size = trace_btf_size(btf, id);

	if (size <= 0)
		return 1;
	if (btf_is_array(t))
		return btf_note_type(layout, btf, btf_array(t)->type, offset);
	if (btf_type_is_struct(t))
		return btf_note_struct(layout, btf, t, offset);
	layout->floats |= btf_is_float(t);
	layout->packed |= offset % (size * BITS_PER_BYTE) != 0;
	return size;
}

static enum trace_btf_class btf_classify(const struct btf *btf, u32 id, struct arg_layout *layout)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	int size = trace_btf_size(btf, id);
	bool memory;

	/* A value that is an array for BTF is a vector. */
	if (!t || size < 0 || btf_is_array(t))
		return TRACE_BTF_UNKNOWN;
	layout->align = btf_note_type(layout, btf, id, 0);
	memory = size > TRACE_BTF_WORDS * sizeof(long) ||
		 (IS_ENABLED(CONFIG_X86_64) && layout->packed);
	/* On arm64, up to four floating point numbers may be in registers. */
	if (memory && !(IS_ENABLED(CONFIG_ARM64) && layout->floats))
		return TRACE_BTF_MEMORY;
	if (layout->floats || (layout->padded && size > sizeof(long)))
		return TRACE_BTF_UNKNOWN;
	return TRACE_BTF_REGS;
}

/**
 * trace_btf_classify() - find out how a function returns a value
 * @btf:	the BTF that has the type
 * @id:		id of the type
 *
 * Return: the class of the type.
 */
enum trace_btf_class trace_btf_classify(const struct btf *btf, u32 id)
{
	struct arg_layout layout = { };

	return btf_classify(btf, id, &layout);
}

/**
 * trace_btf_walk_args() - begin to find out where the arguments of a function are
 * @btf:	the BTF that has the types
 * @proto:	BTF_KIND_FUNC_PROTO of the function
 *
 * Return: the walk, for trace_btf_next_arg().
 */
struct trace_btf_walk trace_btf_walk_args(const struct btf *btf, const struct btf_type *proto)
{
	struct trace_btf_walk w = {
		.btf = btf,
		.params = btf_params(proto),
		.nr_params = btf_vlen(proto),
	};

	/* On x86_64 the first register has the address of a return value in memory. */
	if (IS_ENABLED(CONFIG_X86_64) && trace_btf_classify(btf, proto->type) == TRACE_BTF_MEMORY)
		w.regs = 1;
	return w;
}

/* The argument is on the stack, aligned to two words if @twice. */
static void walk_stack(struct trace_btf_walk *w, bool twice)
{
	if (twice)
		w->stack = ALIGN(w->stack, 2);
	w->on_stack = true;
	w->first = w->stack;
	w->stack += w->nr;
}

/* The argument is in registers if all of it is, aligned to two of them if @twice on arm64. */
static void walk_regs(struct trace_btf_walk *w, bool twice)
{
	if (twice && IS_ENABLED(CONFIG_ARM64))
		w->regs = ALIGN(w->regs, 2);
	if (w->regs + w->nr <= NR_REG_ARGUMENTS) {
		w->first = w->regs;
		w->regs += w->nr;
		return;
	}
	/* On x86_64 a later argument that fits may still be in the registers that are left. */
	if (IS_ENABLED(CONFIG_ARM64))
		w->regs = NR_REG_ARGUMENTS;
	walk_stack(w, twice);
}

/*
 * Find the place of the current argument. Returns false for a floating point number, which takes
 * none of the general registers, and if BTF does not tell the place.
 *
 * This follows the calling conventions of x86_64 and arm64. A struct is taken to be aligned as
 * its members are, if its size does not show that it is not.
 */
static bool walk_place(struct trace_btf_walk *w)
{
	const struct btf_type *t = btf_type_skip_modifiers(w->btf, w->type, NULL);
	int size = trace_btf_size(w->btf, w->type);
	struct arg_layout layout = { };
	enum trace_btf_class class = btf_classify(w->btf, w->type, &layout);
	/* An __int128 is aligned to its size. */
	bool twice = layout.align > sizeof(long) && !layout.packed;

	w->nr = DIV_ROUND_UP(max(size, 0), sizeof(long));
	w->on_stack = false;
	w->memory = false;
	if (!TRACE_BTF_CONVENTIONS) {
		w->nr = max(w->nr, 1U);
		w->first = w->regs;
		w->regs += w->nr;
		return t;
	}
	if (w->nr == 1 && btf_is_float(t)) {
		if (w->floats == NR_FLOAT_ARGUMENTS)
			walk_stack(w, false);
		else
			w->floats++;
		return false;
	}
	if (class == TRACE_BTF_MEMORY && IS_ENABLED(CONFIG_X86_64)) {
		/* If it is aligned by an attribute, its size is a multiple of that. */
		w->lost = layout.padded && IS_ALIGNED(size, 2 * sizeof(long));
		walk_stack(w, twice);
		return !w->lost;
	}
	if (class == TRACE_BTF_UNKNOWN) {
		w->lost = true;
		return false;
	}
	if (class == TRACE_BTF_MEMORY) {
		/* The caller has made a copy in memory and passes its address. */
		w->memory = true;
		w->nr = 1;
		twice = false;
	}
	walk_regs(w, twice);
	return true;
}

/**
 * trace_btf_next_arg() - go on to the next parameter of a function
 * @w:		the walk, from trace_btf_walk_args()
 *
 * Return: true if @w is at a parameter; false if there are no more.
 */
bool trace_btf_next_arg(struct trace_btf_walk *w)
{
	if (w->number == w->nr_params)
		return false;
	w->type = w->params[w->number++].type;
	w->known = w->type && !w->lost && walk_place(w);
	return true;
}
