#!/bin/bash
# boot: own APPEND="ftrace=function ftrace_filter=vfs_open trace_options=func-args"
# Arguments of the function tracer from the kernel's command line, where it starts before BTF
# can be parsed.
set -e
cd /sys/kernel/tracing
if [[ $(uname -r) = 7.3.* && ! -f /sys/kernel/btf/vmlinux ]]; then
	echo 'Linux 7.3 has the option func-args only with BTF'
	exit 4
fi
grep -x function current_tracer
grep -x 1 options/func-args
cat /proc/self/stat >/dev/null
if [ -f /sys/kernel/btf/vmlinux ]; then
	grep -m1 'vfs_open(path=0x[0-9a-f]*, file=0x[0-9a-f]*) <-' trace
else
	grep -m1 'vfs_open(0x[0-9a-f]*, 0x[0-9a-f]*, .*) <-' trace
fi
