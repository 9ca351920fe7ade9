// SPDX-License-Identifier: GPL-2.0
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

char _license[] SEC("license") = "GPL";

int pid = 0;

__u64 small_result = 0;
__u64 large_result = 0;
__u64 late_result = 0;

/*
 * No tests in here, just to trigger 'bpf_fentry_test*'
 * through tracing test_run
 */
SEC("fentry/bpf_modify_return_test")
int BPF_PROG(trigger)
{
	return 0;
}

static bool is_ours(void)
{
	return bpf_get_current_pid_tgid() >> 32 == pid;
}

struct small {
	__u64 ip;
	char text[8];
};

SEC("kprobe.session/bpf_fentry_test*")
int test_small(struct pt_regs *ctx)
{
	struct small *data;

	if (!is_ours())
		return 1;
	data = (struct small *)bpf_session_data(ctx, sizeof(*data));
	if (!data)
		return 1;
	if (bpf_session_is_return(ctx)) {
		small_result += data->ip == bpf_get_func_ip(ctx) && data->text[7] == 7;
	} else if (!data->ip && !data->text[7]) {
		data->ip = bpf_get_func_ip(ctx);
		data->text[7] = 7;
	}
	return 0;
}

/* The largest size, beside arguments and the duration. Smaller sizes are the same memory. */
SEC("kprobe.session/bpf_fentry_test1")
int test_large(struct pt_regs *ctx)
{
	__u8 *part, *all;

	if (!is_ours())
		return 1;
	part = bpf_session_data(ctx, 1);
	all = bpf_session_data(ctx, 4000);
	if (!part || !all)
		return 1;
	if (!bpf_session_is_return(ctx)) {
		if (!all[0] && !all[3999]) {
			*part = 1;
			all[3999] = 2;
		}
		return 0;
	}
	large_result += all[0] == 1 && all[3999] == 2 && bpf_session_arg(ctx, 0) == 1 &&
			bpf_session_duration(ctx) > 0;
	return 0;
}

/* Asks for memory at the return only. */
SEC("kprobe.session/bpf_fentry_test1")
int test_late(struct pt_regs *ctx)
{
	__u8 *data;

	if (!is_ours())
		return 1;
	if (!bpf_session_is_return(ctx))
		return 0;
	data = bpf_session_data(ctx, 64);
	late_result += data && !data[0] && !data[63];
	return 0;
}
