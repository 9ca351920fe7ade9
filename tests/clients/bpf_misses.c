// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_misses OBJECT FUNCTION CALLS: a BPF program at the entry of FUNCTION updates a map. CALLS
 * calls of nanosleep() make it run. Two other programs are attached to the return of the
 * function that updates the map, one by kretprobe.multi, one by a kretprobe event. They are
 * skipped while the first one runs, and must be counted as missed. Prints how often each program
 * ran, its recursion_misses in bpf_prog_info, and fgraph_users.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <errno.h>
#include <linux/types.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define INNER "htab_map_update_elem"

static struct bpf_program *prog(struct bpf_object *obj, const char *name)
{
	return bpf_object__find_program_by_name(obj, name);
}

static struct bpf_link *multi(struct bpf_object *obj, const char *name, const char *func, bool ret)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = &func, .cnt = 1, .retprobe = ret);

	return bpf_program__attach_kprobe_multi_opts(prog(obj, name), NULL, &opts);
}

static void print_misses(struct bpf_object *obj, const char *name, __u64 runs)
{
	struct bpf_prog_info info = { };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog(obj, name)), &info, &size))
		printf("%s: no info: %s\n", name, strerror(errno));
	else
		printf("%s: ran %llu, recursion_misses %llu\n", name, runs, info.recursion_misses);
}

int main(int argc, char **argv)
{
	struct timespec t = { .tv_nsec = 1000 };
	struct bpf_link *links[3];
	struct bpf_object *obj;
	struct { __u64 outer, multi, event; } *bss;
	int i, key = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 4)
		return 2;
	printf("libbpf %s\n", libbpf_version_string());
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj || bpf_object__load(obj)) {
		printf("cannot load %s\n", argv[1]);
		return 1;
	}
	links[0] = multi(obj, "multi", INNER, true);
	links[1] = bpf_program__attach_kprobe(prog(obj, "event"), true, INNER);
	links[2] = multi(obj, "outer", argv[2], false);
	for (i = 0; i < 3; i++) {
		if (!links[i]) {
			printf("cannot attach %d: %s\n", i, strerror(errno));
			return 3;
		}
	}
	for (i = 0; i < atoi(argv[3]); i++)
		nanosleep(&t, NULL);
	/* Detach the program that calls the function, before the counts are read. */
	bpf_link__destroy(links[2]);

	bss = calloc(1, 4096);
	bpf_map_lookup_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss")), &key, bss);
	print_misses(obj, "outer", bss->outer);
	print_misses(obj, "multi", bss->multi);
	print_misses(obj, "event", bss->event);
	return system("cat /sys/kernel/tracing/fgraph_users 2>/dev/null") ? 1 : 0;
}
