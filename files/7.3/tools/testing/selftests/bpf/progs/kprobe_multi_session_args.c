// SPDX-License-Identifier: GPL-2.0
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

char _license[] SEC("license") = "GPL";

int pid = 0;

__u64 session_entry = 0;
__u64 session_return = 0;
__u64 return_only = 0;
__u64 entry_only = 0;
__u64 refused = 0;
__u64 durations = 0;

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

/* bpf_fentry_test6(16, (void *)17, 18, 19, (void *)20, 21) */
static bool check_args(void *ctx)
{
	return bpf_session_arg(ctx, 0) == 16 && bpf_session_arg(ctx, 1) == 17 &&
	       (__s16)bpf_session_arg(ctx, 2) == 18 && (__s32)bpf_session_arg(ctx, 3) == 19 &&
	       bpf_session_arg(ctx, 4) == 20 && bpf_session_arg(ctx, 5) == 21;
}

SEC("kprobe.session/bpf_fentry_test6")
int test_session(struct pt_regs *ctx)
{
	if (!is_ours())
		return 1;

	if (!bpf_session_is_return(ctx)) {
		session_entry += check_args(ctx) && !bpf_session_duration(ctx);
		return 0;
	}
	session_return += check_args(ctx);
	durations += bpf_session_duration(ctx) > 0;
	return 0;
}

/* Refuses all calls but that of bpf_fentry_test5(11, (void *)12, 13, 14, 15). */
SEC("kprobe.session/bpf_fentry_test*")
int test_refused(struct pt_regs *ctx)
{
	if (!is_ours())
		return 1;

	if (!bpf_session_is_return(ctx))
		return bpf_session_arg(ctx, 0) != 11;
	refused += bpf_session_arg(ctx, 0) == 11 && bpf_session_arg(ctx, 4) == 15;
	return 0;
}

SEC("kretprobe.multi/bpf_fentry_test6")
int test_return(struct pt_regs *ctx)
{
	if (!is_ours())
		return 0;

	return_only += check_args(ctx);
	durations += bpf_session_duration(ctx) > 0;
	return 0;
}

SEC("kprobe.multi/bpf_fentry_test6")
int test_entry(struct pt_regs *ctx)
{
	if (!is_ours())
		return 0;

	entry_only += check_args(ctx) && !bpf_session_duration(ctx);
	return 0;
}
