// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of a probe that is hit in an NMI while the instruction of a second one is
 * single-stepped, which was hit in the handler of a third one (x86_64).
 *
 * The instruction that is stepped sends the NMI to its own CPU. An emulator and most
 * machines take the NMI before the step is over; where it comes later the test passes,
 * but shows nothing.
 */

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/preempt.h>
#include <kunit/test.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "nmi_kunit.h"

asm(".pushsection .text, \"ax\"\n"
	ASM_FUNC_ALIGN
	".type kprobes_nmi_store, @function\n"
	"kprobes_nmi_store:\n"
	ANNOTATE_NOENDBR "\n"
	"movl %esi, (%rdi)\n"
	ASM_RET
	".size kprobes_nmi_store, . - kprobes_nmi_store\n"
	ASM_FUNC_ALIGN
	".type kprobes_nmi_wrmsr, @function\n"
	"kprobes_nmi_wrmsr:\n"
	ANNOTATE_NOENDBR "\n"
	"wrmsr\n"
	ASM_RET
	".size kprobes_nmi_wrmsr, . - kprobes_nmi_wrmsr\n"
	ASM_FUNC_ALIGN
	".type kprobes_nmi_third, @function\n"
	"kprobes_nmi_third:\n"
	ANNOTATE_NOENDBR "\n"
	"movl $42, %eax\n"
	ASM_RET
	".size kprobes_nmi_third, . - kprobes_nmi_third\n"
	".popsection\n");

static int nmis, handled;
static unsigned long third;

/* Send an NMI to this CPU, by an instruction that has a probe. */
static notrace void send_nmi(void)
{
	u32 id = read_apic_id();
	u32 icr = APIC_DM_NMI | APIC_DEST_PHYSICAL;

	if (x2apic_mode) {
		asm volatile("call kprobes_nmi_wrmsr" : ASM_CALL_CONSTRAINT :
			     "d" (id), "a" (icr), "c" (APIC_BASE_MSR + (APIC_ICR >> 4)) :
			     "memory");
	} else {
		native_apic_mem_write(APIC_ICR2, SET_XAPIC_DEST_FIELD(id));
		kprobes_nmi_store(APIC_BASE + APIC_ICR, icr);
	}
}

/* The function with the outermost probe */
static noinline void kprobes_nmi_outer(void)
{
	barrier();
}

static int outer_handler(struct kprobe *p, struct pt_regs *regs)
{
	handled++;
	send_nmi();
	return 0;
}

static int nmi_handler(unsigned int val, struct pt_regs *regs)
{
	if (!READ_ONCE(handled) || nmis)
		return NMI_DONE;
	nmis++;
	third = kprobes_nmi_third();
	return NMI_HANDLED;
}
NOKPROBE_SYMBOL(nmi_handler);

/* A probe that has one is not replaced by a jump. */
static void post_handler(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static void nmi_in_nested_step(struct kunit *test)
{
	static struct kprobe outer = {
		.symbol_name = "kprobes_nmi_outer",
		.pre_handler = outer_handler,
		.post_handler = post_handler,
	};
	static struct kprobe inner = { .post_handler = post_handler };
	static struct kprobe in_nmi = {
		.addr = (kprobe_opcode_t *)kprobes_nmi_third,
		.post_handler = post_handler,
	};
	struct kprobe *probes[] = { &outer, &inner, &in_nmi };
	int i;

	if (!boot_cpu_has(X86_FEATURE_APIC))
		kunit_skip(test, "no local APIC");
	inner.addr = x2apic_mode ? (kprobe_opcode_t *)kprobes_nmi_wrmsr :
				   (kprobe_opcode_t *)kprobes_nmi_store;
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(probes, ARRAY_SIZE(probes)));
	KUNIT_ASSERT_EQ(test, 0, register_nmi_handler(NMI_LOCAL, nmi_handler, NMI_FLAG_FIRST,
						      "kprobes_nmi_kunit"));
	preempt_disable();
	kprobes_nmi_outer();
	preempt_enable();
	for (i = 0; i < 1000 && !READ_ONCE(nmis); i++)
		usleep_range(10, 20);
	unregister_nmi_handler(NMI_LOCAL, "kprobes_nmi_kunit");
	unregister_kprobes(probes, ARRAY_SIZE(probes));

	KUNIT_EXPECT_EQ(test, handled, 1);
	KUNIT_EXPECT_EQ(test, nmis, 1);
	KUNIT_EXPECT_EQ(test, third, 42);
	KUNIT_EXPECT_EQ(test, outer.nmissed, 0);
	KUNIT_EXPECT_EQ(test, inner.nmissed, 1);
	KUNIT_EXPECT_EQ(test, in_nmi.nmissed, 1);
}

static struct kunit_case kprobes_nmi_cases[] = {
	KUNIT_CASE(nmi_in_nested_step),
	{}
};

static struct kunit_suite kprobes_nmi_suite = {
	.name = "kprobes_nmi",
	.test_cases = kprobes_nmi_cases,
};

kunit_test_suite(kprobes_nmi_suite);

MODULE_DESCRIPTION("KUnit test of a probe that is hit in an NMI");
MODULE_LICENSE("GPL");
