#!/bin/bash
# client: samples/fgraph
# shows: fgraph_example, a user with private data, while function_graph, a kretprobe and 100 sleepers are on its function
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(uname -r)"
modinfo fgraph_example >/dev/null 2>&1 || skip "this kernel has no samples/fgraph"
n=100
mark
retprobe cl_ret $F || fail "no return probe on $F"
graph $F || fail "no function_graph on $F"
load fgraph_example symbol=$F report=2 || fail "cannot load"
calls $n 1 4000
unload fgraph_example || fail "cannot unload"
since >"$W/log"
cat "$W/log"
same "reports of one frame with three users" "$(grep -cE "$F returns to .*nsleep.* one frame, 3 users|$F returns to .*_sys_.*nanosleep.* one frame, 3 users" "$W/log")" 2
same "users named" "$(grep -cE '^ +(kretprobe cl_ret|tracer function_graph|other fgraph_example)$' "$W/log")" 6
same "calls" "$(sed -n "s/.*$F: \\([0-9]*\\) calls, .* \\([0-9]*\\) missed/\\1 \\2/p" "$W/log")" "$n 0"
same "the return probe's hits and misses" "$(probe_profile cl_ret)" "$n 0"
verdict "$n calls, none missed; one frame for three users"
