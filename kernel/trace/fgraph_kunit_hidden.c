// SPDX-License-Identifier: GPL-2.0
/* The same functions, unknown to ftrace. See fgraph_kunit.h. */
#define FGRAPH_KUNIT_TABLE	fgraph_kunit_hidden
#define FGRAPH_KUNIT_NAME(name)	fgraph_kunit_hidden_##name
#include "fgraph_kunit_target.c"
