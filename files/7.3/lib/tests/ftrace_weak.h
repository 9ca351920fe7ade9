/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of the module ftrace_weak share. */
#ifndef _FTRACE_WEAK_H
#define _FTRACE_WEAK_H

int ftrace_weak_overridden(int value);

#endif /* _FTRACE_WEAK_H */
