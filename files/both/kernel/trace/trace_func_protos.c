// SPDX-License-Identifier: GPL-2.0
/*
 * func-protos: events that say what the recorded words of a function's arguments are.
 *
 * The function tracers record arguments as words, and "trace" prints them by the kernel's BTF. A
 * binary trace may be read without that BTF, or when a module is no longer loaded. With this
 * option, an event func_proto at the first call of each function says what the words of its
 * events are:
 *
 *	fuse:fuse_open(inode=args[0]:x64, file=args[1]:x64) = retval:s32
 *
 * The types are those of probe events. "u8[16]" is a value of 16 bytes that is passed in two
 * words, "string" is what the pointer before it points to, and "..." is not recorded.
 *
 * Each instance with the option has a bit, and each function the bits of the instances whose
 * buffer has its event. They are cleared when the buffer is emptied or what is recorded changes.
 * The bit is set when the event has been written, so that no event of a call is without it; two
 * CPUs that call a function for the first time may both write it.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/btf.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/trace_seq.h>

#include "fgraph_users.h"
#include "trace.h"
#include "trace_btf_args.h"
#include "trace_func_args.h"
#include "trace_func_args_port.h"
#include "trace_func_protos.h"
#include "trace_output.h"

/* More than any function of the kernel needs. What is longer is cut. */
#define PROTO_MAX	1024

/* An instance has the option. */
DEFINE_STATIC_KEY_FALSE(trace_func_protos_on);
/* Bits of interrupt_context_level(): a function is being described there. */
DEFINE_PER_CPU(u8, trace_func_describing);
/* The bits that instances have. Changed with trace_types_lock held. */
static u32 protos_used;

#if TRACE_FUNC_BTF
/* A text that is measured, as long as @size is 0, or written. */
struct proto_text {
	char		*to;
	unsigned int	size;
	unsigned int	len;
};

static __printf(2, 3) void proto_add(struct proto_text *text, const char *format, ...)
{
	unsigned int at = min(text->len, text->size);
	va_list args;

	va_start(args, format);
	text->len += vsnprintf(text->to + at, text->size - at, format, args);
	va_end(args);
}

/* Add a type, by its name in probe events. */
static void proto_add_type(struct proto_text *text, const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	int size = trace_btf_size(btf, id);
	char kind = 'u';

	if (btf_type_is_ptr(t))
		kind = 'x';
	else if (btf_type_is_int(t) ? btf_int_encoding(t) & BTF_INT_SIGNED : btf_type_kflag(t))
		kind = 's';
	if (size <= sizeof(long) && !btf_type_is_struct(t))
		proto_add(text, "%c%d", kind, size * BITS_PER_BYTE);
	else
		proto_add(text, "u8[%d]", size);
}

/* Add the argument that the walk is at. */
static void proto_add_arg(struct proto_text *text, const struct trace_btf_walk *w,
			  struct trace_func_words words)
{
	unsigned int end = w->on_stack ? words.stack : words.regs;
	unsigned int values = words.regs + words.stack;
	const char *name = trace_btf_arg_name(w);

	if (w->number > 1)
		proto_add(text, ", ");
	if (*name)
		proto_add(text, "%s=", name);
	if (!w->known || w->memory || w->first + w->nr > end) {
		proto_add(text, "...");
		return;
	}
	proto_add(text, "args[%u]:", w->on_stack ? words.regs + w->first : w->first);
	proto_add_type(text, w->btf, w->type);
	if (!w->on_stack && words.strings & BIT(w->first)) {
		words.strings &= BIT(w->first) - 1;
		proto_add(text, " args[%u]:string",
			  values + hweight8(words.strings) * TRACE_FUNC_STRING_WORDS);
	}
}

/* Describe a function. Returns the length of the text, also of one that is only measured. */
static unsigned int proto_describe(char *to, unsigned int size, const struct trace_func_type *type,
				   struct trace_func_words words)
{
	struct trace_btf_walk w = trace_btf_walk_args(type->btf, type->proto);
	struct proto_text text = { .to = to, .size = size };
	u32 ret = type->proto->type;

	if (type->module)
		proto_add(&text, "%s:", type->module);
	proto_add(&text, "%s(", type->name);
	while (trace_btf_next_arg(&w))
		proto_add_arg(&text, &w, words);
	proto_add(&text, ")");
	if (!trace_btf_size(type->btf, ret))
		return text.len;
	proto_add(&text, " = ");
	if (trace_btf_classify(type->btf, ret) == TRACE_BTF_REGS) {
		proto_add(&text, "retval:");
		proto_add_type(&text, type->btf, ret);
	} else {
		proto_add(&text, "...");
	}
	return text.len;
}

/* Returns false if the buffer takes no event. */
static bool proto_write(struct trace_array *tr, unsigned long ip, unsigned int trace_ctx,
			const struct trace_func_type *type, struct trace_func_words words)
{
	unsigned int size = min(proto_describe(NULL, 0, type, words) + 1, PROTO_MAX);
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_event *event;
	struct func_proto_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_FUNC_PROTO,
					  struct_size(entry, proto, size), trace_ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->ip = ip;
	proto_describe(entry->proto, size, type, words);
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

/**
 * trace_func_proto() - describe a function, if the instance wants it and has not got it yet
 * @tr:		the instance whose tracer is about to record a call of the function
 * @ip:		address of the function's call to ftrace
 * @trace_ctx:	context of the call, see tracing_gen_ctx()
 * @words:	what the tracer records of the call
 *
 * Context: any, preemption disabled.
 */
void trace_func_proto(struct trace_array *tr, unsigned long ip, unsigned int trace_ctx,
		      struct trace_func_words words)
{
	u32 instance = READ_ONCE(tr->func_protos);
	u8 level = BIT(interrupt_context_level());
	struct trace_func_type type;

	if (!instance || !func_args_can_write(tr))
		return;
	/* An interrupt that comes between changes other bits, and leaves them as they were. */
	__this_cpu_or(trace_func_describing, level);
	if (trace_func_type(ip, instance, &type) && proto_write(tr, ip, trace_ctx, &type, words))
		atomic_or(instance, type.described);
	__this_cpu_and(trace_func_describing, ~level);
}
#else
void trace_func_proto(struct trace_array *tr, unsigned long ip, unsigned int trace_ctx,
		      struct trace_func_words words)
{
}
#endif /* TRACE_FUNC_BTF */

/**
 * trace_func_protos_again() - describe each function again at its next call
 * @tr:		an instance whose buffer was emptied, or which records other words from now on
 *
 * Context: process. May sleep.
 */
void trace_func_protos_again(struct trace_array *tr)
{
	u32 instance = tr ? READ_ONCE(tr->func_protos) : 0;

	if (!instance)
		return;
	/* A callback that has begun before may set the bit of what it describes until then. */
	fgraph_synchronize();
	trace_func_forget(instance);
}

/**
 * trace_func_protos_set() - begin or end to describe functions
 * @tr:		an instance whose current tracer is one of the function tracers
 * @set:	begin
 *
 * Context: process, trace_types_lock held or at boot. May sleep.
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP if the kernel does not know the types of functions; -EUSERS if
 * 32 instances do this already.
 */
int trace_func_protos_set(struct trace_array *tr, bool set)
{
	u32 instance = tr->func_protos;
	int ret;

	if (set == !!instance)
		return 0;
	if (!set) {
		WRITE_ONCE(tr->func_protos, 0);
		/* No callback may set the bit when another instance gets it. */
		fgraph_synchronize();
		protos_used &= ~instance;
		static_branch_dec(&trace_func_protos_on);
		return 0;
	}
	if (!TRACE_FUNC_BTF)
		return -EOPNOTSUPP;
	if (protos_used == U32_MAX)
		return -EUSERS;
	ret = trace_func_args_make();
	if (ret)
		return ret;
	instance = BIT(ffz(protos_used));
	protos_used |= instance;
	trace_func_forget(instance);
	static_branch_inc(&trace_func_protos_on);
	WRITE_ONCE(tr->func_protos, instance);
	return 0;
}

static enum print_line_t proto_print(struct trace_iterator *iter, int flags,
				     struct trace_event *event)
{
	struct func_proto_entry *field;

	trace_assign_type(field, iter->ent);
	trace_seq_printf(&iter->seq, "func_proto: %s\n", field->proto);
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions proto_functions = {
	.trace	= proto_print,
	.raw	= proto_print,
};

static struct trace_event proto_event = {
	.type	= TRACE_FUNC_PROTO,
	.funcs	= &proto_functions,
};

static int __init proto_init(void)
{
	return register_trace_event(&proto_event) ? 0 : -EBUSY;
}
core_initcall(proto_init);
