// SPDX-License-Identifier: GPL-2.0
/* The function that overrides the weak one of ftrace_weak_kunit.c. */

#include "ftrace_weak.h"

int ftrace_weak_overridden(int value)
{
	return value * 2;
}
