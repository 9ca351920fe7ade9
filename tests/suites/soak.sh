#!/bin/bash
# suite: function_graph, return events and bpftrace for 15 minutes of work
# packages: bpftrace trace-cmd gcc
# kernels: series
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

work() {
	local i=0
	while [ ! -e /tmp/stop ]; do
		find /usr/share /proc -maxdepth 3 -type f 2>/dev/null | head -n 2000 | xargs cat >/dev/null 2>&1
		echo 'int main(void) { return 0; }' >"/tmp/a$1.c"
		gcc -O2 -o "/tmp/a$1" "/tmp/a$1.c" && "/tmp/a$1"
		i=$((i + 1))
	done
	echo "work $1: $i rounds"
}

run() {
	local seconds=${SOAK_SECONDS:-900} f before rounds
	rm -f /tmp/stop
	dmesg -C
	for f in vfs_read vfs_write do_sys_openat2 kernel_clone wake_up_new_task __alloc_pages try_to_wake_up; do
		# Not every kernel has all of them.
		echo "r:soak_$f $f ret=\$retval" >>$T/kprobe_events && echo 1 >$T/events/kprobes/soak_$f/enable
	done
	timeout $((seconds + 60)) bpftrace -e '
		kretprobe:vfs_* { @r[func] = count(); } kretprobe:schedule { @s = count(); }
		kprobe:vfs_read { @at[tid] = nsecs; }
		kretprobe:vfs_read /@at[tid]/ { @ns = hist(nsecs - @at[tid]); delete(@at[tid]); }
		interval:s:'"$seconds"' { exit(); }' >/tmp/bpftrace 2>&1 &
	echo function_graph >$T/current_tracer || not_ok 'function_graph starts'
	work 1 >/tmp/work1 &
	work 2 >/tmp/work2 &
	sleep "$seconds"
	before=$(awk '{ n += $2; m += $3 } END { print n, m }' $T/kprobe_profile)
	touch /tmp/stop
	wait
	echo nop >$T/current_tracer
	cat /tmp/work[12] $T/fgraph_users $T/fgraph_memory $T/kprobe_profile
	rounds=$(awk '{ n += $3 } END { print n + 0 }' /tmp/work[12])
	echo "$before hits and misses of events, $rounds rounds of work"
	least 'the work goes on' "$rounds" 4
	least 'events are hit' "${before% *}" 1000
	same 'returns missed' "${before#* }" 0
	tail -n 40 /tmp/bpftrace
	check 'bpftrace has counted' grep -q '@r\[vfs_' /tmp/bpftrace
	echo 0 >$T/events/kprobes/enable
	echo >$T/kprobe_events
	same 'warnings in the log' "$(dmesg | grep -iE 'warn|\bbug\b|error|call trace|stall|oops' | head -n 3)" ''
}
suite "$@"
