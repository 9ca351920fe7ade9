#!/bin/bash
# client: bpftrace
# shows: `kfunc`/`kretfunc` (BPF trampoline), function_graph, a kretprobe event and an fprobe on one function: each sees every call
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(bpftrace --version | sed 's/^bpftrace v*//')"
lacks_on_arm64 6.1 "BPF trampolines"
n=100

mark
load fprobe_example symbol=$F stackdump=0 || fail "no fprobe on $F"
retprobe cl_ret $F || fail "no return probe on $F"
graph $F || fail "no function_graph on $F"
bpftrace -c "$HERE/calls 1 $n 2" -e '
	kfunc:hrtimer_nanosleep /comm == "calls"/ { @entered = count(); @start[tid] = 1; }
	kretfunc:hrtimer_nanosleep /comm == "calls"/ { @returned = count(); @value[retval] = count(); }
	kretfunc:hrtimer_nanosleep /@start[tid]/ { @paired = count(); delete(@start[tid]); }
	END { clear(@start); }' >"$W/out" 2>&1 || { cat "$W/out"; fail "bpftrace"; }
echo 0 >$T/tracing_on
cat "$W/out"
[ ! -e $T/fgraph_users ] || cat $T/fgraph_users
value() { sed -n "s/^@$1: //p" "$W/out"; }
same "kfunc" "$(value entered)" $n
same "kretfunc" "$(value returned)" $n
same "pairs" "$(value paired)" $n
same "kretfunc with 0" "$(value 'value\[0\]')" $n
same "kretprobe's hits and misses" "$(probe_profile cl_ret)" "$n 0"
trace-cmd extract -o "$W/dat" >/dev/null 2>&1
trace-cmd report "$W/dat" 2>/dev/null >"$W/report"
same "function_graph's entries" "$(lines "$W/report" calls funcgraph_entry)" $n
same "kretprobe events" "$(lines "$W/report" calls cl_ret:)" $n
unload fprobe_example
since | tail -n 1
same "fprobe's entries" "$(since | grep -c "Enter <$F")" $n
same "fprobe's returns" "$(since | grep -c "Return from <$F")" $n
must "fprobe missed nothing" grep -q "$((2 * n)) times hit, 0 times missed" <(since)
verdict "$n calls, reported by each of the four"
