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

static noinline double val_float(int a, double b, int c, float d, long e)
{
	values_begin("val_float");
	NOTE_INT(a);
	values_known_nowhere("b");
	NOTE_INT(c);
	values_known_nowhere("d");
	NOTE_INT(e);
	values_return("-", "...");
	values_end();
	return b + d;
}

/* The ninth and tenth are on the stack, before what follows them there. */
static noinline int val_floats(double a, double b, double c, double d, double e, double f,
			       double g, double h, float i, double j, long k, long l, long m,
			       long n, long o, long p, long q, long r, int s)
{
	values_begin("val_floats");
	values_known_nowhere("a");
	values_known_nowhere("b");
	values_known_nowhere("c");
	values_known_nowhere("d");
	values_known_nowhere("e");
	values_known_nowhere("f");
	values_known_nowhere("g");
	values_known_nowhere("h");
	values_known_nowhere("i");
	values_known_nowhere("j");
	NOTE_INT(k);
	NOTE_INT(l);
	NOTE_INT(m);
	NOTE_INT(n);
	NOTE_INT(o);
	NOTE_INT(p);
	NOTE_INT(q);
	NOTE_INT(r);
	NOTE_INT(s);
	values_return("7001", "7001");
	values_end();
	return 7001;
}

/* The place of a structure with such numbers, and of what follows it, is not looked for. */
static noinline struct float_pair val_float_struct(int a, struct float_pair b, int c)
{
	values_begin("val_float_struct");
	NOTE_INT(a);
	values_known_nowhere("b");
	values_known_nowhere("c");
	values_return("-", "...");
	values_end();
	return b;
}

static typeof(val_float) *target_float = val_float;
static typeof(val_floats) *target_floats = val_floats;
static typeof(val_float_struct) *target_float_struct = val_float_struct;

/* Call the functions. The floating point registers must be usable. */
void values_floats(void)
{
	READ_ONCE(target_float)(-11, 1.5, 22, 2.5f, -33);
	READ_ONCE(target_floats)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12, 13, -14, 15, -16, 17, -18,
				 -19);
	READ_ONCE(target_float_struct)(-1, (struct float_pair){ 1, 2 }, 3);
}
