/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of the functions of the module test_fgraph_values, with the parameters of
 * VALUES_FUNCTION(). A file that includes it says what VAL_CASE() makes of a row.
 */
#define VOID_CASE(name, params, notes, arguments) \
	VAL_CASE(void, name, params, notes, NOTHING, NO_VALUE, arguments)

/* The upper bits of the register for the return value are those of the argument. */
#define RETURN_CASE(type, argument) \
	VAL_CASE(type, return_##type, (long a), INT(a), RETURNS_INT(type, a), a, (argument))

/* Structures of each size, which are returned as well, in registers or in memory. */
#define STRUCT_CASE(size) \
	VAL_CASE(struct val_##size, struct_##size, \
		 (s8 a, struct val_##size b, short c, int d, long e, struct val_##size f, s8 g), \
		 (INT(a), STRUCT(b), INT(c), INT(d), INT(e), STRUCT(f), INT(g)), RETURNS(f), f, \
		 (-1, *(struct val_##size *)low_bytes, -2, -3, -4, \
		  *(struct val_##size *)high_bytes, -5))

/* Integers, enums and pointers. val_ints() is in test_fgraph_values_main.c. */
VOID_CASE(many, (s8 a, u8 b, short c, u16 d, int e, u32 f, long g, u64 h, s8 i, u8 j, short k,
		 u16 l, int m, u32 n),
	  (INT(a), INT(b), INT(c), INT(d), INT(e), INT(f), INT(g), INT(h), INT(i), INT(j), INT(k),
	   INT(l), INT(m), INT(n)),
	  (-1, 0xf2, -3, 0xfff4, -5, 0xfffffff6, -7, 0x7ffffffffffffff8, -9, 0xfa, -11, 0xfffc,
	   -13, 0xfffffffe))
/* The values of f, g and i have no name. */
VOID_CASE(enums, (enum val_unsigned a, enum val_signed b, enum val_small c, enum val_wide d,
		  enum val_wide_signed e, enum val_unsigned f, enum val_signed g, enum val_wide h,
		  enum val_wide_signed i),
	  (ENUM(a, "VAL_HIGH"), ENUM(b, "VAL_MINUS"), ENUM(c, "VAL_SMALL"), ENUM(d, "VAL_WIDE"),
	   ENUM(e, "VAL_WIDE_MINUS"), ENUM(f, "0xffffffff"), ENUM(g, "-7"), ENUM(h, "VAL_FIVE"),
	   ENUM(i, "-6")),
	  (VAL_HIGH, VAL_MINUS, VAL_SMALL, VAL_WIDE, VAL_WIDE_MINUS, -1, -7, VAL_FIVE, -6))
VOID_CASE(pointers, (void *a, char *b, const int *c, void (*d)(void), u64 **e,
		     struct task_struct *f),
	  (POINTER(a), POINTER(b), POINTER(c), POINTER(d), POINTER(e), POINTER(f)),
	  (&small, "text", NULL, values_end, (void *)~0x100000UL, current))

/* On arm64 each __int128 is in an even and an odd register, and none of them is filled later. */
VAL_CASE(__int128, int128, (int a, __int128 b, int c, unsigned __int128 d, s8 e),
	 (INT(a), INT128(b), INT(c), INT128(d), INT(e)),
	 values_return("-", "0x11111111111111112222222222222222"),
	 ((__int128)0x1111111111111111 << 64) + 0x2222222222222222, (-1, BIG, -2, -BIG, -3))
/* One register is left when the __int128 comes; on x86_64 what follows it takes that register. */
VOID_CASE(int128_split, (long a, long b, long c, long d, long e, __int128 f, short g, u8 h,
			 __int128 i, int j),
	  (INT(a), INT(b), INT(c), INT(d), INT(e), INT128(f), INT(g), INT(h), INT128(i), INT(j)),
	  (1, -2, 3, -4, 5, BIG, -6, 0xf7, ~BIG, -8))

/* Structures */
VAL_CASE(struct val_128, struct128, (int a, struct val_128 b, struct val_128 c, long d, int e,
				     struct val_192 f, struct val_128 g, s8 h),
	 (INT(a), STRUCT(b), STRUCT(c), INT(d), INT(e), STRUCT(f), STRUCT(g), INT(h)), RETURNS(c),
	 c, (-1, struct_128, struct_128, -2, -3, struct_192, struct_128, -4))
VAL_CASE(struct val_packed, struct_packed, (int a, struct val_packed b, int c, struct val_tight d,
					    int e),
	 (INT(a), STRUCT(b), INT(c), STRUCT(d), INT(e)), RETURNS_PACKED(b), b,
	 (-1, (struct val_packed){ 2, -3 }, -4, (struct val_tight){ -5, -6 }, -7))
VAL_CASE(struct val_packed_small, return_packed, (int a), INT(a), RETURNS_PACKED(packed_small),
	 packed_small, (-1))
VAL_CASE(struct val_padded, struct_padded, (int a, struct val_padded b, int c),
	 (INT(a), NOWHERE(b), NOWHERE(c)), RETURNS_NOWHERE, b, (-1, (struct val_padded){ 2 }, -3))
VOID_CASE(struct_padded_large, (int a, struct val_padded_large b, int c),
	  (INT(a), NOWHERE(b), IS_ENABLED(CONFIG_X86_64) ? NOWHERE(c) : INT(c)),
	  (-1, (struct val_padded_large){ { 1, 2, 3 } }, -2))
VAL_CASE(union val_union, small_structs, (struct val_empty a, int b, union val_union c, s8 d),
	 (values_empty("a"), INT(b), STRUCT(c), INT(d)), RETURNS(c), c,
	 ((struct val_empty){ }, -1, small, -2))
STRUCT_CASE(1)  STRUCT_CASE(2)  STRUCT_CASE(3)  STRUCT_CASE(4)  STRUCT_CASE(5)
STRUCT_CASE(6)  STRUCT_CASE(7)  STRUCT_CASE(8)  STRUCT_CASE(9)  STRUCT_CASE(10)
STRUCT_CASE(11) STRUCT_CASE(12) STRUCT_CASE(13) STRUCT_CASE(14) STRUCT_CASE(15)
STRUCT_CASE(16) STRUCT_CASE(17) STRUCT_CASE(18) STRUCT_CASE(19) STRUCT_CASE(20)
STRUCT_CASE(21) STRUCT_CASE(22) STRUCT_CASE(23) STRUCT_CASE(24) STRUCT_CASE(25)
STRUCT_CASE(26) STRUCT_CASE(27) STRUCT_CASE(28) STRUCT_CASE(29) STRUCT_CASE(30)
STRUCT_CASE(31) STRUCT_CASE(32) STRUCT_CASE(33) STRUCT_CASE(34) STRUCT_CASE(35)
STRUCT_CASE(36) STRUCT_CASE(37) STRUCT_CASE(38) STRUCT_CASE(39) STRUCT_CASE(40)

/* Members and elements, by a path through pointers */
VOID_CASE(members, (struct val_members *p),
	  (MEMBER(p->s64), MEMBER(p->u64), MEMBER(p->u32), MEMBER(p->s32), MEMBER(p->u16),
	   MEMBER(p->s16), MEMBER(p->negative), MEMBER(p->small), MEMBER(p->yes), MEMBER(p->s8),
	   MEMBER(p->u8), POINTER(p)),
	  (at_edge(&members, sizeof(members))))
/* @p is the first of two. BTF has an array of arrays as one array. */
VOID_CASE(arrays, (struct val_arrays *p),
	  (ELEMENT("large", p->large[1]), ELEMENT("small", p->small[0x2]),
	   ELEMENT("row", p->rows[1][2]), values_int("flat", "p->flat[4]", true, p->flat[1][1]),
	   values_bool("yes", "p->yes[1]", p->yes[1]), ELEMENT("color", p->color[1]),
	   ELEMENT("x", p->inner[1].x), ELEMENT("y", p->inner[1].y[1]),
	   ELEMENT("through", p->far[1]->y[0]), ELEMENT("behind", p->far[0][1].x),
	   ELEMENT("flexible", p->flexible->x[2]), ELEMENT("first", p[0].large[0]),
	   ELEMENT("second", p[1].rows[0][1]), POINTER(p)),
	  (arrays))
VOID_CASE(array_numbers, (const s16 *p),
	  (ELEMENT("first", p[0]), ELEMENT("last", p[2]), POINTER(p)),
	  (at_edge(numbers, sizeof(numbers))))
VOID_CASE(bits, (struct val_bits *p),
	  (BITS(p->a), BITS(p->b), BITS(p->c), BITS(p->d), BITS(p->e), BITS(p->f),
	   values_bool("g", "p->g", p->g), BITS(p->h), BITS(p->i), BITS(p->j), BITS(p->k),
	   BITS(p->l), BITS(p->m), BITS(p->n), BITS(p->o), POINTER(p)),
	  (&bits))

/* Return values */
RETURN_CASE(s8, 0x123456789abcde95)
RETURN_CASE(u8, 0x123456789abcde95)
RETURN_CASE(s16, 0x123456789abc8765)
RETURN_CASE(u16, 0x123456789abc8765)
RETURN_CASE(s32, 0x1234567887654321)
RETURN_CASE(u32, 0x1234567887654321)
RETURN_CASE(s64, -5000000000)
RETURN_CASE(u64, 0x1234567887654321)
VAL_CASE(bool, return_bool, (long a), INT(a), values_return("1", "true"), a & 2,
	 (0x1234567887654322))
VAL_CASE(enum val_signed, return_enum, (long a), INT(a), values_return("-1000000", "VAL_MINUS"),
	 VAL_MINUS, (1))
VAL_CASE(void *, return_pointer, (void *a), POINTER(a), RETURNS_POINTER(a), a, (&values_mutex))

#undef VOID_CASE
#undef RETURN_CASE
#undef STRUCT_CASE
#undef VAL_CASE
