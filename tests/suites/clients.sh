#!/bin/bash
# suite: this project's tests of trace-cmd, perf, bpftrace, libbpf
# packages: trace-cmd linux-perf bpftrace libbpf-dev clang gcc libc6-dev
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

build() {
	local p
	cd clients || return
	for p in calls bpf_throw; do
		gcc -O2 -static -o $p $p.c || return
	done
	for p in kprobe_multi kprobe_session bpf_misses bpf_event; do
		gcc -O2 -o $p $p.c -lbpf &&
		clang -O2 -g -target bpf -I"/usr/include/$(gcc -print-multiarch)" -c $p.bpf.c -o $p.bpf.o || return
	done
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
