#!/bin/bash
# client: perf
# shows: `perf probe 'FUNC%return $retval'`, `record -g` on it while function_graph hooks the same calls: real callers
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(perf --version | sed 's/^perf version //')"
n=60
case $(uname -m) in
x86_64) sys=__x64_sys_ ;;
*) sys=__arm64_sys_ ;;
esac

for f in $F do_nanosleep; do
	# shellcheck disable=SC2016
	perf probe -f --add "$f%return "'$retval' >"$W/add" 2>&1 || { cat "$W/add"; fail "perf probe $f%return"; }
done
perf probe -l >"$W/list" 2>&1
cat "$W/list"
same "probes listed" "$(grep -c '__return .*%return with' "$W/list")" 2

graph $F do_nanosleep || fail "function_graph"
perf record -q -g --kernel-callchains -o "$W/data" -e "probe:${F}__return" -e probe:do_nanosleep__return \
	calls 3 20 5 >"$W/record" 2>&1 || { cat "$W/record"; fail "perf record"; }
echo nop >$T/current_tracer
perf script -i "$W/data" -F comm,event,trace,ip,sym >"$W/script" 2>"$W/err" || { cat "$W/err"; fail "perf script"; }
sed -n 1,24p "$W/script"

# Make one line of each sample: the event, its value, then the callers, innermost first.
awk '/^[^ \t].*probe:/ || /^ *calls .*probe:/ {
		if (s != "") print s
		match($0, /probe:[a-z_]*/); s = substr($0, RSTART, RLENGTH)
		if (match($0, /arg1=[0-9a-fx]*/)) s = s " " substr($0, RSTART, RLENGTH)
		s = s ":"
		next }
	NF { s = s " " $2 }
	END { print s }' "$W/script" >"$W/chains"
sort "$W/chains" | uniq -c
same "returns of $F" "$(grep -c "^probe:${F}__return" "$W/chains")" $n
same "returns of do_nanosleep" "$(grep -c '^probe:do_nanosleep__return' "$W/chains")" $n
same "values" "$(grep -c 'arg1=\(0x\)\?0:' "$W/chains")" $((2 * n))
same "chains with a name that is not there" "$(grep -c 'unknown' "$W/chains")" 0
same "chains with a trampoline" "$(grep -ciE 'fgraph|rethook|return_to_handler|trampoline' "$W/chains")" 0
same "$F from its real caller" "$(grep "^probe:${F}__return" "$W/chains" | grep -cE "(common_nsleep )?${sys}(clock_)?nanosleep ")" $n
same "do_nanosleep from its real caller" "$(grep '^probe:do_nanosleep__return' "$W/chains" | grep -cE " $F (common_nsleep )?${sys}(clock_)?nanosleep ")" $n
perf probe -q -d 'probe:*' >/dev/null 2>&1
verdict "$((2 * n)) returns, each with its value and its callers"
