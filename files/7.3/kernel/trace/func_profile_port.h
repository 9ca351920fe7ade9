/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The function profiler: what differs between kernels. How calls are hooked, and how trace_stat
 * names a function. Part of func_profile.c.
 */
#include "trace_graph_call.h"

/* Can instances have profilers? Without return hooks there is only that of the top level. */
#define PROFILE_INSTANCES	IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER)

static struct func_profile *profile_top(void)
{
	return trace_get_global_array()->profile;
}

/* With prof-text-offset: where in the text of the kernel or of its module a function is. */
static bool profile_text_offset(unsigned long ip, char *str, size_t size)
{
	struct module *mod;

	if (core_kernel_text(ip)) {
		snprintf(str, size, "_text+%#lx", ip - (unsigned long)_text);
		return true;
	}

	guard(rcu)();
	mod = __module_text_address(ip);
	if (mod)
		snprintf(str, size, "%s+%#lx", mod->name,
			 ip - (unsigned long)mod->mem[MOD_TEXT].base);
	return mod;
}

static void profile_stat_show_name(struct seq_file *m, unsigned long ip)
{
	struct trace_array *tr = trace_get_global_array();
	char str[KSYM_SYMBOL_LEN];

	if (tr->trace_flags & TRACE_ITER(PROF_TEXT_OFFSET) &&
	    profile_text_offset(ip, str, sizeof(str))) {
		seq_printf(m, "    %-28.28s", str);
	} else {
		kallsyms_lookup(ip, NULL, NULL, NULL, str);
		seq_printf(m, "  %-30.30s", str);
	}
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static int profile_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			 struct ftrace_regs *fregs)
{
	if (graph_is_off(gops))
		return 0;
	profile_begin(container_of(gops, struct func_profile, gops), frame->func, data);
	return 1;
}

static void profile_return(struct fgraph_ops *gops, const struct fgraph_frame *frame, void *data,
			   struct fgraph_regs *regs)
{
	struct func_profile *profile = container_of(gops, struct func_profile, gops);
	u64 time = profile_duration(profile, data);

	if (!(READ_ONCE(profile->tr->trace_flags) & TRACE_ITER(GRAPH_TIME)))
		time = profile_own_time(data, fgraph_parent_data(gops, frame), time);
	profile_end(profile, frame->func, data, time);
}

static int profile_register(struct func_profile *profile)
{
	int ret;

	profile->flags = trace_graph_sleep_get(profile->tr);
	if (!profile->flags)
		return -ENODEV;
	ret = register_ftrace_graph(&profile->gops);
	if (ret)
		trace_graph_sleep_put(profile->tr);
	return ret;
}

static void profile_unregister(struct func_profile *profile)
{
	unregister_ftrace_graph(&profile->gops);
	trace_graph_sleep_put(profile->tr);
}

static int profile_init_ops(struct func_profile *profile, struct trace_array *tr)
{
	struct fgraph_ops *gops = &profile->gops;

	gops->entryfunc = profile_entry;
	gops->retfunc = profile_return;
	gops->data_size = sizeof(struct profile_call);
	gops->flags = FGRAPH_SLEEP_TIME;
	gops->user.kind = "tracer";
	/* The profiler of the top level has never obeyed set_ftrace_pid. */
	if (tr->flags & TRACE_ARRAY_FL_GLOBAL)
		ftrace_ops_set_global_filter(&gops->ops);
	else
		fgraph_init_ops(&gops->ops, tr->ops);
	return trace_graph_set_name(tr, gops, "function_profile");
}

/* Of an instance, not of the top level. */
static void profile_free_ops(struct func_profile *profile)
{
	trace_graph_free_name(&profile->gops);
}

/* How many functions there may be to profile. */
static unsigned long profile_functions(struct func_profile *profile)
{
	return ftrace_filter_count(&profile->gops.ops) ?: ULONG_MAX;
}
#else
static int profile_init_ops(struct func_profile *profile, struct trace_array *tr)
{
	profile->ops.func = profile_call;
	ftrace_ops_set_global_filter(&profile->ops);
	return 0;
}

static unsigned long profile_functions(struct func_profile *profile)
{
	return ftrace_filter_count(&profile->ops) ?: ULONG_MAX;
}
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
