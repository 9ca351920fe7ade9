#!/bin/bash
# suite: perf test: probes, records, ftrace, BPF, unwinding
# packages: linux-perf gcc libc6-dev
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# "perf test" without those that measure or need hardware: all of them is too long without KVM.
run() {
	local word
	for word in vmlinux 'syscall' sched 'event' probe ftrace record BPF unwind stack trace kallsyms bpf; do
		timeout -k 10 600 perf test "$word" 2>&1
	done >/tmp/out
	sed 's/^/  /' /tmp/out
	# " 5: NAME     : Ok", and with parts " 5.1: NAME : Ok"
	sed -nE 's/^ *[0-9]+(\.[0-9]+)?: (.*[^ ]) *: *(Ok|FAILED!|Skip.*)$/\3\t\2/p' /tmp/out | sort -u |
		while IFS=$'\t' read -r result name; do
			case $result in
			Ok) ok "$name" ;;
			Skip*) skip "$name" "perf says: $result" ;;
			*) not_ok "$name" ;;
			esac
		done
}
suite "$@"
