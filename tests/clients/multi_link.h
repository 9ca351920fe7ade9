/* SPDX-License-Identifier: GPL-2.0-only */
/* Links of kprobe.multi and kprobe.session, which the libbpf of Debian 12 cannot all make. */
#ifndef MULTI_LINK_H
#define MULTI_LINK_H

#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>

/* Not all of this is in the headers of Debian 12. */
#define KPROBE_MULTI	((enum bpf_attach_type)42)
#define KPROBE_SESSION	((enum bpf_attach_type)56)
#define MULTI_RETURN	1

/* Attaches a program to @nr functions; one of KPROBE_MULTI to their returns. Returns the link. */
static inline int multi_link(int prog, enum bpf_attach_type type, const char *const *functions,
			     int nr)
{
	union bpf_attr attr = { };

	attr.link_create.prog_fd = prog;
	attr.link_create.attach_type = type;
	attr.link_create.kprobe_multi.syms = (__u64)functions;
	attr.link_create.kprobe_multi.cnt = nr;
	attr.link_create.kprobe_multi.flags = type == KPROBE_MULTI ? MULTI_RETURN : 0;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

#endif
