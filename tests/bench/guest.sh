#!/bin/bash
# Runs in the guest of scripts/bench: measures each row of the module, and the tracers of
# tracefs; with BPF=1 only programs of BPF. There is no line for what a kernel lacks.
set -u
param=/sys/module/fgraph_bench/parameters
row=$param/row
# shellcheck source=tests/bench/events.sh
. "${0%/*}/events.sh"
cd /sys/kernel/tracing || exit 1
echo 0 >/proc/sys/kernel/watchdog 2>/dev/null
insmod "$1" || exit 1

# measure NAME [ROW]: measures a row, by default NAME, and prints the result as NAME
measure() {
	local got
	dmesg -C
	echo "${2:-$1}" >"$row" 2>/dev/null
	got=$(dmesg | sed -n 's/.*fgraph_bench: = //p')
	[ -z "$got" ] || echo "@ ${1// /-} ${got#* }"
}

# measure_bpf KIND: measures an empty program, which must run once for each call
measure_bpf() {
	local dir=/mnt/files got runs made
	made=$((3 * $(cat $param/calls) + 100))
	dmesg -C
	runs=$("$dir/bpf" "$dir/bpf.bpf.o" "$1" "echo plain >$row")
	got=$(dmesg | sed -n 's/.*fgraph_bench: = plain //p' | sed q)
	if [ "$runs" = "$made" ]; then
		echo "@ bpf-$1 $got"
	else
		echo "@ bpf-$1 void: ${runs:-no} runs of $made calls"
	fi
}

if [ -n "${BPF:-}" ]; then
	for kind in kretprobe kretprobe.multi fexit; do
		measure_bpf "$kind"
	done
	exit 0
fi

measure ftrace
measure ftrace-regs
measure kprobe
measure kretprobe
measure kretprobe-data
echo 0 >/proc/sys/debug/kprobes-optimization 2>/dev/null
measure kretprobe-breakpoint kretprobe-hidden
if echo 1 >/proc/sys/debug/kprobes-optimization 2>/dev/null; then
	measure kretprobe-jump kretprobe-hidden
fi
for r in fprobe-entry fprobe-exit fprobe-both fprobe-data; do
	measure "$r"
done
for n in 2 4 8 16 100; do
	measure "kretprobe*$n"
	measure "fprobe*$n"
done
# On a kernel with one user of the graph tracer's hook, that user has this filter.
echo "$target" >set_ftrace_filter
for r in graph graph-refused graph-data graph+15 'graph*2' 'graph*4' 'graph*8' 'graph*16' \
	'graph*100' kretprobe+fprobe kretprobe+graph all-three; do
	measure "$r"
done
# Registering all of them takes a minute.
[ -n "${QUICK:-}" ] || measure graph+1000
echo "fgraph_bench_nest" >set_ftrace_filter
for n in 10 50 200; do
	measure "unwind-plain*$n"
	measure "unwind*$n"
done
measure "unwind-callback*10"
echo "$target" >set_ftrace_filter
# tracer NAME TRACER OPTION...: measures a tracer with these options, if it has them
tracer() {
	local name=$1 tracer=$2 option
	shift 2
	for option; do
		[ -e "options/$option" ] || return 0
		echo 1 >"options/$option"
	done
	echo "$tracer" >current_tracer
	measure "$name" plain
	echo nop >current_tracer
	for option; do
		echo 0 >"options/$option"
	done
}
tracer function function
tracer function-args function func-args
tracer function_graph function_graph
tracer function_graph-args function_graph funcgraph-args
tracer function_graph-retval function_graph funcgraph-retval
tracer function_graph-retaddr function_graph funcgraph-retaddr
tracer function_graph-all function_graph funcgraph-args funcgraph-retval funcgraph-retaddr
tracer function_graph-leaf function_graph funcgraph-leaf
# graphs N: function_graph in N instances with the same filter, if the kernel has it there
graphs() {
	local n=$1 i
	for ((i = 0; i < n; i++)); do
		mkdir "instances/bench$i"
		echo "$target" >"instances/bench$i/set_ftrace_filter"
		echo function_graph 2>/dev/null >"instances/bench$i/current_tracer" || n=0
	done
	[ "$n" = 0 ] || measure "function_graph-instances*$n" plain
	for ((i--; i >= 0; i--)); do
		echo nop >"instances/bench$i/current_tracer"
		rmdir "instances/bench$i"
	done
}
graphs 1
graphs 2
graphs 8
# The profiler; of instances that are not on there is nothing to see.
echo 1 >function_profile_enabled
measure function_profile plain
echo 0 >function_profile_enabled
echo >set_ftrace_filter
# event NAME DEFINITION [FILTER]: measures an event that is defined so, if the kernel takes that
event() {
	local group=kprobes
	{ echo "$2" >dynamic_events; } 2>/dev/null || return 0
	[ -d "events/$group" ] || group=fprobes
	[ -z "${3:-}" ] || echo "$3" >"events/$group/bench/filter"
	echo 1 >"events/$group/enable"
	measure "$1" plain
	echo 0 >"events/$group/enable"
	echo >dynamic_events
}
event r-event "r:bench $target ret=\$retval"
event r-event-arg "r:bench $target ret=\$retval n=\$arg1"
event r-event-duration "r:bench $target ret=\$retval dur=\$duration"
event r-event-caller "r:bench $target ret=\$retval from=\$caller"
event r-event-depth "r:bench $target ret=\$retval depth=\$depth"
event r-event-entry "r:bench $target ret=\$retval word=\$entry(+0(\$stack))"
event r-event-discarded "r:bench $target ret=\$retval dur=\$duration" 'dur > 1000000000'
event f-event-arg "f:bench $target n=\$arg1"
event f-event-return "f:bench $target%return ret=\$retval"
event f-event-return-arg "f:bench $target%return ret=\$retval n=\$arg1"
event f-event-return-duration "f:bench $target%return ret=\$retval dur=\$duration"
event f-event-return-entry "f:bench $target%return ret=\$retval word=\$entry(+0(\$stack))"

[ -z "${QUICK:-}" ] || exit 0
# Ticks to register and to unregister a user, with the time that it waits.
echo "$target" >set_ftrace_filter
for r in 'kretprobe*1' 'kretprobe*1000' 'graph*1' 'graph*1000'; do
	measure "register-$r"
done
echo >set_ftrace_filter
# Nanoseconds, which are ticks in the emulator, to add an event and to remove it.
begin=$(date +%s%N)
events 1000
no_events
echo "@ register-r-event*1000 $((($(date +%s%N) - begin) / 1000))"
