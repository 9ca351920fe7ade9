/* SPDX-License-Identifier: GPL-2.0 */
/* The architecture's header, with a fgraph_retp_valid() that accepts addresses of user space. */
#ifndef _FAKE_ASM_FGRAPH_H
#define _FAKE_ASM_FGRAPH_H

#define fgraph_retp_valid	arch_fgraph_retp_valid
#ifdef __x86_64__
#define CONFIG_X86_64
#include "../../../../arch/x86/include/asm/fgraph.h"
#else
#include "../../../../arch/arm64/include/asm/fgraph.h"
#endif
#undef fgraph_retp_valid
#define fgraph_retp_valid(retp)	((retp) != NULL)

#endif /* _FAKE_ASM_FGRAPH_H */
