#!/bin/bash
# client: trace-cmd
# shows: `record -p function_graph -g`, `report`, two more buffers (`-B`) at once, and function_graph in two buffers with a filter each
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(trace-cmd 2>&1 | sed -n 's/^trace-cmd version \([0-9.]*\).*/\1/p')"
n=60

# One buffer: each call has an entry and an exit, and so have the calls within it.
trace-cmd record -o "$W/graph.dat" -p function_graph -g $F --max-graph-depth 3 -b 8192 \
	calls 3 20 5 >"$W/record" 2>&1 || { cat "$W/record"; fail "record -p function_graph"; }
trace-cmd report "$W/graph.dat" >"$W/report" 2>"$W/err" || { cat "$W/err"; fail "report"; }
same "overrun" "$(trace-cmd report --stat "$W/graph.dat" 2>/dev/null | awk '/^overrun:|commit overrun:|dropped events:/ { n += $NF } END { print n + 0 }')" 0
same "entries of $F" "$(lines "$W/report" calls "funcgraph_entry: .*\\| +$F\\(\\) \\{")" $n
same "calls of do_nanosleep in it" "$(lines "$W/report" calls 'funcgraph_entry: .*\|    do_nanosleep\(\) \{')" $n
# Each entry that opens a brace must have an exit.
awk 'index($1, "calls-") == 1 && /funcgraph_(entry|exit):/' "$W/report" >"$W/calls"
same "calls that were entered and not left" "$(awk '
	/funcgraph_entry:.*\{$/ { depth[$1]++ }
	/funcgraph_exit:/ { if (--depth[$1] < 0) bad++ }
	END { for (t in depth) bad += depth[t]; print bad + 0 }' "$W/calls")" 0
sed -n 1,12p "$W/report"

# Three buffers, each with another tracer or an event.
trace-cmd record -o "$W/three.dat" -p function_graph -g $F -l $F -l do_nanosleep \
	-B functions -p function -l do_nanosleep -B events -e sched:sched_process_exit \
	calls 3 20 5 >"$W/record" 2>&1 || { cat "$W/record"; fail "record with -B"; }
trace-cmd report "$W/three.dat" >"$W/report" 2>/dev/null || fail "report of three buffers"
sed 's/^ *\(functions\|events\): *//; s/^ *//' "$W/report" >"$W/lines"
same "entries of $F, -B" "$(lines "$W/lines" calls "funcgraph_entry: .*\\| +$F\\(\\) \\{")" $n
same "do_nanosleep in the buffer with function" "$(grep '^ *functions:' "$W/report" | grep -c 'function: *do_nanosleep')" $n
same "exits in the buffer with events" "$(grep '^ *events:' "$W/report" | grep -c 'sched_process_exit:.* comm=calls')" 4
same "graph entries in the other buffers" "$(grep -E '^ *(functions|events):' "$W/report" | grep -c funcgraph)" 0

# Arguments and return values: the fields have the names of the newest kernel, by which trace-cmd
# prints them with -R.
trace-cmd record -o "$W/args.dat" -p function_graph -O funcgraph-args -O funcgraph-retval -l $F \
	-B functions -p function -O func-args -O func-args-strings -l do_nanosleep \
	calls 3 20 5 >"$W/record" 2>&1 || { cat "$W/record"; fail "record with arguments"; }
trace-cmd report "$W/args.dat" >"$W/report" 2>/dev/null || fail "report with arguments"
sed 's/^ *functions: *//; s/^ *//' "$W/report" >"$W/lines"
same "calls of $F with arguments" "$(lines "$W/lines" calls "funcgraph_(entry|exit): .*\\| +$F\\(\\);|funcgraph_entry: .* $F\\(\\) \\{")" $n
same "do_nanosleep with arguments" "$(grep '^ *functions:' "$W/report" | grep -c 'function: *do_nanosleep')" $n
trace-cmd report -R "$W/args.dat" 2>/dev/null >"$W/raw" || :
grep -m 3 'args=\|retval=' "$W/raw"
same "return values by name" "$(grep -c 'funcgraph_exit: .*retval=' "$W/raw")" $n
trace-cmd reset >/dev/null 2>&1

# Each function is described before its first call. Two CPUs that call it at once may both do so.
if [ -e $T/options/funcgraph-protos ]; then
	trace-cmd record -o "$W/protos.dat" -p function_graph -O funcgraph-args -O funcgraph-protos \
		-l $F -l do_nanosleep calls 3 20 5 >"$W/record" 2>&1 || { cat "$W/record"; fail "record with funcgraph-protos"; }
	trace-cmd report "$W/protos.dat" >"$W/report" 2>/dev/null || fail "report with funcgraph-protos"
	grep func_proto: "$W/report"
	grep -o 'func_proto: .*' "$W/report" | sort -u >"$W/protos"
	same "descriptions" "$(wc -l <"$W/protos")" 2
	same "description of $F" "$(grep -c "func_proto: *$F(.*args\[0\]:.*) = retval:s" "$W/protos")" 1
	trace-cmd reset >/dev/null 2>&1
fi

# A call within which nothing is traced is one event, which trace-cmd prints by its fields.
if [ -e $T/options/funcgraph-leaf ]; then
	trace-cmd record -o "$W/leaf.dat" -p function_graph -O funcgraph-leaf -l $F -l do_nanosleep \
		calls 3 20 5 >"$W/record" 2>&1 || { cat "$W/record"; fail "record with funcgraph-leaf"; }
	trace-cmd report "$W/leaf.dat" >"$W/report" 2>/dev/null || fail "report with funcgraph-leaf"
	sed -n 1,6p "$W/report"
	same "leaf: entries of $F" "$(lines "$W/report" calls "funcgraph_entry: .*\\| +$F\\(\\) \\{")" $n
	same "leaf: entries of do_nanosleep" "$(lines "$W/report" calls 'funcgraph_entry: .*do_nanosleep')" 0
	same "leaf: calls of do_nanosleep" "$(lines "$W/report" calls 'funcgraph_leaf: ')" $n
	same "leaf: returns of $F" "$(lines "$W/report" calls 'funcgraph_exit: ')" $n
	trace-cmd reset >/dev/null 2>&1
	echo 0 >$T/options/funcgraph-leaf
fi

# Two graphs at once, with a filter each; of both, only what a's filter has is in a.
if ! mkdir $T/instances/probe || ! grep -qw function_graph $T/instances/probe/available_tracers; then
	rmdir $T/instances/probe
	skip "no function_graph in instances; $n calls of $F and as many of do_nanosleep, each left"
fi
rmdir $T/instances/probe
trace-cmd record -o "$W/two.dat" -B a -p function_graph -l $F -B b -p function_graph -l do_nanosleep \
	calls 3 20 5 >"$W/record" 2>&1 || { cat "$W/record"; fail "record with two graphs"; }
trace-cmd report "$W/two.dat" >"$W/report" 2>/dev/null || fail "report of two graphs"
sed -n 1,12p "$W/report"
graphs() { grep -E "^ *$1: +calls-" "$W/report" | grep -cE "funcgraph_entry: .*\\| +$2\\("; }
same "graphs of $F in a" "$(graphs a $F)" $n
same "graphs of do_nanosleep in b" "$(graphs b do_nanosleep)" $n
same "graphs of b's function in a" "$(graphs a do_nanosleep)" 0
same "graphs of a's function in b" "$(graphs b $F)" 0

# What perf ftrace of 7.x writes: an instance of its own, filters, depth, threshold, pid
# and the tracer, then it reads the pipe.
mkdir $T/instances/perf-ftrace || fail "no instance"
cd $T/instances/perf-ftrace || fail "no instance"
if [ ! -e set_graph_function ]; then
	cd "$W" && rmdir $T/instances/perf-ftrace
	echo "instances have no set_graph_function: nothing that perf ftrace would write there"
	verdict "$n calls of $F and as many of do_nanosleep, each left, by one graph and by two"
fi
echo 0 >tracing_on
for f in set_ftrace_pid set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace; do
	echo >$f || fail "$f"
done
echo 0 >max_graph_depth
echo 0 >tracing_thresh
for o in sleep-time funcgraph-irqs; do echo 1 >options/$o || fail "option $o"; done
echo $F >>set_graph_function
echo 2 >max_graph_depth
echo 1000 >tracing_thresh
echo function_graph >current_tracer || fail "current_tracer"
cat trace_pipe >"$W/pipe" &
reader=$!
echo 1 >tracing_on
calls 3 20 5
echo 0 >tracing_on
sleep 1
kill $reader 2>/dev/null
echo nop >current_tracer 2>/dev/null || { sleep 1; echo nop >current_tracer; }
cd "$W" || fail "$W"
rmdir $T/instances/perf-ftrace || fail "the instance cannot be removed"
sed -n 1,6p "$W/pipe"
# With a threshold only returns are written, of calls that took a millisecond.
must "graphs in the pipe" [ "$(grep -cE "\}? /\* $F" "$W/pipe")" -ge $n ]
same "calls deeper than two" "$(grep -cE '\|      +\}' "$W/pipe")" 0
verdict "$n calls of $F and as many of do_nanosleep, each left, by one graph and by two"
