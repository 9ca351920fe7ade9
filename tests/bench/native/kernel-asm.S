/* SPDX-License-Identifier: GPL-2.0 */
/* The macros of kernel headers that the architecture's assembly uses, for user space. */
#ifndef _NATIVE_KERNEL_ASM_H
#define _NATIVE_KERNEL_ASM_H

#include "uapi/asm/ptrace-abi.h"

#define __KERNEL_CS			0x10
#define __KERNEL_DS			0x18
#define MCOUNT_INSN_SIZE		5

#define __stringify(...)		#__VA_ARGS__

.macro function_start name
	.p2align 4
	.globl	\name
\name:
.endm

.macro function_end name
	.type	\name, @function
	.size	\name, . - \name
.endm

.macro label_inside name
	.globl	\name
\name:
.endm

#define SYM_L_GLOBAL
#define SYM_INNER_LABEL(name, linkage)	label_inside name linkage
#define SYM_FUNC_START(name)		function_start name
#define SYM_FUNC_END(name)		function_end name
#define SYM_CODE_START(name)		function_start name
#define SYM_CODE_END(name)		function_end name
#define SYM_TYPED_FUNC_START(name)	function_start name
#define EXPORT_SYMBOL(name)
#define _ASM_NOKPROBE(name)

/* Notes for objtool. */
#define ANNOTATE_NOENDBR
#define ANNOTATE_INTRA_FUNCTION_CALL
#define ANNOTATE_UNRET_SAFE
#define UNWIND_HINT_EMPTY
#define UNWIND_HINT_UNDEFINED
#define UNWIND_HINT_FUNC
#define STACK_FRAME_NON_STANDARD_FP(name)

/* A kernel with ORC, and without call depth tracking. */
#define FRAME_OFFSET			0
#define FRAME_BEGIN
#define FRAME_END
#define ENCODE_FRAME_POINTER
#define CALL_DEPTH_ACCOUNT

/* No CPU has the feature that an alternative is for. */
.macro ALTERNATIVE old, new, feature
	\old
.endm

#ifdef RET_BY_THUNK
#define RET				jmp __x86_return_thunk
#else
#define RET				ret; int3
#endif

	.section .note.GNU-stack, "", %progbits
	.text

#endif /* _NATIVE_KERNEL_ASM_H */
