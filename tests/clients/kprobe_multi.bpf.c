// SPDX-License-Identifier: GPL-2.0-only
/* The BPF programs of kprobe_multi.c. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "kprobe_multi.h"

char LICENSE[] SEC("license") = "GPL";

/* The cookie that was given for a function, by the function's address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FUNCS);
	__type(key, __u64);
	__type(value, __u64);
} cookie_of SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, MAX_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stack_key);
	__type(value, __u64);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_FUNCS);
	__type(key, __u32);
	__type(value, struct hits);
} hits SEC(".maps");

__u64 bad_ip, bad_cookie, bad_stack;

static __always_inline int one(void *ctx, int returns)
{
	struct stack_key key = { .returns = returns };
	__u64 ip, *cookie, name[2] = {}, *n, first = 1;
	struct hits *h;
	__u32 i;

	bpf_get_current_comm(name, sizeof(name));
	if (name[0] != *(__u64 *)COMM)
		return 0;
	ip = bpf_get_func_ip(ctx);
	cookie = bpf_map_lookup_elem(&cookie_of, &ip);
	if (!cookie) {
		__sync_fetch_and_add(&bad_ip, 1);
		return 0;
	}
	if (bpf_get_attach_cookie(ctx) != (returns ? RETURN_COOKIE(*cookie) : *cookie))
		__sync_fetch_and_add(&bad_cookie, 1);
	i = *cookie - FIRST_COOKIE;
	h = bpf_map_lookup_elem(&hits, &i);
	if (!h)
		return 0;
	__sync_fetch_and_add(returns ? &h->returned : &h->entered, 1);

	key.func = i;
	key.stack = bpf_get_stackid(ctx, &stacks, 0);
	if (key.stack < 0) {
		__sync_fetch_and_add(&bad_stack, 1);
		__sync_fetch_and_add(&h->no_stack, 1);
		h->error = key.stack;
		return 0;
	}
	n = bpf_map_lookup_elem(&seen, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
	else if (bpf_map_update_elem(&seen, &key, &first, BPF_NOEXIST)) {
		n = bpf_map_lookup_elem(&seen, &key);
		if (n)
			__sync_fetch_and_add(n, 1);
	}
	return 0;
}

SEC("kprobe.multi")
int on_entry(void *ctx)
{
	return one(ctx, 0);
}

SEC("kretprobe.multi")
int on_return(void *ctx)
{
	return one(ctx, 1);
}
