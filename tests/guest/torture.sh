#!/bin/bash
# boot: own SMP=2 MEM=2G TIMEOUT=600
# Torture test of fgraph for TORTURE_SECONDS (20): the module lib/fgraph_torture.c, and
# meanwhile forks, tracers, CPU hotplug, stack traces and failing allocations. The module
# must print SUCCESS, the memory of all shadow stacks must be freed, and no stack trace of
# /proc, sysrq or perf may have a trampoline as a caller.
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

put() { # VALUE FILE: a file that not every kernel has is left out
	[ ! -e "$2" ] || echo "$1" >"$2"
}

values() { # arguments and strings of them on or off, other options of calls on or off
	local option
	for option in func-args func-args-strings funcgraph-args funcgraph-args-strings; do
		put "$1" options/$option
	done
	for option in funcgraph-retval funcgraph-retaddr funcgraph-leaf; do
		put "$2" options/$option
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
		values $((n & 1)) $((n >> 1 & 1))
		echo function_graph >current_tracer
		echo 1 >function_profile_enabled
		sleep 0.3
		values $((n >> 1 & 1)) $((n & 1))
		sleep 0.2
		head -c 50000 trace >/dev/null
		echo nop >current_tracer
		echo 0 >function_profile_enabled
		echo function >current_tracer
		sleep 0.1
		values $((n & 1)) $((n >> 1 & 1))
		sleep 0.1
		head -c 50000 trace >/dev/null
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
	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		[ -d "$d" ] || mkdir "$d"
		case $((n % 3)) in
		0) echo 'fgraph_torture_*' ;;
		1) echo '*_sleep*' ;;
		2) echo 'vfs_*' ;;
		esac >"$d/set_ftrace_filter"
		put $((n % 4)) "$d/max_graph_depth"
		put $((n % 2)) "$d/options/sleep-time"
		put 'fgraph_torture_*' "$d/set_graph_notrace"
		echo function_graph >"$d/current_tracer"
		put 1 "$d/function_profile_enabled"
		sleep 0.3
		put $((n % 2 * 10)) "$d/tracing_thresh"
		put '' "$d/set_graph_notrace"
		head -n 200 "$d/trace" >/dev/null
		if [ -e "$d/function_stats" ]; then
			cat "$d/function_stats" >/dev/null
			echo >"$d/function_stats"
		fi
		sleep 0.3
		# Every other time with all of it on.
		if [ $((n % 2)) = 0 ]; then
			rmdir "$d"
		else
			echo nop >"$d/current_tracer"
			put 0 "$d/function_profile_enabled"
		fi
	done
	[ ! -d "$d" ] || rmdir "$d"
}

# function_graph in an instance that comes and goes, of what the module calls and of system calls on
# files, or of the functions of TORTURE_TREES. Of the trees of calls, those that match an expression
# are kept, which few do, and which changes while trees are open.
trees() {
	local n=0 d=instances/trees
	local few='fgraph_torture_* do_sys* vfs_* path_* link_path_walk* lookup_* do_filp_open copy_*'
	[ -e graph_keep ] || return 0
	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		[ -d "$d" ] || mkdir "$d"
		echo $((4 << n % 8)) 2048 >"$d/graph_keep_size"
		echo "${TORTURE_TREES:-$few}" >"$d/set_ftrace_filter"
		echo 'retval < 0 && retval > -4096' >"$d/graph_keep"
		echo function_graph >"$d/current_tracer"
		sleep 0.3
		awk '$1 == "kept:" { print $2 }' "$d/graph_keep_stats" >>/tmp/trees.seen
		head -n 200 "$d/trace" >/dev/null
		[ $((n % 4)) != 1 ] || echo 'duration > 1000000' >"$d/graph_keep"
		[ $((n % 4)) != 2 ] || echo >"$d/graph_keep"
		sleep 0.2
		# Every other time with all of it on.
		[ $((n % 2)) != 0 ] || echo nop >"$d/current_tracer"
		rmdir "$d"
		sleep 0.5
	done
}

programs() { # of BPF, which "make torture BPF=1" builds
	[ -x /mnt/files/torture_bpf ] || return 0
	/mnt/files/torture_bpf /mnt/files/torture_bpf.bpf.o /tmp/stop || touch /tmp/no-programs
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

# judge NAME [START]: checks stack traces on standard input, with an empty line before
# each, for trampolines as callers. START is taken for the line before the first one. The
# number of stacks is added to /tmp/NAME.seen, wrong lines to /tmp/NAME.bad.
#
# A trampoline is right below a function that it calls, and where it was interrupted.
# After an interrupt, arm64 does not see the caller of a function that has not made its
# frame record yet: the trampoline is then below an interrupted function that it called.
# Samples begin with the interrupted function.
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

switches() { # how often a task was scheduled, and whether it sleeps
	local line lines
	# "read" would have the kernel make the text anew for each line.
	mapfile -t lines <"/proc/$1/status"
	REPLY=
	for line in "${lines[@]}"; do
		case $line in State:* | *ctxt_switches:*) REPLY+="${line#*$'\t'} " ;; esac
	done
}

look() { # PID...: at those that sleep all the while
	local t was stack
	for t; do
		switches "$t"
		was=$REPLY
		mapfile -t stack <"/proc/$t/stack"
		switches "$t"
		case $was in [SDI]*) ;; *) continue ;; esac
		[ "$was" != "$REPLY" ] || printf '%s\n' '' "${stack[@]}"
	done 2>/dev/null | judge sleepers asleep
}

sleepers() { # of which each sleeps for longer than a probe stays
	local doze=1.5 pids
	while [ ! -e /tmp/stop ]; do
		pids=()
		for _ in 1 2 3 4 5; do
			sleep $doze &
			pids+=($!)
			sleep 0.1
		done
		while [ -e "/proc/$!" ]; do
			look "${pids[@]}"
			sleep 0.1
		done
		wait
		# On a slow machine it takes longer than that to look at one of them.
		grep -qs '[1-9]' /tmp/sleepers.seen || doze=12
	done
}

# shellcheck disable=SC2317
everyone() { # reads the stacks of all tasks, also of running ones, which must be safe
	while [ ! -e /tmp/stop ]; do
		cat /proc/[0-9]*/stack
		sleep 0.5
	done >/dev/null 2>&1
}

# Checks the stack traces that the kernel prints of each CPU and of all tasks. Stacks of
# running tasks are left out, and lines marked as unreliable. A CPU may be interrupted in
# a trampoline.
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
			# A register, which has the address of a trampoline where a hooked call begins.
			/lr *: / { next }
			# A lock that is held, with the return address of who took it.
			/ #[0-9]+: .* at: / { next }
			{ print }' | judge printed
		sleep 2
	done
}

# Checks the stack traces of perf, which samples running tasks, maybe in a trampoline. An
# address without a symbol may be of a module that is gone, but must not be 0.
samples() {
	local cpus=-a late=0
	# Go on until there was a sample, as the first perf may fail on a slow machine.
	while [ ! -e /tmp/stop ] ||
		{ [ ! -s /tmp/samples.seen ] && [ $((late++)) -lt 2 ]; }; do
		if perf record -q -g --kernel-callchains "$cpus" -e cpu-clock -F 199 \
			-o /tmp/perf.data -- sleep 1 2>>/tmp/perf.err; then
			perf script -F ip,sym -i /tmp/perf.data >/tmp/perf.chains 2>>/tmp/perf.err
			judge samples </tmp/perf.chains
			grep -E '^[[:space:]]*0 ' /tmp/perf.chains >>/tmp/samples.bad
			cpus=-a
		else
			# The other CPU went offline meanwhile.
			cpus=-C0
		fi
		sleep 1
	done
}

faults() { # makes allocations fail, of tasks that register users and of kworkers
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
		# The module sets this for its own tasks.
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

# With the debug kernel, mkdir or rmdir of an instance takes up to 30 s of the CPU under
# trace_types_lock. Several of them may come first, and all share the CPUs with this load.
put 600 /proc/sys/kernel/hung_task_timeout_secs

rm -f /tmp/stop /tmp/{sleepers,printed,samples,trees}.{seen,bad} /tmp/perf.err /tmp/no-{faults,programs}
before=$(xargs <fgraph_memory)
tasks=$(find /proc -maxdepth 1 -name '[0-9]*' | wc -l)
read -ra args <<<"${TORTURE_ARGS:-callers=3}"
modprobe fgraph_torture "${args[@]}" || exit 1
# Print only warnings on the console: traces of all tasks take too long on a slow machine.
dmesg -n 5
# Tasks that only make load are niced, like those of the module, so that others proceed.
export -f storm everyone
nice bash -c storm &
nice bash -c everyone &
toggle &
graphs alice &
graphs bob &
trees &
programs &
hotplug &
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
# Make sure that some stacks of sleeping tasks are checked.
echo 'r:last hrtimer_nanosleep' >kprobe_events
echo 1 >events/kprobes/enable
pids=()
for _ in 1 2 3 4 5; do
	sleep 8 &
	pids+=($!)
done
sleep 2
look "${pids[@]}"
wait
echo 0 >events/kprobes/enable
echo >kprobe_events
[ ! -e /tmp/no-faults ] || complain 'no allocation was made to fail'
[ ! -e /tmp/no-programs ] || complain 'the programs of BPF failed'
dmesg -C
# A kretprobe that is just being registered holds a reference to the module. The number
# of tries only prevents a hang: it suffices for a busy machine.
for _ in $(seq 600); do
	rmmod fgraph_torture 2>/tmp/rmmod && break
	sleep 0.1
done
[ ! -d /sys/module/fgraph_torture ] || complain "$(cat /tmp/rmmod)"
dmesg | sed -n 's/.*fgraph_torture: /  /p'
# Kretprobes miss calls that handlers of other probes make. With trees of all functions, calls in
# interrupts may need more memory than the reserve has.
if [ ! -d /sys/kernel/debug/failslab ] && [ -z "${TORTURE_TREES:-}" ] &&
	dmesg | grep -qE 'fgraph_torture: (graph|fprobe) .*missed [1-9]'; then
	complain 'calls were missed, although no allocation was made to fail'
fi
dmesg | grep -q 'fgraph_torture: SUCCESS' || complain 'the module did not print SUCCESS'
if [ -e graph_keep ]; then
	kept=$(awk '{ n += $1 } END { print n + 0 }' /tmp/trees.seen)
	echo "$kept trees were kept"
	[ "$kept" -gt 0 ] || complain 'no tree was kept'
fi
for i in sleepers printed samples; do
	seen=$(awk '{ n += $1 } END { print n + 0 }' /tmp/$i.seen)
	echo "$seen stacks: $i"
	[ "$seen" -gt 0 ] || complain "no stack was seen: $i $(tail -n 3 /tmp/perf.err)"
	if [ -s /tmp/$i.bad ]; then
		head -n 30 /tmp/$i.bad
		complain "a stack has a trampoline or address 0 as a caller: $i"
	fi
done
for _ in $(seq 600); do
	after=$(xargs <fgraph_memory)
	[ "$after" != "$before" ] || break
	sleep 0.1
done
if [ "$after" != "$before" ]; then
	# Tasks of the kernel that sleep in a hooked call keep their shadow stack until they wake.
	stacks=${after#*stacks }
	if [ -n "${TORTURE_TREES:-}" ] && [ "${stacks%% *}" -le "$tasks" ]; then
		echo "memory of tasks that sleep since: $after"
	else
		complain "memory: $before; after: $after"
	fi
fi
exit "$bad"
