// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_throw TIMES: sends TIMES packets to itself. An XDP program, which runs in a softirq,
 * throws at each of them. Prints how many were sent, then waits until standard input is closed,
 * and opens /proc/version. Status 4: the kernel has no exceptions in BPF.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* How many bytes follow a type of the kernel's BTF. */
static size_t more(const struct btf_type *t)
{
	unsigned int nr = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
		return nr * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return nr * 8;
	case BTF_KIND_ENUM64:
		return nr * 12;
	default:
		return 0;
	}
}

/* The id of a function in the kernel's BTF, or 0. */
static int find(const char *name)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY), id = 1;
	const struct btf_header *h;
	struct stat st;
	char *btf, *p;
	size_t got = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || !(btf = malloc(st.st_size)))
		die("BTF");
	while (got < st.st_size) {
		ssize_t n = read(fd, btf + got, st.st_size - got);

		if (n <= 0)
			die("BTF");
		got += n;
	}
	close(fd);
	h = (void *)btf;
	p = btf + h->hdr_len + h->type_off;
	for (; p < btf + h->hdr_len + h->type_off + h->type_len; id++) {
		const struct btf_type *t = (void *)p;

		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC &&
		    !strcmp(btf + h->hdr_len + h->str_off + t->name_off, name))
			return id;
		p += sizeof(*t) + more(t);
	}
	return 0;
}

/* Not in the headers of user space. */
#define ENOTSUPP	524

/* bpf_throw(XDP_DROP) */
static int load(int id)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = XDP_DROP },
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = id },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static char log[65536];
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(*insns);
	attr.license = (unsigned long)"GPL";
	attr.log_buf = (unsigned long)log;
	attr.log_size = sizeof(log);
	attr.log_level = 1;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0 && errno == ENOTSUPP) {
		printf("this kernel has no exceptions in BPF: %s", strtok(log, "\n"));
		exit(4);
	}
	if (fd < 0) {
		fprintf(stderr, "%s", log);
		die("BPF_PROG_LOAD");
	}
	return fd;
}

/* The program stays attached to the loopback interface as long as this process lives. */
static void attach(int prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog;
	attr.link_create.target_ifindex = if_nametoindex("lo");
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_SKB_MODE;
	if (syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0)
		die("BPF_LINK_CREATE");
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int times = argc > 1 ? atoi(argv[1]) : 1, sent = 0, id, in, out;
	socklen_t len = sizeof(to);
	char c;

	id = find("bpf_throw");
	if (!id) {
		printf("no bpf_throw() in this kernel\n");
		return 4;
	}
	attach(load(id));
	in = socket(AF_INET, SOCK_DGRAM, 0);
	out = socket(AF_INET, SOCK_DGRAM, 0);
	if (in < 0 || out < 0 || bind(in, (void *)&to, sizeof(to)) ||
	    getsockname(in, (void *)&to, &len))
		die("sockets");
	while (times--)
		sent += sendto(out, "x", 1, 0, (void *)&to, len) == 1;
	if (recv(in, &c, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN) {
		printf("a packet was not dropped\n");
		return 1;
	}
	printf("sent %d\n", sent);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return open("/proc/version", O_RDONLY) < 0;
}
