#!/bin/bash
# client: libbpf
# shows: `kprobe.session` and `kretprobe.multi` with what their entry had, without a map: the file name of openat at its return, arguments and durations of 500 sleepers, 4000 bytes for each call, recursion
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

grep -q ' bpf_session_data$' /proc/kallsyms || skip "this kernel has no bpf_session_data()"
session_data "$HERE/session_data.bpf.o" >"$W/out" 2>&1
rc=$?
version "$(sed -n 's/^libbpf v*//p' "$W/out")"
tail -n 40 "$W/out"
[ $rc = 0 ] || fail "session_data: status $rc: $(tail -n 1 "$W/out")"
value() { sed -n "s/^$1 //p" "$W/out"; }
same "files: returns" "$(value files.returns)" "$(value files)"
same "files: name, result, address and time are right" "$(value files.right)" "$(value files)"
same "calls: entries" "$(value calls.entries)" "$(value calls)"
must "calls: some are refused" [ "$(value calls.refused)" -gt 0 ]
same "calls: pairs that are lost" "$(value calls.lost)" 0
same "calls: returns without what their entry had" "$(value calls.wrong)" 0
same "calls: memory that is not zero at first" "$(value calls.not_zero)" 0
same "calls: without memory" "$(value calls.without)" 0
same "sleeps" "$(value sleeps)" 500
same "sleeps: wrong arguments" "$(value sleeps.wrong)" 0
same "sleeps: shorter than asked for" "$(value sleeps.too_short)" 0
same "tail calls: returns" "$(value tails)" 1
same "tail calls: what the first program does not ask for" "$(value tails.wrong)" 0
verdict "$(value calls.returns) returns with their own 4000 bytes, $(value files.right) file names"
