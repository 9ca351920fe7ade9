// SPDX-License-Identifier: GPL-2.0
/*
 * The records of events on kernel code: how their arguments are fetched, written and printed.
 *
 * Events by kprobes, kretprobes and fprobes differ in how they are hit, which their own files
 * say, and share all that happens then.
 *
 * Unless it is said otherwise, functions here run where kprobes hit: in any context, NMIs
 * included, with preemption off. None of them may be probed.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "trace_probe.h"
#include "trace_probe_tmpl.h"
#include "trace_probe_kernel.h"

/* The functions that trace_probe_tmpl.h needs: those of trace_probe_kernel.h. */

static nokprobe_inline int fetch_store_strlen_user(unsigned long addr)
{
	return kern_fetch_store_strlen_user(addr);
}

static nokprobe_inline int fetch_store_strlen(unsigned long addr)
{
	return kern_fetch_store_strlen(addr);
}

static nokprobe_inline int fetch_store_string_user(unsigned long addr, void *dest, void *base)
{
	return kern_fetch_store_string_user(addr, dest, base);
}

static nokprobe_inline int fetch_store_string(unsigned long addr, void *dest, void *base)
{
	return kern_fetch_store_string(addr, dest, base);
}

static nokprobe_inline int probe_mem_read_user(void *dest, void *src, size_t size)
{
	return copy_from_user_nofault(dest, (__force const void __user *)src, size);
}

static nokprobe_inline int probe_mem_read(void *dest, void *src, size_t size)
{
	if (IS_ENABLED(CONFIG_ARCH_HAS_NON_OVERLAPPING_ADDRESS_SPACE) &&
	    (unsigned long)src < TASK_SIZE)
		return probe_mem_read_user(dest, src, size);
	return copy_from_kernel_nofault(dest, src, size);
}

#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
/* An argument of a function that is entered; those on the stack follow the registers. */
static nokprobe_inline unsigned long probe_argument(struct pt_regs *regs, unsigned int n)
{
#ifdef CONFIG_ARM64
	if (n >= NR_REG_ARGUMENTS)
		return regs_get_kernel_stack_nth(regs, n - NR_REG_ARGUMENTS);
#endif
	return regs_get_kernel_argument(regs, n);
}
#endif

/*
 * Returns the address of the string that traceprobe_keep() kept at entry for @code, which is behind
 * its length; 0 if it could not be read then.
 */
static nokprobe_inline unsigned long kept_string(struct probe_record *rec, struct fetch_insn *code)
{
	unsigned long *kept = &rec->kept[code->param];

	return get_loc_len(*(u32 *)kept) ? (unsigned long)(kept + 1) : 0;
}

/* Only the kernel writes instructions, so they are not verified here. */
static int process_fetch_insn(struct fetch_insn *code, void *data, void *dest, void *base)
{
	struct probe_record *rec = data;
	unsigned long val;

	/* The next instruction has the address of the symbol. */
	while (code->op == FETCH_NOP_SYMBOL)
		code++;

	switch (code->op) {
	case FETCH_OP_REG:
		val = regs_get_register(rec->regs, code->param);
		break;
	case FETCH_OP_STACK:
		val = regs_get_kernel_stack_nth(rec->regs, code->param);
		break;
	case FETCH_OP_STACKP:
		val = kernel_stack_pointer(rec->regs);
		break;
	case FETCH_OP_RETVAL:
		val = regs_return_value(rec->regs);
		break;
	case FETCH_OP_IMM:
		/* traceprobe_update_arg() may change it meanwhile. */
		val = READ_ONCE(code->immediate);
		break;
	case FETCH_OP_COMM:
		val = (unsigned long)current->comm;
		break;
	case FETCH_OP_CURRENT:
		val = (unsigned long)current;
		break;
	case FETCH_OP_DATA:
		val = (unsigned long)code->data;
		break;
#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
	case FETCH_OP_ARG:
		val = probe_argument(rec->regs, code->param);
		break;
#endif
	case FETCH_OP_DURATION:
		val = rec->duration;
		break;
	case FETCH_OP_ENTRY_VALUE:
		val = rec->kept[code->param];
		break;
	case FETCH_OP_ENTRY_MEM:
		val = (unsigned long)&rec->kept[code->param];
		break;
	case FETCH_OP_ENTRY_STRING:
		val = kept_string(rec, code);
		break;
	default:
		return -EILSEQ;
	}

	return process_fetch_insn_bottom(code + 1, val, dest, base);
}
NOKPROBE_SYMBOL(process_fetch_insn)

/*
 * @is_return is a constant where records are written to trace buffers, so that sizes and offsets
 * are, too: tests of &probe_record.is_return took 3 % of the instructions of an event.
 */
static __always_inline int head_size(bool is_return)
{
	return is_return ? sizeof(struct kretprobe_trace_entry_head) :
			   sizeof(struct kprobe_trace_entry_head);
}

/* Fill in an entry of the size that the event, its head and @dsize bytes of strings have. */
static __always_inline void
fill_entry(void *entry, struct trace_probe *tp, struct probe_record *rec, int dsize, bool is_return)
{
	if (is_return) {
		struct kretprobe_trace_entry_head *head = entry;

		head->func = rec->addr;
		head->ret_ip = rec->ret_ip;
	} else {
		struct kprobe_trace_entry_head *head = entry;

		head->ip = rec->addr;
	}
	store_trace_args(entry + head_size(is_return), tp, rec, head_size(is_return), dsize);
}

static __always_inline void write_to_file(struct trace_probe *tp, struct probe_record *rec,
					  struct trace_event_file *file, bool is_return)
{
	struct trace_event_buffer fbuffer;
	int dsize;

	WARN_ON(trace_probe_event_call(tp) != file->event_call);

	if (trace_trigger_soft_disabled(file))
		return;

	dsize = __get_data_size(tp, rec);
	if (!trace_event_buffer_reserve(&fbuffer, file,
					head_size(is_return) + tp->size + dsize))
		return;

	fbuffer.regs = rec->regs;
	fbuffer.entry = ring_buffer_event_data(fbuffer.event);
	fill_entry(fbuffer.entry, tp, rec, dsize, is_return);
	trace_event_buffer_commit(&fbuffer);
}

/**
 * traceprobe_write() - write a record to the buffer of each instance that has the event on
 * @tp:		the probe that was hit
 * @rec:	what its arguments are fetched from
 *
 * Context: any; preemption is off and RCU is watching, as the list of instances is read.
 */
void traceprobe_write(struct trace_probe *tp, struct probe_record *rec)
{
	struct event_file_link *link;

	if (rec->is_return) {
		trace_probe_for_each_link_rcu(link, tp)
			write_to_file(tp, rec, link->file, true);
	} else {
		trace_probe_for_each_link_rcu(link, tp)
			write_to_file(tp, rec, link->file, false);
	}
}
NOKPROBE_SYMBOL(traceprobe_write);

#ifdef CONFIG_PERF_EVENTS
/**
 * traceprobe_write_perf() - write a record to perf's buffers
 * @tp:		the probe that was hit
 * @rec:	what its arguments are fetched from
 *
 * Programs of BPF are the caller's.
 *
 * Context: any; preemption is off and RCU is watching.
 */
void traceprobe_write_perf(struct trace_probe *tp, struct probe_record *rec)
{
	struct trace_event_call *call = trace_probe_event_call(tp);
	struct hlist_head *head = this_cpu_ptr(call->perf_events);
	int size, dsize, rctx;
	void *entry;

	if (hlist_empty(head))
		return;

	/* perf puts a u32 with the size before the entry, and wants both aligned. */
	dsize = get_perf_data_size(tp, rec, head_size(rec->is_return));
	size = head_size(rec->is_return) + tp->size + dsize;
	size = ALIGN(size + sizeof(u32), sizeof(u64)) - sizeof(u32);

	entry = perf_trace_buf_alloc(size, NULL, &rctx);
	if (!entry)
		return;

	fill_entry(entry, tp, rec, dsize, rec->is_return);
	perf_trace_buf_submit(entry, size, rctx, call->event.type, 1, rec->regs, head, NULL);
}
NOKPROBE_SYMBOL(traceprobe_write_perf);
#endif

static int count_symbol(void *data, unsigned long addr)
{
	unsigned int *count = data;

	++*count;
	return 0;
}

struct module_symbol_count {
	const char	*name;
	unsigned int	count;
};

static int count_module_symbol(void *data, const char *name, struct module *mod,
			       unsigned long addr)
{
	struct module_symbol_count *c = data;

	c->count += !strcmp(name, c->name);
	return 0;
}

/**
 * traceprobe_count_symbols() - count the functions of a name, in the kernel and its modules
 * @name:	the name
 *
 * Context: process. May sleep.
 *
 * Return: how many there are.
 */
unsigned int traceprobe_count_symbols(const char *name)
{
	struct module_symbol_count c = { .name = name };

	kallsyms_on_each_match_symbol(count_symbol, name, &c.count);
	module_kallsyms_on_each_symbol(count_module_symbol, &c);
	return c.count;
}

/**
 * traceprobe_parse_maxactive() - parse the number that may follow the type of a return event
 * @word:	first word of the definition: a letter, the number, and perhaps ":NAME"
 * @maxactive:	set to the number
 *
 * Context: process.
 *
 * Return: 0; -EINVAL, with the reason in the error log.
 */
int traceprobe_parse_maxactive(const char *word, int *maxactive)
{
	unsigned int len = strcspn(word + 1, ":"), nr;
	char buf[MAX_EVENT_NAME_LEN];

	if (len >= sizeof(buf)) {
		trace_probe_log_err(1, BAD_MAXACT);
		return -EINVAL;
	}
	memcpy(buf, word + 1, len);
	buf[len] = '\0';
	if (kstrtouint(buf, 0, &nr) || !nr) {
		trace_probe_log_err(1, BAD_MAXACT);
		return -EINVAL;
	}
	/* Where there is a pool of instances, it is a list, which is searched. */
	if (nr > MAX_MAXACTIVE) {
		trace_probe_log_err(1, MAXACT_TOO_BIG);
		return -EINVAL;
	}
	*maxactive = nr;
	return 0;
}

/**
 * traceprobe_parse_args() - parse the arguments of an event on kernel code
 * @tp:		its probe, with room for them
 * @is_return:	is the event at the return of functions?
 * @argc:	their number
 * @argv:	their text
 * @ctx:	the context to parse them with
 *
 * Context: process.
 *
 * Return: 0; -ENOMEM; other errors with the reason in the error log.
 */
int traceprobe_parse_args(struct trace_probe *tp, bool is_return, int argc, const char **argv,
			  struct traceprobe_parse_context *ctx)
{
	int i, ret;

	if (argc > MAX_TRACE_ARGS) {
		trace_probe_log_set_index(MAX_TRACE_ARGS + 2);
		trace_probe_log_err(0, TOO_MANY_ARGS);
		return -E2BIG;
	}
	for (i = 0; i < argc; i++) {
		trace_probe_log_set_index(i + 2);
		ret = traceprobe_parse_probe_arg(tp, i, argv[i], ctx);
		if (ret)
			return ret;
	}
	return traceprobe_set_print_fmt(tp, is_return ? PROBE_PRINT_RETURN : PROBE_PRINT_NORMAL);
}

/* Is what an argument keeps at entry a string? */
static nokprobe_inline bool keeps_string(const struct probe_arg *arg)
{
	return arg->code->op == FETCH_OP_ENTRY_STRING;
}

/**
 * traceprobe_plan_entry() - give what a return probe keeps at entry its place
 * @tp:		the probe, parsed
 * @room:	how many bytes may be kept
 *
 * A string takes a word more, for its length.
 *
 * Context: process.
 *
 * Return: how many bytes are kept; -E2BIG, which is in the error log, if they are too many.
 */
int traceprobe_plan_entry(struct trace_probe *tp, unsigned int room)
{
	unsigned int i, words = 0;

	for (i = 0; i < tp->nr_args; i++)
		tp->keep_time |= tp->args[i].code->op == FETCH_OP_DURATION;

	for (i = 0; i < tp->nr_args; i++) {
		struct probe_arg *arg = &tp->args[i];

		if (!arg->entry)
			continue;
		arg->kept = words++;
		if (keeps_string(arg))
			words += MAX_ENTRY_STRING / sizeof(unsigned long);
		else if (arg->type->size > sizeof(unsigned long))
			words++;
		if ((words + tp->keep_time) * sizeof(unsigned long) > room) {
			trace_probe_log_set_index(i + 2);
			trace_probe_log_err(0, ENTRY_TOO_BIG);
			return -E2BIG;
		}
		/* The first instruction for the return takes what was kept. */
		arg->code->param = arg->kept;
	}
	tp->nr_kept = words;
	return (words + tp->keep_time) * sizeof(unsigned long);
}

/**
 * traceprobe_keeps_registers() - does a return probe read registers at entry by their names?
 * @tp:		the probe, parsed
 *
 * Context: any.
 *
 * Return: false if it reads none, or only arguments of the function and what they point to.
 */
bool traceprobe_keeps_registers(struct trace_probe *tp)
{
	unsigned int i;

	for (i = 0; i < tp->nr_args; i++) {
		if (tp->args[i].entry && tp->args[i].entry->op == FETCH_OP_REG)
			return true;
	}
	return false;
}

/**
 * traceprobe_keep() - keep what a return probe wants to know of the entry
 * @tp:		the probe, whose function is entered
 * @regs:	the registers at entry
 * @kept:	where to keep it, with as much room as traceprobe_plan_entry() said
 *
 * Context: any; preemption is off.
 */
void traceprobe_keep(struct trace_probe *tp, struct pt_regs *regs, unsigned long *kept)
{
	struct probe_record rec = { .regs = regs };
	unsigned int i;

	/* Do not look at the arguments of an event that only measures how long a call takes. */
	for (i = 0; tp->nr_kept && i < tp->nr_args; i++) {
		struct probe_arg *arg = &tp->args[i];
		unsigned long *to = kept + arg->kept;

		if (!arg->entry)
			continue;
		*to = 0;
		if (keeps_string(arg))
			*(u32 *)to = make_data_loc(MAX_ENTRY_STRING,
						   (void *)(to + 1) - (void *)kept);
		if (process_fetch_insn(arg->entry, &rec, to, kept) < 0)
			*to = 0;
	}
	if (tp->keep_time)
		kept[tp->nr_kept] = ktime_get_mono_fast_ns();
}
NOKPROBE_SYMBOL(traceprobe_keep);

/**
 * traceprobe_take_time() - set how long a call took, if the probe wants to know
 * @tp:		the probe, whose function returns
 * @rec:	the record, with what was kept at entry
 *
 * Context: any.
 */
void traceprobe_take_time(struct trace_probe *tp, struct probe_record *rec)
{
	long duration;

	if (!tp->keep_time)
		return;
	/* In an NMI that interrupts an update, the clock may be a little behind. */
	duration = ktime_get_mono_fast_ns() - rec->kept[tp->nr_kept];
	rec->duration = max(duration, 0L);
}
NOKPROBE_SYMBOL(traceprobe_take_time);

/* Print a record up to its head, whose address is in @ip, and then its arguments. */
static enum print_line_t print_record(struct trace_iterator *iter, struct trace_event *event,
				      int flags, unsigned long ip, unsigned long func, void *args)
{
	struct trace_event_call *call = container_of(event, struct trace_event_call, event);
	struct trace_probe *tp = trace_probe_primary_from_call(call);
	struct trace_seq *s = &iter->seq;

	if (WARN_ON_ONCE(!tp))
		goto out;

	trace_seq_printf(s, "%s: (", trace_probe_name(tp));
	if (!seq_print_ip_sym(s, ip, flags | TRACE_ITER_SYM_OFFSET))
		goto out;
	if (func) {
		trace_seq_puts(s, " <- ");
		if (!seq_print_ip_sym(s, func, flags & ~TRACE_ITER_SYM_OFFSET))
			goto out;
	}
	trace_seq_putc(s, ')');
	if (print_probe_args(s, tp->args, tp->nr_args, args, iter->ent) >= 0)
		trace_seq_putc(s, '\n');
out:
	return trace_handle_return(s);
}

static enum print_line_t print_entry(struct trace_iterator *iter, int flags,
				     struct trace_event *event)
{
	struct kprobe_trace_entry_head *head = (void *)iter->ent;

	return print_record(iter, event, flags, head->ip, 0, head + 1);
}

static enum print_line_t print_return(struct trace_iterator *iter, int flags,
				      struct trace_event *event)
{
	struct kretprobe_trace_entry_head *head = (void *)iter->ent;

	return print_record(iter, event, flags, head->ret_ip, head->func, head + 1);
}

static int define_entry_fields(struct trace_event_call *event_call)
{
	struct trace_probe *tp = trace_probe_primary_from_call(event_call);
	struct kprobe_trace_entry_head field;
	int ret;

	if (WARN_ON_ONCE(!tp))
		return -ENOENT;
	DEFINE_FIELD(unsigned long, ip, FIELD_STRING_IP, 0);

	return traceprobe_define_arg_fields(event_call, sizeof(field), tp);
}

static int define_return_fields(struct trace_event_call *event_call)
{
	struct trace_probe *tp = trace_probe_primary_from_call(event_call);
	struct kretprobe_trace_entry_head field;
	int ret;

	if (WARN_ON_ONCE(!tp))
		return -ENOENT;
	DEFINE_FIELD(unsigned long, func, FIELD_STRING_FUNC, 0);
	DEFINE_FIELD(unsigned long, ret_ip, FIELD_STRING_RETIP, 0);

	return traceprobe_define_arg_fields(event_call, sizeof(field), tp);
}

static struct trace_event_functions entry_funcs = {
	.trace = print_entry,
};

static struct trace_event_functions return_funcs = {
	.trace = print_return,
};

static struct trace_event_fields entry_fields[] = {
	{ .type = TRACE_FUNCTION_TYPE, .define_fields = define_entry_fields },
	{}
};

static struct trace_event_fields return_fields[] = {
	{ .type = TRACE_FUNCTION_TYPE, .define_fields = define_return_fields },
	{}
};

/**
 * traceprobe_set_funcs() - set how the records of a new event are printed and described
 * @tp:		its first probe
 * @is_return:	is the event at the return of functions?
 *
 * Context: process; the event is not registered yet.
 */
void traceprobe_set_funcs(struct trace_probe *tp, bool is_return)
{
	struct trace_event_call *call = trace_probe_event_call(tp);

	call->event.funcs = is_return ? &return_funcs : &entry_funcs;
	call->class->fields_array = is_return ? return_fields : entry_fields;
}
