#!/bin/bash
# client: bpftrace
# shows: `kprobe`/`kretprobe` pairs while 400 tasks sleep in the function: no return lost
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(bpftrace --version | sed 's/^bpftrace v*//')"
n=400

bpftrace -c "$HERE/calls $n 1 15000" -e '
	kprobe:hrtimer_nanosleep /comm == "calls"/ { @entered = count(); @start[tid] = nsecs; }
	kretprobe:hrtimer_nanosleep /comm == "calls"/ { @returned = count(); }
	kretprobe:hrtimer_nanosleep /comm == "calls" && retval == 0/ { @zero = count(); }
	kretprobe:hrtimer_nanosleep /@start[tid]/ { @paired = count(); delete(@start[tid]); }
	END { clear(@start); }' >"$W/out" 2>&1 || { cat "$W/out"; fail "bpftrace"; }
cat "$W/out"
value() { sed -n "s/^@$1: //p" "$W/out"; }
same "entries" "$(value entered)" $n
same "returns" "$(value returned)" $n
same "pairs" "$(value paired)" $n
same "returns with 0" "$(value zero)" $n
verdict "$n entries, $n returns"
