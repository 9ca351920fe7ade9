#!/bin/bash
# suite: the kernel's tests of livepatch, with their modules
# packages: gcc make kmod
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# Debian does not build the modules, so they are built against the headers of each kernel.
# Linux 6.1 has the modules in lib/livepatch and loads them by name, 7.3 has them beside the tests.
tests=linux/tools/testing/selftests/livepatch

build() {
	local dir kernel modules=linux/lib/livepatch
	[ -d $modules ] || modules=$tests/test_modules
	for dir in /lib/modules/*/build; do
		kernel=$(basename "${dir%/build}")
		make -C "$dir" M="$PWD/$modules" CONFIG_TEST_LIVEPATCH=m modules || return
		if [ $modules = linux/lib/livepatch ]; then
			make -C "$dir" M="$PWD/$modules" CONFIG_TEST_LIVEPATCH=m INSTALL_MOD_DIR=updates modules_install || return
			depmod "$kernel"
		else
			mkdir "$tests/$kernel" && cp $modules/*.ko "$tests/$kernel/" || return
		fi
		make -C "$dir" M="$PWD/$modules" clean || return
	done
	[ $modules = linux/lib/livepatch ] || gcc -o $tests/test_klp-call_getpid $tests/test_klp-call_getpid.c
}

run() {
	local t
	cd $tests || return
	[ ! -d "$(uname -r)" ] || cp "$(uname -r)"/*.ko test_modules/
	for t in test-*.sh; do
		check "$t" timeout 600 bash "./$t"
	done
}
suite "$@"
