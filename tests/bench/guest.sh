#!/bin/bash
# Runs in the guest of scripts/bench: measures each row of the module, and the tracers of
# tracefs; with BPF=1 only programs of BPF. There is no line for what a kernel lacks.
set -u
param=/sys/module/fgraph_bench/parameters
row=$param/row
# shellcheck source=tests/bench/rows.sh
. "${0%/*}/rows.sh"
cd /sys/kernel/tracing || exit 1
echo 0 >/proc/sys/kernel/watchdog 2>/dev/null
insmod "$1" || exit 1

# measure NAME [ROW]: measures a row, by default NAME, and prints the result as NAME. With
# ROWS="NAME ..." only these rows are measured.
measure() {
	local got
	[ -z "${ROWS:-}" ] || [[ " $ROWS " = *" ${1// /-} "* ]] || return 0
	dmesg -C
	echo "${2:-$1}" >"$row" 2>/dev/null
	got=$(dmesg | sed -n 's/.*fgraph_bench: = //p')
	[ -z "$got" ] || echo "@ ${1// /-} ${got#* }"
}

# measure_bpf NAME KIND [OBJECT RUNS LINKS]: measures an empty program, which must run RUNS times
# for each call, by default once for each of LINKS links (1). Standard input names functions to
# which it is attached, too, so that it may run more often.
measure_bpf() {
	local dir=/mnt/files got runs made links=${5:-1}
	made=$((${4:-$links} * (3 * $(cat $param/calls) + 100)))
	dmesg -C
	runs=$("$dir/bpf" "$dir/${3:-bpf}.bpf.o" "$2" "echo plain >$row" "$links")
	got=$(dmesg | sed -n 's/.*fgraph_bench: = plain //p' | sed q)
	if [ "$runs" = "$made" ] || { [ -s /dev/stdin ] && [ "${runs:-0}" -gt "$made" ]; }; then
		echo "@ bpf-$1 $got"
	else
		echo "@ bpf-$1 void: ${runs:-no} runs of $made calls"
	fi
}

if [ -n "${BPF:-}" ]; then
	for kind in fexit kretprobe kretprobe.multi; do
		measure_bpf "$kind" "$kind" </dev/null
	done
	measure_bpf kretprobe.multi-8-links kretprobe.multi bpf 8 8 </dev/null
	others 10000 >/tmp/others
	measure_bpf "kretprobe.multi-$(wc -l </tmp/others)-functions" kretprobe.multi </tmp/others
	grep -q ' bpf_session_is_return$' /proc/kallsyms || exit 0
	measure_bpf kprobe.session kprobe.session bpf 2 </dev/null
	grep -q ' bpf_session_data$' /proc/kallsyms || exit 0
	for kind in kprobe.session-{arg,duration,data}; do
		measure_bpf "$kind" "$kind" bpf_session 2 </dev/null
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
# Of these users, one keeps more data than fit into a slot, or their call is made in a callback.
for n in 2 16 100; do
	measure "kretprobe-mixed*$n"
	measure "fprobe-nested*$n"
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
for r in function function-args function_graph \
	function_graph-{args,retval,retaddr,all,leaf,kept,dropped}; do
	if begin_tracer "$r"; then
		measure "$r" plain
		end_tracer "$r"
	fi
done
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
for r in r-event{,-arg,-duration,-entry,-discarded} f-event-arg \
	f-event-return{,-arg,-duration,-entry}; do
	if begin_event "$r"; then
		measure "$r" plain
		end_event
	fi
done

[ -z "${QUICK:-}" ] || exit 0
# Ticks to register and to unregister a user, with the time that it waits.
echo "$target" >set_ftrace_filter
for r in 'kretprobe*1' 'kretprobe*1000' 'graph*1' 'graph*1000'; do
	measure "register-$r"
done
measure register-array
measure unregister-array
echo >set_ftrace_filter
[ -z "${ROWS:-}" ] || exit 0
# Nanoseconds, which are ticks in the emulator, to add an event and to remove it.
begin=$(date +%s%N)
events 1000
no_events
echo "@ register-r-event*1000 $((($(date +%s%N) - begin) / 1000))"
