// SPDX-License-Identifier: GPL-2.0-only
/* The BPF program of kprobe_session.c. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "session_kfuncs.h"

char LICENSE[] SEC("license") = "GPL";

struct call {
	__u64 ip, thread;
};

/* The cookie of each call whose return is wanted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct call);
	__type(value, __u64);
} wanted SEC(".maps");

struct {
	__u64 entries, refused, returns, wrong;
} counts;

/*
 * Runs at the entry of a function and, unless it refuses the call, at the return. Refuses the
 * calls of processes other than "calls", and every other call at random.
 */
SEC("kprobe")
int session(void *ctx)
{
	struct call call = { .ip = bpf_get_func_ip(ctx), .thread = bpf_get_current_pid_tgid() };
	__u64 *cookie = bpf_session_cookie(ctx), value, *expected;
	__u64 name[2] = {};

	if (bpf_session_is_return(ctx)) {
		__sync_fetch_and_add(&counts.returns, 1);
		expected = bpf_map_lookup_elem(&wanted, &call);
		if (!expected || *expected != *cookie)
			__sync_fetch_and_add(&counts.wrong, 1);
		bpf_map_delete_elem(&wanted, &call);
		return 0;
	}
	bpf_get_current_comm(name, sizeof(name));
	/* Eight bytes, with the end of the string. */
	if (name[0] != *(__u64 *)"calls\0\0")
		return 1;
	__sync_fetch_and_add(&counts.entries, 1);
	value = bpf_get_prandom_u32();
	if (value & 1) {
		__sync_fetch_and_add(&counts.refused, 1);
		return 1;
	}
	*cookie = value;
	bpf_map_update_elem(&wanted, &call, &value, BPF_ANY);
	return 0;
}
