#!/bin/bash
# The core of fgraph in user space, interrupted at every instruction, and random
# sequences against a model: the quick part of tests/user-space, at its place in
# a copy of what it needs of the tree.
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../scripts/common.sh"
locate
[ -f "$SRC/kernel/trace/fgraph_stack.c" ] || { echo "$SRC has no fgraph"; exit 4; }
copy=$BUILD/user-space
rm -rf "$copy"
mkdir -p "$copy"/{kernel,include/linux,tools/testing,arch/x86/include/asm,arch/arm64/include/asm}
cp -r "$SRC/tools/include" "$copy/tools/"
cp -r "$SRC/kernel/trace" "$copy/kernel/"
cp "$SRC/include/linux/fgraph.h" "$copy/include/linux/"
for arch in x86 arm64; do
	cp "$SRC/arch/$arch/include/asm/fgraph.h" "$copy/arch/$arch/include/asm/"
done
cp -r "$ROOT/tests/user-space" "$copy/tools/testing/fgraph"
exec timeout 600 make -C "$copy/tools/testing/fgraph" "${@:-run}"
