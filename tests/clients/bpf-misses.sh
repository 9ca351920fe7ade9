#!/bin/bash
# client: libbpf
# shows: BPF programs that are skipped, as another BPF program called their function: counted in `recursion_misses` and in fgraph_users
# shellcheck source=tests/clients/lib.sh
. "$(dirname "$0")/lib.sh"

n=200
[ -e $T/fgraph_users ] || skip "this kernel does not count them"
bpf_misses "$HERE/bpf_misses.bpf.o" $F $n >"$W/out" 2>&1
rc=$?
version "$(sed -n 's/^libbpf v*//p' "$W/out")"
cat "$W/out"
if [ $rc != 0 ]; then
	! grep -q 'Operation not supported' "$W/out" || skip "no fprobe, so no kprobe.multi in this kernel"
	fail "bpf_misses: status $rc: $(tail -n 1 "$W/out")"
fi
runs() { sed -nE "s/^$1: ran ([0-9]+),.*/\1/p" "$W/out"; }
misses() { sed -nE "s/^$1: .*recursion_misses ([0-9]+)$/\1/p" "$W/out"; }
# Other tasks may call nanosleep() meanwhile, so there may be more calls.
must "$n runs of the outer program" [ "$(runs outer)" -ge $n ]
same "its misses" "$(misses outer)" 0
for p in multi event; do
	same "$p, runs" "$(runs $p)" 0
	must "$p: at least $n misses" [ "$(misses $p)" -ge $n ]
done
busy() { awk -v kind="$1" -v name="$2" '/^#/ { for (i = 2; i <= NF; i++) if ($i == "bpf_busy") c = i - 1 }
	$2 == kind && $3 == name && $c > n { n = $c } END { print n + 0 }' "$W/out"; }
same "fgraph_users of kprobe.multi" "$(busy fprobe multi)" "$(misses multi)"
same "fgraph_users of the event" "$(busy kretprobe htab_map_update_elem)" "$(misses event)"
verdict "$(misses multi) runs were skipped, and all of them counted"
