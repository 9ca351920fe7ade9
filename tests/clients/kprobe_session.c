// SPDX-License-Identifier: GPL-2.0-only
/*
 * kprobe_session OBJECT COMMAND FUNCTION...: attaches a program of kprobe.session to the
 * functions, runs the command, and prints how often the program ran at an entry, refused the
 * call, and ran at a return; and how many returns had not the cookie of their entry.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "multi_link.h"

int main(int argc, char **argv)
{
	struct { __u64 entries, refused, returns, wrong; } bss;
	struct bpf_program *prog;
	struct bpf_object *obj;
	int link, key = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4)
		return 2;
	printf("libbpf %s\n", libbpf_version_string());
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj)
		return 1;
	prog = bpf_object__find_program_by_name(obj, "session");
	bpf_program__set_expected_attach_type(prog, KPROBE_SESSION);
	if (bpf_object__load(obj)) {
		printf("cannot load %s\n", argv[1]);
		return 1;
	}
	link = multi_link(bpf_program__fd(prog), KPROBE_SESSION, (const char *const *)&argv[3],
			  argc - 3);
	if (link < 0) {
		printf("cannot attach: %s\n", strerror(errno));
		return 3;
	}
	if (system(argv[2])) {
		printf("%s failed\n", argv[2]);
		return 1;
	}
	close(link);
	if (bpf_map_lookup_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss")), &key, &bss)) {
		printf("no results: %s\n", strerror(errno));
		return 1;
	}
	printf("entries %llu\nrefused %llu\nreturns %llu\nwrong %llu\n",
	       bss.entries, bss.refused, bss.returns, bss.wrong);
	return 0;
}
