/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that are hooked, with what ftrace has patched into the pad at their start.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

	.text
	/* Pages of their own, as they cannot be run while main.c patches one. */
	.p2align 12
/* The sum of all arguments, and in the second return register the first one and the last one. */
.macro BODY
	leaq	(%rdi,%rsi), %rax
	addq	%rdx, %rax
	addq	%rcx, %rax
	addq	%r8, %rax
	addq	%r9, %rax
	movq	%rdi, %rdx
	xorq	%r9, %rdx
	RET
.endm

.macro FUNC name
	.p2align 6
	.globl \name
\name:
.endm

/* A CALL or JMP of 5 bytes, which short jumps are not. */
.macro PAD_JMP target
	.byte	0xe9
	.long	\target - . - 4
.endm

	FUNC	f_plain
	.byte	0x0f, 0x1f, 0x44, 0, 0
	BODY

	FUNC	f_hijack
	call	hijack_ftrace_caller
	BODY

	FUNC	f_other_hijack
	call	hijack_ftrace_caller
	BODY

	FUNC	f_jmp
	call	jmp_ftrace_caller
	BODY

	FUNC	f_other_jmp
	call	jmp_ftrace_caller
	BODY

	FUNC	f_floor
	PAD_JMP	floor_stub
	BODY

	FUNC	f_floor_both
	PAD_JMP	floor_stub_both
	BODY

	/* Ends in a tail call of another hooked function. */
	FUNC	f_tail_hijack
	call	hijack_ftrace_caller
	jmp	f_hijack

.macro DEEP name
	testq	%rdi, %rdi
	jz	1f
	decq	%rdi
	call	\name
	incq	%rax
	RET
1:	xorl	%eax, %eax
	RET
.endm

	FUNC	f_deep_hijack
	call	hijack_ftrace_caller
	DEEP	f_deep_hijack

#ifdef CONFIG_FGRAPH_STUBS
	/* main.c patches these NOPs. */
	FUNC	f_stub
	.byte	0x0f, 0x1f, 0x44, 0, 0
	BODY

	FUNC	f_other_stub
	.byte	0x0f, 0x1f, 0x44, 0, 0
	BODY

	FUNC	f_tail_stub
	.byte	0x0f, 0x1f, 0x44, 0, 0
	jmp	f_stub

	FUNC	f_mixed_tail
	call	stub_ftrace_caller
	jmp	f_stub

	FUNC	f_deep_stub
	.byte	0x0f, 0x1f, 0x44, 0, 0
	DEEP	f_deep_stub
#endif

/*
 * The least that a hook of the return by calling through can do: count the return, and before that
 * the entry, or not.
 */
	.p2align 6
floor_stub_both:
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	call	floor_count_entry
	popq	%r9
	popq	%r8
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	call	f_floor_both + 5
	jmp	1f
	.p2align 6
floor_stub:
	call	f_floor + 5
1:
	pushq	%rax
	pushq	%rdx
	call	floor_count
	popq	%rdx
	popq	%rax
	RET

	.globl	check_call, check_call_ret
	.p2align 6
check_call:
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	%rsi
	movq	%rdi, %rax
	movq	%rsi, %r11
	movq	(%r11), %rdi
	movq	8(%r11), %rsi
	movq	16(%r11), %rdx
	movq	24(%r11), %rcx
	movq	32(%r11), %r8
	movq	40(%r11), %r9
	movl	$0x5a5a1234, %ebx
	movq	%rbx, %rbp
	movq	%rbx, %r12
	movq	%rbx, %r13
	movq	%rbx, %r14
	movq	%rbx, %r15
	call	*%rax
check_call_ret:
	popq	%rsi
	movq	%rax, (%rsi)
	movq	%rdx, 8(%rsi)
	movl	$0x5a5a1234, %ecx
	xorq	%rcx, %rbx
	xorq	%rcx, %rbp
	xorq	%rcx, %r12
	xorq	%rcx, %r13
	xorq	%rcx, %r14
	xorq	%rcx, %r15
	orq	%rbp, %rbx
	orq	%r12, %rbx
	orq	%r13, %rbx
	orq	%r14, %rbx
	orq	%r15, %rbx
	sete	%al
	movzbl	%al, %eax
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	RET

#ifdef RET_BY_THUNK
#ifdef RET_BY_SRSO
/* Like srso_alias_return_thunk. */
	.p2align 6
srso_safe_ret:
	leaq	8(%rsp), %rsp
	ret
	int3
	.p2align 6
	.globl	__x86_return_thunk
__x86_return_thunk:
	call	srso_safe_ret
	ud2
#else
	.p2align 6
	.globl	__x86_return_thunk
__x86_return_thunk:
	ret
	int3
#endif
#endif

	.p2align 12
