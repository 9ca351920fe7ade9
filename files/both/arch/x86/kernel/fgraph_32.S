/* SPDX-License-Identifier: GPL-2.0 */
/* fgraph's trampoline for functions that have a kretprobe, on 32 bits. See fgraph_64.S. */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>

	.text

SYM_CODE_START(fgraph_trampoline_full)
	/* Where the return address was: unwinders ask fgraph for the real one. */
	pushl	$fgraph_trampoline_full
	pushl	%ss
	pushl	%esp				/* corrected below */
	pushfl
	pushl	%cs
	pushl	$fgraph_trampoline_full		/* ip: fgraph_fixup_regs() sets it */
	pushl	$-1				/* orig_ax */
	pushl	%gs
	pushl	%fs
	pushl	%es
	pushl	%ds
	pushl	%eax
	pushl	%ebp
	pushl	%edi
	pushl	%esi
	pushl	%edx
	pushl	%ecx
	pushl	%ebx
	ENCODE_FRAME_POINTER
	/* The stack pointer after the return: above ss and the return address. */
	addl	$8, UESP*4(%esp)
	movl	%esp, %eax
	call	fgraph_return_full
	/* The real return address, behind ss */
	movl	%eax, (SS + 1)*4(%esp)
	popl	%ebx
	popl	%ecx
	popl	%edx
	popl	%esi
	popl	%edi
	popl	%ebp
	popl	%eax
	leal	28(%esp), %esp			/* ds, es, fs, gs, orig_ax, ip, cs */
	popfl
	leal	8(%esp), %esp			/* sp, ss */
	RET
SYM_CODE_END(fgraph_trampoline_full)
_ASM_NOKPROBE(fgraph_trampoline_full)
