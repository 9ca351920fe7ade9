// SPDX-License-Identifier: GPL-2.0
/*
 * Parse arguments of probe events that use the names and types which BTF has for a function.
 *
 * "file->f_inode->i_ino" becomes the same fetch instructions as "+64(+32($arg1))", with the
 * type of the last member. Errors are logged with the column in the argument.
 */
#define pr_fmt(fmt)	"trace_probe: " fmt

#include <linux/btf.h>
#include <linux/ctype.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_probe.h"

/**
 * struct btf_expr - the state while an expression is parsed from left to right
 * @btf:	the BTF that has the types
 * @type:	id of the type of what was parsed so far
 * @bits:	offset for the last instruction, in bits; not written to it yet
 * @bit_size:	size in bits if the last member was a bitfield, else 0
 * @deref:	the last instruction is a FETCH_OP_DEREF
 * @column:	column of the name that was parsed last, for errors
 * @pointee:	what was parsed so far is a pointer, and @type is that of what it points to
 */
struct btf_expr {
	const struct btf	*btf;
	u32			type;
	u32			bits;
	u32			bit_size;
	bool			deref;
	bool			pointee;
	int			column;
};

/* The BTF_KIND_FUNC_PROTO of the function, or NULL if it is not known. */
static const struct btf_type *btf_proto(struct traceprobe_parse_context *ctx)
{
	if (!ctx->func.btf && ctx->symbol && trace_btf_get_func(&ctx->func, ctx->symbol))
		ctx->symbol = NULL;
	return ctx->func.btf ? ctx->func.proto : NULL;
}

/* Walk the parameters that are arguments of the event. */
static struct trace_btf_walk btf_walk_args(struct traceprobe_parse_context *ctx)
{
	const struct btf_type *proto = btf_proto(ctx);
	struct trace_btf_walk w = trace_btf_walk_args(ctx->func.btf, proto);
	unsigned int i;

	for (i = 0; i < ctx->hidden_params; i++)
		trace_btf_next_arg(&w);
	return w;
}

/*
 * Fetch a word of the "..." of a function. @number is that of the argument, each of which is taken
 * for one word, as it has no type.
 */
static int btf_fetch_variable(struct traceprobe_parse_context *ctx,
			      const struct trace_btf_walk *w, unsigned int number)
{
	unsigned int nr = w->regs + number - w->number;

	/* For FETCH_OP_ARG, the words of the stack follow the registers. */
	return traceprobe_fetch_arg(ctx, nr < NR_REG_ARGUMENTS ? nr : nr + w->stack);
}

/* Is the parameter that the walk is at a value of one word? */
static bool btf_in_one_word(const struct trace_btf_walk *w)
{
	return w->known && w->nr == 1 && !w->memory;
}

/*
 * Has the parameter that the walk is at a word for $argN? Of a structure that is in two words, that
 * is the first one, as for $retval.
 */
static bool btf_has_word(const struct trace_btf_walk *w)
{
	bool is_struct = btf_type_is_struct(btf_type_skip_modifiers(w->btf, w->type, NULL));

	return w->known && !w->memory && w->nr && w->nr <= (is_struct ? TRACE_BTF_WORDS : 1);
}

/* Begin an expression with the parameter that the walk is at. @offs is the column for errors. */
static int btf_use_param(struct traceprobe_parse_context *ctx, const struct trace_btf_walk *w,
			 bool numbered, struct btf_expr *e, int offs)
{
	bool is_struct = btf_type_is_struct(btf_type_skip_modifiers(w->btf, w->type, NULL));

	if (is_struct && !numbered && !btf_in_one_word(w)) {
		trace_probe_log_err(offs, NOSUP_DAT_ARG);
		return -EINVAL;
	}
	if (!btf_has_word(w)) {
		trace_probe_log_err(offs, NO_WORD);
		return -EINVAL;
	}
	e->type = w->type;
	return traceprobe_fetch_arg(ctx, w->first + (w->on_stack ? NR_REG_ARGUMENTS : 0));
}

/* Begin an expression with the function's parameter @name. @offs is the column for errors. */
static int btf_find_param(struct traceprobe_parse_context *ctx, const char *name,
			  struct btf_expr *e, int offs)
{
	struct trace_btf_walk w = btf_walk_args(ctx);
	bool numbered = str_has_prefix(name, "$arg");
	unsigned int number = 0;

	if (numbered && kstrtouint(name + strlen("$arg"), 10, &number)) {
		trace_probe_log_err(offs, BAD_VAR);
		return -EINVAL;
	}
	if (numbered && (!number || number > PARAM_MAX_STACK)) {
		trace_probe_log_err(offs, BAD_ARG_NUM);
		return -EINVAL;
	}
	number += ctx->hidden_params;
	while (trace_btf_next_arg(&w)) {
		if (!w.type && !w.lost && number >= w.number && number <= PARAM_MAX_STACK)
			return btf_fetch_variable(ctx, &w, number);
		if (numbered ? number == w.number : !strcmp(trace_btf_arg_name(&w), name))
			return btf_use_param(ctx, &w, numbered, e, offs);
	}
	trace_probe_log_err(offs, NO_BTFARG);
	return -EINVAL;
}

/* Begin an expression with $retval. @offs is the column for errors. */
static int btf_use_retval(struct traceprobe_parse_context *ctx, struct btf_expr *e, int offs)
{
	const struct btf_type *proto = btf_proto(ctx);
	enum trace_btf_class class = trace_btf_classify(e->btf, proto->type);

	if (!(ctx->flags & TPARG_FL_RETURN)) {
		trace_probe_log_err(offs, RETVAL_ON_PROBE);
		return -EINVAL;
	}
	if (!trace_btf_size(e->btf, proto->type)) {
		trace_probe_log_err(offs, NO_RETVAL);
		return -EINVAL;
	}
	ctx->code->op = FETCH_OP_RETVAL;
	if (class == TRACE_BTF_REGS) {
		e->type = proto->type;
		return 0;
	}
	/* On x86_64 the register has the address of a value in memory, which has no type here. */
	if (class == TRACE_BTF_MEMORY && IS_ENABLED(CONFIG_X86_64))
		return 0;
	trace_probe_log_err(offs, NO_WORD);
	return -EINVAL;
}

/* Begin an expression with a pointer to the structure @name. */
static int btf_point_to(struct traceprobe_parse_context *ctx, const char *name,
			struct btf_expr *e)
{
	struct btf *btf;
	s32 id;

	/* There are structures without a name. */
	id = *name ? bpf_find_btf_id(name, BTF_KIND_STRUCT, &btf) : -ENOENT;
	if (id < 0)
		return -ENOENT;
	traceprobe_finish_arg(ctx);
	ctx->struct_btf = btf;
	e->btf = btf;
	e->type = id;
	e->pointee = true;
	return 0;
}

/* Begin an expression with "$current->". */
static int btf_use_current(struct traceprobe_parse_context *ctx, struct btf_expr *e, char op,
			   int offs)
{
	if (op != '-') {
		trace_probe_log_err(offs, BAD_VAR);
		return -EINVAL;
	}
	if (btf_point_to(ctx, "task_struct", e)) {
		trace_probe_log_err(offs, NO_BTF_ENTRY);
		return -EINVAL;
	}
	ctx->code->op = FETCH_OP_CURRENT;
	return 0;
}

/* Begin an expression with its first part. @op is what follows, @offs is the column for errors. */
static int btf_begin(struct traceprobe_parse_context *ctx, const char *name, struct btf_expr *e,
		     char op, int offs)
{
	if (!strcmp(name, "$current"))
		return btf_use_current(ctx, e, op, offs);
	if (*name == '$' && strcmp(name, "$retval") && !str_has_prefix(name, "$arg")) {
		trace_probe_log_err(offs, BAD_VAR);
		return -EINVAL;
	}
	if (!btf_proto(ctx)) {
		trace_probe_log_err(offs, NO_BTF_ENTRY);
		return -EINVAL;
	}
	e->btf = ctx->func.btf;
	if (*name == '$' && !str_has_prefix(name, "$arg"))
		return btf_use_retval(ctx, e, offs);
	return btf_find_param(ctx, name, e, offs);
}

/* Returns the id of the type that what was parsed so far points to; 0, which is void, if none. */
static u32 btf_pointee(const struct btf_expr *e)
{
	const struct btf_type *t = btf_type_skip_modifiers(e->btf, e->type, NULL);

	if (e->pointee)
		return e->type;
	return btf_type_is_ptr(t) ? t->type : 0;
}

/* Read memory of type @id behind the pointer that was parsed. @offs is the column for errors. */
static int btf_deref(struct traceprobe_parse_context *ctx, struct btf_expr *e, u32 id, int offs)
{
	if (e->deref)
		ctx->code->offset = e->bits / BITS_PER_BYTE;
	if (++ctx->code == ctx->end) {
		trace_probe_log_err(offs, TOO_MANY_OPS);
		return -EINVAL;
	}
	ctx->code->op = FETCH_OP_DEREF;
	e->type = id;
	e->pointee = false;
	e->deref = true;
	e->bits = 0;
	return 0;
}

/* Parse "->": what was parsed so far must be a pointer to a struct or union. */
static int btf_follow(struct traceprobe_parse_context *ctx, struct btf_expr *e, int offs)
{
	u32 id = btf_pointee(e);

	if (!btf_type_is_struct(btf_type_skip_modifiers(e->btf, id, NULL))) {
		trace_probe_log_err(offs, NO_PTR_STRCT);
		return -EINVAL;
	}
	return btf_deref(ctx, e, id, offs);
}

/* Parse the name of a member of the current struct or union. */
static int btf_enter(struct btf_expr *e, const char *name, int offs)
{
	const struct btf_type *t = btf_type_skip_modifiers(e->btf, e->type, NULL);
	struct trace_btf_member m;

	if (!e->deref || !btf_type_is_struct(t)) {
		trace_probe_log_err(offs, NOSUP_DAT_ARG);
		return -EINVAL;
	}
	/* Members without a name have others in them, and are none by themselves. */
	if (!*name || !trace_btf_find_member(e->btf, e->type, name, &m)) {
		trace_probe_log_err(offs, NO_BTF_FIELD);
		return -EINVAL;
	}
	e->column = offs;
	e->type = m.type;
	e->bits += m.offset;
	e->bit_size = m.size;
	return 0;
}

static bool btf_is_signed(const struct btf_type *t)
{
	if (btf_type_is_int(t))
		return btf_int_encoding(t) & BTF_INT_SIGNED;
	return btf_is_any_enum(t) && btf_type_kflag(t);
}

/*
 * Complete the last instruction with the offset of the last member: in bytes, or for a bitfield
 * in units of its type, plus the offset in bits within that unit.
 */
static int btf_finish(struct btf_expr *e, struct traceprobe_parse_context *ctx)
{
	const struct btf_type *t = btf_type_skip_modifiers(e->btf, e->type, NULL);
	int size = trace_btf_size(e->btf, e->type);
	unsigned int unit = BITS_PER_BYTE;

	ctx->btf_type = e->type;
	ctx->btf = e->btf;
	ctx->btf_offset = e->column;
	ctx->array = btf_is_array(t);
	ctx->is_signed = btf_is_signed(t);
	ctx->bit_offset = 0;
	ctx->bit_size = e->bit_size;
	ctx->is_word = false;
	if (!e->bit_size && !ctx->array && size > 0 && size <= sizeof(long))
		ctx->bit_size = size * BITS_PER_BYTE;
	if (!e->deref)
		return 0;
	if (e->bit_size) {
		unit *= size;
		/* In a packed struct a bitfield may be in two units, which cannot be fetched. */
		if (e->bits % unit + e->bit_size > unit) {
			trace_probe_log_err(e->column, BAD_BITFIELD);
			return -EINVAL;
		}
		ctx->bit_offset = e->bits % unit;
	}
	ctx->code->offset = e->bits / unit * (unit / BITS_PER_BYTE);
	return 0;
}

/*
 * Cut the part of an expression at *@text from what follows. Set *@op to the operator behind it,
 * which is '.', '[' or the '-' of "->", and *@text to the next part; *@op is 0 behind the last one.
 */
static int btf_split(char **text, char *op, int offs)
{
	char *begin = *text;

	*op = 0;
	*text = strpbrk(begin, "-.[");
	if (!*text) {
		*text = begin + strlen(begin);
		return 0;
	}
	*op = **text;
	*(*text)++ = '\0';
	if (*op == '-' && *(*text)++ != '>') {
		trace_probe_log_err(offs + *text - 2 - begin, BAD_HYPHEN);
		return -EINVAL;
	}
	return 0;
}

/* As btf_split(), for "INDEX]" at *@text. The number is written to @index. */
static int btf_split_index(char **text, char *op, u32 *index, int offs)
{
	char *begin = *text, *next = strchr(begin, ']');

	if (!next) {
		trace_probe_log_err(offs + strlen(begin), ARRAY_NO_CLOSE);
		return -EINVAL;
	}
	*next++ = '\0';
	if (!isdigit(*begin) || kstrtou32(begin, 0, index)) {
		trace_probe_log_err(offs, BAD_INDEX);
		return -EINVAL;
	}
	offs += next - begin;
	if (*next && !strchr("-.[", *next)) {
		trace_probe_log_err(offs, BAD_ARRAY_SUFFIX);
		return -EINVAL;
	}
	*text = next;
	return btf_split(text, op, offs);
}

/* The current type, if that is an array in memory, else NULL. */
static const struct btf_array *btf_current_array(const struct btf_expr *e)
{
	const struct btf_type *t = btf_type_skip_modifiers(e->btf, e->type, NULL);

	return e->deref && btf_is_array(t) ? btf_array(t) : NULL;
}

/* Go on with element @index of the current array, or behind the pointer that was parsed. */
static int btf_use_element(struct traceprobe_parse_context *ctx, struct btf_expr *e, u32 index,
			   int offs)
{
	const struct btf_array *array = btf_current_array(e);
	u32 id = array ? array->type : btf_pointee(e);
	u32 begin = array ? e->bits : 0;
	int size = trace_btf_size(e->btf, id);

	if (size <= 0) {
		trace_probe_log_err(offs, NO_ELEMENTS);
		return -EINVAL;
	}
	/* A flexible array has 0 elements. All bits of the element must have an offset in @e. */
	if ((array && array->nelems && index >= array->nelems) ||
	    (index + 1ULL) * size > (U32_MAX - begin) / BITS_PER_BYTE) {
		trace_probe_log_err(offs, ARRAY_TOO_BIG);
		return -EINVAL;
	}
	if (array)
		e->type = id;
	else if (btf_deref(ctx, e, id, offs))
		return -EINVAL;
	e->bits += index * size * BITS_PER_BYTE;
	return 0;
}

/*
 * Parse the member or the index that follows *@op. Set @op and *@text as btf_split() does. @offs is
 * the column of *@text.
 */
static int btf_parse_step(struct traceprobe_parse_context *ctx, struct btf_expr *e, char *op,
			  char **text, int offs)
{
	char *member = *text;
	u32 index;
	int ret = 0;

	if (*op == '[')
		return btf_split_index(text, op, &index, offs) ?:
		       btf_use_element(ctx, e, index, offs);
	if (*op == '-')
		ret = btf_follow(ctx, e, offs);
	return ret ?: btf_split(text, op, offs) ?: btf_enter(e, member, offs);
}

/* Parse all that follows what was parsed so far and @op. @offs is the column of @text. */
static int btf_parse_members(struct traceprobe_parse_context *ctx, struct btf_expr *e, char op,
			     char *text, int offs)
{
	while (op) {
		char *begin = text;
		int ret = btf_parse_step(ctx, e, &op, &text, offs);

		if (ret)
			return ret;
		offs += text - begin;
	}
	return 0;
}

/*
 * Find how far in the structure, in bytes, that @begin begins with the member is that a cast names.
 * It may be a member of members, or an element of an array. @offs is the column for errors.
 */
static int btf_find_cast_member(struct traceprobe_parse_context *ctx, const struct btf_expr *begin,
				char *member, int offs)
{
	/* As if the structure had been read, to look at members only. */
	struct btf_expr e = { .btf = begin->btf, .type = begin->type, .deref = true };
	char *next = member, op = '.';

	/* "->", and an index of a pointer, lead out of the structure. */
	while (op == '.' || (op == '[' && !btf_pointee(&e))) {
		int ret = btf_parse_step(ctx, &e, &op, &next, offs);

		if (ret)
			return ret;
		offs += next - member;
		member = next;
	}
	if (e.bits % BITS_PER_BYTE || e.bit_size) {
		trace_probe_log_err(e.column, TYPECAST_NOT_ALIGNED);
		return -EINVAL;
	}
	if (op) {
		trace_probe_log_err(offs - strlen(op == '-' ? "->" : "["), TYPECAST_BAD_ARROW);
		return -EINVAL;
	}
	return e.bits / BITS_PER_BYTE;
}

/**
 * traceprobe_parse_cast() - take what was parsed for a pointer to a structure, and parse members
 * @type:	"STRUCT" or "STRUCT,MEMBER"; with MEMBER, the pointer is to that member of STRUCT.
 *		It is modified
 * @members:	"MEMBER.MEMBER[INDEX]->...", what follows the first "->", in the same text as @type
 * @ctx:	the context, which gets the fetch instructions and the type of the expression
 * @offs:	column of @type in the definition, for errors
 *
 * Return: 0; -EINVAL, with the reason in the error log.
 */
int traceprobe_parse_cast(char *type, char *members, struct traceprobe_parse_context *ctx,
			  int offs)
{
	struct fetch_insn *pointer = ctx->code;
	char *member = strchr(type, ',');
	struct btf_expr e = { };
	int ret, offset = 0;

	if (member)
		*member++ = '\0';
	if (btf_point_to(ctx, type, &e)) {
		trace_probe_log_err(offs, NO_PTR_STRCT);
		return -EINVAL;
	}
	if (member) {
		offset = btf_find_cast_member(ctx, &e, member, offs + member - type);
		if (offset < 0)
			return offset;
	}
	ret = btf_parse_members(ctx, &e, '-', members, offs + members - type);
	if (!ret)
		ret = btf_finish(&e, ctx);
	/* The first instruction for the members begins at the pointer. */
	if (!ret)
		pointer[1].offset -= offset;
	return ret;
}

/* Does BTF know where the word of $argN is? @nr is N. */
static bool btf_knows_arg(struct traceprobe_parse_context *ctx, const char *nr)
{
	struct trace_btf_walk w = btf_walk_args(ctx);
	unsigned int number;

	if (kstrtouint(nr, 10, &number))
		return false;
	while (trace_btf_next_arg(&w)) {
		/* A variadic function: arguments from here on have no types, but known places. */
		if (!w.type && !w.lost && number >= w.number)
			return true;
		if (w.number == number)
			return btf_has_word(&w);
	}
	return false;
}

/* Is the return value in one word, of which BTF knows the type? */
static bool btf_knows_retval(struct traceprobe_parse_context *ctx)
{
	u32 type = ctx->func.proto->type;
	int size = trace_btf_size(ctx->func.btf, type);

	return size > 0 && size <= (int)sizeof(long) &&
	       trace_btf_classify(ctx->func.btf, type) == TRACE_BTF_REGS;
}

/**
 * traceprobe_btf_knows() - does BTF know what a variable is?
 * @arg:	the variable, with its $
 * @ctx:	the context
 *
 * Kprobe events had $retval, and $argN at the entry, before events had types, and scripts ask for
 * them whatever the function is. If BTF has no word for these, it is that of the register.
 *
 * Return: true for $argN and $retval of a function that BTF knows.
 */
bool traceprobe_btf_knows(const char *arg, struct traceprobe_parse_context *ctx)
{
	bool is_retval = !strcmp(arg, "$retval");

	if ((!is_retval && !str_has_prefix(arg, "$arg")) || !btf_proto(ctx))
		return false;
	if (ctx->flags & TPARG_FL_FPROBE)
		return true;
	if (is_retval)
		return btf_knows_retval(ctx);
	/* There was no $argN at the return. */
	return (ctx->flags & TPARG_FL_RETURN) || ctx->entry_asked ||
	       btf_knows_arg(ctx, arg + strlen("$arg"));
}

/**
 * traceprobe_parse_btf() - parse "NAME" or "NAME->MEMBER.MEMBER[INDEX]->..."
 * @arg:	the text, which is modified; NAME may be $argN, $retval or $current
 * @ctx:	the context, which gets the fetch instructions and the type of the expression
 * @offs:	column of @arg in the definition, for errors
 *
 * $argN alone is a word without a type, and so is $retval in kprobe events, which have had both
 * for longer than types.
 *
 * Return: 0; -EINVAL, with the reason in the error log.
 */
int traceprobe_parse_btf(char *arg, struct traceprobe_parse_context *ctx, int offs)
{
	struct btf_expr e = { .column = offs };
	char *name = arg;
	bool is_word = *arg == '$';
	char op;
	int ret;

	ret = btf_split(&arg, &op, offs);
	if (op || ((ctx->flags & TPARG_FL_FPROBE) && !strcmp(name, "$retval")))
		is_word = false;
	if (!ret)
		ret = btf_begin(ctx, name, &e, op, offs);
	if (!ret)
		ret = btf_parse_members(ctx, &e, op, arg, offs + arg - name);
	if (!ret)
		ret = btf_finish(&e, ctx);
	if (!ret && is_word) {
		ctx->is_word = true;
		ctx->bit_size = 0;
	}
	return ret;
}

/**
 * traceprobe_btf_type() - the fetch type of the expression that was parsed last
 * @ctx:	the context it was parsed with; &traceprobe_parse_context.btf_type is not 0
 * @member:	it is a member and not an argument or a return value
 *
 * Return: name of the fetch type; NULL for an array, for a structure that is a member and not
 * of the size of a number, and for numbers of more than 64 bits.
 */
const char *traceprobe_btf_type(struct traceprobe_parse_context *ctx, bool member)
{
	static const char * const names[][4] = {
		{ "u8", "u16", "u32", "u64" },
		{ "s8", "s16", "s32", "s64" },
		{ "x8", "x16", "x32", "x64" },
	};
	const struct btf_type *t = btf_type_skip_modifiers(ctx->btf, ctx->btf_type, NULL);

	if (btf_type_is_ptr(t))
		return "x64";
	/* Enums are as int is, or long. The value of a smaller one is extended. */
	if (btf_is_any_enum(t))
		return t->size > sizeof(s32) ? "s64" : "s32";
	if (btf_type_is_small_int(t))
		return names[ctx->is_signed][ilog2(t->size)];
	/*
	 * The words of a structure are hexadecimal. In registers it may be of any size, but
	 * behind a member there may be other ones.
	 */
	if (btf_type_is_struct(t) &&
	    (!member || (is_power_of_2(t->size) && t->size <= sizeof(long))))
		return names[2][order_base_2(min_t(u32, t->size, sizeof(long)))];
	return NULL;
}

/**
 * traceprobe_btf_is_string() - can the expression that was parsed last be a string?
 * @ctx:	the context it was parsed with; &traceprobe_parse_context.btf_type is not 0
 *
 * Return: true if it is a pointer to, or an array of, integers of one byte.
 */
bool traceprobe_btf_is_string(struct traceprobe_parse_context *ctx)
{
	const struct btf_type *t = btf_type_skip_modifiers(ctx->btf, ctx->btf_type, NULL);
	u32 id;

	if (btf_type_is_ptr(t))
		id = t->type;
	else if (btf_is_array(t))
		id = btf_array(t)->type;
	else
		return false;
	t = btf_type_skip_modifiers(ctx->btf, id, NULL);
	return t && btf_type_is_int(t) && t->size == 1;
}

/**
 * traceprobe_btf_points_to() - can the expression that was parsed last be a pointer to a structure?
 * @ctx:	the context it was parsed with; &traceprobe_parse_context.btf_type is not 0
 * @name:	the name of the structure
 *
 * Return: true if it is one, or a pointer to void.
 */
bool traceprobe_btf_points_to(struct traceprobe_parse_context *ctx, const char *name)
{
	const struct btf_type *t = btf_type_skip_modifiers(ctx->btf, ctx->btf_type, NULL);

	if (!btf_type_is_ptr(t))
		return false;
	t = btf_type_skip_modifiers(ctx->btf, t->type, NULL);
	return t && (btf_type_is_void(t) ||
		     !strcmp(btf_name_by_offset(ctx->btf, t->name_off), name));
}

/*
 * Fill @to with the name of each argument that takes one word, or "argN=$argN" if it has none.
 * Returns their number; -E2BIG if they are more than @room; -ENOMEM.
 */
static int btf_list_args(struct traceprobe_parse_context *ctx, const char **to, int room)
{
	struct trace_btf_walk w = btf_walk_args(ctx);
	int nr = 0;

	while (trace_btf_next_arg(&w)) {
		unsigned int number = w.number - ctx->hidden_params;
		const char *name = trace_btf_arg_name(&w);

		if (!btf_in_one_word(&w))
			continue;
		if (nr == room)
			return -E2BIG;
		if (*name)
			to[nr] = kstrdup(name, GFP_KERNEL);
		else
			to[nr] = kasprintf(GFP_KERNEL, "arg%u=$arg%u", number, number);
		if (!to[nr++])
			return -ENOMEM;
	}
	return nr;
}

/* Returns N of "$argN" or "$argN:TYPE"; 0 for all else. */
static unsigned int arg_number(const char *arg)
{
	const char *nr = arg + str_has_prefix(arg, "$arg");
	size_t len = strcspn(nr, ":");
	unsigned int number;
	char digits[12];

	if (nr == arg || len >= sizeof(digits))
		return 0;
	strscpy(digits, nr, len + 1);
	return kstrtouint(digits, 10, &number) ? 0 : number;
}

/*
 * Copy an argument of the event. If it is $argN or $argN:TYPE, give it the name of the function's
 * parameter, also in place of $argN if possible. Returns NULL if there is no memory.
 */
static const char *btf_copy_arg(struct traceprobe_parse_context *ctx, const char *arg)
{
	struct trace_btf_walk w = btf_walk_args(ctx);
	unsigned int number = arg_number(arg);
	const char *name;

	/* Kprobe events call the Nth argument of the event argN, as they did without BTF. */
	if (!number || !(ctx->flags & TPARG_FL_FPROBE))
		return kstrdup(arg, GFP_KERNEL);
	while (trace_btf_next_arg(&w)) {
		name = trace_btf_arg_name(&w);
		if (w.number != number + ctx->hidden_params || !*name)
			continue;
		if (btf_in_one_word(&w))
			return kasprintf(GFP_KERNEL, "%s%s", name, arg + strcspn(arg, ":"));
		return kasprintf(GFP_KERNEL, "%s=%s", name, arg);
	}
	return kstrdup(arg, GFP_KERNEL);
}

/*
 * Find the arguments of the event that begin with "$arg". Returns their number, and in @star the
 * index of $arg*, or 0; -EINVAL with the reason in the error log.
 */
static int find_arg_vars(int argc, const char **argv, struct traceprobe_parse_context *ctx,
			 int *star)
{
	int i, nr = 0;

	*star = 0;
	for (i = 2; i < argc; i++) {
		if (!str_has_prefix(argv[i], "$arg"))
			continue;
		trace_probe_log_set_index(i);
		if (!(ctx->flags & (TPARG_FL_FENTRY | TPARG_FL_RETURN))) {
			trace_probe_log_err(0, NOFENTRY_ARGS);
			return -EINVAL;
		}
		nr++;
		if (strcmp(argv[i], "$arg*"))
			continue;
		if (*star) {
			trace_probe_log_err(0, DOUBLE_ARGS);
			return -EINVAL;
		}
		*star = i;
	}
	return nr;
}

/*
 * Fill @to, which has room for @room elements, with the elements of @argv. Returns their number;
 * -EINVAL with the reason in the error log; -ENOMEM.
 */
static int btf_copy_args(struct traceprobe_parse_context *ctx, const char **to, int room,
			 int argc, const char **argv, int star)
{
	int i, nr = 0, ret;

	for (i = 0; i < argc; i++) {
		if (!star || i != star) {
			to[nr] = btf_copy_arg(ctx, argv[i]);
			if (!to[nr++])
				return -ENOMEM;
			continue;
		}
		ret = btf_list_args(ctx, to + nr, room - (argc - 1));
		if (ret == -E2BIG) {
			trace_probe_log_set_index(i);
			trace_probe_log_err(0, ARGS_2LONG);
			ret = -EINVAL;
		}
		if (ret < 0)
			return ret;
		nr += ret;
	}
	return nr;
}

/**
 * traceprobe_expand_args() - replace $arg* by all arguments of the function, $argN by its name
 * @argc:	number of elements of @argv; set to that of the array that is returned
 * @argv:	the definition of the event, whose arguments begin at the third element
 * @ctx:	the context, with the function
 * @ret:	if NULL is returned, set to -ENOMEM, or to -EINVAL with the reason in the error
 *		log
 *
 * Arguments that are structures of more than a word, passed by value, are left out of $arg*.
 *
 * Return: @argv if there is nothing to replace, else an array that replaces it. The caller must
 * call traceprobe_free_args() for it.
 */
const char **traceprobe_expand_args(int *argc, const char **argv,
				    struct traceprobe_parse_context *ctx, int *ret)
{
	int room = max(*argc, MAX_TRACE_ARGS + 2), nr, star;
	const char **expanded;

	nr = find_arg_vars(*argc, argv, ctx, &star);
	if (!nr)
		return argv;
	if (nr < 0) {
		*ret = nr;
		return NULL;
	}
	if (!btf_proto(ctx)) {
		if (!star)
			return argv;
		trace_probe_log_set_index(star);
		trace_probe_log_err(0, NO_BTF_ENTRY);
		*ret = -EINVAL;
		return NULL;
	}
	expanded = kcalloc(room, sizeof(*expanded), GFP_KERNEL);
	nr = expanded ? btf_copy_args(ctx, expanded, room, *argc, argv, star) : -ENOMEM;
	if (nr < 0) {
		traceprobe_free_args(expanded, room, NULL);
		*ret = nr;
		return NULL;
	}
	*argc = nr;
	return expanded;
}

/**
 * traceprobe_free_args() - free the array that traceprobe_expand_args() returned
 * @expanded:	the array, or NULL
 * @argc:	number of elements of @expanded
 * @argv:	the array that was passed to traceprobe_expand_args()
 */
void traceprobe_free_args(const char **expanded, int argc, const char **argv)
{
	int i;

	if (!expanded || expanded == argv)
		return;
	for (i = 0; i < argc; i++)
		kfree(expanded[i]);
	kfree(expanded);
}

/**
 * traceprobe_finish_arg() - release what a context holds for the argument at hand
 * @ctx:	the context
 */
void traceprobe_finish_arg(struct traceprobe_parse_context *ctx)
{
	if (ctx->struct_btf)
		btf_put(ctx->struct_btf);
	ctx->struct_btf = NULL;
}

/**
 * traceprobe_finish_parse() - release what a context holds when all arguments are parsed
 * @ctx:	the context
 */
void traceprobe_finish_parse(struct traceprobe_parse_context *ctx)
{
	trace_btf_put_func(&ctx->func);
}
