// SPDX-License-Identifier: GPL-2.0-only
/*
 * torture_bpf OBJECT STOP: attaches and detaches the programs of torture_bpf.bpf.c, until there is
 * a file STOP. They are on what the module fgraph_torture calls, of which they look at each call.
 * Fails if a return did not have what its entry had, or if no return was seen.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "../clients/multi_link.h"
#include "torture_bpf.h"

#define LINKS	6

static const char *const programs[] = { "small", "large", "none", "ret" };
#define PROGRAMS	(sizeof(programs) / sizeof(*programs))

static const char *const functions[] = {
	"fgraph_torture_sleep", "fgraph_torture_nest", "fgraph_torture_tail", "fgraph_torture_leaf",
};
#define FUNCTIONS	(sizeof(functions) / sizeof(*functions))

static enum bpf_attach_type type_of(int program)
{
	return strcmp(programs[program], "ret") ? KPROBE_SESSION : KPROBE_MULTI;
}

static struct bpf_program *find(struct bpf_object *obj, int program)
{
	return bpf_object__find_program_by_name(obj, programs[program]);
}

/* On a random number of functions, from the first one. */
static int attach(struct bpf_object *obj, int program)
{
	return multi_link(bpf_program__fd(find(obj, program)), type_of(program), functions,
			  1 + random() % FUNCTIONS);
}

int main(int argc, char **argv)
{
	int links[LINKS] = { }, made = 0, error = 0, key = 0, i;
	struct results results;
	struct bpf_object *obj;

	if (argc != 3) {
		fprintf(stderr, "torture_bpf OBJECT STOP\n");
		return 2;
	}
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj)
		return 1;
	for (i = 0; i < (int)PROGRAMS; i++)
		bpf_program__set_expected_attach_type(find(obj, i), type_of(i));
	if (bpf_object__load(obj)) {
		printf("cannot load %s\n", argv[1]);
		return 1;
	}
	while (access(argv[2], F_OK)) {
		i = random() % LINKS;
		if (links[i] > 0)
			close(links[i]);
		links[i] = attach(obj, random() % PROGRAMS);
		/* The module may not be loaded yet, or be gone. */
		if (links[i] < 0)
			error = errno;
		else
			made++;
		usleep(random() % 200000);
	}
	for (i = 0; i < LINKS; i++)
		if (links[i] > 0)
			close(links[i]);
	if (bpf_map_lookup_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss")), &key,
				&results)) {
		printf("no results: %s\n", strerror(errno));
		return 1;
	}
	printf("programs: links %d, entries %llu, returns %llu, wrong %llu\n", made,
	       results.entries, results.returns, results.wrong);
	if (!made)
		printf("no link could be made: %s\n", strerror(error));
	return !made || !results.returns || results.wrong;
}
