#!/bin/bash
# client: samples/livepatch
# shows: a livepatch of a function with a return probe; a transition that completes while 400 tasks sleep in functions with return probes and function_graph
# The functions are called by must.
# shellcheck disable=SC2317
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(uname -r)"
lacks_on_arm64 6.1 "livepatch"
n=400
patch=/sys/kernel/livepatch/livepatch_sample

# settled SECONDS: succeeds if the transition completes in that time.
settled() {
	local end=$((SECONDS + $1))
	while [ -e "$patch" ] && [ "$(cat "$patch/transition" 2>/dev/null)" = 1 ]; do
		((SECONDS < end)) || return 1
		sleep 0.2
	done
}
patched() { [ "$(cat /proc/cmdline)" = 'this has been live patched' ]; }
reads() { for _ in {1..10}; do cat /proc/cmdline >/dev/null; done; }
off() { echo 0 >"$patch"/enabled; settled 300; rmmod livepatch_sample; }

# counted WHAT: the return probe and the tracer must see each of ten reads. They may see
# more, as loading a module reads the file, too.
counted() {
	local hits misses graphs
	read -r hits misses < <(probe_profile cl_cmdline)
	graphs=$(grep -c ' cmdline_proc_show()' $T/trace)
	reads
	same "$1: return probe" "$(probe_profile cl_cmdline)" "$((hits + 10)) $misses"
	same "$1: function_graph" "$(grep -c ' cmdline_proc_show()' $T/trace)" $((graphs + 10))
}

retprobe cl_cmdline cmdline_proc_show || fail "no return probe"
graph cmdline_proc_show
counted "before the patch"
load livepatch_sample || fail "no livepatch"
must "the patch settles" settled 300
must "patched" patched
counted "with the patch"
must "the patch goes" off
must "not patched" eval '! patched'
counted "after the patch"
same "missed by the return probe" "$(probe_profile cl_cmdline | cut -d ' ' -f 2)" 0

# The sleepers are not in the patched function, but the kernel must find that out by
# reading their stacks through the hooked calls. After 15 attempts it would send them
# signals, and log that. That must not happen, however long an attempt takes.
echo nop >$T/current_tracer
retprobe cl_sleep $F
retprobe cl_nano do_nanosleep
graph $F do_nanosleep
calls $n 1 600000 &
until [ "$(pgrep -c -x calls)" -gt $n ]; do sleep 0.2; done
sleep 2
start=$SECONDS
mark
load livepatch_sample || fail "no livepatch"
must "the transition completes with $n tasks asleep" settled 300
same "signals to those that are asleep" "$(since | grep -c 'signaling remaining tasks')" 0
took=$((SECONDS - start))
echo "took $took s"
must "they still sleep" [ "$(pgrep -c -x calls)" -gt $n ]
must "patched" patched
for p in $(pgrep -x calls | head -n 2); do cat "/proc/$p/stack"; done
pkill -x calls
wait
same "$F" "$(probe_profile cl_sleep | cut -d ' ' -f 2)" 0
must "every return of $F" [ "$(probe_profile cl_sleep | cut -d ' ' -f 1)" -ge $n ]
must "every return of do_nanosleep" [ "$(probe_profile cl_nano | cut -d ' ' -f 1)" -ge $n ]
must "the patch goes" off
verdict "patched and unpatched with a return probe; a transition in $took s with $n sleepers"
