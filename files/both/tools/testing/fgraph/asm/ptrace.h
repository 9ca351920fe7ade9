/* SPDX-License-Identifier: GPL-2.0 */
/* struct pt_regs with the names and the size that it has in the kernel. */
#ifndef _FAKE_ASM_PTRACE_H
#define _FAKE_ASM_PTRACE_H

#ifdef __x86_64__
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#define regs_return_value(r)	((r)->ax)
#define fake_regs_ip(r)		((r)->ip)
#else
struct pt_regs {
	unsigned long regs[31], sp, pc, pstate;
};

#define regs_return_value(r)	((r)->regs[0])
#define fake_regs_ip(r)		((r)->pc)
#endif

#endif /* _FAKE_ASM_PTRACE_H */
