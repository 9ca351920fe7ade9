/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph trampolines: a hooked function returns to one of them.
 *
 * Both are only reached by RET. They put their own address back where the return address was,
 * so that the stack looks as it did in the hooked function and an unwinder asks fgraph for the
 * real return address of that place. fgraph_return_light() and fgraph_return_full() write the
 * real address there before they drop the frame, so the RET at the end returns to it.
 *
 * A CALL makes room for the address, not a PUSH: the RET at the end needs an entry in the
 * return stack buffer, as the RET of the hooked function has used up the entry of the call.
 */
#include <linux/linkage.h>
#include <linux/stringify.h>
#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/asm.h>
#include <asm/cpufeatures.h>
#include <asm/fgraph.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

	.code64
	.text
	/*
	 * The function before this may end in a call that does not return. Its return address
	 * must not be that of the trampoline.
	 */
	int3

.macro PUT_BACK_SLOT trampoline
	/* SP is that of the caller here, so unwinders must treat IP as the return address. */
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lslot_\@
	int3
.Lslot_\@:
	UNWIND_HINT_FUNC
	movq	$\trampoline, (%rsp)
.endm

/*
 * Return to the address that was put back. Call depth tracking has counted the return of the
 * hooked function, which was this one, so it must not count it again.
 */
.macro RETURN_UNCOUNTED
	ALTERNATIVE __stringify(RET), \
		    __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
.endm

/*
 * The light trampoline saves the return registers and those that are at hand, where a
 * struct pt_regs has them. cs is 0, which says that the others are not valid.
 */
SYM_CODE_START(fgraph_trampoline_light)
	PUT_BACK_SLOT fgraph_trampoline_light
	FRAME_BEGIN
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
	call	fgraph_return_light
	movq	RAX(%rsp), %rax
	movq	RDX(%rsp), %rdx
	addq	$FRAME_SIZE, %rsp
	FRAME_END
	RETURN_UNCOUNTED
SYM_CODE_END(fgraph_trampoline_light)
_ASM_NOKPROBE(fgraph_trampoline_light)

/* The full trampoline makes a struct pt_regs of the state after the function's return. */
SYM_CODE_START(fgraph_trampoline_full)
	PUT_BACK_SLOT fgraph_trampoline_full
	pushq	$__KERNEL_DS			/* ss */
	pushq	%rsp				/* sp: corrected below */
	pushfq					/* flags */
	pushq	$__KERNEL_CS			/* cs */
	pushq	$fgraph_trampoline_full		/* ip: fgraph_fixup_regs() sets it */
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
	RETURN_UNCOUNTED
SYM_CODE_END(fgraph_trampoline_full)
_ASM_NOKPROBE(fgraph_trampoline_full)
