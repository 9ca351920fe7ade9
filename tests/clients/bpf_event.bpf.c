// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's side of bpf_event.c. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

__u64 runs;

SEC("kprobe")
int count(struct pt_regs *ctx)
{
	char comm[16];

	if (!bpf_get_current_comm(comm, sizeof(comm)) && comm[0] == 'c' && comm[1] == 'a' &&
	    comm[2] == 'l' && comm[3] == 'l' && comm[4] == 's')
		__sync_fetch_and_add(&runs, 1);
	return 0;
}
