/* SPDX-License-Identifier: GPL-2.0-only */
/* What torture_bpf.c and its BPF programs share. */
#ifndef TORTURE_BPF_H
#define TORTURE_BPF_H

#include <linux/types.h>

struct results {
	__u64 entries, returns, wrong;
};

#endif
