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
static void values_member(const char *fetch, bool is_signed, u64 value)
{
	values_int(strrchr(fetch, '>') + 1, fetch, is_signed, value);
}

/* Signed bitfields are negative here, as typeof() does not work for them. */
static void values_bits(const char *fetch, s64 value)
{
	values_member(fetch, value < 0, value);
}

static void values_bool(const char *name, const char *fetch, bool value)
{
	note_fetch("", name, fetch);
	seq_buf_printf(&fields[SHOWN], " %s=%d", name, value);
	if (fetch)
		return;
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "%s", value ? "true" : "false");
}

static void values_pointer(const char *name, const void *value)
{
	note_fetch("", name, NULL);
	seq_buf_printf(&fields[SHOWN], " %s=0x%lx", name, (unsigned long)value);
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "0x%lx", (unsigned long)value);
}

/* A value of an enum of @size bytes that is called @text. To events, all enums are signed. */
static void values_enum(const char *name, const char *text, size_t size, s64 value)
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

static void values_struct(const char *name, const void *value, unsigned int size)
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

static void values_int128(const char *name, const void *value)
{
	const unsigned long *words = value;

	note_refused(name);
	note_traced(name);
	seq_buf_printf(&fields[TRACED], "0x%lx%016lx", words[1], words[0]);
}

/* An argument without bits: events cannot fetch it. */
static void values_empty(const char *name)
{
	note_refused(name);
	seq_buf_printf(&fields[TRACED], "%s={}", name);
}

/* Note a return value of any integer type, which is no small negative number. */
static void values_return_int(bool is_signed, u64 value)
{
	scnprintf(return_event, sizeof(return_event), is_signed ? "%lld" : "%llu", value);
	scnprintf(return_tracer, sizeof(return_tracer), is_signed ? "%lld" : "0x%llx", value);
}

/* Note a return value that is a structure. @packed: its members are not aligned */
static void values_return_struct(const void *value, unsigned int size, bool packed)
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
}

static void values_return_pointer(const void *value)
{
	scnprintf(return_event, sizeof(return_event), "0x%lx", (unsigned long)value);
	strscpy(return_tracer, return_event, sizeof(return_tracer));
}

/* Note an argument, or what a path leads to. */
#define BOOL(x)			values_bool(#x, NULL, x)
#define POINTER(x)		values_pointer(#x, (const void *)(x))
#define ENUM(x, text)		values_enum(#x, text, sizeof(x), (s64)(x))
#define STRUCT(x)		values_struct(#x, &(x), sizeof(x))
#define INT128(x)		values_int128(#x, &(x))
#define MEMBER(x)		values_member(#x, is_signed_type(typeof(x)), x)
#define ELEMENT(name, x)	values_int(name, #x, is_signed_type(typeof(x)), x)
#define BITS(x)			values_bits(#x, x)

/* Note the result. */
#define RETURNS_INT(type, x)	values_return_int(is_signed_type(type), (type)(x))
#define RETURNS(x)		values_return_struct(&(x), sizeof(x), false)
#define RETURNS_PACKED(x)	values_return_struct(&(x), sizeof(x), true)
#define RETURNS_POINTER(x)	values_return_pointer(x)

/* The types */
enum val_unsigned { VAL_ZERO, VAL_HIGH = 0xfffffff0 };
enum val_signed { VAL_MINUS = -1000000, VAL_PLUS = 1 };
enum val_small { VAL_SMALL = 200 } __packed;
enum val_wide { VAL_WIDE = 0x100000005, VAL_FIVE = 5 };
enum val_wide_signed { VAL_WIDE_MINUS = -0x100000005, VAL_WIDE_PLUS = 5 };

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

/* The values of arguments that are not numbers */
#define BIG	(((__int128)0x7654321076543210 << 64) + 0xfedcba98fedcba98)

static const struct val_128 struct_128 = { BIG };
static const struct val_192 struct_192 = { BIG, 5 };
static const struct val_packed_small packed_small = { 1, -2 };
static union val_union small = { .z = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86 } };
static const s16 numbers[] = { -1000, 2, -3 };

static const struct val_members members = {
	0, -5000000000, 0x7000000000000001, 0xfffffff0, -7, 0xfff1, -9,
	{ VAL_MINUS, VAL_SMALL, true, -11, 0xf5 }
};

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

static struct val_bits bits = {
	.a = -3, .b = 29, .c = -5000000, .d = -300000000000, .e = 0xfffff1, .f = -200, .g = true,
	.h = -2, .i = -13, .j = 1, .l = VAL_MINUS, .m = -4000000000, .n = -1000000000, .o = -99
};

/* The values of structures of any size */
static u8 low_bytes[40], high_bytes[40];

/* Copy a value to where no more can be read behind it. */
static void *edge_page;

static void *at_edge(const void *value, size_t size)
{
	return memcpy(edge_page + PAGE_SIZE - size, value, size);
}

#define STRUCT_TYPE(size)	struct val_##size { u8 x[size]; }

STRUCT_TYPE(1); STRUCT_TYPE(2); STRUCT_TYPE(3); STRUCT_TYPE(4); STRUCT_TYPE(5);
STRUCT_TYPE(6); STRUCT_TYPE(7); STRUCT_TYPE(8); STRUCT_TYPE(9); STRUCT_TYPE(10);
STRUCT_TYPE(11); STRUCT_TYPE(12); STRUCT_TYPE(13); STRUCT_TYPE(14); STRUCT_TYPE(15);
STRUCT_TYPE(16); STRUCT_TYPE(17); STRUCT_TYPE(18); STRUCT_TYPE(19); STRUCT_TYPE(20);
STRUCT_TYPE(21); STRUCT_TYPE(22); STRUCT_TYPE(23); STRUCT_TYPE(24); STRUCT_TYPE(25);
STRUCT_TYPE(26); STRUCT_TYPE(27); STRUCT_TYPE(28); STRUCT_TYPE(29); STRUCT_TYPE(30);
STRUCT_TYPE(31); STRUCT_TYPE(32); STRUCT_TYPE(33); STRUCT_TYPE(34); STRUCT_TYPE(35);
STRUCT_TYPE(36); STRUCT_TYPE(37); STRUCT_TYPE(38); STRUCT_TYPE(39); STRUCT_TYPE(40);

#define VAL_CASE(...)	VALUES_FUNCTION(__VA_ARGS__)
#include "test_fgraph_values_cases.h"

VALUES_FUNCTION(void, ints, (bool a, char b, signed char c, u8 d, short e, u16 f, int g,
			     unsigned int h, long i, unsigned long j, s8 k, bool l),
		(BOOL(a), INT(b), INT(c), INT(d), INT(e), INT(f), INT(g), INT(h), INT(i), INT(j),
		 INT(k), BOOL(l)), NOTHING, NO_VALUE,
		(1, 0x95, -102, 0xfb, -32767, 0xfff1, -0x7fffffff, 0x90000001, -5000000000,
		 0x7000000000000001, -127, 0))

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

static noinline void call_dirty_ints(void)
{
	words_t func = (words_t)(void *)CALL(val_ints);

	/* CFI makes sure that a function is called by its own type. */
	if (IS_ENABLED(CONFIG_CFI) || IS_ENABLED(CONFIG_CFI_CLANG)) {
		call_ints();
		return;
	}
	func(DIRTY(1, u8), DIRTY(0x95, u8), DIRTY(0x9a, u8), DIRTY(0xfb, u8), DIRTY(0x8001, u16),
	     DIRTY(0xfff1, u16), DIRTY(0x80000001, u32), DIRTY(0x90000001, u32), -5000000000,
	     0x7000000000000001, DIRTY(0x81, u8), DIRTY(0, u8));
}

/* Of "...", which has no types, tracers show nothing, and events show words. */
static noinline void val_variadic(s8 a, struct val_16 b, int c, ...)
{
	static const char * const names[] = { "d", "e", "f", "g", "h", "i", "j" };
	va_list args;
	int i;

	values_begin("val_variadic");
	INT(a);
	STRUCT(b);
	INT(c);
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

static noinline void call_variadic(void)
{
	struct val_16 s16 = { "0123456789abcdef" };

	CALL(val_variadic)(-1, s16, -2, 3L, 4L, 5L, -6L, 7L, 8L, 9L);
}

/* vmlinux has a function of this name, whose arguments are pointers. It is not noted. */
static noinline void proc_reg_open(s8 a, u16 b)
{
	barrier();
}

static typeof(proc_reg_open) *target_proc_reg_open = proc_reg_open;

static noinline void call_same_name(void)
{
	CALL(proc_reg_open)(-3, 0xfff4);
}

/* The other file has a function of this name, too, with an argument of another type. */
static noinline void two_of_a_name(s8 a, u16 b)
{
	barrier();
}

static typeof(two_of_a_name) *target_two_of_a_name = two_of_a_name;

static noinline void call_two_of_a_name(void)
{
	CALL(two_of_a_name)(-3, 0xfff4);
}

#define VAL_CASE(type, name, ...)	call_##name,
static void (*const calls[])(void) = {
#include "test_fgraph_values_cases.h"
	call_dirty_ints, call_variadic, call_same_name, call_two_of_a_name,
};

static int values_show(struct seq_file *file, void *unused)
{
	int i;

	mutex_lock(&values_mutex);
	values_file = file;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i]();
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
	int i;

	for (i = 0; i < sizeof(low_bytes); i++) {
		low_bytes[i] = 0x80 + i;
		high_bytes[i] = 0xc0 + i;
	}
	edge_page = vmalloc(PAGE_SIZE);
	if (!edge_page)
		return -ENOMEM;
	if (!proc_create("test_fgraph_values", 0400, NULL, &values_ops)) {
		vfree(edge_page);
		return -ENOMEM;
	}
	return 0;
}
module_init(values_init);

static void __exit values_exit(void)
{
	remove_proc_entry("test_fgraph_values", NULL);
	vfree(edge_page);
}
module_exit(values_exit);

MODULE_DESCRIPTION("Functions with values of all kinds, to compare with what is traced");
MODULE_LICENSE("GPL");
