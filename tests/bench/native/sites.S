/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that are hooked, with what ftrace has patched into the pad at their start, and
 * their stubs.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

	.text
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

	FUNC	f_jmp
	call	jmp_ftrace_caller
	BODY

	FUNC	f_floor
	PAD_JMP	floor_stub
	BODY

	FUNC	f_floor_both
	PAD_JMP	floor_stub_both
	BODY

	FUNC	f_stub
	PAD_JMP	stub_of_f_stub
	BODY

	FUNC	f_stub_full
	PAD_JMP	stub_of_f_stub_full
	BODY

	/* End in a tail call of another hooked function. */
	FUNC	f_stub_tail
	PAD_JMP	stub_of_f_stub_tail
	jmp	f_stub

	FUNC	f_hijack_tail
	call	hijack_ftrace_caller
	jmp	f_stub

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

	FUNC	f_deep_stub
	PAD_JMP	stub_of_f_deep_stub
	DEEP	f_deep_stub

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

/* Each stub takes 32 bytes, and so does the address at the start of the page. */
.macro STUB func, leave
	.p2align 5, 0xcc
stub_of_\func:
	call	hijack_stub_enter
	jnz	1f
	PAD_JMP	\func + 5
1:	call	\func + 5
	PAD_JMP	\leave
.endm

	.p2align 12
	.globl	stubs_start, stubs_end
stubs_start:
	.quad	stub_records
	STUB	f_stub, hijack_stub_leave
	STUB	f_stub_full, hijack_stub_leave_full
	STUB	f_stub_tail, hijack_stub_leave
	STUB	f_deep_stub, hijack_stub_leave
	.p2align 12
stubs_end:

	.data
	.p2align 6
	.globl	stub_records
stub_records:
	.quad	0, 0
	.quad	f_stub, 0
	.quad	f_stub_full, 0
	.quad	f_stub_tail, 0
	.quad	f_deep_stub, 0
	.fill	2 * (4096 / 32 - 5), 8, 0

	.text
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
