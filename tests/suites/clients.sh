#!/bin/bash
# suite: this project's tests of trace-cmd, perf, bpftrace, libbpf
# packages: trace-cmd linux-perf bpftrace libbpf-dev clang gcc libc6-dev make
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

build() {
	make -C clients
}

run() {
	local t last rc
	for t in clients/*.sh; do
		[ "$t" != clients/lib.sh ] || continue
		# Debian builds no samples.
		! grep -q 'load [a-z_]*example\|load [a-z_-]*sample\|load ftrace' "$t" ||
			{ skip "${t##*/}" "it needs a module of samples/, and Debian builds none"; continue; }
		timeout 600 bash "$t" >/tmp/out 2>&1
		rc=$?
		sed 's/^/  /' /tmp/out
		last=$(tail -n 1 /tmp/out)
		case $rc in
		0) ok "${t##*/}" ;;
		4) skip "${t##*/}" "${last#SKIP }" ;;
		*) not_ok "${t##*/}" "status $rc: $last" ;;
		esac
	done
}
suite "$@"
