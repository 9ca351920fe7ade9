/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of nmi_kunit.c that are written in assembly. */
#ifndef _X86_KPROBES_NMI_KUNIT_H
#define _X86_KPROBES_NMI_KUNIT_H

#include <linux/types.h>

/* Each begins with the instruction that is probed, and has no site of ftrace. */
void kprobes_nmi_store(unsigned long address, u32 value);
unsigned long kprobes_nmi_third(void);
/* Takes the number and the value of a register in ecx, edx and eax. */
void kprobes_nmi_wrmsr(void);

#endif /* _X86_KPROBES_NMI_KUNIT_H */
