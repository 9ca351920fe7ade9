#!/bin/bash
# Runs in the guest of scripts/bench: prints the kilobytes that each kind of user takes
# while many tasks sleep that are in no hooked call, and what is left without the user.
set -u
param=/sys/module/fgraph_bench/parameters
# shellcheck source=tests/bench/rows.sh
. "${0%/*}/rows.sh"
cd /sys/kernel/tracing || exit 1
insmod "$1" || exit 1
echo 100000 >/proc/sys/kernel/threads-max
echo 100000 >/proc/sys/kernel/pid_max
ulimit -u unlimited

used() {
	local n all=0
	sync
	echo 3 >/proc/sys/vm/drop_caches
	# Some memory is freed late.
	sleep 1
	while read -r name n _; do
		case $name in
		MemTotal:) all=$((all + n)) ;;
		MemFree:)  all=$((all - n)) ;;
		esac
	done </proc/meminfo
	echo "$all"
}

# measure NAME ON OFF: measures between the commands ON and OFF
measure() {
	local before during after
	before=$(used)
	eval "$2" || return
	during=$(used)
	eval "$3"
	after=$(used)
	echo "@ $1 $((during - before))"
	echo "@ $1,after $((after - before))"
}

# Use everything once, as some memory is allocated at the first use and stays.
echo "$target" >set_ftrace_filter
echo function_graph >current_tracer
echo nop >current_tracer
events 1000
no_events
measure 1000-r-events 'events 1000' no_events
for tasks in 2000 20000; do
	echo "$tasks" >"$param/tasks"
	measure "function_graph,$tasks-tasks" 'echo function_graph >current_tracer' \
		'echo nop >current_tracer'
	measure "r-event,$tasks-tasks" 'events 1' no_events
done
