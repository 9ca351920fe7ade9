/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The function profiler: what differs between kernels. How calls are hooked, and how trace_stat
 * names a function. Part of func_profile.c.
 */

/* Can instances have profilers? That of functions without their returns is for the top level. */
#define PROFILE_INSTANCES	IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER)

/* Newer kernels have this, and a sort() that gives way to other tasks. */
#define kzalloc_obj(obj)	kzalloc(sizeof(obj), GFP_KERNEL)
#define sort_nonatomic		sort

static struct func_profile *profile_top(void)
{
	return top_trace_array()->profile;
}

static void profile_stat_show_name(struct seq_file *m, unsigned long ip)
{
	char str[KSYM_SYMBOL_LEN];

	kallsyms_lookup(ip, NULL, NULL, NULL, str);
	seq_printf(m, "  %-30.30s", str);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static int profile_entry(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			 void *data, struct ftrace_regs *fregs)
{
	struct func_profile *profile = container_of(gops, struct func_profile, gops);

	if (trace_graph_is_paused())
		return 0;
	/* The profiler of the top level has never obeyed set_ftrace_pid. */
	if (!(profile->tr->flags & TRACE_ARRAY_FL_GLOBAL) && !ftrace_trace_task(profile->tr))
		return 0;

	profile_begin(profile, frame->func, data);
	return 1;
}

static void profile_return(struct fgraph_ops *gops, const struct fgraph_frame *frame,
			   void *data, struct fgraph_regs *regs)
{
	struct func_profile *profile = container_of(gops, struct func_profile, gops);
	u64 time = profile_duration(profile, data);

	if (!(READ_ONCE(profile->flags->val) & TRACE_GRAPH_GRAPH_TIME))
		time = profile_own_time(data, fgraph_parent_data(gops, frame), time);
	profile_end(profile, frame->func, data, time);
}

static int profile_register(struct func_profile *profile)
{
	struct trace_graph *graph = profile->tr->graph;
	int ret;

	profile->flags = graph->flags;
	ret = trace_graph_sleep_get(graph);
	if (ret)
		return ret;
	ret = register_ftrace_graph(&profile->gops);
	if (ret)
		trace_graph_sleep_put(graph);
	return ret;
}

static void profile_unregister(struct func_profile *profile)
{
	unregister_ftrace_graph(&profile->gops);
	trace_graph_sleep_put(profile->tr->graph);
}

static int profile_init_ops(struct func_profile *profile, struct trace_array *tr)
{
	struct fgraph_ops *gops = &profile->gops;

	gops->entryfunc = profile_entry;
	gops->retfunc = profile_return;
	gops->data_size = sizeof(struct profile_call);
	gops->filter = tr->ops;
	gops->user.kind = "tracer";
	gops->name = "function_profile";
	if (tr->flags & TRACE_ARRAY_FL_GLOBAL)
		return 0;
	gops->name = kasprintf(GFP_KERNEL, "function_profile:%s", tr->name);
	return gops->name ? 0 : -ENOMEM;
}

/* Of an instance, not of the top level. */
static void profile_free_ops(struct func_profile *profile)
{
	kfree(profile->gops.name);
}

/* How many functions there may be to profile. */
static unsigned long profile_functions(struct func_profile *profile)
{
	return ftrace_filter_count(profile->gops.filter) ?: ULONG_MAX;
}
#else
static int profile_init_ops(struct func_profile *profile, struct trace_array *tr)
{
	profile->ops.func = profile_call;
	return 0;
}

static unsigned long profile_functions(struct func_profile *profile)
{
	return ULONG_MAX;
}
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
