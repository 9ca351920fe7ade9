/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fgraph trampolines: a hooked function returns to one of them.
 *
 * Both are only reached by RET, so they need no landing pad for BTI. They make a frame record
 * with the trampoline as the return address, so that an unwinder asks fgraph for the real one.
 * fgraph_return_light() and fgraph_return_full() write the real address there before they drop
 * the frame.
 *
 * No call pushed to the shadow call stack for the trampolines, so they do not pop from it.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/fgraph.h>
#include <asm/ptrace.h>

#include "fgraph-entry-port.S"

	.text
	/*
	 * The function before this may end in a call that does not return. Its return address
	 * must not be that of the trampoline.
	 */
	udf	#0

/* Unwinders rely on x29 being set after FGRAPH_PROLOGUE_SIZE bytes. */
	.macro	FRAME_RECORD trampoline, offset
	adr	x9, \trampoline
	stp	x29, x9, [sp, #\offset]
	add	x29, sp, #\offset
	.if	(. - \trampoline) != FGRAPH_PROLOGUE_SIZE
	.error	"FGRAPH_PROLOGUE_SIZE is wrong"
	.endif
	.endm

/* The light trampoline makes a struct fgraph_regs of the return registers, x0 to x7. */
SYM_CODE_START(fgraph_trampoline_light)
	sub	sp, sp, #(FGRAPH_REGS_SIZE + 16)
	stp	x0, x1, [sp, #FGRAPH_REGS_X0]
	FRAME_RECORD fgraph_trampoline_light, FGRAPH_REGS_SIZE
	stp	x2, x3, [sp, #(FGRAPH_REGS_X0 + 16)]
	stp	x4, x5, [sp, #(FGRAPH_REGS_X0 + 32)]
	stp	x6, x7, [sp, #(FGRAPH_REGS_X0 + 48)]
	SAVE_OTHER_REGS

	add	x0, sp, #(FGRAPH_REGS_SIZE + 16)
	mov	x1, sp
	bl	fgraph_return_light
	mov	x30, x0

	ldp	x0, x1, [sp, #FGRAPH_REGS_X0]
	ldp	x2, x3, [sp, #(FGRAPH_REGS_X0 + 16)]
	ldp	x4, x5, [sp, #(FGRAPH_REGS_X0 + 32)]
	ldp	x6, x7, [sp, #(FGRAPH_REGS_X0 + 48)]
	ldr	x29, [sp, #FGRAPH_REGS_SIZE]
	add	sp, sp, #(FGRAPH_REGS_SIZE + 16)
	ret
SYM_CODE_END(fgraph_trampoline_light)
NOKPROBE(fgraph_trampoline_light)

/* The full trampoline makes a struct pt_regs of the state after the function's return. */
SYM_CODE_START(fgraph_trampoline_full)
	sub	sp, sp, #(PT_REGS_SIZE + 16)
	stp	x8, x9, [sp, #S_X8]
	FRAME_RECORD fgraph_trampoline_full, PT_REGS_SIZE
	stp	x0, x1, [sp, #S_X0]
	stp	x2, x3, [sp, #S_X2]
	stp	x4, x5, [sp, #S_X4]
	stp	x6, x7, [sp, #S_X6]
	stp	x10, x11, [sp, #S_X10]
	stp	x12, x13, [sp, #S_X12]
	stp	x14, x15, [sp, #S_X14]
	stp	x16, x17, [sp, #S_X16]
	stp	x18, x19, [sp, #S_X18]
	stp	x20, x21, [sp, #S_X20]
	stp	x22, x23, [sp, #S_X22]
	stp	x24, x25, [sp, #S_X24]
	stp	x26, x27, [sp, #S_X26]
	ldr	x9, [x29]
	stp	x28, x9, [sp, #S_X28]
	/* fgraph_fixup_regs() sets x30 and pc. */
	add	x9, sp, #(PT_REGS_SIZE + 16)
	str	x9, [sp, #S_SP]
	mrs	x9, nzcv
	mrs	x10, daif
	orr	x9, x9, x10
	mrs	x10, CurrentEL
	orr	x9, x9, x10
	mrs	x10, SPSel
	orr	x9, x9, x10
	str	x9, [sp, #S_PSTATE]

	mov	x0, sp
	bl	fgraph_return_full
	mov	x30, x0

	ldr	x9, [sp, #S_PSTATE]
	and	x9, x9, #(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT)
	msr	nzcv, x9
	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_X2]
	ldp	x4, x5, [sp, #S_X4]
	ldp	x6, x7, [sp, #S_X6]
	ldp	x8, x9, [sp, #S_X8]
	ldp	x10, x11, [sp, #S_X10]
	ldp	x12, x13, [sp, #S_X12]
	ldp	x14, x15, [sp, #S_X14]
	ldp	x16, x17, [sp, #S_X16]
	ldp	x18, x19, [sp, #S_X18]
	ldp	x20, x21, [sp, #S_X20]
	ldp	x22, x23, [sp, #S_X22]
	ldp	x24, x25, [sp, #S_X24]
	ldp	x26, x27, [sp, #S_X26]
	ldp	x28, x29, [sp, #S_X28]
	add	sp, sp, #(PT_REGS_SIZE + 16)
	ret
SYM_CODE_END(fgraph_trampoline_full)
NOKPROBE(fgraph_trampoline_full)
