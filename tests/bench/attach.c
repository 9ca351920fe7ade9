// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach KIND NUMBER <FUNCTIONS: attaches return probes to NUMBER functions, detaches them, and prints
 * how many nanoseconds each took, as "@ attach-KIND*NUMBER N" and "@ detach-KIND*NUMBER N". With the
 * clock of scripts/bench, nanoseconds are instructions, and the time that is waited counts as well.
 *
 *	perf	one perf event for each function, which are closed one after the other
 *	link	one BPF link (kprobe.multi) for each function, which are closed one after the other
 *	multi	one BPF link for all
 *
 * FUNCTIONS has a name a line. Those that cannot be probed are left out by perf and link.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int pmu_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "r");
	int type = -1;

	if (f) {
		if (fscanf(f, "%d", &type) != 1)
			type = -1;
		fclose(f);
	}
	return type;
}

static int open_perf(int type, const char *function)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = 1,	/* a return probe, see format/retprobe */
		.kprobe_func = (unsigned long)function,
	};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A program that returns 0. */
static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = BPF_TRACE_KPROBE_MULTI,
		.insns = (unsigned long)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (unsigned long)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int open_link(int prog, char **functions, int nr)
{
	union bpf_attr attr = { };

	attr.link_create.prog_fd = prog;
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.flags = BPF_F_KPROBE_MULTI_RETURN;
	attr.link_create.kprobe_multi.syms = (unsigned long)functions;
	attr.link_create.kprobe_multi.cnt = nr;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	int nr, found = 0, opened = 0, i, source;
	char **functions, line[512];
	long long began, attached;
	const char *kind;
	int *fds;

	if (argc != 3 || (nr = atoi(argv[2])) <= 0) {
		fprintf(stderr, "attach perf|link|multi NUMBER <FUNCTIONS\n");
		return 2;
	}
	kind = argv[1];
	functions = calloc(100000, sizeof(*functions));
	fds = calloc(nr, sizeof(*fds));
	while (found < 100000 && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		functions[found++] = strdup(line);
	}
	if (found < nr) {
		fprintf(stderr, "%d functions, not %d\n", found, nr);
		return 1;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	source = strcmp(kind, "perf") ? load_program() : pmu_type();
	if (source < 0) {
		fprintf(stderr, "%s: not in this kernel: %m\n", kind);
		return 1;
	}

	began = now();
	if (!strcmp(kind, "multi")) {
		fds[opened] = open_link(source, functions, nr);
		if (fds[opened++] < 0) {
			perror("link");
			return 1;
		}
	} else {
		for (i = 0; i < found && opened < nr; i++) {
			fds[opened] = strcmp(kind, "perf") ? open_link(source, functions + i, 1) :
							     open_perf(source, functions[i]);
			opened += fds[opened] >= 0;
		}
		if (opened < nr) {
			fprintf(stderr, "%d functions of %d: %m\n", opened, nr);
			return 1;
		}
	}
	attached = now();
	printf("@ attach-%s*%d %lld\n", kind, nr, (attached - began) / nr);
	for (i = 0; i < opened; i++)
		close(fds[i]);
	printf("@ detach-%s*%d %lld\n", kind, nr, (now() - attached) / nr);
	return 0;
}
