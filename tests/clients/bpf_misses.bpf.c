// SPDX-License-Identifier: GPL-2.0-only
/* The BPF programs of bpf_misses.c. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
} map SEC(".maps");

/* How often each program ran. */
__u64 outer_runs, multi_runs, event_runs;

/* Calls the function that the other programs are attached to. */
SEC("kprobe.multi")
int outer(void *ctx)
{
	__u32 key = 1;
	__u64 value = 2;

	__sync_fetch_and_add(&outer_runs, 1);
	bpf_map_update_elem(&map, &key, &value, BPF_ANY);
	return 0;
}

SEC("kretprobe.multi")
int multi(void *ctx)
{
	__sync_fetch_and_add(&multi_runs, 1);
	return 0;
}

SEC("kretprobe")
int event(struct pt_regs *ctx)
{
	__sync_fetch_and_add(&event_runs, 1);
	return 0;
}
