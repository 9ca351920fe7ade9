/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph trampolines: what a hooked function returns to.
 *
 * Both are reached by RET only. They put their own address back where it was,
 * so that the stack looks as it did inside the hooked function and an unwinder
 * asks fgraph for the real return address behind that place. fgraph_return_*()
 * writes the real address there before it drops the frame, hence the RET at
 * the end returns to it.
 *
 * The place is filled with a CALL, not a PUSH: it pairs with that RET in the
 * return stack buffer, whose own entry the hooked function's RET has used up.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/asm.h>
#include <asm/fgraph.h>
#include <asm/frame.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

	.code64
	.text
	/* What ends in a call that does not return must not seem to return here. */
	int3

.macro PUT_BACK_SLOT trampoline
	/* Here SP is that of the caller: unwinders take IP for the return. */
	UNWIND_HINT_EMPTY
	ANNOTATE_NOENDBR
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lslot_\@
	int3
.Lslot_\@:
	UNWIND_HINT_FUNC
	movq	$\trampoline, (%rsp)
.endm

/* Keeps the return registers: rax and rdx. */
SYM_CODE_START(fgraph_trampoline_light)
	PUT_BACK_SLOT fgraph_trampoline_light
	FRAME_BEGIN
	/* struct fgraph_regs: value[1], value[0], full */
	pushq	%rdx
	pushq	%rax
	pushq	$0
	movq	%rsp, %rsi
	leaq	FGRAPH_REGS_SIZE+FRAME_OFFSET(%rsp), %rdi
	call	fgraph_return_light
	leaq	8(%rsp), %rsp
	popq	%rax
	popq	%rdx
	FRAME_END
	RET
SYM_CODE_END(fgraph_trampoline_light)
_ASM_NOKPROBE(fgraph_trampoline_light)

/* Makes a struct pt_regs of the state after the hooked function's return. */
SYM_CODE_START(fgraph_trampoline_full)
	PUT_BACK_SLOT fgraph_trampoline_full
	pushq	$__KERNEL_DS			/* ss */
	pushq	%rsp				/* sp: below */
	pushfq					/* flags */
	pushq	$__KERNEL_CS			/* cs */
	pushq	$fgraph_trampoline_full		/* ip: fgraph_fixup_regs() */
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
	/* The stack pointer after the return, also for unwinders from here. */
	addq	$16, RSP(%rsp)
	ENCODE_FRAME_POINTER
	movq	%rsp, %rdi
	call	fgraph_return_full
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
	leaq	24(%rsp), %rsp			/* orig_ax, ip, cs */
	popfq
	leaq	16(%rsp), %rsp			/* sp, ss */
	RET
SYM_CODE_END(fgraph_trampoline_full)
_ASM_NOKPROBE(fgraph_trampoline_full)
