#!/bin/bash
# client: perf
# shows: `perf ftrace latency`, `perf ftrace -G FUNC`, with a return probe on the same function
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(perf --version | sed 's/^perf version //')"
n=60

retprobe cl_ret $F || fail "no return probe on $F"
echo 'hist:keys=common_pid.execname' >$T/events/kprobes/cl_ret/trigger || fail "no histogram"
# Count the returns of the test's processes, as perf itself sleeps now and then, too.
returns() { awk -v ours="$1" '/common_pid:/ { n[$3 == "calls"] += $NF } END { print n[ours] + 0 }' $T/events/kprobes/cl_ret/hist; }
perf ftrace latency -a -T $F -- calls 3 20 5 >"$W/latency" 2>&1 || { cat "$W/latency"; fail "perf ftrace latency"; }
cat "$W/latency"
same "calls in the histogram" "$(awk -F '|' '/ - .*\|/ { n += $2 } END { print n + 0 }' "$W/latency")" $((n + $(returns 0)))
# The calls sleep for at least 5 ms, measured by another clock.
must "they took 2 ms or more" [ "$(awk -F '|' '/ (ms|s) +\|/ && !/ 1 - 2 +ms/ { n += $2 } END { print n + 0 }' "$W/latency")" -ge $n ]

perf ftrace trace --inherit -m 8M -G $F --graph-opts depth=3 -- calls 3 20 5 >"$W/graph" 2>&1 || { cat "$W/graph"; fail "perf ftrace -G"; }
sed -n 1,12p "$W/graph"
same "graphs of $F" "$(grep -cE "\\|  $F\\(\\) \\{" "$W/graph")" $n
same "do_nanosleep in them" "$(grep -cE '\|    do_nanosleep\(\) \{' "$W/graph")" $n
same "their ends" "$(grep -cE '\|  \}( /\* .* \*/)?$' "$W/graph")" $n
grep common_pid $T/events/kprobes/cl_ret/hist
same "returns that the return probe saw" "$(returns 1)" $((2 * n))
same "returns that it missed" "$(probe_profile cl_ret | cut -d ' ' -f 2)" 0
verdict "$n latencies and $n graphs; the return probe saw all $((2 * n))"
