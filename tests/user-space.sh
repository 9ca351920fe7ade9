#!/bin/bash
# The core of fgraph in user space, interrupted at every instruction, and random
# sequences against a model: the quick part of tools/testing/fgraph in the tree.
# For arm64 under qemu-user, if that is there.
#
# With an argument, that target of its Makefile instead: "user-space.sh bench".
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../scripts/common.sh"
locate
tests=$SRC/tools/testing/fgraph
[ -f "$tests/Makefile" ] || { echo "$SRC has no tools/testing/fgraph"; exit 4; }
make=(make -s -C "$tests" O="$BUILD/user-space" CORPUS="$ROOT/tests/corpus")
if [ $# -gt 0 ]; then
	"${make[@]}" "$@"
	exit
fi
# Limits of CPU time end what runs too long; this one is for what waits for ever.
make=(timeout 3600 "${make[@]}")
"${make[@]}" run
if command -v qemu-aarch64 aarch64-linux-gnu-gcc >/dev/null; then
	"${make[@]}" CROSS=aarch64-linux-gnu- trap | sed 's/^\(not \)*ok [0-9]* /&arm64: /'
else
	echo "ok arm64 # SKIP no qemu-aarch64 or no aarch64-linux-gnu-gcc"
fi
