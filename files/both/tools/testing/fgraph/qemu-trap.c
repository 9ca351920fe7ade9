// SPDX-License-Identifier: GPL-2.0
/*
 * The trap flag of an emulated processor: a plugin of qemu-user that raises SIGUSR1 before each
 * instruction in a range of addresses. qemu must translate one instruction to a block, so that
 * the signal is handled before the next instruction runs.
 *
 * Arguments: start= and stop= are the range; on= and off= are the addresses of two functions
 * whose calls switch the flag on and off.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "qemu-plugin.h"

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static const char * const names[] = { "start=", "stop=", "on=", "off=" };
static unsigned long long value[4];
static bool is_on;

static void switched(unsigned int cpu, void *data)
{
	is_on = data;
}

static void executed(unsigned int cpu, void *data)
{
	if (is_on)
		raise(SIGUSR1);
}

static void translated(unsigned long long id, struct qemu_plugin_tb *tb)
{
	size_t i;

	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		unsigned long long addr = qemu_plugin_insn_vaddr(insn);

		if (addr >= value[0] && addr < value[1])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, 0, NULL);
		else if (addr == value[2])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, switched, 0, &is_on);
		else if (addr == value[3])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, switched, 0, NULL);
	}
}

int qemu_plugin_install(unsigned long long id, const struct qemu_info_t *info, int argc,
			char **argv)
{
	int i, j;

	for (i = 0; i < argc; i++) {
		for (j = 0; j < 4; j++) {
			size_t len = strlen(names[j]);

			if (!strncmp(argv[i], names[j], len))
				value[j] = strtoull(argv[i] + len, NULL, 16);
		}
	}
	if (!value[0] || !value[1] || !value[2] || !value[3])
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
