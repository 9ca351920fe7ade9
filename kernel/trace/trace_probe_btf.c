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
 * @code:	the last fetch instruction that was written
 * @end:	first element behind the array of fetch instructions
 * @type:	id of the type of what was parsed so far
 * @bits:	offset for the last instruction, in bits; not written to it yet
 * @bit_size:	size in bits if the last member was a bitfield, else 0
 * @deref:	the last instruction is a FETCH_OP_DEREF
 */
struct btf_expr {
	const struct btf	*btf;
	struct fetch_insn	*code;
	struct fetch_insn	*end;
	u32			type;
	u32			bits;
	u32			bit_size;
	bool			deref;
};

/* The BTF_KIND_FUNC_PROTO of the function, or NULL if it is not known. */
static const struct btf_type *btf_proto(struct traceprobe_parse_context *ctx)
{
	if (!ctx->func.btf && ctx->symbol && trace_btf_get_func(&ctx->func, ctx->symbol))
		ctx->symbol = NULL;
	return ctx->func.btf ? ctx->func.proto : NULL;
}

/*
 * Fetch a word of the "..." of a function. @number is that of the argument, each of which is taken
 * for one word, as it has no type.
 */
static int btf_fetch_variable(struct traceprobe_parse_context *ctx, struct fetch_insn *code,
			      const struct trace_btf_walk *w, unsigned int number)
{
	unsigned int nr = w->regs + number - w->number;

	/* For FETCH_OP_ARG, the words of the stack follow the registers. */
	return traceprobe_fetch_arg(ctx, code, nr < NR_REG_ARGUMENTS ? nr : nr + w->stack);
}

/* Begin an expression with the parameter that the walk is at. @offs is the column for errors. */
static int btf_use_param(struct traceprobe_parse_context *ctx, const struct trace_btf_walk *w,
			 bool numbered, struct btf_expr *e, int offs)
{
	bool is_struct = btf_type_is_struct(btf_type_skip_modifiers(w->btf, w->type, NULL));

	if (is_struct && !numbered) {
		trace_probe_log_err(offs, NOSUP_DAT_ARG);
		return -EINVAL;
	}
	/* Of a structure that is in two words, $argN is the first, as $retval is. */
	if (!w->known || w->memory || !w->nr || w->nr > (is_struct ? TRACE_BTF_WORDS : 1)) {
		trace_probe_log_err(offs, NO_WORD);
		return -EINVAL;
	}
	e->type = w->type;
	return traceprobe_fetch_arg(ctx, e->code, w->first + (w->on_stack ? NR_REG_ARGUMENTS : 0));
}

/* Begin an expression with the function's parameter @name. @offs is the column for errors. */
static int btf_find_param(struct traceprobe_parse_context *ctx, const char *name,
			  struct btf_expr *e, int offs)
{
	struct trace_btf_walk w = trace_btf_walk_args(e->btf, btf_proto(ctx));
	bool numbered = str_has_prefix(name, "$arg");
	unsigned int number = 0;

	if (numbered && kstrtouint(name + strlen("$arg"), 10, &number)) {
		trace_probe_log_err(offs, BAD_VAR);
		return -EINVAL;
	}
	while (trace_btf_next_arg(&w)) {
		if (!w.type && !w.lost && number >= w.number && number <= PARAM_MAX_STACK)
			return btf_fetch_variable(ctx, e->code, &w, number);
		if (numbered ? number == w.number : !strcmp(trace_btf_arg_name(&w), name))
			return btf_use_param(ctx, &w, numbered, e, offs);
	}
	if (numbered)
		trace_probe_log_err(offs, BAD_ARG_NUM);
	else
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
	e->code->op = FETCH_OP_RETVAL;
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

/* Parse "->": what was parsed so far must be a pointer to a struct or union. */
static int btf_follow(struct btf_expr *e, int offs)
{
	const struct btf_type *t = btf_type_skip_modifiers(e->btf, e->type, NULL);

	if (t && btf_type_is_ptr(t)) {
		e->type = t->type;
		t = btf_type_skip_modifiers(e->btf, e->type, NULL);
	} else {
		t = NULL;
	}
	if (!t || !btf_type_is_struct(t)) {
		trace_probe_log_err(offs, NO_PTR_STRCT);
		return -EINVAL;
	}
	if (e->deref)
		e->code->offset = e->bits / BITS_PER_BYTE;
	if (++e->code == e->end) {
		trace_probe_log_err(offs, TOO_MANY_OPS);
		return -EINVAL;
	}
	e->code->op = FETCH_OP_DEREF;
	e->deref = true;
	e->bits = 0;
	return 0;
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
	if (!trace_btf_find_member(e->btf, e->type, name, &m)) {
		trace_probe_log_err(offs, NO_BTF_FIELD);
		return -EINVAL;
	}
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
static int btf_finish(struct btf_expr *e, struct traceprobe_parse_context *ctx, int offs)
{
	const struct btf_type *t = btf_type_skip_modifiers(e->btf, e->type, NULL);
	int size = trace_btf_size(e->btf, e->type);
	unsigned int unit = BITS_PER_BYTE;

	ctx->type = e->type;
	ctx->array = btf_is_array(t);
	ctx->is_signed = btf_is_signed(t);
	ctx->bit_offset = 0;
	ctx->bit_size = e->bit_size;
	if (!e->bit_size && !ctx->array && size > 0 && size <= sizeof(long))
		ctx->bit_size = size * BITS_PER_BYTE;
	if (!e->deref)
		return 0;
	if (e->bit_size) {
		unit *= size;
		/* In a packed struct a bitfield may be in two units, which cannot be fetched. */
		if (e->bits % unit + e->bit_size > unit) {
			trace_probe_log_err(offs, BAD_BITFIELD);
			return -EINVAL;
		}
		ctx->bit_offset = e->bits % unit;
	}
	e->code->offset = e->bits / unit * (unit / BITS_PER_BYTE);
	return 0;
}

/**
 * traceprobe_btf_knows() - does BTF know what a variable is?
 * @arg:	the variable, with its $
 * @ctx:	the context
 *
 * Return: true for $argN and $retval of a function that BTF knows.
 */
bool traceprobe_btf_knows(const char *arg, struct traceprobe_parse_context *ctx)
{
	return (str_has_prefix(arg, "$arg") || !strcmp(arg, "$retval")) && btf_proto(ctx);
}

/**
 * traceprobe_parse_btf() - parse "NAME" or "NAME->MEMBER.MEMBER->..."
 * @arg:	the text, which is modified; NAME may be $argN or $retval
 * @pcode:	the first fetch instruction to use; set to the last one that was used
 * @end:	first element behind the array of fetch instructions
 * @ctx:	gets the type of the expression
 * @offs:	column of @arg in the definition, for errors
 *
 * Return: 0; -EINVAL, with the reason in the error log.
 */
int traceprobe_parse_btf(char *arg, struct fetch_insn **pcode, struct fetch_insn *end,
			 struct traceprobe_parse_context *ctx, int offs)
{
	struct btf_expr e = { .code = *pcode, .end = end };
	char *begin = arg, *next, op = 0;
	int ret;

	if (!btf_proto(ctx)) {
		trace_probe_log_err(offs, NO_BTF_ENTRY);
		return -EINVAL;
	}
	e.btf = ctx->func.btf;
	for (; arg; arg = next) {
		char sign = 0;

		next = strpbrk(arg, "-.");
		if (next) {
			sign = *next;
			*next++ = '\0';
			if (sign == '-' && *next++ != '>') {
				trace_probe_log_err(offs + next - 2 - begin, BAD_HYPHEN);
				return -EINVAL;
			}
		}
		if (op)
			ret = btf_enter(&e, arg, offs + arg - begin);
		else if (!strcmp(arg, "$retval"))
			ret = btf_use_retval(ctx, &e, offs);
		else
			ret = btf_find_param(ctx, arg, &e, offs);
		if (!ret && sign == '-')
			ret = btf_follow(&e, offs + arg - begin);
		if (ret)
			return ret;
		op = sign;
	}
	*pcode = e.code;
	return btf_finish(&e, ctx, offs);
}

/**
 * traceprobe_btf_type() - the fetch type of the expression that was parsed last
 * @ctx:	the context it was parsed with; &traceprobe_parse_context.type is not 0
 * @member:	it is a member and not an argument or a return value
 *
 * Return: name of the fetch type; NULL for an array, for a structure that is a member, and for
 * numbers of more than 64 bits.
 */
const char *traceprobe_btf_type(struct traceprobe_parse_context *ctx, bool member)
{
	static const char * const names[][4] = {
		{ "u8", "u16", "u32", "u64" },
		{ "s8", "s16", "s32", "s64" },
		{ "x8", "x16", "x32", "x64" },
	};
	const struct btf_type *t = btf_type_skip_modifiers(ctx->func.btf, ctx->type, NULL);

	if (btf_type_is_ptr(t) || btf_enum_is_cut(t))
		return "x64";
	if (btf_type_is_small_int(t) || btf_is_any_enum(t))
		return names[ctx->is_signed][ilog2(t->size)];
	/* The words of a structure are hexadecimal; it may be of any size. */
	if (btf_type_is_struct(t) && !member)
		return names[2][order_base_2(min_t(u32, t->size, sizeof(long)))];
	return NULL;
}

/**
 * traceprobe_btf_is_string() - can the expression that was parsed last be a string?
 * @ctx:	the context it was parsed with; &traceprobe_parse_context.type is not 0
 *
 * Return: true if it is a pointer to, or an array of, integers of one byte.
 */
bool traceprobe_btf_is_string(struct traceprobe_parse_context *ctx)
{
	const struct btf_type *t = btf_type_skip_modifiers(ctx->func.btf, ctx->type, NULL);
	u32 id;

	if (btf_type_is_ptr(t))
		id = t->type;
	else if (btf_is_array(t))
		id = btf_array(t)->type;
	else
		return false;
	t = btf_type_skip_modifiers(ctx->func.btf, id, NULL);
	return t && btf_type_is_int(t) && t->size == 1;
}

/*
 * Fill @to with "name=name" for each argument that takes one word. Returns their number; -E2BIG
 * if they are more than @room; -ENOMEM.
 */
static int btf_list_args(struct traceprobe_parse_context *ctx, const char **to, int room)
{
	struct trace_btf_walk w = trace_btf_walk_args(ctx->func.btf, btf_proto(ctx));
	int nr = 0;

	while (trace_btf_next_arg(&w)) {
		const char *name = trace_btf_arg_name(&w);

		if (!w.known || w.nr != 1 || w.memory ||
		    btf_type_is_struct(btf_type_skip_modifiers(w.btf, w.type, NULL)))
			continue;
		if (nr == room)
			return -E2BIG;
		if (*name)
			to[nr] = kasprintf(GFP_KERNEL, "%s=%s", name, name);
		else
			to[nr] = kasprintf(GFP_KERNEL, "arg%u=$arg%u", w.number, w.number);
		if (!to[nr++])
			return -ENOMEM;
	}
	return nr;
}

/**
 * traceprobe_expand_args() - replace $arg* by all arguments of the function
 * @argc:	number of elements of @argv; set to that of the array that is returned
 * @argv:	the definition of the event, whose arguments begin at the third element
 * @ctx:	the context, with the function
 * @ret:	if NULL is returned, set to -ENOMEM, or to -EINVAL with the reason in the error
 *		log
 *
 * Arguments that are structures passed by value are left out.
 *
 * Return: @argv if there is no $arg*, else an array that replaces it. The caller must call
 * traceprobe_free_args() for it.
 */
const char **traceprobe_expand_args(int *argc, const char **argv,
				    struct traceprobe_parse_context *ctx, int *ret)
{
	const char **expanded;
	int i, at = -1, nr;

	for (i = 2; i < *argc; i++) {
		if (strcmp(argv[i], "$arg*"))
			continue;
		trace_probe_log_set_index(i);
		*ret = -EINVAL;
		if (at >= 0) {
			trace_probe_log_err(0, DOUBLE_ARGS);
			return NULL;
		}
		if (!(ctx->flags & (TPARG_FL_FENTRY | TPARG_FL_RETURN))) {
			trace_probe_log_err(0, NOFENTRY_ARGS);
			return NULL;
		}
		if (!btf_proto(ctx)) {
			trace_probe_log_err(0, NO_BTF_ENTRY);
			return NULL;
		}
		at = i;
	}
	if (at < 0)
		return argv;

	*ret = -ENOMEM;
	expanded = kcalloc(*argc + MAX_TRACE_ARGS, sizeof(*expanded), GFP_KERNEL);
	if (!expanded)
		return NULL;
	nr = btf_list_args(ctx, expanded + at, MAX_TRACE_ARGS + 2 - *argc + 1);
	if (nr < 0) {
		if (nr == -E2BIG) {
			trace_probe_log_set_index(at);
			trace_probe_log_err(0, ARGS_2LONG);
			*ret = -EINVAL;
		}
		traceprobe_free_args(expanded, *argc + MAX_TRACE_ARGS, NULL);
		return NULL;
	}
	for (i = 0; i < *argc; i++) {
		if (i != at)
			expanded[i < at ? i : i + nr - 1] = kstrdup(argv[i], GFP_KERNEL);
	}
	*argc += nr - 1;
	for (i = 0; i < *argc; i++) {
		if (!expanded[i]) {
			traceprobe_free_args(expanded, *argc, NULL);
			return NULL;
		}
	}
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
 * traceprobe_finish_parse() - release what a context holds when all arguments are parsed
 * @ctx:	the context
 */
void traceprobe_finish_parse(struct traceprobe_parse_context *ctx)
{
	trace_btf_put_func(&ctx->func);
}
