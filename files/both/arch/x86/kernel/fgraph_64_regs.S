/* SPDX-License-Identifier: GPL-2.0 */
/* Macros of the fgraph trampolines and stubs: a struct pt_regs of the state after a return. */
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>

/*
 * Make the struct pt_regs on the stack, right below the place of the return address, and pass it as
 * the first argument. @code is the symbol of the code that does this.
 */
.macro SAVE_ALL_REGS code
	pushq	$__KERNEL_DS			/* ss */
	pushq	%rsp				/* sp: corrected below */
	pushfq					/* flags */
	pushq	$__KERNEL_CS			/* cs */
	pushq	$\code				/* ip: fgraph_fixup_regs() sets it */
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
	ENCODE_FRAME_POINTER
	movq	%rsp, %rdi
.endm

/* Restore the general registers. Leaves orig_ax, ip, cs, flags, sp and ss on the stack. */
.macro RESTORE_GENERAL_REGS
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
.endm
