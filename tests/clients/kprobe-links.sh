#!/bin/bash
# client: libbpf
# shows: `BPF_OBJ_GET_INFO_BY_FD` of `kprobe.multi`, `kprobe.session` and perf links: functions, cookies, flags; fdinfo; functions of modules, which stay loaded; attach types and results that are refused
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

load test_fgraph
kprobe_links >"$W/out" 2>&1
rc=$?
cat "$W/out"
[ $rc != 4 ] || skip "Linux $(uname -r | cut -d. -f1,2) has no kprobe.session"
[ $rc = 0 ] || fail "kprobe_links: status $rc: $(tail -n 1 "$W/out")"
same "checks that failed" "$(sed -n 's/^bad //p' "$W/out")" 0
verdict "$(grep -c '^ok' "$W/out") checks"
