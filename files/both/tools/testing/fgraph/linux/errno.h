/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of the C library's header are the kernel's. */
#include_next <linux/errno.h>
