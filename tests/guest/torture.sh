#!/bin/bash
# boot: own SMP=2 MEM=2G TIMEOUT=600
# Torture of fgraph for TORTURE_SECONDS (20): lib/fgraph_torture.c, and around
# it what a module cannot do itself. The module must say SUCCESS, the memory of
# all shadow stacks must come back, and no stack may show a trampoline as a
# caller: of tasks in /proc, by sysrq, by perf.
set -u
seconds=${TORTURE_SECONDS:-20}
cd /sys/kernel/tracing || exit 1
modinfo fgraph_torture >/dev/null 2>&1 || { echo 'no module fgraph_torture'; exit 4; }
bad=0
complain() { echo "$*"; bad=1; }

# shellcheck disable=SC2317
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
		echo "r:doze$n hrtimer_nanosleep" >>kprobe_events 2>/dev/null
		echo 1 >events/kprobes/enable
		echo $((n % 2)) 2>/dev/null >/proc/sys/debug/kprobes-optimization
		sleep 0.3
		echo 0 >events/kprobes/enable
		echo >kprobe_events
	done
}

graphs() { # NAME: function_graph and the profiler of an instance that comes and goes
	local n=0 d=instances/$1
	[ -e max_graph_depth ] && mkdir "$d" || return 0
	if [ ! -e "$d/max_graph_depth" ]; then
		rmdir "$d"
		return 0
	fi
	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		[ -d "$d" ] || mkdir "$d"
		case $((n % 3)) in
		0) echo 'fgraph_torture_*' ;;
		1) echo '*_sleep*' ;;
		2) echo 'vfs_*' ;;
		esac >"$d/set_ftrace_filter"
		echo $((n % 4)) >"$d/max_graph_depth"
		echo $((n % 2)) >"$d/options/sleep-time"
		echo 'fgraph_torture_*' >"$d/set_graph_notrace"
		echo function_graph >"$d/current_tracer"
		echo 1 >"$d/function_profile_enabled"
		sleep 0.3
		echo $((n % 2 * 10)) >"$d/tracing_thresh"
		echo >"$d/set_graph_notrace"
		head -n 200 "$d/trace" >/dev/null
		cat "$d/function_profile" >/dev/null
		echo >"$d/function_profile"
		sleep 0.3
		# Every other time with all of it on.
		if [ $((n % 2)) = 0 ]; then
			rmdir "$d"
		else
			echo nop >"$d/current_tracer"
			echo 0 >"$d/function_profile_enabled"
		fi
	done
	[ ! -d "$d" ] || rmdir "$d"
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

# judge NAME [START]: stacks on standard input, an empty line before each, show no
# trampoline as a caller; START stands for what a stack begins with. How many
# there were is added to /tmp/NAME.seen, what is wrong to /tmp/NAME.bad.
#
# Not as one: when it is left, and when it is interrupted. After an interrupt,
# arm64 does not see who called a function that has made no frame record yet: that
# is what the trampoline calls, then. Samples begin with the interrupted one.
judge() {
	local first=
	[ "$1" != samples ] || [ "$(uname -m)" != aarch64 ] || first=1
	awk -v start="${2:-}" -v bad="/tmp/$1.bad" -v first="$first" '
		!NF { before = further = start; next }
		before == start { stacks++ }
		/fgraph_trampoline/ && before != "" && before !~ /fgraph_return_|(asm|el1h?)_/ &&
				further !~ /el1h?_/ && !(first && further == "") {
			print further "\n" before "\n" $0 >>bad }
		{ further = before; before = $0 }
		END { print stacks + 0 }' >>"/tmp/$1.seen"
}

dozers() { # whose stack can be read while they sleep, for longer than a probe stays
	while [ ! -e /tmp/stop ]; do
		for _ in 1 2 3 4 5; do
			sleep 1.5 &
			sleep 0.1
		done
		wait
	done
}

switches() { # how often a task was scheduled, and whether it sleeps
	local key value
	REPLY=
	while read -r key value _; do
		case $key in State: | *ctxt_switches:) REPLY+="$value " ;; esac
	done <"/proc/$1/status"
}

look() { # at who sleeps all the while
	local t was stack
	for t in $(pgrep -x sleep); do
		switches "$t"
		was=$REPLY
		mapfile -t stack <"/proc/$t/stack"
		switches "$t"
		case $was in [SDI]*) ;; *) continue ;; esac
		[ "$was" != "$REPLY" ] || printf '%s\n' '' "${stack[@]}"
	done 2>/dev/null | judge sleepers asleep
}

sleepers() {
	while [ ! -e /tmp/stop ]; do
		look
		sleep 0.1
	done
}

# shellcheck disable=SC2317
everyone() { # those who run, too: that it can be read
	while [ ! -e /tmp/stop ]; do
		cat /proc/[0-9]*/stack
		sleep 0.5
	done >/dev/null 2>&1
}

# As the kernel prints them: of each CPU, of all tasks. Those that run are not to
# be judged, nor lines that may be left over. A CPU may be within a trampoline.
printed() {
	local n=0
	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		echo l >/proc/sysrq-trigger
		[ $((n % 4)) -ne 1 ] || echo t >/proc/sysrq-trigger
		sleep 0.5
		dmesg -ct | awk '
			/task:.* state:/ { skip = !/state:[SDI]/; print ""; next }
			/sysrq: |[Bb]acktrace for cpu/ { skip = 0; print ""; next }
			/\? [^ ]+\+0x/ || !/\+0x[0-9a-f]+\/0x/ || skip { next }
			/(RIP|pc) *:.*fgraph_trampoline/ { print ""; next }
			{ print }' | judge printed
		sleep 2
	done
}

# Of whoever runs anywhere, when the clock interrupts: maybe in a trampoline. What
# is there no more may have been a module, but nothing was at 0.
samples() {
	local cpus=-a late=0
	# Where perf is slow, the first may fail when all else has ended.
	while [ ! -e /tmp/stop ] ||
		{ [ ! -s /tmp/samples.seen ] && [ $((late++)) -lt 2 ]; }; do
		if perf record -q -g --kernel-callchains "$cpus" -e cpu-clock -F 199 \
			-o /tmp/perf.data -- sleep 1 2>>/tmp/perf.err; then
			perf script -F ip,sym -i /tmp/perf.data >/tmp/perf.chains 2>>/tmp/perf.err
			judge samples </tmp/perf.chains
			grep -E '^[[:space:]]*0 ' /tmp/perf.chains >>/tmp/samples.bad
			cpus=-a
		else
			# The other CPU went meanwhile.
			cpus=-C0
		fi
		sleep 1
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

rm -f /tmp/stop /tmp/{sleepers,printed,samples}.{seen,bad} /tmp/perf.err /tmp/no-faults
before=$(tail -n 1 fgraph_users)
read -ra args <<<"${TORTURE_ARGS:-callers=3}"
modprobe fgraph_torture "${args[@]}" || exit 1
# Warnings are still printed; all tasks of a slow machine take too long.
dmesg -n 5
# Who only makes work is to leave the others time, as the module's tasks do.
export -f storm everyone
nice bash -c storm &
nice bash -c everyone &
toggle &
graphs alice &
graphs bob &
hotplug &
dozers &
sleepers &
printed &
samples &
faults &
end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
	sleep 5
	head -n 1 /sys/module/fgraph_torture/parameters/stats
done
touch /tmp/stop
wait
# Some must have been seen.
echo 'r:last hrtimer_nanosleep' >kprobe_events
echo 1 >events/kprobes/enable
for _ in 1 2 3 4 5; do
	sleep 8 &
done
sleep 2
look
wait
echo 0 >events/kprobes/enable
echo >kprobe_events
[ ! -e /tmp/no-faults ] || complain 'no allocation was made to fail'
dmesg -C
# A kretprobe that is just being registered holds the module. The number of tries is
# a guard only: it has room for a machine that is busy.
for _ in $(seq 600); do
	rmmod fgraph_torture 2>/tmp/rmmod && break
	sleep 0.1
done
[ ! -d /sys/module/fgraph_torture ] || complain "$(cat /tmp/rmmod)"
dmesg | sed -n 's/.*fgraph_torture: /  /p'
# Kretprobes miss what handlers of other probes call.
if [ ! -d /sys/kernel/debug/failslab ] &&
	dmesg | grep -qE 'fgraph_torture: (graph|fprobe) .*missed [1-9]'; then
	complain 'calls were missed, but no allocation was made to fail'
fi
dmesg | grep -q 'fgraph_torture: SUCCESS' || complain 'the module does not say SUCCESS'
for i in sleepers printed samples; do
	seen=$(awk '{ n += $1 } END { print n + 0 }' /tmp/$i.seen)
	echo "$seen stacks: $i"
	[ "$seen" -gt 0 ] || complain "no stack was seen: $i $(tail -n 3 /tmp/perf.err)"
	if [ -s /tmp/$i.bad ]; then
		head -n 30 /tmp/$i.bad
		complain "a stack has a trampoline as a caller, or nothing: $i"
	fi
done
for _ in $(seq 600); do
	after=$(tail -n 1 fgraph_users)
	[ "$after" != "$before" ] || break
	sleep 0.1
done
[ "$after" = "$before" ] || complain "memory: $before; after: $after"
exit "$bad"
