/* SPDX-License-Identifier: GPL-2.0-only */
/* What session_data.c and its BPF programs share. */
#ifndef SESSION_DATA_H
#define SESSION_DATA_H

#include <linux/types.h>

#define MAX_OPENS	256
#define SLEEPERS	500
/* The first thread sleeps for this time, and each one for a nanosecond longer than the last. */
#define SLEEP_NS	300000000

/* One return of do_sys_openat2(). */
struct opened {
	char name[40];
	__s64 result;
	__u64 address, duration;
};

struct results {
	/* of the program "file" */
	__u64 opens;
	struct opened opened[MAX_OPENS];
	/* of "call" */
	__u64 entries, refused, returns, wrong, not_zero, without;
	/* of "sleep" */
	__u64 sleeps, wrong_times, too_short, longest;
	/* of "tail" */
	__u64 tails, wrong_tails;
};

#endif
