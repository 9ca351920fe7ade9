// SPDX-License-Identifier: GPL-2.0
/*
 * Functions with floating point arguments for the module test_fgraph_values. This file is compiled
 * with floating point registers, as few of the kernel are, for example those of amdgpu.
 */
#include <linux/kernel.h>

#include "test_fgraph_values.h"

struct float_pair {
	float	x;
	float	y;
};

VALUES_FUNCTION(double, float, (int a, double b, int c, float d, long e),
		(INT(a), NOWHERE(b), INT(c), NOWHERE(d), INT(e)), RETURNS_NOWHERE, b + d,
		(-11, 1.5, 22, 2.5f, -33))

/* The ninth and tenth are on the stack, before what follows them there. */
VALUES_FUNCTION(int, floats, (double a, double b, double c, double d, double e, double f, double g,
			      double h, float i, double j, long k, long l, long m, long n, long o,
			      long p, long q, long r, int s),
		(NOWHERE(a), NOWHERE(b), NOWHERE(c), NOWHERE(d), NOWHERE(e), NOWHERE(f),
		 NOWHERE(g), NOWHERE(h), NOWHERE(i), NOWHERE(j), INT(k), INT(l), INT(m), INT(n),
		 INT(o), INT(p), INT(q), INT(r), INT(s)),
		values_return("7001", "7001"), 7001,
		(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12, 13, -14, 15, -16, 17, -18, -19))

/* The place of a structure with such numbers, and of what follows it, is not looked for. */
VALUES_FUNCTION(struct float_pair, float_struct, (int a, struct float_pair b, int c),
		(INT(a), NOWHERE(b), NOWHERE(c)), RETURNS_NOWHERE, b,
		(-1, (struct float_pair){ 1, 2 }, 3))

/* The other file has a function of this name, too, with arguments of other types. */
static noinline void two_of_a_name(const char *c)
{
	barrier();
}

static typeof(two_of_a_name) *target_two_of_a_name = two_of_a_name;

/* Call the functions. The floating point registers must be usable. */
void values_floats(void)
{
	call_float();
	call_floats();
	call_float_struct();
	CALL(two_of_a_name)("text");
}
