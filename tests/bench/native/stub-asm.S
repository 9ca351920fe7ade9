/* SPDX-License-Identifier: GPL-2.0 */
/* What stubs lead to at the entry and at the return of their functions; see stub.c. */
#include <linux/linkage.h>
#include <asm/fgraph.h>
#include <asm/nospec-branch.h>

#include "fgraph_64_port.S"

	.text
/*
 * Keeps the registers of arguments; C code keeps those that it must not change. The place of
 * struct pt_regs is as ftrace_caller makes it. Clears ZF if the return is wanted.
 */
SYM_FUNC_START(stub_enter)
	subq	$FRAME_SIZE, %rsp
	movq	%rdi, RDI(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
	movq	%rsp, %rdi
	movq	FRAME_SIZE(%rsp), %rsi
	call	stub_entered
	testb	%al, %al
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RCX(%rsp), %rcx
	movq	RDX(%rsp), %rdx
	movq	RSI(%rsp), %rsi
	movq	RDI(%rsp), %rdi
	leaq	FRAME_SIZE(%rsp), %rsp
	RET
SYM_FUNC_END(stub_enter)

/* Like fgraph_trampoline_light, but the real return address is where it was. */
SYM_FUNC_START(stub_leave)
	SAVE_RETURN_REGS
	call	stub_left_light
	RESTORE_RETURN_REGS
	RET
SYM_FUNC_END(stub_leave)

/*
 * Makes a struct pt_regs like fgraph_trampoline_full, and like that keeps what callbacks have
 * written to general registers. Flags are no part of a return value and are not restored.
 */
SYM_FUNC_START(stub_leave_full)
	pushq	$__KERNEL_DS			/* ss */
	pushq	%rsp				/* sp: corrected below */
	pushfq					/* flags */
	pushq	$__KERNEL_CS			/* cs */
	pushq	$stub_leave_full		/* ip: fgraph_fixup_regs() sets it */
	pushq	$-1				/* orig_ax */
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	/* The stack pointer after the return: above ss and the return address. */
	addq	$16, RSP(%rsp)
	movq	%rsp, %rdi
	call	stub_left_full
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	leaq	48(%rsp), %rsp			/* orig_ax, ip, cs, flags, sp, ss */
	RET
SYM_FUNC_END(stub_leave_full)
