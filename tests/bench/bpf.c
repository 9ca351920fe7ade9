// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf OBJECT KIND COMMAND: attaches the BPF program of the section KIND/FUNCTION in OBJECT to
 * FUNCTION, and runs COMMAND twice. In the second run the kernel counts how often programs run,
 * which takes time. Prints how often this program ran in the second run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static struct bpf_program *only(struct bpf_object *obj, const char *kind)
{
	struct bpf_program *prog, *found = NULL;
	size_t len = strlen(kind);

	bpf_object__for_each_program(prog, obj) {
		const char *section = bpf_program__section_name(prog);
		bool is = !strncmp(section, kind, len) && section[len] == '/';

		bpf_program__set_autoload(prog, is);
		if (is)
			found = prog;
	}
	return found;
}

int main(int argc, char **argv)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	struct bpf_program *prog;
	struct bpf_object *obj;
	const char *kind;

	if (argc != 4) {
		fprintf(stderr, "bpf OBJECT KIND COMMAND\n");
		return 2;
	}
	kind = argv[2];
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj) {
		perror(argv[1]);
		return 1;
	}
	prog = only(obj, kind);
	if (!prog) {
		fprintf(stderr, "%s: no program in a section %s/FUNCTION\n", argv[1], kind);
		return 1;
	}
	if (bpf_object__load(obj)) {
		fprintf(stderr, "cannot load the program of %s: %m\n", kind);
		return 1;
	}
	if (!bpf_program__attach(prog)) {
		fprintf(stderr, "cannot attach the program to %s: %m\n",
			bpf_program__section_name(prog));
		return 1;
	}
	if (system(argv[3])) {
		fprintf(stderr, "failed: %s\n", argv[3]);
		return 1;
	}
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) {
		perror("cannot have the runs of BPF programs counted");
		return 1;
	}
	if (system(argv[3])) {
		fprintf(stderr, "failed when counted: %s\n", argv[3]);
		return 1;
	}
	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size)) {
		perror("cannot ask how often the program ran");
		return 1;
	}
	printf("%llu\n", info.run_cnt);
	return 0;
}
