#!/bin/bash
# Run the quick tests of tools/testing/fgraph of the tree: the core of fgraph in user
# space, interrupted at every instruction, and random sequences compared with a model.
# For arm64 they run under qemu-user, if that is installed.
#
# With an argument, run that target of its Makefile instead: "user-space.sh fuzz".
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../../scripts/common.sh"
locate
tests=$SRC/tools/testing/fgraph
[ -f "$tests/Makefile" ] || { echo "$SRC has no tools/testing/fgraph"; exit 4; }
make=(make -s -C "$tests" O="$BUILD/user-space" CORPUS="$ROOT/tests/corpus")
if [ $# -gt 0 ]; then
	"${make[@]}" "$@"
	exit
fi
# A test that computes too long is ended by a limit of CPU time, one that hangs by this.
make=(timeout 3600 "${make[@]}")
"${make[@]}" run
if command -v qemu-aarch64 aarch64-linux-gnu-gcc >/dev/null; then
	"${make[@]}" CROSS=aarch64-linux-gnu- order trap | sed 's/^\(not \)*ok [0-9]* /&arm64: /'
else
	echo "ok arm64 # SKIP no qemu-aarch64 or no aarch64-linux-gnu-gcc"
fi
