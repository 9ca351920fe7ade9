#!/bin/bash
# client: bpftool
# shows: `bpftool link` of Debian 13: the functions, cookies and misses of `kprobe.multi`, `kretprobe.multi` and `kprobe.session`, the function, offset and cookie of perf links
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(bpftool version | sed -n 's/^bpftool v//p')"
kprobe_links 'bpftool link show' >"$W/out" 2>&1
rc=$?
cat "$W/out"
[ $rc != 4 ] || skip "Linux $(uname -r | cut -d. -f1,2) has no kprobe.session"
[ $rc = 0 ] || fail "bpftool link: status $rc: $(tail -n 1 "$W/out")"

# Prints functions in the order of their addresses, with their cookies in hexadecimal.
by_address() {
	awk -v cookies='schedule b do_nanosleep 16 hrtimer_nanosleep 21' '
		BEGIN { for (n = split(cookies, of, " "); n > 1; n -= 2) cookie[of[n - 1]] = of[n] }
		$3 in cookie { print $1, cookie[$3], $3 }' /proc/kallsyms | sort | cut -d" " -f2-
}
# links KIND: prints what is said of the links of a kind, with addresses left out
links() {
	awk -v kind="$1" '
		/^[0-9]+: / { is = 0; next }
		$1 == kind { is = 1; sub(/^[ \t]+/, ""); gsub(/ +/, " "); print; next }
		is && $1 ~ /^ffff/ { print $2, $3 }' "$W/out" | sed 's/ $//'
}
all=$(by_address)
same "kprobe.multi and kprobe.session" "$(links kprobe.multi)" "kprobe.multi func_cnt 3
$all
kprobe.multi func_cnt 3
$all"
same "kretprobe.multi" "$(links kretprobe.multi)" "kretprobe.multi func_cnt 3
$(awk '{ print 0, $2 }' <<<"$all")"
same "a perf link at a kprobe" "$(grep -c '^	kprobe ffff[0-9a-f]* *schedule *cookie 44' "$W/out")" 1
same "a perf link at a kretprobe" "$(grep -c '^	kretprobe ffff[0-9a-f]* *schedule *cookie 55' "$W/out")" 1
verdict "$(grep -c '^[0-9]*: ' "$W/out") links"
