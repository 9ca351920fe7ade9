/* SPDX-License-Identifier: GPL-2.0 */
/*
 * step_entry is called before each instruction of the core while step_left is not zero. It
 * decrements step_left and calls step_point() if that has become zero. No register changes; the
 * caller has saved %rcx, or x29 and x30.
 *
 * Like the kernel, the core uses neither floating point registers nor memory below the stack
 * pointer.
 */
	.section .note.GNU-stack, "", %progbits
	.text
	.globl	step_entry

#ifdef __x86_64__
step_entry:
	lea	-1(%rcx), %rcx
	mov	%rcx, step_left(%rip)
	jrcxz	1f
	ret
1:	pushfq
	cld
	push	%rax
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbp
	mov	%rsp, %rbp
	and	$-16, %rsp
	call	step_point
	mov	%rbp, %rsp
	pop	%rbp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rax
	popfq
	ret
#else
step_entry:
	stp	x0, x1, [sp, #-176]!
	stp	x2, x3, [sp, #16]
	adrp	x0, step_left
	ldr	x1, [x0, :lo12:step_left]
	sub	x1, x1, #1
	str	x1, [x0, :lo12:step_left]
	cbnz	x1, 1f
	mrs	x1, nzcv
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x30, [sp, #144]
	str	x1, [sp, #160]
	bl	step_point
	ldr	x1, [sp, #160]
	msr	nzcv, x1
	ldp	x18, x30, [sp, #144]
	ldp	x16, x17, [sp, #128]
	ldp	x14, x15, [sp, #112]
	ldp	x12, x13, [sp, #96]
	ldp	x10, x11, [sp, #80]
	ldp	x8, x9, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
1:	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp], #176
	ret
#endif
