#!/bin/bash
# client: samples/fgraph
# shows: fgraph_example, which keeps a path's name and a size, while function_graph, a kretprobe and 100 sleepers are on its function
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

version "$(uname -r)"
modinfo fgraph_example >/dev/null 2>&1 || skip "this kernel has no samples/fgraph"
n=100
F=vfs_read
# Print how many readers sleep in a FIFO.
sleepers() {
	local p comm wchan count=0
	for p in /proc/[0-9]*; do
		comm='' wchan=''
		{ read -r comm <"$p/comm"; read -r wchan <"$p/wchan"; } 2>/dev/null
		[[ $comm != head || $wchan != *pipe_read ]] || count=$((count + 1))
	done
	echo "$count"
}

mkfifo "$W/fgraph-fifo" || fail "no FIFO"
exec 7<>"$W/fgraph-fifo"
mark
retprobe cl_ret $F || fail "no return probe on $F"
graph $F || fail "no function_graph on $F"
load fgraph_example symbol=$F file=fgraph-fifo report=2 || fail "cannot load"
users=$(grep "^$F " $T/enabled_functions)
for ((i = 0; i < n; i++)); do
	head -c 4 <"$W/fgraph-fifo" >"$W/read.$i" 7>&- &
done
# All readers are asleep in the hooked call before the first of them gets anything.
for ((i = 0; i < 300; i++)); do
	asleep=$(sleepers)
	[ "$asleep" -lt $n ] || break
	sleep 0.2
done
printf 'four%.0s' $(seq $n) >&7
wait
unload fgraph_example || fail "cannot unload"
since >"$W/log"
cat "$W/log"
same "readers asleep at once" "$asleep" $n
same "readers that got their bytes" "$(cat "$W"/read.* | grep -o four | wc -l)" $n
same "reports with the path's name, the size and what was read" \
	"$(grep -cE "$F\(fgraph-fifo, 4\) = 4, returns to [a-z_0-9]*sys_read\+" "$W/log")" 2
same "calls" "$(sed -n "s/.*$F: \\([0-9]*\\) calls, .* \\([0-9]*\\) missed/\\1 \\2/p" "$W/log")" "$n 0"
same "the return probe's misses" "$(probe_profile cl_ret | cut -d ' ' -f 2)" 0
same "users in enabled_functions" \
	"$(grep -oE '\{(kretprobe cl_ret|tracer function_graph|(other|fprobe) fgraph_example)\}' <<<"$users" | sort -u | wc -l)" 3
# A user of fgraph itself can list the users of a call's frame.
case $users in
*'{other fgraph_example}'*)
	same "reports of one frame with three users" "$(grep -c 'one frame, 3 users' "$W/log")" 2
	same "users named" "$(grep -cE '^ +(kretprobe cl_ret|tracer function_graph|other fgraph_example)$' "$W/log")" 6
	;;
esac
verdict "$n calls of sleepers, none missed, each with the path and the size of its entry"
