// SPDX-License-Identifier: GPL-2.0-only
/* Sessions for bpf.c that keep something of a call, which stock kernels cannot. */
#include <stddef.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

extern __u64 bpf_session_arg(void *ctx, __u32 n) __ksym;
extern __u64 bpf_session_duration(void *ctx) __ksym;
extern __u8 *bpf_session_data(void *ctx, const size_t rdwr_buf_size) __ksym;

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
