// SPDX-License-Identifier: GPL-2.0-only
/*
 * fgraph's trampoline for functions that have a kretprobe.
 *
 * It has a kprobe on its nop, so that all registers are saved without further assembly. If the
 * kprobe is optimised, the blr returns, else the trap does.
 */
#include <linux/fgraph.h>
#include <linux/kprobes.h>

asm(".pushsection .text, \"ax\"\n"
	".globl	fgraph_trampoline_full\n"
	".type	fgraph_trampoline_full, @function\n"
	"fgraph_trampoline_full:\n"
	"nop\n"
	"blr\n"
	".size	fgraph_trampoline_full, . - fgraph_trampoline_full\n"
	".popsection\n");

static int fgraph_trampoline_handler(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long ret = fgraph_return_full(regs);

	/* After a trap, the emulation of the nop adds the 4 bytes. */
	regs_set_return_ip(regs, ret - 4);
	regs->link = ret;
	return 0;
}
NOKPROBE_SYMBOL(fgraph_trampoline_handler);

static struct kprobe fgraph_trampoline_probe = {
	.addr		= (kprobe_opcode_t *)&fgraph_trampoline_full,
	.pre_handler	= fgraph_trampoline_handler,
};

int __init arch_init_kprobes(void)
{
	return register_kprobe(&fgraph_trampoline_probe);
}
