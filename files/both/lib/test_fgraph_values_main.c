// SPDX-License-Identifier: GPL-2.0
/*
 * The module test_fgraph_values: functions with arguments and return values of all kinds. Each of
 * them notes what it got, so that the kselftest fgraph/values.tc can compare this with what
 * events and tracers show.
 *
 * Reading /proc/test_fgraph_values calls all functions, and gives a line for each. Its fields are
 * separated by tabs:
 *
 *   name of the function
 *   arguments for an event that fetches all values by number, or by a path through pointers;
 *     the name of one that is a structure begins with S_, that of one of "..." with V_
 *   what this event should show
 *   numbers and names of arguments that must be refused, or "-"
 *   what $retval should show, or "-" if it must be refused
 *   what tracers should show in place of the arguments
 *   what they should show as the return value
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/stringify.h>
#include <linux/vmalloc.h>
#if defined(CONFIG_ARCH_HAS_KERNEL_FPU_SUPPORT)
#include <linux/fpu.h>
#elif defined(CONFIG_ARM64)
#include <asm/neon.h>
#define kernel_fpu_begin()	kernel_neon_begin()
#define kernel_fpu_end()	kernel_neon_end()
#else
#include <asm/fpu/api.h>
#endif

#include "test_fgraph_values.h"

/* The call that is being noted, and the file for all calls. Protected by values_mutex. */
static DEFINE_MUTEX(values_mutex);
static struct seq_file *values_file;
static const char *values_func;
static unsigned int values_number;

enum { DEFS, SHOWN, REFUSED, TRACED, NR_FIELDS };
static struct seq_buf fields[NR_FIELDS];
static char field_text[NR_FIELDS][1024];
static char return_event[64], return_tracer[64];

/* Begin to note a call of a function. */
void values_begin(const char *func)
{
	int i;

	for (i = 0; i < NR_FIELDS; i++)
		seq_buf_init(&fields[i], field_text[i], sizeof(field_text[i]));
	values_func = func;
	values_number = 0;
	values_return("-", "-");
}

/* Write a line for the call that was noted. */
void values_end(void)
{
	int i;

	seq_puts(values_file, values_func);
	for (i = 0; i < NR_FIELDS; i++) {
		if (i == TRACED)
			seq_printf(values_file, "\t%s", return_event);
		seq_printf(values_file, "\t%.*s", (int)seq_buf_used(&fields[i]), field_text[i]);
		if (!seq_buf_used(&fields[i]))
			seq_putc(values_file, '-');
	}
	seq_printf(values_file, "\t%s\n", return_tracer);
}

/* Note what $retval and tracers should show. */
void values_return(const char *event, const char *tracer)
{
	strscpy(return_event, event, sizeof(return_event));
	strscpy(return_tracer, tracer, sizeof(return_tracer));
}

static void note_fetch(const char *prefix, const char *name, const char *fetch)
{
	if (fetch)
		seq_buf_printf(&fields[DEFS], " %s%s=%s", prefix, name, fetch);
	else
		seq_buf_printf(&fields[DEFS], " %s%s=$arg%u", prefix, name, ++values_number);
}

static void note_refused(const char *name)
{
	seq_buf_printf(&fields[REFUSED], " $arg%u %s", ++values_number, name);
}

static void note_traced(const char *name)
{
	seq_buf_printf(&fields[TRACED], "%s%s=", values_number > 1 ? ", " : "", name);
}

void values_int(const char *name, const char *fetch, bool is_signed, u64 value)
{
	note_fetch("", name, fetch);
	seq_buf_printf(&fields[SHOWN], is_signed ? " %s=%lld" : " %s=%llu", name, value);
	if (fetch)
		return;
	note_traced(name);
	seq_buf_printf(&fields[TRACED], is_signed ? "%lld" : "0x%llx", value);
}

/* @fetch: the member, as in C */
void values_member(const char *fetch, bool is_signed, u64 value)
{
	values_int(strrchr(fetch, '>') + 1, fetch, is_signed, value);
}

/* Signed bitfields are negative here, as typeof() does not work for them. */
static void values_bits(const char *fetch, s64 value)
{
	values_member(fetch, value < 0, value);
}

#define NOTE_BITS(x)		values_bits(#x, x)

void values_bool(const char *name, const char *fetch, bool value)
{
	note_fetch("", name, fetch);
	seq_buf_printf(&fields[SHOWN], " %s=%d", name, value);
	if (fetch)
		return;
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "%s", value ? "true" : "false");
}

void values_pointer(const char *name, const void *value)
{
	note_fetch("", name, NULL);
	seq_buf_printf(&fields[SHOWN], " %s=0x%lx", name, (unsigned long)value);
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "0x%lx", (unsigned long)value);
}

/* A value of an enum of @size bytes that is called @text. To events, all enums are signed. */
void values_enum(const char *name, const char *text, size_t size, s64 value)
{
	if (size <= sizeof(s32))
		value = (s32)value;
	note_fetch("", name, NULL);
	seq_buf_printf(&fields[SHOWN], " %s=%lld", name, value);
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "%s", text);
}

/* An argument that neither events nor tracers can show. */
void values_known_nowhere(const char *name)
{
	note_refused(name);
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "...");
}

static void values_words(struct seq_buf *to, const void *value, unsigned int size)
{
	seq_buf_printf(to, "{");
	for (; size > 0; size -= min_t(unsigned int, size, sizeof(long)), value += sizeof(long)) {
		unsigned long word = 0;

		memcpy(&word, value, min_t(unsigned int, size, sizeof(long)));
		seq_buf_printf(to, size > sizeof(long) ? "0x%lx, " : "0x%lx", word);
	}
	seq_buf_printf(to, "}");
}

void values_struct(const char *name, const void *value, unsigned int size)
{
	unsigned long word = 0;

	if (size > 2 * sizeof(long)) {
		values_known_nowhere(name);
		return;
	}
	memcpy(&word, value, min_t(unsigned int, size, sizeof(long)));
	note_fetch("S_", name, NULL);
	seq_buf_printf(&fields[SHOWN], " S_%s=0x%lx", name, word);
	note_traced(name);
	values_words(&fields[TRACED], value, size);
}

void values_int128(const char *name, const void *value)
{
	const unsigned long *words = value;

	note_refused(name);
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "0x%lx%016lx", words[1], words[0]);
}

/* Note a return value of any integer type, which is no small negative number. */
static void return_int(bool is_signed, u64 value)
{
	scnprintf(return_event, sizeof(return_event), is_signed ? "%lld" : "%llu", value);
	scnprintf(return_tracer, sizeof(return_tracer), is_signed ? "%lld" : "0x%llx", value);
	values_end();
}

/* Note a return value that is a structure. @packed: its members are not aligned */
static void return_struct(const void *value, unsigned int size, bool packed)
{
	struct seq_buf text;
	unsigned long word = 0;

	memcpy(&word, value, min_t(unsigned int, size, sizeof(long)));
	if (size <= 2 * sizeof(long) && !(packed && IS_ENABLED(CONFIG_X86_64))) {
		scnprintf(return_event, sizeof(return_event), "0x%lx", word);
		memset(return_tracer, 0, sizeof(return_tracer));
		seq_buf_init(&text, return_tracer, sizeof(return_tracer));
		values_words(&text, value, size);
	} else {
		/* On x86_64 $retval is its address, which is not known here. */
		values_return(IS_ENABLED(CONFIG_X86_64) ? "0xff[0-9a-f]\\{14\\}" : "-", "...");
	}
	values_end();
}

/*
 * The functions. They are called through pointers, so that the compiler cannot change how they
 * are called.
 */
#define CALL(func)	READ_ONCE(target_##func)

enum val_unsigned { VAL_ZERO, VAL_HIGH = 0xfffffff0 };
enum val_signed { VAL_MINUS = -1000000, VAL_PLUS = 1 };
enum val_small { VAL_SMALL = 200 } __packed;
enum val_wide { VAL_WIDE = 0x100000005, VAL_FIVE = 5 };
enum val_wide_signed { VAL_WIDE_MINUS = -0x100000005, VAL_WIDE_PLUS = 5 };

static noinline void val_ints(bool a, char b, signed char c, u8 d, short e, u16 f, int g,
			      unsigned int h, long i, unsigned long j, s8 k, bool l)
{
	values_begin("val_ints");
	NOTE_BOOL(a);
	NOTE_INT(b);
	NOTE_INT(c);
	NOTE_INT(d);
	NOTE_INT(e);
	NOTE_INT(f);
	NOTE_INT(g);
	NOTE_INT(h);
	NOTE_INT(i);
	NOTE_INT(j);
	NOTE_INT(k);
	NOTE_BOOL(l);
	values_end();
}

static typeof(val_ints) *target_val_ints = val_ints;

static noinline void val_enums(enum val_unsigned a, enum val_signed b, enum val_small c,
			       enum val_wide d, enum val_wide_signed e, enum val_unsigned f,
			       enum val_signed g, enum val_wide h, enum val_wide_signed i)
{
	values_begin("val_enums");
	NOTE_ENUM(a, "VAL_HIGH");
	NOTE_ENUM(b, "VAL_MINUS");
	NOTE_ENUM(c, "VAL_SMALL");
	NOTE_ENUM(d, "VAL_WIDE");
	NOTE_ENUM(e, "VAL_WIDE_MINUS");
	/* These have no name. */
	NOTE_ENUM(f, "0xffffffff");
	NOTE_ENUM(g, "-7");
	NOTE_ENUM(h, "VAL_FIVE");
	NOTE_ENUM(i, "-6");
	values_end();
}

static typeof(val_enums) *target_val_enums = val_enums;

static noinline void val_pointers(void *a, char *b, const int *c, void (*d)(void), u64 **e,
				  struct task_struct *f)
{
	values_begin("val_pointers");
	NOTE_POINTER(a);
	NOTE_POINTER(b);
	NOTE_POINTER(c);
	NOTE_POINTER(d);
	NOTE_POINTER(e);
	NOTE_POINTER(f);
	values_end();
}

static typeof(val_pointers) *target_val_pointers = val_pointers;

/* On arm64 each __int128 is in an even and an odd register, and none of them is filled later. */
static noinline __int128 val_int128(int a, __int128 b, int c, unsigned __int128 d, s8 e)
{
	values_begin("val_int128");
	NOTE_INT(a);
	NOTE_INT128(b);
	NOTE_INT(c);
	NOTE_INT128(d);
	NOTE_INT(e);
	values_return("-", "0x11111111111111112222222222222222");
	values_end();
	return ((__int128)0x1111111111111111 << 64) + 0x2222222222222222;
}

static typeof(val_int128) *target_val_int128 = val_int128;

/* One register is left when the __int128 comes; on x86_64 what follows it takes that register. */
static noinline void val_int128_split(long a, long b, long c, long d, long e, __int128 f, short g,
				      u8 h, __int128 i, int j)
{
	values_begin("val_int128_split");
	NOTE_INT(a);
	NOTE_INT(b);
	NOTE_INT(c);
	NOTE_INT(d);
	NOTE_INT(e);
	NOTE_INT128(f);
	NOTE_INT(g);
	NOTE_INT(h);
	NOTE_INT128(i);
	NOTE_INT(j);
	values_end();
}

static typeof(val_int128_split) *target_val_int128_split = val_int128_split;

struct val_128 {
	__int128	x;
};

struct val_192 {
	__int128	x;
	long		y;
};

struct val_packed {
	char	x;
	long	y;
} __packed;

/* Less than a word, and returned in memory on x86_64 */
struct val_packed_small {
	char	x;
	int	y;
} __packed;

/* Packed, but all members are aligned. */
struct val_tight {
	int	x;
	short	y;
} __packed;

/* BTF does not tell that this takes but one register on x86_64. */
struct val_padded {
	long	x;
} __aligned(16);

struct val_padded_large {
	long	x[3];
} __aligned(32);

struct val_empty { };

union val_union {
	char	x;
	short	y;
	u8	z[6];
};

static noinline struct val_128 val_struct128(int a, struct val_128 b, struct val_128 c, long d,
					     int e, struct val_192 f, struct val_128 g, s8 h)
{
	values_begin("val_struct128");
	NOTE_INT(a);
	NOTE_STRUCT(b);
	NOTE_STRUCT(c);
	NOTE_INT(d);
	NOTE_INT(e);
	NOTE_STRUCT(f);
	NOTE_STRUCT(g);
	NOTE_INT(h);
	return_struct(&c, sizeof(c), false);
	return c;
}

static typeof(val_struct128) *target_val_struct128 = val_struct128;

static noinline struct val_packed val_struct_packed(int a, struct val_packed b, int c,
						    struct val_tight d, int e)
{
	values_begin("val_struct_packed");
	NOTE_INT(a);
	NOTE_STRUCT(b);
	NOTE_INT(c);
	NOTE_STRUCT(d);
	NOTE_INT(e);
	return_struct(&b, sizeof(b), true);
	return b;
}

static typeof(val_struct_packed) *target_val_struct_packed = val_struct_packed;

static noinline struct val_packed_small val_return_packed(int a)
{
	struct val_packed_small value = { 1, -2 };

	values_begin("val_return_packed");
	NOTE_INT(a);
	return_struct(&value, sizeof(value), true);
	return value;
}

static typeof(val_return_packed) *target_val_return_packed = val_return_packed;

static noinline struct val_padded val_struct_padded(int a, struct val_padded b, int c)
{
	values_begin("val_struct_padded");
	NOTE_INT(a);
	values_known_nowhere("b");
	values_known_nowhere("c");
	values_return("-", "...");
	values_end();
	return b;
}

static typeof(val_struct_padded) *target_val_struct_padded = val_struct_padded;

static noinline void val_struct_padded_large(int a, struct val_padded_large b, int c)
{
	values_begin("val_struct_padded_large");
	NOTE_INT(a);
	values_known_nowhere("b");
	if (IS_ENABLED(CONFIG_X86_64))
		values_known_nowhere("c");
	else
		NOTE_INT(c);
	values_end();
}

static typeof(val_struct_padded_large) *target_val_struct_padded_large = val_struct_padded_large;

static noinline union val_union val_small_structs(struct val_empty a, int b, union val_union c,
						  s8 d)
{
	values_begin("val_small_structs");
	note_refused("a");
	seq_buf_printf(&fields[TRACED], "a={}");
	NOTE_INT(b);
	NOTE_STRUCT(c);
	NOTE_INT(d);
	return_struct(&c, sizeof(c), false);
	return c;
}

static typeof(val_small_structs) *target_val_small_structs = val_small_structs;

/* Structures of each size, which are returned as well, in registers or in memory. */
#define STRUCT_FUNCTION(size, before)					\
struct val_##size {							\
	u8	x[size];						\
};									\
									\
static noinline struct val_##size val_struct_##size(s8 a, struct val_##size b, short c, int d,	\
						    long e, struct val_##size f, s8 g)		\
{									\
	values_begin("val_struct_" #size);				\
	NOTE_INT(a);							\
	NOTE_STRUCT(b);							\
	NOTE_INT(c);							\
	NOTE_INT(d);							\
	NOTE_INT(e);							\
	NOTE_STRUCT(f);							\
	NOTE_INT(g);							\
	return_struct(&f, sizeof(f), false);				\
	return f;							\
}									\
									\
static typeof(val_struct_##size) *target_val_struct_##size = val_struct_##size;			\
									\
static noinline void call_struct_##size(void)				\
{									\
	struct val_##size b, f;						\
	unsigned int i;							\
									\
	for (i = 0; i < sizeof(b); i++) {				\
		b.x[i] = 0x80 + i;					\
		f.x[i] = 0xc0 + i;					\
	}								\
	CALL(val_struct_##size)(-1, b, -2, -3, -4, f, -5);		\
}									\
									\
/* Call this function and all for smaller structures. */		\
static void call_structs_##size(void)					\
{									\
	call_structs_##before();					\
	call_struct_##size();						\
}

static void call_structs_0(void) { }

STRUCT_FUNCTION(1, 0)
STRUCT_FUNCTION(2, 1)
STRUCT_FUNCTION(3, 2)
STRUCT_FUNCTION(4, 3)
STRUCT_FUNCTION(5, 4)
STRUCT_FUNCTION(6, 5)
STRUCT_FUNCTION(7, 6)
STRUCT_FUNCTION(8, 7)
STRUCT_FUNCTION(9, 8)
STRUCT_FUNCTION(10, 9)
STRUCT_FUNCTION(11, 10)
STRUCT_FUNCTION(12, 11)
STRUCT_FUNCTION(13, 12)
STRUCT_FUNCTION(14, 13)
STRUCT_FUNCTION(15, 14)
STRUCT_FUNCTION(16, 15)
STRUCT_FUNCTION(17, 16)
STRUCT_FUNCTION(18, 17)
STRUCT_FUNCTION(19, 18)
STRUCT_FUNCTION(20, 19)
STRUCT_FUNCTION(21, 20)
STRUCT_FUNCTION(22, 21)
STRUCT_FUNCTION(23, 22)
STRUCT_FUNCTION(24, 23)
STRUCT_FUNCTION(25, 24)
STRUCT_FUNCTION(26, 25)
STRUCT_FUNCTION(27, 26)
STRUCT_FUNCTION(28, 27)
STRUCT_FUNCTION(29, 28)
STRUCT_FUNCTION(30, 29)
STRUCT_FUNCTION(31, 30)
STRUCT_FUNCTION(32, 31)
STRUCT_FUNCTION(33, 32)
STRUCT_FUNCTION(34, 33)
STRUCT_FUNCTION(35, 34)
STRUCT_FUNCTION(36, 35)
STRUCT_FUNCTION(37, 36)
STRUCT_FUNCTION(38, 37)
STRUCT_FUNCTION(39, 38)
STRUCT_FUNCTION(40, 39)

static noinline void val_many(s8 a, u8 b, short c, u16 d, int e, u32 f, long g, u64 h, s8 i, u8 j,
			      short k, u16 l, int m, u32 n)
{
	values_begin("val_many");
	NOTE_INT(a);
	NOTE_INT(b);
	NOTE_INT(c);
	NOTE_INT(d);
	NOTE_INT(e);
	NOTE_INT(f);
	NOTE_INT(g);
	NOTE_INT(h);
	NOTE_INT(i);
	NOTE_INT(j);
	NOTE_INT(k);
	NOTE_INT(l);
	NOTE_INT(m);
	NOTE_INT(n);
	values_end();
}

static typeof(val_many) *target_val_many = val_many;

/* Of "...", which has no types, tracers show nothing, and events show words. */
static noinline void val_variadic(s8 a, struct val_16 b, int c, ...)
{
	static const char * const names[] = { "d", "e", "f", "g", "h", "i", "j" };
	va_list args;
	int i;

	values_begin("val_variadic");
	NOTE_INT(a);
	NOTE_STRUCT(b);
	NOTE_INT(c);
	seq_buf_printf(&fields[TRACED], ", ...");
	va_start(args, c);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		note_fetch("V_", names[i], NULL);
		seq_buf_printf(&fields[SHOWN], " V_%s=0x%lx", names[i], va_arg(args, long));
	}
	va_end(args);
	values_end();
}

static typeof(val_variadic) *target_val_variadic = val_variadic;

/* In ascending order of alignment; nothing follows the last one. */
struct val_members {
	u64		unused;
	s64		s64;
	u64		u64;
	u32		u32;
	s32		s32;
	u16		u16;
	s16		s16;
	struct {
		enum val_signed		negative;
		enum val_small		small;
		bool			yes;
		s8			s8;
		u8			u8;
	};
};

static noinline void val_members(struct val_members *p)
{
	values_begin("val_members");
	NOTE_MEMBER(p->s64);
	NOTE_MEMBER(p->u64);
	NOTE_MEMBER(p->u32);
	NOTE_MEMBER(p->s32);
	NOTE_MEMBER(p->u16);
	NOTE_MEMBER(p->s16);
	NOTE_MEMBER(p->negative);
	NOTE_MEMBER(p->small);
	NOTE_MEMBER(p->yes);
	NOTE_MEMBER(p->s8);
	NOTE_MEMBER(p->u8);
	NOTE_POINTER(p);
	values_end();
}

static typeof(val_members) *target_val_members = val_members;

struct val_inner {
	s8	x;
	s16	y[2];
};

struct val_flexible {
	u32	unused;
	s32	x[];
};

struct val_arrays {
	u64			large[2];
	u8			small[3];
	s8			flat[2][3];
	s8			(*rows)[3];
	bool			yes[2];
	enum val_signed		color[2];
	struct val_inner	inner[2];
	struct val_inner	*far[2];
	struct val_flexible	*flexible;
};

/* @p is the first of two. */
static noinline void val_arrays(struct val_arrays *p)
{
	values_begin("val_arrays");
	NOTE_ELEMENT("large", p->large[1]);
	NOTE_ELEMENT("small", p->small[0x2]);
	NOTE_ELEMENT("row", p->rows[1][2]);
	/* BTF has an array of arrays as one array. */
	values_int("flat", "p->flat[4]", true, p->flat[1][1]);
	values_bool("yes", "p->yes[1]", p->yes[1]);
	NOTE_ELEMENT("color", p->color[1]);
	NOTE_ELEMENT("x", p->inner[1].x);
	NOTE_ELEMENT("y", p->inner[1].y[1]);
	NOTE_ELEMENT("through", p->far[1]->y[0]);
	NOTE_ELEMENT("behind", p->far[0][1].x);
	NOTE_ELEMENT("flexible", p->flexible->x[2]);
	NOTE_ELEMENT("first", p[0].large[0]);
	NOTE_ELEMENT("second", p[1].rows[0][1]);
	NOTE_POINTER(p);
	values_end();
}

static typeof(val_arrays) *target_val_arrays = val_arrays;

static noinline void val_array_numbers(const s16 *p)
{
	values_begin("val_array_numbers");
	NOTE_ELEMENT("first", p[0]);
	NOTE_ELEMENT("last", p[2]);
	NOTE_POINTER(p);
	values_end();
}

static typeof(val_array_numbers) *target_val_array_numbers = val_array_numbers;

struct val_bits {
	int		a:3;
	unsigned int	b:5;
	int		c:24;
	s64		d:40;
	u64		e:24;
	short		f:9;
	bool		g:1;
	union {
		struct {
			signed char	h:2;
			signed char	i:5;
			u8		j:1;
		};
		u16		k:11;
	};
	enum val_signed	l:24;
	struct {
		struct {
			s64	m:33;
			s64	n:31;
		};
	};
	int		o:32;
};

static noinline void val_bits(struct val_bits *p)
{
	values_begin("val_bits");
	NOTE_BITS(p->a);
	NOTE_BITS(p->b);
	NOTE_BITS(p->c);
	NOTE_BITS(p->d);
	NOTE_BITS(p->e);
	NOTE_BITS(p->f);
	values_bool("g", "p->g", p->g);
	NOTE_BITS(p->h);
	NOTE_BITS(p->i);
	NOTE_BITS(p->j);
	NOTE_BITS(p->k);
	NOTE_BITS(p->l);
	NOTE_BITS(p->m);
	NOTE_BITS(p->n);
	NOTE_BITS(p->o);
	NOTE_POINTER(p);
	values_end();
}

static typeof(val_bits) *target_val_bits = val_bits;

/* In these functions the upper bits of the register for the return value are those of @a. */
static noinline s8 val_return_s8(long a)
{
	values_begin("val_return_s8");
	NOTE_INT(a);
	return_int(true, (s8)a);
	return a;
}

static typeof(val_return_s8) *target_val_return_s8 = val_return_s8;

static noinline u8 val_return_u8(long a)
{
	values_begin("val_return_u8");
	NOTE_INT(a);
	return_int(false, (u8)a);
	return a;
}

static typeof(val_return_u8) *target_val_return_u8 = val_return_u8;

static noinline s16 val_return_s16(long a)
{
	values_begin("val_return_s16");
	NOTE_INT(a);
	return_int(true, (s16)a);
	return a;
}

static typeof(val_return_s16) *target_val_return_s16 = val_return_s16;

static noinline u16 val_return_u16(long a)
{
	values_begin("val_return_u16");
	NOTE_INT(a);
	return_int(false, (u16)a);
	return a;
}

static typeof(val_return_u16) *target_val_return_u16 = val_return_u16;

static noinline s32 val_return_s32(long a)
{
	values_begin("val_return_s32");
	NOTE_INT(a);
	return_int(true, (s32)a);
	return a;
}

static typeof(val_return_s32) *target_val_return_s32 = val_return_s32;

static noinline u32 val_return_u32(long a)
{
	values_begin("val_return_u32");
	NOTE_INT(a);
	return_int(false, (u32)a);
	return a;
}

static typeof(val_return_u32) *target_val_return_u32 = val_return_u32;

static noinline s64 val_return_s64(long a)
{
	values_begin("val_return_s64");
	NOTE_INT(a);
	return_int(true, (s64)a);
	return a;
}

static typeof(val_return_s64) *target_val_return_s64 = val_return_s64;

static noinline u64 val_return_u64(long a)
{
	values_begin("val_return_u64");
	NOTE_INT(a);
	return_int(false, (u64)a);
	return a;
}

static typeof(val_return_u64) *target_val_return_u64 = val_return_u64;

static noinline bool val_return_bool(long a)
{
	values_begin("val_return_bool");
	NOTE_INT(a);
	values_return("1", "true");
	values_end();
	return a & 2;
}

static typeof(val_return_bool) *target_val_return_bool = val_return_bool;

static noinline enum val_signed val_return_enum(long a)
{
	values_begin("val_return_enum");
	NOTE_INT(a);
	values_return("-1000000", "VAL_MINUS");
	values_end();
	return VAL_MINUS;
}

static typeof(val_return_enum) *target_val_return_enum = val_return_enum;

static noinline void *val_return_pointer(void *a)
{
	values_begin("val_return_pointer");
	NOTE_POINTER(a);
	scnprintf(return_event, sizeof(return_event), "0x%lx", (unsigned long)a);
	values_return(return_event, return_event);
	values_end();
	return a;
}

static typeof(val_return_pointer) *target_val_return_pointer = val_return_pointer;

/*
 * Pass words to a function whose arguments are smaller: what is above them in the registers is
 * not part of their values. Clang counts on 32 bits that are extended by the caller.
 */
typedef void (*words_t)(long a, long b, long c, long d, long e, long f, long g, long h, long i,
			long j, long k, long l);

#define DIRTY(value, type) \
	((u64)(type)(value) | (0xa5a5a5a5a5a5a5a5 << \
			       (IS_ENABLED(CONFIG_CC_IS_CLANG) || sizeof(type) == 4 ? 32 : \
				8 * sizeof(type))))

static noinline void call_dirty(void)
{
	words_t func = (words_t)(void *)CALL(val_ints);

	/* CFI makes sure that a function is called by its own type. */
	if (IS_ENABLED(CONFIG_CFI) || IS_ENABLED(CONFIG_CFI_CLANG)) {
		CALL(val_ints)(1, 0x95, -102, 0xfb, -32767, 0xfff1, -0x7fffffff, 0x90000001,
			       -5000000000, 0x7000000000000001, -127, 0);
		return;
	}
	func(DIRTY(1, u8), DIRTY(0x95, u8), DIRTY(0x9a, u8), DIRTY(0xfb, u8), DIRTY(0x8001, u16),
	     DIRTY(0xfff1, u16), DIRTY(0x80000001, u32), DIRTY(0x90000001, u32), -5000000000,
	     0x7000000000000001, DIRTY(0x81, u8), DIRTY(0, u8));
}

static noinline void call_members(void)
{
	/* No more can be read behind the last member. */
	void *page = vmalloc(PAGE_SIZE);
	struct val_members *m;

	if (!page)
		return;
	m = page + PAGE_SIZE - sizeof(*m);
	*m = (struct val_members) { 0, -5000000000, 0x7000000000000001, 0xfffffff0, -7, 0xfff1, -9,
				    { VAL_MINUS, VAL_SMALL, true, -11, 0xf5 } };
	CALL(val_members)(m);
	vfree(page);
}

static noinline void call_arrays(void)
{
	static struct val_flexible flexible = { 0, { 1, -2, -300000 } };
	static struct val_arrays arrays[] = {
		{ .large = { 5000000000, 0x7000000000000001 }, .small = { 1, 2, 0xf3 },
		  .flat = { { -1, 2, 3 }, { 4, -5, -6 } }, .rows = arrays[0].flat,
		  .yes = { false, true }, .color = { VAL_PLUS, VAL_MINUS },
		  .inner = { { 1, { 2, 3 } }, { -4, { -500, -600 } } },
		  .far = { &arrays[0].inner[0], &arrays[0].inner[1] },
		  .flexible = &flexible },
		{ .flat = { { 7, -8, 9 } }, .rows = arrays[1].flat },
	};

	CALL(val_arrays)(arrays);
}

static noinline void call_numbers(void)
{
	/* No more can be read behind the last number. */
	void *page = vmalloc(PAGE_SIZE);
	s16 *numbers;

	if (!page)
		return;
	numbers = page + PAGE_SIZE - 3 * sizeof(*numbers);
	numbers[0] = -1000;
	numbers[1] = 2;
	numbers[2] = -3;
	CALL(val_array_numbers)(numbers);
	vfree(page);
}

static noinline void call_bits(void)
{
	static struct val_bits bits = { .a = -3, .b = 29, .c = -5000000, .d = -300000000000,
		.e = 0xfffff1, .f = -200, .g = true, .h = -2, .i = -13, .j = 1, .l = VAL_MINUS,
		.m = -4000000000, .n = -1000000000, .o = -99 };

	CALL(val_bits)(&bits);
}

static noinline void call_others(void)
{
	__int128 big = ((__int128)0x7654321076543210 << 64) + 0xfedcba98fedcba98;
	struct val_128 s128 = { big };
	struct val_192 s192 = { big, 5 };
	struct val_16 s16 = { "0123456789abcdef" };
	union val_union small = { .z = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86 } };
	struct val_padded_large padded = { { 1, 2, 3 } };

	CALL(val_enums)(VAL_HIGH, VAL_MINUS, VAL_SMALL, VAL_WIDE, VAL_WIDE_MINUS, -1, -7, VAL_FIVE,
			-6);
	CALL(val_pointers)(&small, "text", NULL, call_others, (void *)~0x100000UL, current);
	CALL(val_int128)(-1, big, -2, -big, -3);
	CALL(val_int128_split)(1, -2, 3, -4, 5, big, -6, 0xf7, ~big, -8);
	CALL(val_struct128)(-1, s128, s128, -2, -3, s192, s128, -4);
	CALL(val_struct_packed)(-1, (struct val_packed){ 2, -3 }, -4,
				(struct val_tight){ -5, -6 }, -7);
	CALL(val_return_packed)(-1);
	CALL(val_struct_padded)(-1, (struct val_padded){ 2 }, -3);
	CALL(val_struct_padded_large)(-1, padded, -2);
	CALL(val_small_structs)((struct val_empty){ }, -1, small, -2);
	CALL(val_many)(-1, 0xf2, -3, 0xfff4, -5, 0xfffffff6, -7, 0x7ffffffffffffff8, -9, 0xfa, -11,
		       0xfffc, -13, 0xfffffffe);
	CALL(val_variadic)(-1, s16, -2, 3L, 4L, 5L, -6L, 7L, 8L, 9L);
}

static noinline void call_returns(void)
{
	CALL(val_return_s8)(0x123456789abcde95);
	CALL(val_return_u8)(0x123456789abcde95);
	CALL(val_return_s16)(0x123456789abc8765);
	CALL(val_return_u16)(0x123456789abc8765);
	CALL(val_return_s32)(0x1234567887654321);
	CALL(val_return_u32)(0x1234567887654321);
	CALL(val_return_s64)(-5000000000);
	CALL(val_return_u64)(0x1234567887654321);
	CALL(val_return_bool)(0x1234567887654322);
	CALL(val_return_enum)(1);
	CALL(val_return_pointer)(&values_mutex);
}

/* vmlinux has a function of this name, whose arguments are pointers. It is not noted. */
static noinline void proc_reg_open(s8 a, u16 b)
{
	barrier();
}

static typeof(proc_reg_open) *target_proc_reg_open = proc_reg_open;

static int values_show(struct seq_file *file, void *unused)
{
	mutex_lock(&values_mutex);
	values_file = file;
	call_dirty();
	call_others();
	call_structs_40();
	call_members();
	call_arrays();
	call_numbers();
	call_bits();
	call_returns();
	CALL(proc_reg_open)(-3, 0xfff4);
	kernel_fpu_begin();
	values_floats();
	kernel_fpu_end();
	mutex_unlock(&values_mutex);
	return 0;
}

/* With room for all lines, so that the functions are called once. */
static int values_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, values_show, NULL, SZ_64K);
}

static const struct proc_ops values_ops = {
	.proc_open	= values_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
};

static int __init values_init(void)
{
	return proc_create("test_fgraph_values", 0400, NULL, &values_ops) ? 0 : -ENOMEM;
}
module_init(values_init);

static void __exit values_exit(void)
{
	remove_proc_entry("test_fgraph_values", NULL);
}
module_exit(values_exit);

MODULE_DESCRIPTION("Functions with values of all kinds, to compare with what is traced");
MODULE_LICENSE("GPL");
