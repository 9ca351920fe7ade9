/* SPDX-License-Identifier: GPL-2.0 */
/* That of the C library, which has the numbers. */
#include_next <linux/errno.h>
