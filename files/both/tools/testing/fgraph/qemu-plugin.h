/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of QEMU's plugin interface that qemu-trap.c uses. Distributions do not package
 * QEMU's own header, and this part of it has never changed.
 */
#ifndef _QEMU_PLUGIN_H
#define _QEMU_PLUGIN_H

#include <stddef.h>

#ifndef QEMU_PLUGIN_VERSION
#define QEMU_PLUGIN_VERSION	1
#endif

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;

void qemu_plugin_register_vcpu_tb_trans_cb(unsigned long long id,
					   void (*cb)(unsigned long long id,
						      struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int cpu, void *data),
					    int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
unsigned long long qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

/* A plugin defines these. */
extern int qemu_plugin_version;
int qemu_plugin_install(unsigned long long id, const struct qemu_info_t *info, int argc,
			char **argv);

#endif /* _QEMU_PLUGIN_H */
