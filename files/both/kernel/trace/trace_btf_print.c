// SPDX-License-Identifier: GPL-2.0
/*
 * Print values according to their BTF types. The values were copied from registers or memory
 * when an event happened; they are printed when the event is read.
 */
#include <linux/bits.h>
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/trace_seq.h>

#include "trace_btf_args.h"
#include "trace_btf_print.h"
#include "trace_output.h"

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
