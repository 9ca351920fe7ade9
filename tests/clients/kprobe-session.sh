#!/bin/bash
# client: libbpf
# shows: `kprobe.session`, which refuses half of the calls, on two functions that call each other, with function_graph and a kretprobe on them: each return has the cookie of its entry
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

n=400
graph $F do_nanosleep || fail "function_graph"
echo 0 >$T/tracing_on
retprobe session $F || fail "the return event"
kprobe_session "$HERE/kprobe_session.bpf.o" "$HERE/calls $n 2 5000" $F do_nanosleep >"$W/out" 2>&1
rc=$?
version "$(sed -n 's/^libbpf v*//p' "$W/out")"
tail -n 30 "$W/out"
if [ $rc != 0 ]; then
	grep -q ' bpf_session_cookie$' /proc/kallsyms ||
		skip "Linux $(uname -r | cut -d. -f1,2) has no kprobe.session"
	fail "kprobe_session: status $rc: $(tail -n 1 "$W/out")"
fi
value() { sed -n "s/^$1 //p" "$W/out"; }
same "entries" "$(value entries)" $((4 * n))
must "some calls are refused" [ "$(value refused)" -gt 0 ]
same "returns" "$(value returns)" "$((4 * n - $(value refused)))"
same "returns without the cookie of their entry" "$(value wrong)" 0
hits=$(probe_profile session)
must "the event sees all calls of $F" [ "${hits% *}" -ge $((2 * n)) ]
same "misses of the event" "${hits#* }" 0
verdict "$(value entries) entries, $(value refused) refused, $(value returns) returns"
