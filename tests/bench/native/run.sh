#!/bin/bash
# Measure what a hooked call costs in nanoseconds, on this machine's own CPU: make bench NATIVE=1.
# The core of the tree, its trampolines and its stubs, which do not replace the return address, are
# compiled in user space. docs/native.md says what the rows and columns are.
#
# Prints the medians of RUNS=9 runs, each of which takes the minimum of ROUNDS=100, and writes them
# to build/native-BASE.csv. KEEP=1 writes the ratios to docs/results.md. Nothing else should run
# meanwhile; minimum and median remove most of what does.
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../../../scripts/common.sh"
[ "$(uname -m)/$ARCH" = x86_64/x86_64 ] || die "NATIVE=1: it measures x86_64, on an x86_64 machine"
runs=${RUNS:-9} rounds=${ROUNDS:-100}
[ -n "$TREE" ] || "$ROOT/scripts/tree"
locate
[ -f "$SRC/kernel/trace/fgraph_stack.h" ] || die "${SRC#"$ROOT/"} does not have the series"

[ -f "$SRC/kernel/trace/fgraph_stubs.c" ] || say "$BASE has no stubs: their columns are empty"

out=$BUILD/native
mkdir -p "$BUILD/log"
say "compiling the core of ${SRC#"$ROOT/"} (log: ${BUILD#"$ROOT/"}/log/native.log)"
make -C "$ROOT/tests/bench/native" T="$SRC" O="$out" >"$BUILD/log/native.log" 2>&1 ||
	{ tail -n 20 "$BUILD/log/native.log" >&2; die "it does not compile"; }

field() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1; }
cpu="$(field 'model name'), family $(field 'cpu family') model $(field model)"
say "measuring on $cpu; load $(cut -d ' ' -f 1 /proc/loadavg) before"
for ((i = 0; i < runs; i++)); do
	for ret in plain thunk srso; do
		"$out/$ret" "$rounds" || die "$ret: a user was told something wrong"
	done
done >"$out/runs"

# Each run gives one ratio; the median of these is not the ratio of the medians.
csv=$BUILD/native-$BASE.csv
{
	echo "# $cpu"
	awk '
	function median(list,   v, n, i, j, x) {
		n = split(list, v, " ")
		for (i = 2; i <= n; i++) {
			x = v[i] + 0
			for (j = i - 1; j > 0 && v[j] + 0 > x; j--)
				v[j + 1] = v[j]
			v[j + 1] = x
		}
		return v[int((n + 1) / 2)]
	}
	{
		key = $1 "," $2 "," $3 "," $4 "," $5
		if (!(key in seen)) {
			seen[key]
			order[++rows] = key
		}
		ns[key, $6] = ns[key, $6] " " $7
		now[key, $6] = $7
		instructions[key, $6] = $8
		if ($6 == "stub" || $6 == "jmp")
			ratio[key, $6] = ratio[key, $6] " " $7 / now[key, "hijack"]
		if ($6 == "floor" && (key, "stub") in now)
			ratio[key, $6] = ratio[key, $6] " " now[key, "stub"] / $7
	}
	function figure(format, list) { return list == "" ? "-" : sprintf(format, median(list)) }
	END {
		print "ret,loop,depth,kind,users,hijack,jmp,stub,floor,C-hijack,C-stub,stub/hijack,stub/floor,jmp/hijack,i-hijack,i-stub"
		for (i = 1; i <= rows; i++) {
			k = order[i]
			printf "%s", k
			n = split("hijack jmp stub floor C-hijack C-stub", way, " ")
			for (w = 1; w <= n; w++)
				printf ",%s", figure("%.1f", ns[k, way[w]])
			printf ",%s,%s,%s", figure("%.2f", ratio[k, "stub"]),
				figure("%.1f", ratio[k, "floor"]), figure("%.2f", ratio[k, "jmp"])
			printf ",%s,%s\n", figure("%d", instructions[k, "hijack"]),
				figure("%d", instructions[k, "stub"])
		}
	}' "$out/runs"
} >"$csv"

echo "Nanoseconds above a call that is not hooked, on $cpu."
echo "C-*: of the C code alone; i-*: instructions above a call that is not hooked."
sed 1d "$csv" | column -t -s ,
say "figures: ${csv#"$ROOT/"}"
[ -z "${KEEP:-}" ] || "$ROOT/scripts/results" native "$csv"
