/* SPDX-License-Identifier: GPL-2.0-only */
/* What a program of kprobe.session can call. */
#ifndef SESSION_KFUNCS_H
#define SESSION_KFUNCS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

extern bool bpf_session_is_return(void *ctx) __ksym;
extern __u64 *bpf_session_cookie(void *ctx) __ksym;
extern __u64 bpf_session_arg(void *ctx, __u32 n) __ksym;
extern __u64 bpf_session_duration(void *ctx) __ksym;
extern __u8 *bpf_session_data(void *ctx, const size_t rdwr_buf_size) __ksym;

#endif
