// SPDX-License-Identifier: GPL-2.0
/*
 * Events on functions and on tracepoints.
 *
 * An event on functions is an fprobe, on one function or on all that a list of patterns means, see
 * ftrace_set_filter_list(). An event on a tracepoint is an fprobe on the tracepoint's stub,
 * &tracepoint.probestub: a function that gets the tracepoint's arguments and does nothing with
 * them. It is registered as a probe of the tracepoint while such an event is on.
 *
 * event_mutex is held while an event is registered, enabled, disabled and removed, and by the
 * notifiers below while a module comes or goes. So what is found in a module that is not going
 * stays there until the mutex is released, see module_of().
 *
 * An event on a function or a tracepoint of a module waits while the module is not there: it may be
 * defined and enabled, and is started before the module's init function is called.
 */
#define pr_fmt(fmt)	"trace_fprobe: " fmt

#include <linux/bpf.h>
#include <linux/ctype.h>
#include <linux/fprobe.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/tracepoint.h>

#include "fgraph_internal.h"
#include "ftrace_internal.h"
#include "trace_dynevent.h"
#include "trace_probe.h"

#define FPROBE_EVENT_SYSTEM	"fprobes"
#define TRACEPOINT_EVENT_SYSTEM	"tracepoints"

/* Bytes that an event may keep of each entry; as many as those of kretprobes. */
#define MAX_KEPT_SIZE		4096

#define STUB_PREFIX		"__probestub_"

static int trace_fprobe_create(const char *raw_command);
static int trace_fprobe_show(struct seq_file *m, struct dyn_event *ev);
static int trace_fprobe_release(struct dyn_event *ev);
static bool trace_fprobe_is_busy(struct dyn_event *ev);
static bool trace_fprobe_match(const char *system, const char *event, int argc, const char **argv,
			       struct dyn_event *ev);

static struct dyn_event_operations trace_fprobe_ops = {
	.create	 = trace_fprobe_create,
	.show	 = trace_fprobe_show,
	.is_busy = trace_fprobe_is_busy,
	.free	 = trace_fprobe_release,
	.match	 = trace_fprobe_match,
};

/**
 * struct trace_fprobe - an event on functions or on a tracepoint
 * @devent:	its place in the list of all dynamic events
 * @fp:		the fprobe, registered if @started
 * @place:	what the event is on, as it was defined: a function, a list or a tracepoint
 * @target:	the function, with the name of its module, if the event is on just that one;
 *		NULL if it is on all functions that the list means, or on a tracepoint
 * @is_return:	is it at the return of the functions?
 * @is_tracepoint: is it on a tracepoint?
 * @started:	is @fp registered?
 * @ip:		the address that ftrace has for @target, if @started
 * @tpoint:	the tracepoint, if @started; may be in a module
 * @maxactive:	the number after "f", or 0. It is the size of a pool where fprobes need one
 * @kept_size:	bytes that are kept of each entry, for the return
 * @unnamed:	its name was made of @place
 * @missed:	calls that were missed before @fp was registered the last time
 * @nhit:	calls that were recorded, for each CPU
 * @tp:		the probe
 */
struct trace_fprobe {
	struct dyn_event	devent;
	struct fprobe		fp;
	char			*place;
	char			*target;
	bool			is_return;
	bool			is_tracepoint;
	bool			started;
	unsigned long		ip;
	struct tracepoint	*tpoint;
	int			maxactive;
	unsigned int		kept_size;
	bool			unnamed;
	unsigned long		missed;
	unsigned long __percpu	*nhit;
	struct trace_probe	tp;
};

/* The event, or NULL if it is of another kind. */
static struct trace_fprobe *to_trace_fprobe(struct dyn_event *ev)
{
	return ev->ops == &trace_fprobe_ops ? container_of(ev, struct trace_fprobe, devent) : NULL;
}

static struct trace_fprobe *trace_fprobe_of(struct trace_probe *tp)
{
	return container_of(tp, struct trace_fprobe, tp);
}

/* Handlers: any context that ftrace is called in, with preemption off. */

#ifdef CONFIG_PERF_EVENTS
static void trace_fprobe_perf(struct trace_fprobe *tf, struct probe_record *rec)
{
	struct trace_event_call *call = trace_probe_event_call(&tf->tp);

	if (bpf_prog_array_valid(call)) {
#ifdef CONFIG_BPF_EVENTS
		/* trace_call_bpf() does not run one program within another one. */
		if (rec->is_return && unlikely(__this_cpu_read(bpf_prog_active)))
			fgraph_miss(&tf->fp.fgraph, FGRAPH_MISS_BPF);
#endif
		if (!trace_call_bpf(call, rec->regs))
			return;
	}
	traceprobe_write_perf(&tf->tp, rec);
}
NOKPROBE_SYMBOL(trace_fprobe_perf);
#endif

static void trace_fprobe_hit(struct trace_fprobe *tf, struct probe_record *rec)
{
	unsigned int flags = trace_probe_load_flag(&tf->tp);

	raw_cpu_inc(*tf->nhit);

	if (flags & TP_FLAG_TRACE)
		traceprobe_write(&tf->tp, rec);
#ifdef CONFIG_PERF_EVENTS
	if (flags & TP_FLAG_PROFILE)
		trace_fprobe_perf(tf, rec);
#endif
}
NOKPROBE_SYMBOL(trace_fprobe_hit);

static void trace_fprobe_entry(struct fprobe *fp, unsigned long ip, struct pt_regs *regs,
			       void *data)
{
	struct probe_record rec = { .regs = regs, .addr = ip };

	/* Lists of the event are protected by RCU, which was not checked at the entry yet. */
	if (rcu_is_watching())
		trace_fprobe_hit(container_of(fp, struct trace_fprobe, fp), &rec);
	else
		fp->nmissed++;
}
NOKPROBE_SYMBOL(trace_fprobe_entry);

/* Called at the entry, for return events that keep values of it. */
static void trace_fprobe_keep(struct fprobe *fp, unsigned long ip, struct pt_regs *regs,
			      void *data)
{
	traceprobe_keep(&container_of(fp, struct trace_fprobe, fp)->tp, regs, data);
}
NOKPROBE_SYMBOL(trace_fprobe_keep);

static void trace_fprobe_return(struct fprobe *fp, unsigned long ip, struct pt_regs *regs,
				void *data)
{
	struct trace_fprobe *tf = container_of(fp, struct trace_fprobe, fp);
	struct probe_record rec = {
		.regs = regs,
		.addr = ip,
		.is_return = true,
		.ret_ip = instruction_pointer(regs),
		.kept = data,
	};

	traceprobe_take_time(&tf->tp, &rec);
	trace_fprobe_hit(tf, &rec);
}
NOKPROBE_SYMBOL(trace_fprobe_return);

/* Find the functions and tracepoints of an event. */

struct tracepoint_search {
	const char		*name;
	struct tracepoint	*found;
};

static void match_tracepoint(struct tracepoint *tpoint, void *data)
{
	struct tracepoint_search *search = data;

	if (!strcmp(tpoint->name, search->name))
		search->found = tpoint;
}

#ifdef CONFIG_MODULES
/*
 * Returns the module that has @addr, or NULL; an error if the module goes, or if it was initialized
 * and @addr is in the memory that is freed then, as the notifier for that may have been called
 * already. event_mutex is held.
 */
static struct module *module_of(unsigned long addr)
{
	struct module *mod;

	preempt_disable();
	mod = __module_address(addr);
	if (mod && mod->state != MODULE_STATE_COMING &&
	    (mod->state != MODULE_STATE_LIVE || within_module_init(addr, mod)))
		mod = ERR_PTR(-ENOENT);
	preempt_enable();
	return mod;
}

/*
 * Is the module of @target, "MODULE:FUNCTION", not loaded, so that the function may come with it?
 * A module that goes counts as not loaded, as does one that is not in MODULE_STATE_COMING yet.
 * @len is the length of MODULE.
 */
static bool module_is_away(const char *target, int len)
{
	char name[MODULE_NAME_LEN];
	struct module *mod;
	bool away;

	if (len >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", len, target);
	preempt_disable();
	mod = find_module(name);
	away = !mod || mod->state == MODULE_STATE_GOING;
	preempt_enable();
	return away;
}

/* Search the modules for a tracepoint. event_mutex is held. */
static void find_in_modules(struct tracepoint_search *search)
{
	char stub[KSYM_NAME_LEN];
	struct module *mod;
	int i;

	snprintf(stub, sizeof(stub), STUB_PREFIX "%s", search->name);
	mod = module_of(kallsyms_lookup_name(stub));
	/* Tracepoints of a tainted module are not used, see tracepoint_module_coming(). */
	if (IS_ERR_OR_NULL(mod) || trace_module_has_bad_taint(mod))
		return;
	for (i = 0; i < mod->num_tracepoints; i++)
		match_tracepoint(tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]), search);
}
#else
static struct module *module_of(unsigned long addr)
{
	return NULL;
}

static bool module_is_away(const char *target, int len)
{
	return false;
}

static void find_in_modules(struct tracepoint_search *search) { }
#endif

/* event_mutex is held. Returns NULL if neither the kernel nor a module has the tracepoint. */
static struct tracepoint *find_tracepoint(const char *name)
{
	struct tracepoint_search search = { .name = name };

	for_each_kernel_tracepoint(match_tracepoint, &search);
	if (!search.found)
		find_in_modules(&search);
	return search.found;
}

/* The address that ftrace has for the target, or 0. */
static unsigned long target_ip(const struct trace_fprobe *tf)
{
	unsigned long addr = kallsyms_lookup_name(tf->target), ip = 0;
	size_t len = strcspn(tf->target, ":");
	struct module *mod;

	preempt_disable();
	mod = module_of(addr);
	/* Since the look-up, another module may have been loaded at the address. */
	if (!IS_ERR(mod) && (!tf->target[len] ||
			     (mod && strlen(module_name(mod)) == len &&
			      !strncmp(module_name(mod), tf->target, len))))
		ip = ftrace_location(addr);
	preempt_enable();
	return ip;
}

/* The length of the module's name in "MODULE:FUNCTION", or 0 if there is none before @end. */
static int module_len(const char *word, const char *end)
{
	const char *colon = memchr(word, ':', end - word);

	return colon ? colon - word : 0;
}

/* The first word of a list whose module is not loaded, or NULL. */
static const char *waiting_word(const char *list)
{
	const char *word, *end;
	int len;

	for (word = list; ; word = end + 1) {
		end = strchrnul(word, ',');
		len = module_len(word, end);
		if (len && *word != '!' && module_is_away(word, len))
			return word;
		if (!*end)
			return NULL;
	}
}

/* Is the event on one function of a module, and that is not there? event_mutex is held. */
static bool target_is_away(const struct trace_fprobe *tf)
{
	return tf->target && strchr(tf->target, ':') && !target_ip(tf);
}

/* Does another event that is started use the stub of the same tracepoint? */
static bool stub_is_shared(struct trace_fprobe *tf)
{
	struct trace_fprobe *other;
	struct dyn_event *pos;

	for_each_dyn_event(pos) {
		other = to_trace_fprobe(pos);
		if (other && other != tf && other->started && other->tpoint == tf->tpoint)
			return true;
	}
	return false;
}

/* Start and stop events. event_mutex is held. */

static int start_on_tracepoint(struct trace_fprobe *tf)
{
	struct tracepoint *tpoint = find_tracepoint(tf->place);
	unsigned long ip;
	int ret;

	/* It may be in a module that is loaded later, see trace_tracepoint_callback(). */
	if (!tpoint)
		return 0;
	ip = ftrace_location((unsigned long)tpoint->probestub);
	if (!ip)
		return -ENOENT;
	ret = register_fprobe_ips(&tf->fp, &ip, 1);
	if (ret)
		return ret;
	ret = tracepoint_probe_register_prio_may_exist(tpoint, tpoint->probestub, NULL,
						       TRACEPOINT_DEFAULT_PRIO);
	if (ret && ret != -EEXIST) {
		unregister_fprobe(&tf->fp);
		return ret;
	}
	tf->tpoint = tpoint;
	tf->started = true;
	return 0;
}

static int start_on_functions(struct trace_fprobe *tf)
{
	unsigned long ip;
	int ret;

	if (tf->target) {
		ip = target_ip(tf);
		ret = ip ? register_fprobe_ips(&tf->fp, &ip, 1) : -ENOENT;
		tf->ip = ip;
	} else {
		/* Functions of some words may be gone, with their module. */
		ret = ftrace_set_filter_list(&tf->fp.ops, tf->place, NULL, NULL) ?:
		      register_fprobe_filtered(&tf->fp);
		if (ret == -ENOENT && waiting_word(tf->place))
			return 0;
	}
	tf->started = !ret;
	return ret;
}

/* Look symbols up: a module that has one may have gone, and come again at another address. */
static int update_args(struct trace_fprobe *tf)
{
	int i, err, ret = 0;

	for (i = 0; i < tf->tp.nr_args; i++) {
		err = traceprobe_update_arg(&tf->tp.args[i]);
		ret = ret ?: err;
	}
	return ret;
}

/* Returns 0 also if the event has to wait for a module. */
static int trace_fprobe_start(struct trace_probe *tp)
{
	struct trace_fprobe *tf = trace_fprobe_of(tp);
	int ret;

	/* An event whose function is away waits for start_in_module(). */
	if (tf->started || target_is_away(tf))
		return 0;
	ret = update_args(tf);
	if (ret)
		return ret;
	tf->missed += tf->fp.nmissed;
	tf->fp = (struct fprobe) { };
	if (!tf->is_return) {
		tf->fp.entry_handler = trace_fprobe_entry;
	} else {
		tf->fp.name = trace_probe_name(&tf->tp);
		tf->fp.exit_handler = trace_fprobe_return;
		tf->fp.nr_maxactive = tf->maxactive;
		tf->fp.entry_data_size = tf->kept_size;
		tf->fp.entry_args_only = true;
		if (tf->kept_size)
			tf->fp.entry_handler = trace_fprobe_keep;
	}
	return tf->is_tracepoint ? start_on_tracepoint(tf) : start_on_functions(tf);
}

static void trace_fprobe_stop(struct trace_probe *tp)
{
	struct trace_fprobe *tf = trace_fprobe_of(tp);

	if (!tf->started)
		return;
	/* ftrace may have shut down, and keeps the fprobe then. */
	if (WARN_ON_ONCE(unregister_fprobe(&tf->fp)))
		return;
	if (tf->tpoint && !stub_is_shared(tf))
		tracepoint_probe_unregister(tf->tpoint, tf->tpoint->probestub, NULL);
	tf->tpoint = NULL;
	tf->started = false;
}

static int trace_fprobe_register(struct trace_event_call *call, enum trace_reg type, void *data)
{
	return trace_probe_reg(call, type, data, trace_fprobe_start, trace_fprobe_stop);
}

/* Modules that come and go. */

#ifdef CONFIG_MODULES
static bool target_is_within(const struct trace_fprobe *tf, struct module *mod)
{
	int len = strlen(module_name(mod));

	return tf->target && !strncmp(tf->target, module_name(mod), len) && tf->target[len] == ':';
}

/* Add the functions of a module that comes to the filter of an event that is started. */
static int add_functions(struct trace_fprobe *tf, struct module *mod)
{
	int ret = ftrace_set_filter_list(&tf->fp.ops, tf->place, mod, NULL);

	/* No function is left, and an empty filter would mean all functions. */
	if (ret == -ENOENT)
		trace_fprobe_stop(&tf->tp);
	return ret;
}

/* A module comes, whose functions nothing calls yet. An event on one of them waits for it. */
static void start_in_module(struct trace_fprobe *tf, struct module *mod)
{
	int ret;

	if (tf->target && !target_is_within(tf, mod))
		return;
	/* It may have been started on a module of that name that went meanwhile. */
	if (tf->target)
		trace_fprobe_stop(&tf->tp);
	if (tf->started)
		ret = add_functions(tf, mod) ?: update_args(tf);
	else
		ret = trace_fprobe_start(&tf->tp);
	if (tf->target && !ret && !tf->started)
		ret = -ENOENT;
	if (ret && (ret != -ENOENT || tf->target))
		pr_warn("%s is not on all functions of module %s: %d\n",
			trace_probe_name(&tf->tp), module_name(mod), ret);
}

/*
 * A module was initialized, and the memory of its init functions is about to be freed. Another
 * module may get it. The filter of a list is updated before that happens, see
 * ftrace_set_filter_list().
 */
static void stop_in_init(struct trace_fprobe *tf, struct module *mod)
{
	if (tf->target && tf->started && within_module_init(tf->ip, mod))
		trace_fprobe_stop(&tf->tp);
}

/*
 * A module goes. What the filter of a list has of it stays there until another module is loaded,
 * see ftrace_set_filter_list().
 */
static void stop_in_module(struct trace_fprobe *tf, struct module *mod)
{
	if (target_is_within(tf, mod) ||
	    (tf->tpoint && within_module((unsigned long)tf->tpoint, mod)))
		trace_fprobe_stop(&tf->tp);
}

static int trace_fprobe_module_callback(struct notifier_block *nb, unsigned long val, void *data)
{
	struct module *mod = data;
	struct trace_fprobe *tf;
	struct dyn_event *pos;

	if (val == MODULE_STATE_UNFORMED)
		return NOTIFY_DONE;

	mutex_lock(&event_mutex);
	for_each_dyn_event(pos) {
		tf = to_trace_fprobe(pos);
		if (!tf)
			continue;
		if (val == MODULE_STATE_LIVE)
			stop_in_init(tf, mod);
		else if (val == MODULE_STATE_GOING)
			stop_in_module(tf, mod);
		else if (!tf->is_tracepoint && trace_probe_is_enabled(&tf->tp))
			start_in_module(tf, mod);
	}
	mutex_unlock(&event_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block trace_fprobe_module_nb = {
	.notifier_call = trace_fprobe_module_callback,
};

/* A module comes, and may have the tracepoint that an event waits for. */
static void start_on_new_tracepoint(struct trace_fprobe *tf)
{
	int ret;

	if (!find_tracepoint(tf->place))
		return;
	ret = trace_fprobe_start(&tf->tp);
	if (ret)
		pr_warn("%s is not on tracepoint %s: %d\n", trace_probe_name(&tf->tp), tf->place,
			ret);
}

/* The tracepoints of a module that comes can be used from now on. */
static int trace_tracepoint_callback(struct notifier_block *nb, unsigned long val, void *data)
{
	struct trace_fprobe *tf;
	struct dyn_event *pos;

	if (val != MODULE_STATE_COMING)
		return NOTIFY_DONE;

	mutex_lock(&event_mutex);
	for_each_dyn_event(pos) {
		tf = to_trace_fprobe(pos);
		if (tf && tf->is_tracepoint && trace_probe_is_enabled(&tf->tp))
			start_on_new_tracepoint(tf);
	}
	mutex_unlock(&event_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block trace_tracepoint_nb = {
	.notifier_call = trace_tracepoint_callback,
};

static __init int register_notifiers(void)
{
	return register_module_notifier(&trace_fprobe_module_nb) ?:
	       register_tracepoint_module_notifier(&trace_tracepoint_nb);
}
#else
static __init int register_notifiers(void)
{
	return 0;
}
#endif

/* Make, register and remove events. */

static void free_trace_fprobe(struct trace_fprobe *tf)
{
	trace_probe_cleanup(&tf->tp);
	kfree(tf->place);
	kfree(tf->target);
	free_percpu(tf->nhit);
	kfree(tf);
}

static struct trace_fprobe *find_trace_fprobe(const char *event, const char *group)
{
	struct trace_fprobe *tf;
	struct dyn_event *pos;

	for_each_dyn_event(pos) {
		tf = to_trace_fprobe(pos);
		if (tf && !strcmp(trace_probe_name(&tf->tp), event) &&
		    !strcmp(trace_probe_group_name(&tf->tp), group))
			return tf;
	}
	return NULL;
}

static bool trace_fprobe_same_place(struct trace_probe *a, struct trace_probe *b)
{
	return !strcmp(trace_fprobe_of(a)->place, trace_fprobe_of(b)->place);
}

/*
 * Do the words of the list mean functions, and not just some that others leave out? Returns 0;
 * -ENOENT, as for a kprobe, if a word means none, or -EINVAL if none is left, with the reason
 * logged; another error.
 */
static int check_list(struct trace_fprobe *tf)
{
	int column = 0, ret = ftrace_set_filter_list(&tf->fp.ops, tf->place, NULL, &column);

	ftrace_free_filter(&tf->fp.ops);
	trace_probe_log_set_index(1);
	if (ret == -EINVAL) {
		trace_probe_log_err(column, BAD_PROBE_ADDR);
		ret = -ENOENT;
	} else if (ret == -ENOENT && waiting_word(tf->place)) {
		ret = 0;
	} else if (ret == -ENOENT) {
		trace_probe_log_err(0, NO_FUNCTION_LEFT);
		ret = -EINVAL;
	}
	return ret;
}

/*
 * Can ftrace hook the stub of the tracepoint? Some are in files that are built without tracing.
 * Returns 0, also for a tracepoint of a module that is not loaded; -ENOENT with the reason logged.
 */
static int check_stub(struct trace_fprobe *tf)
{
	struct tracepoint *tpoint;
	int ret = 0;

	mutex_lock(&event_mutex);
	tpoint = find_tracepoint(tf->place);
	if (tpoint && !ftrace_location((unsigned long)tpoint->probestub))
		ret = -ENOENT;
	mutex_unlock(&event_mutex);
	if (ret) {
		trace_probe_log_set_index(1);
		trace_probe_log_err(0, NO_TRACED_STUB);
	}
	return ret;
}

/*
 * Returns -ENOENT if the event is on one function, and that is not there or cannot be hooked.
 * It may be missing if its module is not loaded; symbols in arguments are then looked up with it.
 */
static int check_probe(struct trace_fprobe *tf)
{
	int ret = security_locked_down(LOCKDOWN_KPROBES);

	if (!ret && target_is_away(tf)) {
		if (module_is_away(tf->target, strcspn(tf->target, ":")))
			return 0;
		/* Unless it was loaded between the two looks, it has no such function. */
		if (target_is_away(tf))
			return -ENOENT;
	}
	ret = ret ?: update_args(tf);
	if (!ret && tf->target && !target_ip(tf))
		ret = -ENOENT;
	return ret;
}

/*
 * The name that is made for an event does not tell all places apart: it may be cut. Do not add the
 * event to one on another place without being asked. Returns 0, or -EEXIST with the reason logged.
 */
static int check_made_name(struct trace_fprobe *tf, struct trace_fprobe *old)
{
	if (!tf->unnamed || trace_fprobe_same_place(&tf->tp, &old->tp))
		return 0;
	trace_probe_log_set_index(0);
	trace_probe_log_err(0, MADE_NAME_USED);
	return -EEXIST;
}

/* Make a new event, or add to the one of that name. event_mutex is held. */
static int add_to_event(struct trace_fprobe *tf)
{
	struct trace_event_call *call = trace_probe_event_call(&tf->tp);
	struct trace_fprobe *old;
	int ret;

	old = find_trace_fprobe(trace_probe_name(&tf->tp), trace_probe_group_name(&tf->tp));
	if (old)
		return check_made_name(tf, old) ?:
		       trace_probe_append(&tf->tp, &old->tp, tf->is_return == old->is_return &&
					  tf->is_tracepoint == old->is_tracepoint,
					  trace_fprobe_same_place);

	traceprobe_set_funcs(&tf->tp, tf->is_return);
	call->flags = TRACE_EVENT_FL_FPROBE;
	call->class->reg = trace_fprobe_register;
	ret = trace_probe_register_event_call(&tf->tp);
	if (ret == -EEXIST) {
		trace_probe_log_set_index(0);
		trace_probe_log_err(0, EVENT_EXIST);
	} else if (ret) {
		pr_warn("Failed to register probe event(%d)\n", ret);
	}
	return ret;
}

static int register_trace_fprobe(struct trace_fprobe *tf)
{
	int ret;

	mutex_lock(&event_mutex);
	ret = check_probe(tf) ?: add_to_event(tf);
	/* The event that it was added to may be enabled. */
	if (!ret && trace_probe_is_enabled(&tf->tp)) {
		ret = trace_fprobe_start(&tf->tp);
		if (ret)
			trace_probe_unlink(&tf->tp);
	}
	if (!ret)
		dyn_event_add(&tf->devent, trace_probe_event_call(&tf->tp));
	mutex_unlock(&event_mutex);
	return ret;
}

static int unregister_trace_fprobe(struct trace_fprobe *tf)
{
	/* Other probes of the event keep it. */
	bool last = !trace_probe_has_sibling(&tf->tp);

	if (last && (trace_probe_is_enabled(&tf->tp) ||
		     trace_event_dyn_busy(trace_probe_event_call(&tf->tp))))
		return -EBUSY;
	trace_fprobe_stop(&tf->tp);
	if (tf->started)
		return -EBUSY;
	/* ftrace or perf may use it. */
	if (last && trace_probe_unregister_event_call(&tf->tp))
		return -EBUSY;
	dyn_event_remove(&tf->devent);
	trace_probe_unlink(&tf->tp);
	return 0;
}

static int trace_fprobe_release(struct dyn_event *ev)
{
	struct trace_fprobe *tf = to_trace_fprobe(ev);
	int ret = unregister_trace_fprobe(tf);

	if (!ret)
		free_trace_fprobe(tf);
	return ret;
}

static bool trace_fprobe_is_busy(struct dyn_event *ev)
{
	return trace_probe_is_enabled(&to_trace_fprobe(ev)->tp);
}

/* Parse definitions. */

/**
 * struct fprobe_definition - what the first two words of an event's definition say
 * @name:	its name
 * @place:	see &trace_fprobe.place; allocated
 * @symbol:	the function that has the types of the arguments, with its module; NULL if there is
 *		none or a list. Allocated
 * @is_return:	see &trace_fprobe.is_return
 * @is_tracepoint: see &trace_fprobe.is_tracepoint
 * @maxactive:	see &trace_fprobe.maxactive
 */
struct fprobe_definition {
	struct probe_name name;
	char		*place;
	char		*symbol;
	bool		is_return;
	bool		is_tracepoint;
	int		maxactive;
};

/* "MOD:NAME" if the function is in a module, as one that is loaded later may have it, too. */
static char *name_with_module(const char *name)
{
	char prefix[MODULE_NAME_LEN + 1] = "";
	struct module *mod;

	preempt_disable();
	mod = __module_address(kallsyms_lookup_name(name));
	if (mod)
		snprintf(prefix, sizeof(prefix), "%s:", module_name(mod));
	preempt_enable();
	return kasprintf(GFP_KERNEL, "%s%s", prefix, name);
}

/* Is it an immediate string? What stands in that is text. */
static bool is_text(const char *arg)
{
	const char *name_end = strchr(arg, '=');

	return str_has_prefix(name_end ? name_end + 1 : arg, "\\\"");
}

/* Does an argument take the return value, so that the event must be at the return? */
static bool uses_retval(int argc, const char **argv)
{
	const char *p;
	int i;

	for (i = 0; i < argc; i++) {
		if (is_text(argv[i]))
			continue;
		for (p = argv[i]; (p = strstr(p, "$retval")); ) {
			p += strlen("$retval");
			if (!isalnum(*p) && *p != '_')
				return true;
		}
	}
	return false;
}

/* Is what lies between @word and @end "MOD:NAME" or a pattern? */
static bool is_good_word(const char *word, const char *end)
{
	const char *colon;

	if (word == end || *word == '!')
		return false;
	colon = memchr(word, ':', end - word);
	/* ftrace would take that for a function's number in a list of its own. */
	if (!colon)
		return !isdigit(*word);
	/*
	 * An event may wait for a module that is not loaded. So refuse what no module can have:
	 * an empty MOD or NAME, a pattern, and a second colon.
	 */
	return colon > word && colon + 1 < end && word + strcspn(word, "*?[\\,") == end &&
	       !memchr(colon + 1, ':', end - colon - 1);
}

/* Check the words of a list. Returns 0, or -EINVAL with the reason logged. */
static int check_words(const char *list)
{
	const char *word, *end;

	for (word = list; ; word = end + 1) {
		end = strchrnul(word, ',');
		if (!is_good_word(word + (*word == '!'), end)) {
			trace_probe_log_err(word - list, BAD_PROBE_ADDR);
			return -EINVAL;
		}
		if (!*end)
			return 0;
	}
}

/* Parse def->place, "LIST[%return]", where LIST may be "[MOD:]NAME". */
static int parse_functions(struct fprobe_definition *def, struct traceprobe_parse_context *ctx)
{
	char *place = def->place, *suffix = strchr(place, '%');

	if (suffix) {
		if (strcmp(suffix, "%return")) {
			trace_probe_log_err(suffix - place, BAD_ADDR_SUFFIX);
			return -EINVAL;
		}
		*suffix = '\0';
		def->is_return = true;
	}
	ctx->flags |= def->is_return ? TPARG_FL_RETURN : TPARG_FL_FENTRY;
	if (check_words(place))
		return -EINVAL;
	/* Functions that share a name have no common type, as those of a list. */
	if (strpbrk(place, ",!"))
		return 0;
	if (strchr(place, ':'))
		def->symbol = kstrdup(place, GFP_KERNEL);
	else if (traceprobe_count_symbols(place) == 1)
		def->symbol = name_with_module(place);
	else
		return 0;
	return def->symbol ? 0 : -ENOMEM;
}

/* Parse def->place, the name of a tracepoint. */
static int parse_tracepoint(struct fprobe_definition *def, struct traceprobe_parse_context *ctx)
{
	struct tracepoint_search search = { .name = def->place };
	char stub[KSYM_NAME_LEN];
	const char *p;

	ctx->flags |= TPARG_FL_FENTRY;
	/* The first parameter of a tracepoint's probe is not of the tracepoint. */
	ctx->hidden_params = 1;
	for (p = def->place; *p; p++) {
		if (!isalnum(*p) && *p != '_') {
			trace_probe_log_err(p - def->place, BAD_TP_NAME);
			return -EINVAL;
		}
	}
	/* A module with the tracepoint may be loaded later. */
	for_each_kernel_tracepoint(match_tracepoint, &search);
	if (!search.found && !IS_ENABLED(CONFIG_MODULES)) {
		trace_probe_log_err(0, NO_TRACEPOINT);
		return -ENOENT;
	}
	snprintf(stub, sizeof(stub), STUB_PREFIX "%s", def->place);
	def->symbol = name_with_module(stub);
	return def->symbol ? 0 : -ENOMEM;
}

static int parse_place(int argc, const char **argv, struct fprobe_definition *def,
		       struct traceprobe_parse_context *ctx)
{
	int ret;

	trace_probe_log_set_index(1);
	def->place = kstrdup(argv[1], GFP_KERNEL);
	if (!def->place)
		return -ENOMEM;
	if (def->is_tracepoint) {
		ret = parse_tracepoint(def, ctx);
	} else {
		def->is_return = uses_retval(argc - 2, argv + 2);
		ret = parse_functions(def, ctx);
	}
	ctx->symbol = def->symbol;
	return ret;
}

/* Parse what is between the type and the ':' of @word. */
static int parse_maxactive(const char *word, struct fprobe_definition *def)
{
	int ret;

	if (!word[1] || word[1] == ':')
		return 0;
	trace_probe_log_set_index(0);
	ret = traceprobe_parse_maxactive(word, &def->maxactive);
	if (!ret && !def->is_return) {
		trace_probe_log_err(1, BAD_MAXACT_TYPE);
		ret = -EINVAL;
	}
	return ret;
}

/* Parse the name after the ':' of @word, or make one for what the event is on. */
static int parse_name(const char *word, struct fprobe_definition *def)
{
	char *name = def->name.event_buf;

	if (def->is_tracepoint)
		snprintf(name, MAX_EVENT_NAME_LEN, "%s%s",
			 isdigit(def->place[0]) ? "_" : "", def->place);
	else
		snprintf(name, MAX_EVENT_NAME_LEN, "%.*s__%s",
			 MAX_EVENT_NAME_LEN - (int)sizeof("__entry"), def->place,
			 def->is_return ? "exit" : "entry");
	return traceprobe_parse_name(word, &def->name);
}

/* Takes def->place and def->symbol over. Returns NULL if there is no memory. */
static struct trace_fprobe *alloc_trace_fprobe(struct fprobe_definition *def, int nr_args)
{
	struct trace_fprobe *tf = kzalloc(struct_size(tf, tp.args, nr_args), GFP_KERNEL);

	if (!tf)
		return NULL;
	tf->is_return = def->is_return;
	tf->is_tracepoint = def->is_tracepoint;
	tf->maxactive = def->maxactive;
	tf->unnamed = def->name.event == def->name.event_buf;
	swap(tf->place, def->place);
	if (!tf->is_tracepoint)
		swap(tf->target, def->symbol);
	tf->nhit = alloc_percpu(unsigned long);
	if (!tf->nhit || trace_probe_init(&tf->tp, def->name.event, def->name.group, false)) {
		free_trace_fprobe(tf);
		return NULL;
	}
	dyn_event_init(&tf->devent, &trace_fprobe_ops);
	return tf;
}

/* Make and register the event. @argc and @argv are those of all words, with arguments by name. */
static int create_event(int argc, const char **argv, struct fprobe_definition *def,
			struct traceprobe_parse_context *ctx)
{
	struct trace_fprobe *tf = alloc_trace_fprobe(def, argc - 2);
	int ret = 0;

	if (!tf)
		return -ENOMEM;
	if (tf->is_tracepoint)
		ret = check_stub(tf);
	else if (!tf->target)
		ret = check_list(tf);
	if (!ret)
		ret = traceprobe_parse_args(&tf->tp, tf->is_return, argc - 2, argv + 2, ctx);
	if (ret)
		goto error;
	if (tf->is_return) {
		ret = traceprobe_plan_entry(&tf->tp, MAX_KEPT_SIZE);
		if (ret < 0)
			goto error;
		tf->kept_size = ret;
	}

	ret = register_trace_fprobe(tf);
	if (!ret)
		return 0;
	trace_probe_log_set_index(1);
	if (ret == -ENOENT)
		trace_probe_log_err(0, BAD_PROBE_ADDR);
	else if (ret != -ENOMEM && ret != -EEXIST)
		trace_probe_log_err(0, FAIL_REG_PROBE);
error:
	free_trace_fprobe(tf);
	return ret;
}

/*
 * Syntax of definitions:
 *  - events on functions:
 *      f[:[GRP/][EVENT]] LIST [ARGS]
 *      f[NR][:[GRP/][EVENT]] LIST%return [ARGS]
 *    LIST is [!]WORD[,[!]WORD...]; a WORD is [MOD:]NAME, or a PATTERN with wildcards as in
 *    set_ftrace_filter. Functions that match a word behind a '!' are left out.
 *  - events on a tracepoint:
 *      t[:[GRP/][EVENT]] TRACEPOINT [ARGS]
 *
 * Arguments are those of events by kprobes, without registers, see __trace_kprobe_create().
 */
static int __trace_fprobe_create(int argc, const char *argv[])
{
	struct fprobe_definition def = { .name.group = FPROBE_EVENT_SYSTEM };
	struct traceprobe_parse_context ctx = { .flags = TPARG_FL_KERNEL | TPARG_FL_FPROBE };
	const char **expanded;
	int ret;

	if (argc < 2)
		return -ECANCELED;
	if (argv[0][0] == 't') {
		def.is_tracepoint = true;
		def.name.group = TRACEPOINT_EVENT_SYSTEM;
	}

	trace_probe_log_init("trace_fprobe", argc, argv);

	ret = parse_place(argc, argv, &def, &ctx) ?: parse_maxactive(argv[0], &def) ?:
	      parse_name(argv[0], &def);
	if (ret)
		goto out;

	expanded = traceprobe_expand_args(&argc, argv, &ctx, &ret);
	if (expanded) {
		trace_probe_log_init("trace_fprobe", argc, expanded);
		ret = create_event(argc, expanded, &def, &ctx);
		traceprobe_free_args(expanded, argc, argv);
	}
out:
	trace_probe_log_clear();
	traceprobe_finish_parse(&ctx);
	kfree(def.place);
	kfree(def.symbol);
	return ret;
}

static int trace_fprobe_create(const char *raw_command)
{
	if (raw_command[0] != 'f' && raw_command[0] != 't')
		return -ECANCELED;
	return trace_probe_create(raw_command, __trace_fprobe_create);
}

/* Show definitions and counts. */

/* Say that the event waits, in a comment, so that what is read can be written again. */
static void show_waiting(struct seq_file *m, const struct trace_fprobe *tf)
{
	const char *word = NULL;

	if (!tf->is_tracepoint)
		word = tf->target ? (target_is_away(tf) ? tf->target : NULL) :
		       waiting_word(tf->place);
	else if (!find_tracepoint(tf->place))
		seq_puts(m, " # waits for a module");
	if (word)
		seq_printf(m, " # waits for module %.*s", (int)strcspn(word, ":"), word);
}

static int trace_fprobe_show(struct seq_file *m, struct dyn_event *ev)
{
	struct trace_fprobe *tf = to_trace_fprobe(ev);
	int i;

	seq_putc(m, tf->is_tracepoint ? 't' : 'f');
	if (tf->maxactive)
		seq_printf(m, "%d", tf->maxactive);
	seq_printf(m, ":%s/%s %s%s", trace_probe_group_name(&tf->tp), trace_probe_name(&tf->tp),
		   tf->place, tf->is_return ? "%return" : "");
	for (i = 0; i < tf->tp.nr_args; i++)
		seq_printf(m, " %s=%s", tf->tp.args[i].name, tf->tp.args[i].comm);
	show_waiting(m, tf);
	seq_putc(m, '\n');
	return 0;
}

static bool trace_fprobe_match(const char *system, const char *event, int argc, const char **argv,
			       struct dyn_event *ev)
{
	struct trace_fprobe *tf = to_trace_fprobe(ev);
	int len;

	if (event[0] && strcmp(trace_probe_name(&tf->tp), event))
		return false;
	if (system && strcmp(trace_probe_group_name(&tf->tp), system))
		return false;
	if (!argc)
		return true;

	len = strlen(tf->place);
	return !strncmp(argv[0], tf->place, len) &&
	       !strcmp(argv[0] + len, tf->is_return ? "%return" : "") &&
	       trace_probe_match_command_args(&tf->tp, argc - 1, argv + 1);
}

/**
 * trace_fprobe_show_profile() - write the line of an event in kprobe_profile
 * @m:		where to write
 * @ev:		any dynamic event; nothing is written for one of another kind
 *
 * Context: process; a reader of the list of dynamic events.
 */
void trace_fprobe_show_profile(struct seq_file *m, struct dyn_event *ev)
{
	struct trace_fprobe *tf = to_trace_fprobe(ev);
	unsigned long nhit = 0;
	int cpu;

	if (!tf)
		return;
	for_each_possible_cpu(cpu)
		nhit += *per_cpu_ptr(tf->nhit, cpu);
	seq_printf(m, "  %-44s %15lu %15lu\n", trace_probe_name(&tf->tp), nhit,
		   tf->missed + tf->fp.nmissed);
}

#if defined(CONFIG_PERF_EVENTS) && defined(CONFIG_BPF_EVENTS)
/**
 * bpf_get_fprobe_info() - say what a program of BPF is attached to
 * @event:	the perf event, of an event on functions or a tracepoint
 * @fd_type:	set to BPF_FD_TYPE_KPROBE or BPF_FD_TYPE_KRETPROBE
 * @symbol:	set to the function, the list or the tracepoint
 * @offset:	set to 0
 * @addr:	set to 0
 *
 * Context: process.
 *
 * Return: 0.
 */
int bpf_get_fprobe_info(const struct perf_event *event, u32 *fd_type, const char **symbol,
			u64 *offset, u64 *addr)
{
	struct trace_probe *tp = trace_probe_primary_from_call(event->tp_event);
	struct trace_fprobe *tf = trace_fprobe_of(tp);

	*fd_type = tf->is_return ? BPF_FD_TYPE_KRETPROBE : BPF_FD_TYPE_KPROBE;
	*symbol = tf->place;
	*offset = 0;
	*addr = 0;
	return 0;
}
#endif

/* Events are defined by dynamic_events, from fs_initcall() on. */
static __init int init_trace_fprobes(void)
{
	return dyn_event_register(&trace_fprobe_ops) ?: register_notifiers();
}
core_initcall(init_trace_fprobes);
