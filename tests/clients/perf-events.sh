#!/bin/bash
# client: perf
# shows: `record`, `script` and `stat` on return events with arguments of the entry and durations, by kretprobe and on a function (`f:`)
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(perf --version | sed 's/^perf version //')"
n=60
events() { echo "$*" >>$T/dynamic_events; }

# shellcheck disable=SC2016
grep -q '\$duration' $T/README || skip 'return events have no $duration here, and no arguments of the entry'
# shellcheck disable=SC2016
events 'r:kprobes/cl_ret '$F' mode=$arg2 dur=$duration ret=$retval:s64' || fail "no return event"
# shellcheck disable=SC2016
events 'f:fprobes/cl_fret do_nanosleep%return dur=$duration mode=$arg2' || fail "no event on a function"
perf record -q -o "$W/data" -e kprobes:cl_ret -e fprobes:cl_fret calls 3 20 5 >"$W/record" 2>&1 ||
	{ cat "$W/record"; fail "perf record"; }
perf script -i "$W/data" -F comm,event,trace >"$W/script" 2>"$W/err" || { cat "$W/err"; fail "perf script"; }
sed -n 1,6p "$W/script"
# durations EVENT: how many there are of 5 ms, which the calls sleep, to a minute
durations() {
	sed -n "s/^ *calls .*$1: .* dur=\([0-9]*\).*/\1/p" "$W/script" |
		awk '$1 >= 5000000 && $1 < 60000000000' | wc -l
}
same "returns with a duration" "$(durations kprobes:cl_ret)" $n
same "returns of a function with a duration" "$(durations fprobes:cl_fret)" $n
same "values" "$(grep -c 'cl_ret: .* mode=\(0x\)\?1 dur=[0-9]* ret=0$' "$W/script")" $n

perf stat -x, -e kprobes:cl_ret,fprobes:cl_fret -- calls 3 20 5 >"$W/stat" 2>&1 || { cat "$W/stat"; fail "perf stat"; }
cat "$W/stat"
same "counted returns" "$(awk -F, '$3 == "kprobes:cl_ret" { print $1 }' "$W/stat")" $n
same "counted returns of a function" "$(awk -F, '$3 == "fprobes:cl_fret" { print $1 }' "$W/stat")" $n

same "returns that were missed" "$(probe_profile cl_ret | cut -d ' ' -f 2)" 0

# Linux 7.3 has no events of functions in kprobe_profile, and refuses a BPF program that perf's
# system call attaches to one, with and without the series.
if [[ $(uname -r) = 6.1.* ]]; then
	bpf_event "$HERE/bpf_event.bpf.o" $T/events/fprobes/cl_fret/id calls 3 20 5 >"$W/bpf" 2>&1 ||
		{ cat "$W/bpf"; fail "bpf_event"; }
	cat "$W/bpf"
	same "runs of a BPF program on the event" "$(sed -n 's/^runs \([0-9]*\).*/\1/p' "$W/bpf")" $n
	same "returns of a function that were missed" "$(probe_profile cl_fret | cut -d ' ' -f 2)" 0
fi
verdict "$n returns by each, with durations"
