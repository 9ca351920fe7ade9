#!/bin/bash
# boot: own
# The smoke test of an architecture: function_graph in three instances, the profiler, and return
# events of a kretprobe and of an fprobe, all on a function in which SLEEPERS (100) tasks sleep.
# Each must see each return, stack traces must show the real callers, and the memory of the shadow
# stacks must be freed. Architectures without fprobes do without that event.
set -eu
cd /sys/kernel/tracing
n=${SLEEPERS:-100}
bad=
# What was wrong is said at the end: of a test that fails, the last line is reported.
complain() { bad+="${bad:+; }$*"; }
# count WHAT WANT GOT: GOT may exceed WANT, as other tasks may call the function, too.
count() {
	echo "$1: $3 of $2"
	[ "$3" -ge "$2" ] || complain "$1: $3 of $2"
}
# lines PATTERN FILE...: how many match, of all files together
lines() { cat "${@:2}" | grep -c "$1" || true; }

before=$(xargs <fgraph_memory)
mkdir instances/a instances/b
echo hrtimer_nanosleep | tee set_ftrace_filter >instances/a/set_ftrace_filter
# The third instance has another function, in which no task sleeps: that would have its memory when
# everybody else has given it back.
echo vfs_write >instances/b/set_ftrace_filter
for d in . instances/a instances/b; do
	echo 1 >$d/options/funcgraph-tail
	echo 2048 >$d/buffer_size_kb
	echo function_graph >$d/current_tracer
done
echo 0 >instances/b/tracing_on
echo 1 >function_profile_enabled
echo 'r:slept hrtimer_nanosleep' >kprobe_events
echo 1 >events/kprobes/slept/enable
events=slept
if grep -q 'f\[:' README; then
	echo 'f:woke hrtimer_nanosleep%return' >>dynamic_events
	echo 1 >events/fprobes/woke/enable
	events+=' woke'
fi

pids=()
for ((i = 0; i < n; i++)); do
	sleep 1000 &
	pids+=($!)
done
# On a slow machine it takes long until all sleep.
for ((i = 0; i < 300; i++)); do
	for p in "${pids[@]}"; do
		mapfile -t stack <"/proc/$p/stack"
		printf '%s\n' "${stack[@]}"
	done >/tmp/stacks
	[ "$(lines hrtimer_nanosleep+ /tmp/stacks)" -lt "$n" ] || break
	sleep 0.2
done
echo 1 >instances/b/tracing_on
dd if=/dev/zero of=/dev/null bs=1 count=1000 2>/tmp/dd
kill "${pids[@]}"
wait || true
for d in . instances/a instances/b; do echo 0 >$d/tracing_on; done

for d in . instances/a; do
	count "returns in $d" "$n" "$(lines '/\* hrtimer_nanosleep' $d/trace)"
done
count 'returns in instances/b' 1000 "$(lines '[;}]' instances/b/trace)"
for e in $events; do
	count "events $e" "$n" "$(lines " $e: (" trace)"
	# After the kind, the name and the size come the misses by cause.
	awk -v e="$e" '$3 == e { print; seen = 1; for (i = 5; i <= NF; i++) if ($i) exit 1 }
		END { if (!seen) exit 1 }' fgraph_users || complain "misses of $e, or no such user"
done
count 'profile' "$n" "$(cat trace_stat/function* | awk '$1 == "hrtimer_nanosleep" { s += $2 } END { print s + 0 }')"
count 'stacks of sleepers' "$n" "$(lines hrtimer_nanosleep+ /tmp/stacks)"
count 'their callers' "$n" "$(lines ' common_nsleep\| .*sys.*nanosleep' /tmp/stacks)"
! grep 'return_to_handler\|fgraph_trampoline' /tmp/stacks || complain 'a stack has a trampoline'

for e in events/kprobes/slept events/fprobes/woke; do
	[ ! -e $e ] || echo 0 >$e/enable
done
echo >dynamic_events
echo 0 >function_profile_enabled
echo nop >current_tracer
rmdir instances/a instances/b
echo >set_ftrace_filter
# The memory of tasks that have ended is freed a little later.
for ((i = 0; i < 300; i++)); do
	after=$(xargs <fgraph_memory)
	[ "$after" != "$before" ] || break
	sleep 0.1
done
echo "memory: $after"
[ "$after" = "$before" ] || complain "memory: $after, before: $before"
[ -z "$bad" ] || { echo "$bad"; exit 1; }
