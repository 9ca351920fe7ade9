// SPDX-License-Identifier: GPL-2.0-only
/* Sessions for bpf.c that keep something of a call, which stock kernels cannot. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "../clients/session_kfuncs.h"

char LICENSE[] SEC("license") = "GPL";

SEC("kprobe.session-arg/fgraph_bench_target")
int with_arg(void *ctx)
{
	return bpf_session_arg(ctx, 0) == 1;
}

SEC("kprobe.session-duration/fgraph_bench_target")
int with_duration(void *ctx)
{
	return bpf_session_duration(ctx) == 1;
}

SEC("kprobe.session-data/fgraph_bench_target")
int with_data(void *ctx)
{
	return !bpf_session_data(ctx, 64);
}
