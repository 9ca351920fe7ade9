#!/bin/bash
# client: libbpf
# shows: `kprobe.multi` and `kretprobe.multi` on hundreds of functions with function_graph on the same: function, cookie and stack id of every call
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

n=600
case $(uname -m) in
x86_64) sys=__x64_sys_ ;;
*) sys=__arm64_sys_ ;;
esac
{
	printf '%s\n' $F do_nanosleep common_nsleep
	# Leave out names that several functions have.
	awk -v s="^$sys" '$1 ~ s { print $1 }' $T/available_filter_functions |
		grep -vE '_(exit|exit_group|rt_sigreturn)$' | sort | uniq -u | head -n 450
} >"$W/list"
nr=$(wc -l <"$W/list")
graph $F do_nanosleep common_nsleep "${sys}getpgid" || fail "function_graph"
echo 0 >$T/tracing_on
kprobe_multi "$HERE/kprobe_multi.bpf.o" "$W/list" $n 15000 >"$W/out" 2>&1
rc=$?
version "$(sed -n 's/^libbpf v*//p' "$W/out")"
grep -v '^stack .*sys_' "$W/out" | tail -n 30
grep 'stack.* do_nanosleep ' "$W/out"
if [ $rc != 0 ]; then
	! grep -q 'Operation not supported' "$W/out" || skip "no fprobe, so no kprobe.multi in this kernel"
	fail "kprobe_multi: status $rc: $(tail -n 1 "$W/out")"
fi
must "hundreds of functions" [ "$nr" -ge 300 ]
same "functions attached" "$(sed -n 's/^attached to \([0-9]*\) .*/\1/p' "$W/out")" "$nr"
same "wrong functions, cookies, stack ids" "$(grep '^bad ip' "$W/out")" "bad ip 0, bad cookie 0, no stack id 0"
hits() { awk -v f="$1" '$1 == "func" && $2 == f { print $3, $4 }' "$W/out"; }
same "$F" "$(hits $F)" "$n $n"
same "do_nanosleep" "$(hits do_nanosleep)" "$n $n"
same "${sys}getpgid" "$(hits ${sys}getpgid)" "$((20 * n)) $((20 * n))"
same "functions with more entries than returns or less" "$(awk '$1 == "func" && $3 != $4' "$W/out" | xargs)" ""
# A stack begins with the function at entry, and with its caller at return.
chain() { awk -v w="$1" -v f="$2" -v re="$3" '$1 == "stack" && $2 == w && $3 == f {
	split($0, a, ": "); if ((a[2] " ") ~ re) n += $4 } END { print n + 0 }' "$W/out"; }
callers="(common_nsleep )?${sys}(clock_)?nanosleep "
# On arm64 a stack at entry lacks the caller: its address is still in the LR, which the
# unwinder of 6.1 does not use.
[ "$(uname -m)" = aarch64 ] && direct= || direct="$F "
same "do_nanosleep entered from its real callers" \
	"$(chain entry do_nanosleep "^do_nanosleep $direct$callers")" $n
callers="$F $callers"
same "do_nanosleep returned to its real callers" "$(chain return do_nanosleep "^(do_nanosleep )?$callers")" $n
same "$F returned to its real callers" "$(chain return $F "^($F )?(common_nsleep )?${sys}(clock_)?nanosleep ")" $n
same "stacks with a trampoline" "$(grep '^stack' "$W/out" | grep -ciE 'fgraph|rethook|return_to_handler|trampoline|unknown')" 0
verdict "$nr functions, $n tasks asleep in three of them, nothing lost"
