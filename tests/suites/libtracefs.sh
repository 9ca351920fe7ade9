#!/bin/bash
# suite: libtracefs: its unit tests
# packages: gcc make pkg-config dpkg-dev libcunit1-dev libtraceevent-dev bison flex
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

build() {
	source_of libtracefs && make -C libtracefs && make -C libtracefs test
}

run() {
	cunit libtracefs/utest/trace-utest
	# Failed once in one run: TIMES says how often it runs.
	local i
	for ((i = 1; i <= ${TIMES:-0}; i++)); do
		cunit libtracefs/utest/trace-utest | grep 'Follow events clear' | sed "s/clear/clear, $i/"
	done
}
suite "$@"
