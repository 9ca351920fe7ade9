// SPDX-License-Identifier: GPL-2.0-only
/* BPF programs for bpf.c that do nothing: one of each kind that can see a return. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("kretprobe/fgraph_bench_target")
int by_kretprobe(void *ctx)
{
	return 0;
}

SEC("kretprobe.multi/fgraph_bench_target")
int by_kretprobe_multi(void *ctx)
{
	return 0;
}

SEC("kprobe.session/fgraph_bench_target")
int by_session(void *ctx)
{
	return 0;
}

SEC("fexit/fgraph_bench_target")
int by_fexit(void *ctx)
{
	return 0;
}
