#!/bin/bash
# suite: trace-cmd: its unit tests
# packages: gcc make pkg-config dpkg-dev libcunit1-dev libtraceevent-dev libtracefs-dev libaudit-dev libzstd-dev zlib1g-dev
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

build() {
	source_of trace-cmd && make -C trace-cmd && make -C trace-cmd test
}

run() { cunit trace-cmd/utest/trace-utest; }
suite "$@"
