#!/bin/bash
# suite: the kernel's own tests of ftrace, without those of this project
# packages: gcc libc6-dev make
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

run() {
	local n result name where
	cd linux/tools/testing/selftests/ftrace || return
	# shellcheck disable=SC2046
	timeout 3000 ./ftracetest -k -l /tmp/logs $(find test.d -name '*.tc' -not -path 'test.d/fgraph/*' | sort) |
		sed 's/\x1b\[[0-9;]*m//g' >/tmp/out
	sed 's/^/  /' /tmp/out
	sed -nE 's/^\[([0-9]+)\] *(.*[^\t ])[\t ]*\[([A-Z]+)\]$/\1\t\3\t\2/p' /tmp/out |
		while IFS=$'\t' read -r n result name; do
			where=$(sed -n '1s|^execute.*: .*test\.d/||p' /tmp/logs/"$n"-*-log.* | head -n 1)
			case $result in
			PASS) ok "${where:-$name}" ;;
			FAIL) not_ok "${where:-$name}" ;;
			*) skip "${where:-$name}" "$result" ;;
			esac
		done
}
suite "$@"
