/* SPDX-License-Identifier: GPL-2.0 */
/* Macros of the fgraph trampolines: what differs between the kernels fgraph-entry.S is for. */

/* Complete a struct fgraph_regs, whose return registers have been saved: full is NULL. */
	.macro	SAVE_OTHER_REGS
	stp	xzr, xzr, [sp]
	.endm
