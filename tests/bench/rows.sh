# Sourced by guest.sh, memory.sh and profile.py: tracers and events on the function of the module,
# in the directory of tracefs.
# shellcheck shell=bash
target=fgraph_bench_target

events() { # NR: adds events that are alike
	local i
	for i in $(seq "$1"); do
		echo "r:bench$i $target ret=\$retval"
	done >kprobe_events
	echo 1 >events/kprobes/enable
}

no_events() {
	echo 0 >events/kprobes/enable
	echo >kprobe_events
}

# definition ROW: prints how the event of that row is defined
definition() {
	local kind=${1%%-*} place=$target value=
	[ "$kind" = r ] || place+=%return
	case $1 in
	f-event-arg)
		echo "f:bench $target n=\$arg1"
		return ;;
	*-arg) value="n=\$arg1" ;;
	*-duration | *-discarded) value="dur=\$duration" ;;
	*-entry) value="word=\$entry(+0(\$stack))" ;;
	esac
	echo "$kind:bench $place ret=\$retval $value"
}

# begin_event ROW: fails if the kernel refuses the event
begin_event() {
	{ definition "$1" >dynamic_events; } 2>/dev/null || return 1
	group=events/kprobes
	[ -d "$group" ] || group=events/fprobes
	[ "$1" != r-event-discarded ] || echo 'dur > 1000000000' >"$group/bench/filter"
	echo 1 >"$group/enable"
}

end_event() {
	echo 0 >"$group/enable"
	echo >dynamic_events
}

# tracer_options ROW: prints the options of function or function_graph that the row measures
tracer_options() {
	case $1 in
	function-args) echo func-args ;;
	function_graph-kept | function_graph-dropped) ;;
	function_graph-all) echo funcgraph-args funcgraph-retval funcgraph-retaddr ;;
	function_graph-*) echo "funcgraph-${1#*-}" ;;
	esac
}

# tracer_keeps ROW: prints the expression of graph_keep that the row measures, which always or never
# holds
tracer_keeps() {
	case $1 in
	function_graph-kept) echo 'duration >= 0' ;;
	function_graph-dropped) echo 'duration < 0' ;;
	esac
}

# begin_tracer ROW: fails if the kernel lacks an option
begin_tracer() {
	local option keeps
	keeps=$(tracer_keeps "$1")
	if [ -n "$keeps" ]; then
		[ -e graph_keep ] || return 1
		echo "$keeps" >graph_keep
	fi
	for option in $(tracer_options "$1"); do
		[ -e "options/$option" ] || return 1
		echo 1 >"options/$option"
	done
	echo "${1%%-*}" >current_tracer
}

end_tracer() {
	local option
	echo nop >current_tracer
	[ ! -e graph_keep ] || echo 0 >graph_keep
	for option in $(tracer_options "$1"); do
		echo 0 >"options/$option"
	done
}

# others NUMBER: prints functions that are hardly called while a row is measured
others() {
	grep -vE ' |\.|^(fgraph|_|bpf|perf|ftrace|trace|tracing|kprobe|ring_buffer|rb_|rcu|sched|irq|tick|timer|ktime|lock|raw_|preempt)' \
		available_filter_functions | sort -u | head -n "$1"
}
