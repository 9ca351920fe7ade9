#!/bin/bash
# client: samples/kprobes
# shows: kretprobe_example, which asks for 20 instances, with 100 tasks asleep in its function
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(uname -r)"
n=100
mark
load kretprobe_example func=$F || fail "cannot load"
calls $n 1 8000
unload kretprobe_example || fail "cannot unload"
since | tail -n 3
same "returns" "$(since | grep -cE "$F returned 0 and took (8|9|[1-9][0-9])[0-9]{9} ns to execute")" $n
same "missed" "$(since | sed -n 's/.*Missed probing \([0-9]*\) instances.*/\1/p')" 0
verdict "$n returns with the time they took"
