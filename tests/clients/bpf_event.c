// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_event OBJECT ID-FILE COMMAND...: attach a program to the event whose id is in the file,
 * run the command, and print how often the program ran in tasks named "calls".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static int open_event(unsigned long long id, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return status;
}

int main(int argc, char **argv)
{
	struct bpf_program *prog;
	struct bpf_object *obj;
	unsigned long long id, runs[512] = { };
	int fd, key = 0;
	FILE *f;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4)
		return 2;
	f = fopen(argv[2], "r");
	if (!f || fscanf(f, "%llu", &id) != 1) {
		printf("no id in %s\n", argv[2]);
		return 1;
	}
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj || bpf_object__load(obj)) {
		printf("cannot load %s\n", argv[1]);
		return 1;
	}
	prog = bpf_object__find_program_by_name(obj, "count");
	/* An event has one list of programs, whatever CPU it is opened for. */
	fd = open_event(id, 0);
	if (fd < 0 || !bpf_program__attach_perf_event(prog, fd)) {
		printf("cannot attach: %s\n", strerror(errno));
		return 1;
	}
	if (run(argv + 3)) {
		printf("the command failed\n");
		return 1;
	}
	if (bpf_map_lookup_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss")), &key, runs)) {
		printf("cannot read the count: %s\n", strerror(errno));
		return 1;
	}
	printf("runs %llu\n", runs[0]);
	return 0;
}
