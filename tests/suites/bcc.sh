#!/bin/bash
# suite: bcc's tools with return probes
# packages: bpfcc-tools
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# tool NAME REGEX COMMAND...: the tool must print a line that matches, and is ended then. It
# compiles for a minute if the machine is busy.
tool() {
	local name=$1 regex=$2 pid
	shift 2
	PYTHONUNBUFFERED=1 timeout -k 10 240 "$@" >/tmp/out 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null && ! grep -qE "$regex" /tmp/out; do
		sleep 1
	done
	kill $pid 2>/dev/null
	wait $pid
	sed 's/^/  /' /tmp/out | head -n 25
	if grep -qE "$regex" /tmp/out; then ok "$name"; else not_ok "$name" "$(tail -n 2 /tmp/out)"; fi
}

# shellcheck disable=SC2016
run() {
	(while sleep 0.3; do cat /etc/passwd; ls /proc; done >/dev/null 2>&1) &
	local load=$!
	(while :; do sleep 0.2; done) &
	load+=" $!"
	tool funclatency '\|\*+' funclatency-bpfcc -d 5 hrtimer_nanosleep
	tool 'funclatency, a pattern' '\|\*+' funclatency-bpfcc -d 5 -F 'vfs_re*'
	tool funcslower 'sleep .*hrtimer_nanosleep' funcslower-bpfcc -m 50 hrtimer_nanosleep
	tool 'trace, a return' 'vfs_read .*[0-9]+' trace-bpfcc -M 10 'r::vfs_read "%d", retval'
	tool 'trace, an argument and a return' 'do_sys_openat2' \
		trace-bpfcc -M 10 'r::do_sys_openat2 "%d", retval' 'p::do_sys_openat2(int dfd, const char *name) "%s", name'
	tool 'argdist, a histogram of returns' '\|\*+' argdist-bpfcc -i 5 -n 1 -H 'r::vfs_read():int:$retval'
	tool 'argdist, latency' '\|\*+' argdist-bpfcc -i 5 -n 1 -H 'r::hrtimer_nanosleep():u64:$latency'
	tool 'argdist, an entry at the return' '\|\*+' \
		argdist-bpfcc -i 5 -n 1 -H 'r::vfs_read(struct file *file, char *buf, size_t count):u64:$entry(count)'
	tool funccount 'vfs_read +[0-9]+' funccount-bpfcc -d 5 vfs_read
	tool vfsstat '[0-9]+ +[0-9]+' vfsstat-bpfcc 2 2
	tool stackcount 'hrtimer_nanosleep' stackcount-bpfcc -D 5 hrtimer_nanosleep
	# shellcheck disable=SC2086
	kill $load
}
suite "$@"
