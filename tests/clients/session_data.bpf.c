// SPDX-License-Identifier: GPL-2.0-only
/* The BPF programs of session_data.c. None has a map for what it keeps of a call. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "session_data.h"
#include "session_kfuncs.h"

char LICENSE[] SEC("license") = "GPL";

struct results results;
__u32 pid;

#define count(member)	__sync_fetch_and_add(&results.member, 1)

static __always_inline bool is_ours(void)
{
	return bpf_get_current_pid_tgid() >> 32 == pid;
}

/* The return value, by the registers of struct pt_regs. */
static __always_inline __s64 return_value(void *ctx)
{
#ifdef __TARGET_ARCH_arm64
	return *(__s64 *)ctx;
#else
	return *(__s64 *)(ctx + 80);
#endif
}

/* do_sys_openat2(dfd, filename, how): the name as it is at the entry, with the result. */
SEC("kprobe")
int file(void *ctx)
{
	struct opened *name, *to;
	__u32 i;

	if (!is_ours())
		return 1;
	name = (void *)bpf_session_data(ctx, sizeof(*name));
	if (!name)
		return 1;
	if (!bpf_session_is_return(ctx)) {
		bpf_probe_read_user_str(name->name, sizeof(name->name),
					(void *)bpf_session_arg(ctx, 1));
		return 0;
	}
	i = count(opens);
	if (i >= MAX_OPENS)
		return 0;
	to = &results.opened[i];
	*to = *name;
	to->result = (int)return_value(ctx);
	to->address = bpf_session_arg(ctx, 1);
	to->duration = bpf_session_duration(ctx);
	return 0;
}

/* As much memory as there is. Each call has a number, which is at both ends and in the middle. */
struct big {
	__u64 first[4];
	__u8 fill[1960];
	__u64 middle;
	__u8 more[1992];
	__u64 last;
};

_Static_assert(sizeof(struct big) == 4000, "the most that there is");

/* Functions that sleep and functions that call themselves: each return has what its entry had. */
SEC("kprobe")
int call(void *ctx)
{
	struct big *big;
	__u64 number;

	if (!is_ours())
		return 1;
	big = (void *)bpf_session_data(ctx, sizeof(*big));
	if (!big) {
		count(without);
		return 1;
	}
	if (!bpf_session_is_return(ctx)) {
		count(entries);
		if (big->first[0] | big->first[3] | big->middle | big->last)
			count(not_zero);
		if (bpf_session_duration(ctx))
			count(wrong);
		number = bpf_get_prandom_u32();
		/* Whatever a call that is refused has left must not be seen. */
		big->first[0] = big->middle = big->last = number | 1UL << 32;
		if (!(number & 3)) {
			count(refused);
			return 1;
		}
		big->first[1] = bpf_get_func_ip(ctx);
		big->first[2] = bpf_session_arg(ctx, 0);
		big->first[3] = bpf_session_arg(ctx, 2);
		return 0;
	}
	count(returns);
	if (!big->first[0] || big->middle != big->first[0] || big->last != big->first[0] ||
	    big->first[1] != bpf_get_func_ip(ctx) || big->first[2] != bpf_session_arg(ctx, 0) ||
	    big->first[3] != bpf_session_arg(ctx, 2))
		count(wrong);
	return 0;
}

/* hrtimer_nanosleep(time, ...): a program that runs at returns only. */
SEC("kprobe")
int sleep(void *ctx)
{
	__u64 time, duration;

	if (!is_ours())
		return 0;
	time = bpf_session_arg(ctx, 0);
	duration = bpf_session_duration(ctx);
	count(sleeps);
	if (time < SLEEP_NS || time >= SLEEP_NS + SLEEPERS)
		count(wrong_times);
	if (duration < time)
		count(too_short);
	if (duration > results.longest)
		results.longest = duration;
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tails SEC(".maps");

/* A tail call leads to a program that asks for more than this one, by which the link was made. */
SEC("kprobe")
int head(void *ctx)
{
	__u8 *data;

	if (!is_ours())
		return 1;
	data = bpf_session_data(ctx, 16);
	if (data && !bpf_session_is_return(ctx))
		data[15] = 15;
	bpf_tail_call(ctx, &tails, 0);
	return 0;
}

SEC("kprobe")
int tail(void *ctx)
{
	__u8 *less = bpf_session_data(ctx, 16), *more = bpf_session_data(ctx, 17);

	if (!bpf_session_is_return(ctx))
		return 0;
	count(tails);
	if (more || !less || less[15] != 15 || bpf_session_arg(ctx, 0) || bpf_session_duration(ctx))
		count(wrong_tails);
	return 0;
}
