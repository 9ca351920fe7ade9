// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf OBJECT KIND COMMAND [LINKS]: attaches the BPF program of the section KIND/FUNCTION in OBJECT
 * to FUNCTION, by LINKS links (1), and runs COMMAND twice. In the second run the kernel counts how
 * often programs run, which takes time. Prints how often this program ran in the second run.
 *
 * The links of a program of kretprobe.multi have the functions that standard input names, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "../clients/multi_link.h"

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

/* The libbpf of Debian 12 does not know these programs: kprobe.session and kprobe.session-WHAT. */
static int is_session(const char *kind)
{
	return !strncmp(kind, "kprobe.session", strlen("kprobe.session"));
}

#define MAX_FUNCTIONS	20000

static const char *functions[MAX_FUNCTIONS];
static size_t nr_functions;

static int read_functions(const char *first)
{
	char line[512];

	functions[nr_functions++] = first;
	while (nr_functions < MAX_FUNCTIONS && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		functions[nr_functions] = strdup(line);
		if (!functions[nr_functions++])
			return -1;
	}
	return 0;
}

static int attach(struct bpf_program *prog, const char *kind)
{
	const char *function = bpf_program__section_name(prog) + strlen(kind) + 1;
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .retprobe = true);

	if (!strcmp(kind, "kretprobe.multi")) {
		if (!nr_functions && read_functions(function))
			return -1;
		opts.syms = functions;
		opts.cnt = nr_functions;
		return bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts) ? 0 : -1;
	}
	if (!is_session(kind))
		return bpf_program__attach(prog) ? 0 : -1;
	return multi_link(bpf_program__fd(prog), KPROBE_SESSION, &function, 1);
}

int main(int argc, char **argv)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	struct bpf_program *prog;
	struct bpf_object *obj;
	const char *kind;
	int links;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "bpf OBJECT KIND COMMAND [LINKS]\n");
		return 2;
	}
	links = argc == 5 ? atoi(argv[4]) : 1;
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
	if (is_session(kind)) {
		bpf_program__set_type(prog, BPF_PROG_TYPE_KPROBE);
		bpf_program__set_expected_attach_type(prog, KPROBE_SESSION);
	}
	if (bpf_object__load(obj)) {
		fprintf(stderr, "cannot load the program of %s: %m\n", kind);
		return 1;
	}
	while (links-- > 0) {
		if (attach(prog, kind) < 0) {
			fprintf(stderr, "cannot attach the program to %s: %m\n",
				bpf_program__section_name(prog));
			return 1;
		}
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
