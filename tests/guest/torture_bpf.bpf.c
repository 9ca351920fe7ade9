// SPDX-License-Identifier: GPL-2.0-only
/* The BPF programs of torture_bpf.c: each return must have what its entry had. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "../clients/session_kfuncs.h"
#include "torture_bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct results results;

#define count(member)	__sync_fetch_and_add(&results.member, 1)

/* A number of the call is at both ends of its data. */
static __always_inline int session(void *ctx, __u64 *data, int last)
{
	__u64 number = bpf_get_prandom_u32() | 1UL << 32;

	if (!data) {
		count(wrong);
		return 1;
	}
	if (!bpf_session_is_return(ctx)) {
		count(entries);
		if (data[0] || data[last] || bpf_session_duration(ctx))
			count(wrong);
		data[0] = data[last] = number;
		/* A call that is refused must leave nothing for the next one. */
		if (!(number & 7))
			return 1;
		data[1] = bpf_get_func_ip(ctx);
		data[2] = bpf_session_arg(ctx, 0);
		return 0;
	}
	count(returns);
	if (!data[0] || data[last] != data[0] || data[1] != bpf_get_func_ip(ctx) ||
	    data[2] != bpf_session_arg(ctx, 0) || !bpf_session_duration(ctx))
		count(wrong);
	return 0;
}

SEC("kprobe")
int small(void *ctx)
{
	return session(ctx, (void *)bpf_session_data(ctx, 64), 7);
}

SEC("kprobe")
int large(void *ctx)
{
	return session(ctx, (void *)bpf_session_data(ctx, 4000), 499);
}

/* A session that keeps nothing, and refuses every other call. */
SEC("kprobe")
int none(void *ctx)
{
	return !bpf_session_is_return(ctx) && bpf_get_prandom_u32() & 1;
}

/* This one runs at returns only. */
SEC("kprobe")
int ret(void *ctx)
{
	count(returns);
	if (!bpf_session_duration(ctx))
		count(wrong);
	return 0;
}
