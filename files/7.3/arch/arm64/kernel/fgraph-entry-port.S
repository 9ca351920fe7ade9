/* SPDX-License-Identifier: GPL-2.0 */
/* Macros of the fgraph trampolines: what differs between the kernels fgraph-entry.S is for. */

/*
 * Complete a struct fgraph_regs, whose return registers have been saved, with those that are at
 * hand. x29 points to the frame record. pstate is 0, which says that the other registers are
 * not valid. fgraph_fixup_regs() sets x30 and pc.
 */
	.macro	SAVE_OTHER_REGS
	ldr	x9, [x29]
	str	x9, [sp, #S_FP]
	add	x9, sp, #(FGRAPH_REGS_SIZE + 16)
	str	x9, [sp, #S_SP]
	str	xzr, [sp, #S_PSTATE]
	.endm
