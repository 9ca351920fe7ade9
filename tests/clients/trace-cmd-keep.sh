#!/bin/bash
# client: trace-cmd
# shows: the trees of slow calls alone, which `graph_keep` of an instance chooses (`record -B`, `report`), beside function_graph in the first buffer
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(trace-cmd 2>&1 | sed -n 's/^trace-cmd version \([0-9.]*\).*/\1/p')"
[ -e $T/graph_keep ] || skip "the kernel has no graph_keep"
I=$T/instances/keep
mkdir $I || fail "no instance"
echo 'duration > 250000000' >$I/graph_keep || fail "graph_keep"

# 40 calls of a millisecond, and six that are kept. trace-cmd removes the instance at the end.
trace-cmd record -o "$W/keep.dat" -p function_graph -g $F -l $F -l do_nanosleep \
	-B keep -p function_graph -g $F -l $F -l do_nanosleep \
	bash -c "calls 2 20 1; calls 2 3 300" >"$W/record" 2>&1 || { cat "$W/record"; fail "record"; }
trace-cmd report "$W/keep.dat" >"$W/report" 2>"$W/err" || { cat "$W/err"; fail "report"; }
grep -m 6 '^ *keep:' "$W/report"
# In the first buffer is which calls were slow.
slow=$(sed -n 's/.*funcgraph_exit: .* \([0-9]*\)\.[0-9]* us *|  }.*/\1/p' "$W/report" | awk '$1 > 250000' | wc -l)
# kept KIND FUNCTION DEPTH: how many such events are in the report
kept() { grep -c "^ *keep: .*funcgraph_kept: .*kind: $1 .* $2 ($3) " "$W/report"; }

must "six calls at least are slow" [ "$slow" -ge 6 ]
same "entries of $F" "$(kept 0 $F 0)" "$slow"
same "returns of $F" "$(kept 1 $F 0)" "$slow"
same "calls of do_nanosleep in them" "$(kept 2 do_nanosleep 1)" "$slow"
same "trees of three events in one piece" "$(grep -c "^ *keep: .*funcgraph_tree: .* func: $F events: 3 written: 1 lost: 0 lost_trees: 0" "$W/report")" "$slow"
same "trees by their numbers" "$(sed -n 's/.*funcgraph_kept: *tree: \([0-9]*\) .*/\1/p' "$W/report" | sort -u | wc -l)" "$slow"
# The times of a call are fields, as the event is written after its return.
short=0
while read -r start end; do
	[ $((0x$end - 0x$start)) -gt 250000000 ] || short=$((short + 1))
done < <(sed -n "s/.*funcgraph_kept: .*kind: 1 .* $F (0) (start: \([0-9a-f]*\)  end: \([0-9a-f]*\)).*/\1 \2/p" "$W/report")
same "kept calls that were short" $short 0
same "other events in the buffer" "$(grep '^ *keep:' "$W/report" | grep -vc 'funcgraph_\(kept\|tree\):')" 0
same "entries of $F in the first buffer" "$(lines "$W/report" calls "funcgraph_entry: .*\\| +$F\\(\\) \\{")" 46
same "kept calls in the first buffer" "$(grep -v '^ *keep:' "$W/report" | grep -c funcgraph_kept)" 0
verdict "the trees of $slow slow calls of 46"
