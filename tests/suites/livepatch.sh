#!/bin/bash
# suite: the kernel's tests of livepatch, with their modules
# packages: gcc make kmod
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# Debian does not build the modules, so they are built against the headers of each kernel.
build() {
	local dir
	for dir in /lib/modules/*/build; do
		make -C "$dir" M="$PWD/linux/lib/livepatch" CONFIG_TEST_LIVEPATCH=m modules &&
			make -C "$dir" M="$PWD/linux/lib/livepatch" CONFIG_TEST_LIVEPATCH=m INSTALL_MOD_DIR=updates modules_install &&
			make -C "$dir" M="$PWD/linux/lib/livepatch" clean || return
	done
	for dir in /lib/modules/*; do
		depmod "${dir##*/}"
	done
}

run() {
	local t
	cd linux/tools/testing/selftests/livepatch || return
	for t in test-*.sh; do
		check "$t" timeout 600 bash "./$t"
	done
}
suite "$@"
