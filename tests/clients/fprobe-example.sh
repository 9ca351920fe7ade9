#!/bin/bash
# client: samples/fprobe
# shows: fprobe_example by name, list and wildcard, with and without stacks
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(uname -r)"
modinfo fprobe_example >/dev/null 2>&1 || skip "no fprobe in this kernel"
n=20
case $(uname -m) in
x86_64) sys=__x64_sys_ ;;
*) sys=__arm64_sys_ ;;
esac

mark
load fprobe_example symbol=$F || fail "cannot load"
calls 1 $n 2
unload fprobe_example || fail "cannot unload"
since >"$W/log"
sed -n 1,16p "$W/log"
tail -n 1 "$W/log"
same "entries" "$(grep -c "sample_entry_handler: Enter <$F+0x0/\|sample_entry_handler: Enter <$F+0x4/" "$W/log")" $n
same "returns" "$(grep -c "sample_exit_handler: Return from <$F+0x[04]/.* to rip = .*nanosleep\|sample_exit_handler: Return from <$F+0x[04]/.* to rip = .*common_nsleep" "$W/log")" $n
must "$((2 * n)) hits, none missed" grep -q "fprobe at $F unregistered. $((2 * n)) times hit, 0 times missed" "$W/log"
# The stack trace of each hit must go on with the real caller. That of a return handler
# begins with the trampoline that called the handler, which is no caller of the function.
same "stacks with the caller" "$(grep -cE "^ *${sys}(clock_)?nanosleep\\+0x" "$W/log")" $((2 * n))
same "stacks with a trampoline for a caller" "$(awk '
	/Return from/ { inner = 1; next }
	/Enter/ { inner = 0 }
	/rethook_trampoline\+|return_to_handler|fgraph_trampoline/ && inner-- <= 0' "$W/log" | wc -l)" 0

for symbol in "$F,do_nanosleep" 'hrtimer_nanosl*'; do
	mark
	load fprobe_example symbol="$symbol" stackdump=0 || fail "cannot load with $symbol"
	calls 1 $n 2
	unload fprobe_example || fail "cannot unload"
	since >"$W/log"
	tail -n 1 "$W/log"
	same "$symbol: returns of $F" "$(grep -c "Return from <$F+" "$W/log")" $n
	[ "${symbol#*,}" != do_nanosleep ] ||
		same "$symbol: returns of do_nanosleep" "$(grep -c "Return from <do_nanosleep+.* to rip = .*($F+" "$W/log")" $n
	must "none missed" grep -q 'times hit, 0 times missed' "$W/log"
	same "stacks" "$(grep -cE '^ +[a-z_0-9]+\+0x' "$W/log")" 0
done
verdict "$n calls in three ways, with their real callers"
