#!/bin/bash
# client: perf
# shows: two sessions of `perf ftrace trace` and one of `latency` at once, with a function, depth and threshold each: none sees what is another's
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(perf --version | sed 's/^perf version //')"
n=60

sessions() { find $T/instances -maxdepth 1 -name 'perf-ftrace-*' | wc -l; }

# Only sessions with instances of their own can run at once.
perf ftrace trace -G $F -- sleep 1 >/dev/null 2>&1 &
until at_once=$(sessions) && [ "$at_once" -gt 0 ] || ! kill -0 $! 2>/dev/null; do sleep .1; done
wait
[ "$at_once" -gt 0 ] || skip "this perf traces at the top level: one session at a time"
[ -e $T/set_graph_function ] || skip "no set_graph_function"
mkdir $T/instances/probe || fail "no instance"
[ -e $T/instances/probe/set_graph_function ] || { rmdir $T/instances/probe; skip "instances have no set_graph_function"; }
rmdir $T/instances/probe

# All three begin before the first one ends.
perf ftrace trace --inherit -m 8M -G $F --graph-opts depth=1 -- calls 3 20 50 >"$W/one" 2>&1 &
perf ftrace trace --inherit -m 8M -G do_nanosleep --graph-opts thresh=10000 -- calls 3 20 50 >"$W/two" 2>&1 &
perf ftrace latency -a -T $F -- calls 3 20 50 >"$W/three" 2>&1 &
for ((i = 0; i < 20; i++)); do
	at_once=$(sessions)
	[ "$at_once" -lt 3 ] || break
	sleep .1
done
wait
same "sessions at once" "$at_once" 3
for s in one two three; do sed -n 1,8p "$W/$s"; done
same "graphs of $F in one" "$(grep -cE "\\|  $F\\(\\)" "$W/one")" $n
same "calls of other functions in one" "$(grep -E '\(\)' "$W/one" | grep -vc "$F()")" 0
must "graphs of do_nanosleep in two" [ "$(grep -cE '\} /\* do_nanosleep' "$W/two")" -ge $n ]
same "calls of $F in two" "$(grep -c "$F" "$W/two")" 0
# Of all tasks, but those of the other sessions may go on when it ends.
must "calls of $F in three" [ "$(awk -F '|' '/ - .*\|/ { n += $2 } END { print n + 0 }' "$W/three")" -ge $n ]
same "instances that are left" "$(find $T/instances -mindepth 1 -maxdepth 1 | wc -l)" 0
verdict "$n calls in each of three sessions at once, none in another's"
