#!/bin/bash
# client: samples/ftrace
# shows: direct calls on a function that function_graph, a kretprobe and an fprobe hook as well: each sees every call
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(uname -r)"
lacks_on_arm64 6.1 "ftrace direct calls"

# everyone MODULE FUNCTION LINE: all hooks of the function must report $calls calls.
everyone() {
	local module=$1 f=$2 line=$3 order=$4 want d
	d=$W/$module-$order
	echo "$module on $f, loaded $order"
	echo 8192 >$T/buffer_size_kb
	[ "$order" = last ] || load "$module" || fail "no $module"
	load fprobe_example symbol="$f" stackdump=0 use_trace=1 || fail "no fprobe on $f"
	retprobe cl_ret "$f" "" || fail "no return probe on $f"
	graph "$f" || fail "no function_graph on $f"
	[ "$order" = first ] || load "$module" || fail "no $module"
	echo >$T/trace
	calls spin 1000 &
	calls 4 50 4
	wait $!
	echo 0 >$T/tracing_on
	must "$module goes" unload "$module"
	unload fprobe_example
	trace-cmd extract -o "$d.dat" >/dev/null 2>&1
	trace-cmd report "$d.dat" >"$d" 2>/dev/null
	echo nop >$T/current_tracer
	echo 0 >$T/events/kprobes/cl_ret/enable
	echo 1 >$T/tracing_on
	same "overrun" "$(cat $T/per_cpu/cpu*/stats | awk '/^(overrun|dropped events|commit overrun):/ { n += $NF } END { print n + 0 }')" 0
	want=$(lines "$d" calls "$line")
	must "direct calls: $want" [ "$want" -ge 50 ]
	same "function_graph's entries" "$(lines "$d" calls "funcgraph_entry: .* $f\\(")" "$want"
	same "function_graph's returns" "$(lines "$d" calls "funcgraph_exit|funcgraph_entry.*us.* $f\\(\\);")" "$want"
	same "kretprobe" "$(lines "$d" calls cl_ret:)" "$want"
	same "fprobe's entries" "$(lines "$d" calls "Enter <$f")" "$want"
	same "fprobe's returns" "$(lines "$d" calls "Return from <$f")" "$want"
	echo >$T/kprobe_events
	total+="${total:+, }$want of $f"
}

total=
ip=
# This module has a direct call on wake_up_process, too.
schedule=$(awk '$3 == "schedule" { print $1 }' /proc/kallsyms)
# The address that the module prints: of the call to ftrace, which may have instructions before it.
for offset in 0 4 8 12; do
	ip+=${ip:+|}$(printf %x $((0x$schedule + offset)))
done
for order in first last; do
	everyone ftrace_direct wake_up_process 'waking up ' $order
	everyone ftrace_direct_multi schedule "print:.* ip ($ip)\$" $order
done
verdict "$total"
