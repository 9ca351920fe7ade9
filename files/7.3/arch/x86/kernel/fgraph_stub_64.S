/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the stubs of fgraph call and jump to, see fgraph_stub.c.
 *
 * All of this is only reached by direct branches.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/asm.h>
#include <asm/fgraph_stub.h>
#include <asm/frame.h>
#include <asm/ptrace-abi.h>
#include <asm/unwind_hints.h>

#include "fgraph_64_port.S"
#include "fgraph_64_regs.S"

	.code64
	.text

#define RECORDS_SIZE	(FGRAPH_STUB_RECORDS * 8)

/*
 * A stub begins. Calls fgraph_stub_entered() with the registers and the address that is at the end
 * of the stub, and passes its result on in r11, as a RET may change the flags. All other registers
 * that ftrace_caller restores are restored here, too: callbacks may have written to them.
 */
SYM_FUNC_START(fgraph_stub_enter)
	ANNOTATE_NOENDBR
#ifdef CONFIG_FRAME_POINTER
	/* Frame records of the caller and of the function, as in ftrace_caller. */
	pushq	%rbp
	pushq	16(%rsp)
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	24(%rsp)
	pushq	%rbp
	movq	%rsp, %rbp
#endif
	subq	$FRAME_SIZE, %rsp
	movq	%rax, RAX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdi, RDI(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
#ifdef CONFIG_FRAME_POINTER
	movq	FRAME_SIZE+RECORDS_SIZE-8(%rsp), %rdx
	/* By way of rdx: objtool takes a store of rbp for one that is to be undone. */
#else
	movq	%rbp, %rdx
#endif
	movq	%rdx, RBP(%rsp)
	/* For the RET below: the CALL in the stub was not counted. */
	CALL_DEPTH_ACCOUNT
	movq	FRAME_SIZE+RECORDS_SIZE(%rsp), %rsi
	movq	(FGRAPH_STUB_IP-FGRAPH_STUB_ENTERED)(%rsi), %rsi
	movq	%rsp, %rdi
	call	fgraph_stub_entered
	movl	%eax, %r11d
#ifdef CONFIG_FRAME_POINTER
	movq	RBP(%rsp), %rbp
#endif
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RDI(%rsp), %rdi
	movq	RSI(%rsp), %rsi
	movq	RDX(%rsp), %rdx
	movq	RCX(%rsp), %rcx
	movq	RAX(%rsp), %rax
	addq	$FRAME_SIZE+RECORDS_SIZE, %rsp
	RET
SYM_FUNC_END(fgraph_stub_enter)
STACK_FRAME_NON_STANDARD_FP(fgraph_stub_enter)
_ASM_NOKPROBE(fgraph_stub_enter)

/* A function has returned to its stub. Like fgraph_trampoline_light. */
SYM_FUNC_START(fgraph_stub_leave_light)
	ANNOTATE_NOENDBR
	FRAME_BEGIN
	subq	$FRAME_SIZE, %rsp
	movq	%rax, RAX(%rsp)
	movq	%rdx, RDX(%rsp)
	/* By way of rcx, as above. */
#ifdef CONFIG_FRAME_POINTER
	movq	(%rbp), %rcx
#else
	movq	%rbp, %rcx
#endif
	movq	%rcx, RBP(%rsp)
	movq	$0, CS(%rsp)
	leaq	FRAME_SIZE+FRAME_OFFSET(%rsp), %rdi
	leaq	8(%rdi), %rcx
	movq	%rcx, RSP(%rsp)
	movq	%rsp, %rsi
	call	fgraph_stub_left_light
	RESTORE_RETURN_REGS
	FRAME_END
	RET
SYM_FUNC_END(fgraph_stub_leave_light)
_ASM_NOKPROBE(fgraph_stub_leave_light)

/*
 * A function has returned to its stub. Like fgraph_trampoline_full, but without the flags, which
 * are no part of a return value: POPF takes longer than everything else here.
 */
SYM_FUNC_START(fgraph_stub_leave_full)
	ANNOTATE_NOENDBR
	SAVE_ALL_REGS fgraph_stub_leave_full
	call	fgraph_stub_left_full
	RESTORE_GENERAL_REGS
	addq	$48, %rsp			/* orig_ax, ip, cs, flags, sp, ss */
	RET
SYM_FUNC_END(fgraph_stub_leave_full)
STACK_FRAME_NON_STANDARD_FP(fgraph_stub_leave_full)
_ASM_NOKPROBE(fgraph_stub_leave_full)
