// SPDX-License-Identifier: GPL-2.0
/* The functions of fgraph_kunit_target.c, compiled so that ftrace cannot call them. */
#define FGRAPH_KUNIT_TABLE	fgraph_kunit_hidden
#define FGRAPH_KUNIT_NAME(name)	fgraph_kunit_hidden_##name
#include "fgraph_kunit_target.c"
