/* SPDX-License-Identifier: GPL-2.0 */
/* Macros of the fgraph trampolines: what differs between the kernels that fgraph_64.S is for. */
#include <linux/stringify.h>
#include <asm/alternative.h>
#include <asm/cpufeatures.h>
#include <asm/nospec-branch.h>

/* A function has returned here: the stack holds nothing of a trampoline yet. */
.macro UNWIND_HINT_RETURNED
	UNWIND_HINT_UNDEFINED
.endm

/*
 * Make a struct fgraph_regs on the stack and pass it: the return registers and those that are
 * at hand, where a struct pt_regs has them. cs is 0, which says that the others are not valid.
 * The first argument is the place of the return address.
 */
.macro SAVE_RETURN_REGS
	subq	$FRAME_SIZE, %rsp
	movq	%rax, RAX(%rsp)
	movq	%rdx, RDX(%rsp)
#ifdef CONFIG_FRAME_POINTER
	movq	(%rbp), %rcx
	movq	%rcx, RBP(%rsp)
#else
	movq	%rbp, RBP(%rsp)
#endif
	movq	$0, CS(%rsp)
	leaq	FRAME_SIZE+FRAME_OFFSET(%rsp), %rdi
	leaq	8(%rdi), %rcx
	movq	%rcx, RSP(%rsp)
	movq	%rsp, %rsi
.endm

.macro RESTORE_RETURN_REGS
	movq	RAX(%rsp), %rax
	movq	RDX(%rsp), %rdx
	addq	$FRAME_SIZE, %rsp
.endm

/*
 * Return to the address that was put back. Call depth tracking has counted the return of the
 * hooked function, which was this one, so it must not count it again.
 */
.macro RETURN_TO_CALLER
	ALTERNATIVE __stringify(RET), \
		    __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
.endm
