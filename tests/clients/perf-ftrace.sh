#!/bin/bash
# client: perf
# shows: `perf ftrace latency`, `perf ftrace -G FUNC`, with a return probe on the same function
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(perf --version | sed 's/^perf version //')"
n=60

retprobe cl_ret $F || fail "no return probe on $F"
perf ftrace latency -a -T $F -- calls 3 20 5 >"$W/latency" 2>&1 || { cat "$W/latency"; fail "perf ftrace latency"; }
cat "$W/latency"
same "calls in the histogram" "$(awk -F '|' '/ - .*\|/ { n += $2 } END { print n + 0 }' "$W/latency")" $n
# They sleep for 5 ms or more.
same "calls shorter than 4 ms" "$(awk -F '|' '/ us +\|/ { n += $2 } END { print n + 0 }' "$W/latency")" 0

perf ftrace trace --inherit -m 8M -D 3 -G $F -- calls 3 20 5 >"$W/graph" 2>&1 || { cat "$W/graph"; fail "perf ftrace -G"; }
sed -n 1,12p "$W/graph"
same "graphs of $F" "$(grep -cE "\\|  $F\\(\\) \\{" "$W/graph")" $n
same "do_nanosleep in them" "$(grep -cE '\|    do_nanosleep\(\) \{' "$W/graph")" $n
same "their ends" "$(grep -cE '\|  \}( /\* .* \*/)?$' "$W/graph")" $n
same "hits and misses of the return probe" "$(probe_profile cl_ret)" "$((2 * n)) 0"
verdict "$n latencies and $n graphs; the return probe saw all $((2 * n))"
