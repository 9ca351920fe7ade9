#!/bin/bash
# client: bpf(2)
# shows: a BPF program that throws in softirqs, with a return probe or function_graph on bpf_throw(): no memory is left of the calls that never return, and a graph of limited depth goes on
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

n=2000
version "$(uname -r)"
chunks() { awk '$1 == "chunks" { print $2 }' $T/fgraph_memory; }

# throw NAME: throws, then prints how many chunks of shadow stack that took. The program goes
# on when its input is closed.
throw() {
	local before rc=0
	mkfifo "$W/$1"
	before=$(chunks)
	bpf_throw $n <"$W/$1" >"$W/out" 2>&1 &
	exec 7>"$W/$1"
	while [ -d /proc/$! ] && ! grep -q '^sent' "$W/out"; do
		sleep 0.1
	done
	took=$(($(chunks) - before))
	echo >$T/trace
	exec 7>&-
	wait $! || rc=$?
	[ $rc != 4 ] || skip "$(cat "$W/out")"
	[ $rc = 0 ] || { cat "$W/out"; fail "bpf_throw: status $rc"; }
	same "$1" "$(cat "$W/out")" "sent $n"
}

[ -e $T/fgraph_users ] || skip "this kernel has no fgraph"
grep -q ' T bpf_throw$' /proc/kallsyms || skip "Linux $(uname -r | cut -d . -f 1-2) has no exceptions in BPF"
[ ! -e /proc/sys/net/core/bpf_jit_enable ] || echo 1 2>/dev/null >/proc/sys/net/core/bpf_jit_enable
# By a breakpoint or by ftrace, this is the only function that is hooked: no call further out
# returns and drops the frames of those above it.
echo 'r:throw bpf_throw' >$T/kprobe_events
echo 1 >$T/events/kprobes/enable
throw probe
must "chunks for $n calls: $took" [ "$took" -le 2 ]
echo 0 >$T/events/kprobes/enable
echo >$T/kprobe_events

echo 1 >$T/max_graph_depth
graph bpf_throw vfs_open || fail "no function_graph"
echo funcgraph-proc >$T/trace_options
throw graph
must "chunks for $n calls: $took" [ "$took" -le 2 ]
must "the program's next call is in the graph" grep -q 'bpf_thr.*vfs_open' $T/trace
echo nofuncgraph-proc >$T/trace_options
echo nop >$T/current_tracer
echo 0 >$T/max_graph_depth
verdict "$n exceptions left no frame"
