/* SPDX-License-Identifier: GPL-2.0 */
#include "../fake.h"
#include "../../../../include/linux/fgraph.h"
