#!/bin/bash
# Check the ways to hook a call that make bench NATIVE=1 measures, without measuring them: that
# users see the arguments and return values, and that the shadow stack is empty afterwards.
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../../scripts/common.sh"
locate
[ "$(uname -m)" = x86_64 ] || { echo "the bench is for x86_64"; exit 4; }
[ -f "$SRC/tools/testing/fgraph/Makefile" ] || { echo "$SRC has no tools/testing/fgraph"; exit 4; }
make -s -C "$ROOT/tests/bench/native" T="$SRC" O="$BUILD/native" >&2
n=0 bad=0
for ret in plain thunk srso; do
	n=$((n + 1)) not=
	"$BUILD/native/$ret" 0 || not='not ' bad=1
	echo "${not}ok $n - $ret"
done
exit "$bad"
