#!/bin/bash
# boot: own SMP=2 MEM=2G TIMEOUT=300
# Torture of fgraph for TORTURE_SECONDS (20): lib/fgraph_torture.c, and around
# it what a module cannot do itself. The module must say SUCCESS, the memory of
# all shadow stacks must come back, and no stack may show a trampoline as a
# caller.
set -u
seconds=${TORTURE_SECONDS:-20}
cd /sys/kernel/tracing || exit 1
modinfo fgraph_torture >/dev/null 2>&1 || { echo 'no module fgraph_torture'; exit 4; }
bad=0
complain() { echo "$*"; bad=1; }

storm() { # fork and exec
	while [ ! -e /tmp/stop ]; do
		(exec /bin/true)
		(/bin/true | /bin/cat)
	done
}

toggle() { # the tracers, on what the module calls and on what makes a fork
	local n=0
	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		case $((n % 4)) in
		0) echo 'fgraph_torture_*' ;;
		1) echo 'copy_*' ;;
		2) echo '*_sleep*' ;;
		3) echo 'vfs_*' ;;
		esac >set_ftrace_filter
		echo function_graph >current_tracer
		echo 1 >function_profile_enabled
		sleep 0.5
		echo nop >current_tracer
		echo 0 >function_profile_enabled
		echo function >current_tracer
		sleep 0.2
		echo nop >current_tracer
		echo "r:torture$n fgraph_torture_sleep \$retval" >kprobe_events 2>/dev/null
		echo 1 >events/kprobes/enable
		echo $((n % 2)) 2>/dev/null >/proc/sys/debug/kprobes-optimization
		sleep 0.3
		echo 0 >events/kprobes/enable
		echo >kprobe_events
	done
}

hotplug() {
	local f=/sys/devices/system/cpu/cpu1/online
	[ -w "$f" ] || return 0
	while [ ! -e /tmp/stop ]; do
		echo 0 >"$f"
		sleep 0.4
		echo 1 >"$f"
		sleep 0.6
	done
}

stacks() { # of whoever sleeps in a hooked call
	local t
	while [ ! -e /tmp/stop ]; do
		for t in $(pgrep torture_); do
			cat "/proc/$t/stack" 2>/dev/null
		done >>/tmp/stacks
		sleep 0.1
	done
}

faults() { # memory refused, to who registers and to who fills the reserve
	local d t all=1000000 left sum=0
	local dirs=(/sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc)
	mount -t debugfs none /sys/kernel/debug 2>/dev/null
	[ -d "${dirs[0]}" ] || return 0
	echo 0 >"${dirs[1]}/min-order"
	for d in "${dirs[@]}"; do
		echo N >"$d/ignore-gfp-wait"
		echo Y >"$d/task-filter"
		echo 0 >"$d/verbose"
		echo $all >"$d/times"
		echo 10 >"$d/probability"
	done
	while [ ! -e /tmp/stop ]; do
		# The module says so of its own tasks.
		for t in $(pgrep kworker); do
			echo 1 >"/proc/$t/make-it-fail"
		done 2>/dev/null
		sleep 0.2
	done
	for d in "${dirs[@]}"; do
		echo 0 >"$d/probability"
		read -r left <"$d/times"
		sum=$((sum + all - left))
	done
	echo "$sum allocations were made to fail"
	[ "$sum" -gt 0 ] || touch /tmp/no-faults
}

rm -f /tmp/stop /tmp/stacks /tmp/no-faults
before=$(tail -n 1 fgraph_users)
read -ra args <<<"${TORTURE_ARGS:-callers=3}"
modprobe fgraph_torture "${args[@]}" || exit 1
storm &
toggle &
hotplug &
stacks &
faults &
end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
	sleep 5
	head -n 1 /sys/module/fgraph_torture/parameters/stats
done
touch /tmp/stop
wait
[ ! -e /tmp/no-faults ] || complain 'no allocation was made to fail'
dmesg -C
# A kretprobe that is just being registered holds the module.
for _ in $(seq 100); do
	rmmod fgraph_torture 2>/tmp/rmmod && break
	sleep 0.1
done
[ ! -d /sys/module/fgraph_torture ] || complain "$(cat /tmp/rmmod)"
dmesg | sed -n 's/.*fgraph_torture: /  /p'
dmesg | grep -q 'fgraph_torture: SUCCESS' || complain 'the module does not say SUCCESS'
walked=$(wc -l </tmp/stacks)
echo "$walked lines of stacks"
[ "$walked" -gt 0 ] || complain 'no stack was read'
# Not as one: when it is left, and when it is interrupted. After an interrupt,
# arm64 does not see who called a function that has made no frame record yet: that
# is what the trampoline calls, then.
if ! awk '/fgraph_trampoline/ && before !~ /fgraph_return_|\] (asm|el1h?)_/ && further !~ /\] el1h?_/ {
		print further; print before; print; bad = 1 }
	{ further = before; before = $0 } END { exit bad }' /tmp/stacks; then
	complain 'a trampoline is shown as a caller'
fi
for _ in $(seq 50); do
	after=$(tail -n 1 fgraph_users)
	[ "$after" != "$before" ] || break
	sleep 0.1
done
[ "$after" = "$before" ] || complain "memory: $before; after: $after"
exit "$bad"
