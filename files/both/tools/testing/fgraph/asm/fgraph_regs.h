/* SPDX-License-Identifier: GPL-2.0 */
#ifdef __aarch64__
#include "../../../../arch/arm64/include/asm/fgraph_regs.h"
#else
#include "../../../../arch/x86/include/asm/fgraph_regs.h"
#endif
