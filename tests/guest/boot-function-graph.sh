#!/bin/bash
# boot: own APPEND="ftrace=function_graph ftrace_filter=vfs_open trace_options=funcgraph-args,funcgraph-retval"
# The options of function_graph from the kernel's command line. Linux 7.3 writes ret=0x0.
set -e
cd /sys/kernel/tracing
if [[ $(uname -r) = 7.3.* && ! -f /sys/kernel/btf/vmlinux ]]; then
	echo 'Linux 7.3 has the option funcgraph-args only with BTF'
	exit 4
fi
grep -x function_graph current_tracer
grep -x 1 options/funcgraph-args
cat /proc/self/stat >/dev/null
if [ -f /sys/kernel/btf/vmlinux ]; then
	grep -m1 'vfs_open(path=0x[0-9a-f]*, file=0x[0-9a-f]*); /\* \(= 0\|ret=0x0\) \*/' trace
else
	grep -m1 'vfs_open(0x[0-9a-f]*, 0x[0-9a-f]*, .*); /\* \(= \|ret=\)0x0 \*/' trace
fi
