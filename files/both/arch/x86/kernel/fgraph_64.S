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
#include <asm/asm-offsets.h>
#include <asm/asm.h>
#include <asm/fgraph.h>
#include <asm/frame.h>
#include <asm/ptrace-abi.h>
#include <asm/unwind_hints.h>

#include "fgraph_64_port.S"
#include "fgraph_64_regs.S"

	.code64
	.text
	/*
	 * The function before this may end in a call that does not return. Its return address
	 * must not be that of the trampoline.
	 */
	int3

.macro PUT_BACK_SLOT trampoline
	/* SP is that of the caller here, so unwinders must treat IP as the return address. */
	UNWIND_HINT_RETURNED
	ANNOTATE_NOENDBR
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lslot_\@
	int3
.Lslot_\@:
	UNWIND_HINT_FUNC
	movq	$\trampoline, (%rsp)
.endm

/* The light trampoline makes a struct fgraph_regs of the return registers. */
SYM_CODE_START(fgraph_trampoline_light)
	PUT_BACK_SLOT fgraph_trampoline_light
	FRAME_BEGIN
	SAVE_RETURN_REGS
	call	fgraph_return_light
	RESTORE_RETURN_REGS
	FRAME_END
	RETURN_TO_CALLER
SYM_CODE_END(fgraph_trampoline_light)
_ASM_NOKPROBE(fgraph_trampoline_light)

/* The full trampoline makes a struct pt_regs of the state after the function's return. */
SYM_CODE_START(fgraph_trampoline_full)
	PUT_BACK_SLOT fgraph_trampoline_full
	SAVE_ALL_REGS fgraph_trampoline_full
	call	fgraph_return_full
	RESTORE_GENERAL_REGS
	leaq	24(%rsp), %rsp			/* orig_ax, ip, cs */
	popfq
	leaq	16(%rsp), %rsp			/* sp, ss */
	RETURN_TO_CALLER
SYM_CODE_END(fgraph_trampoline_full)
_ASM_NOKPROBE(fgraph_trampoline_full)
