/* SPDX-License-Identifier: GPL-2.0 */
/* Macros of the fgraph trampolines: what differs between the kernels that fgraph_64.S is for. */

/* A function has returned here: the stack holds nothing of a trampoline yet. */
.macro UNWIND_HINT_RETURNED
	UNWIND_HINT_EMPTY
.endm

/*
 * Make a struct fgraph_regs on the stack and pass it: value[1], value[0] and full, which is
 * NULL. The first argument is the place of the return address.
 */
.macro SAVE_RETURN_REGS
	pushq	%rdx
	pushq	%rax
	pushq	$0
	movq	%rsp, %rsi
	leaq	FGRAPH_REGS_SIZE+FRAME_OFFSET(%rsp), %rdi
.endm

.macro RESTORE_RETURN_REGS
	leaq	8(%rsp), %rsp
	popq	%rax
	popq	%rdx
.endm

/* Return to the address that was put back. */
.macro RETURN_TO_CALLER
	RET
.endm
