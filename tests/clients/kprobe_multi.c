// SPDX-License-Identifier: GPL-2.0-only
/*
 * kprobe_multi OBJECT LIST PROCS MS: attaches kprobe.multi and kretprobe.multi
 * programs with libbpf to the functions in the file LIST, with a cookie each.
 * PROCS processes then sleep at once in hrtimer_nanosleep() for MS milliseconds,
 * and call getpgid() CALLS times each. Prints a line for each function that was
 * called, each stack of do_nanosleep(), and the totals.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/types.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "kprobe_multi.h"

#define CALLS 20

struct symbol {
	__u64 addr;
	char name[64];
};

static struct symbol *symbols;
static int nr_symbols;

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], type;
	struct symbol s;
	int room = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %63s", &s.addr, &type, s.name) != 3 ||
		    !strchr("tTwW", type) || s.name[0] == '$')
			continue;
		if (nr_symbols == room) {
			room = room * 2 + 1024;
			symbols = realloc(symbols, room * sizeof(s));
		}
		symbols[nr_symbols++] = s;
	}
	qsort(symbols, nr_symbols, sizeof(s), by_addr);
}

static __u64 address(const char *name)
{
	int i;

	for (i = 0; i < nr_symbols; i++)
		if (!strcmp(symbols[i].name, name))
			return symbols[i].addr;
	return 0;
}

static const char *symbol(__u64 addr)
{
	int lo = 0, hi = nr_symbols;

	while (hi - lo > 1) {
		int mid = (lo + hi) / 2;

		if (symbols[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo < nr_symbols && symbols[lo].addr <= addr ? symbols[lo].name : "[unknown]";
}

/* The child makes the calls that are counted. It is forked before programs are attached. */
static pid_t start_target(int procs, long ms, int gate[2])
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
	pid_t pid = fork();
	int i, n;
	char c;

	if (pid)
		return pid;
	prctl(PR_SET_NAME, COMM);
	close(gate[1]);
	if (read(gate[0], &c, 1) != 1)
		_exit(1);
	for (i = 0; i < procs; i++) {
		pid = fork();
		if (pid < 0)
			_exit(2);
		if (!pid) {
			for (n = 0; n < CALLS; n++)
				syscall(SYS_getpgid, 0);
			nanosleep(&t, NULL);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static struct bpf_link *attach(struct bpf_object *obj, const char *prog, const char **names,
			       const __u64 *cookies, int nr, bool returns)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts,
		    .syms = names, .cookies = cookies, .cnt = nr, .retprobe = returns);
	struct bpf_program *p = bpf_object__find_program_by_name(obj, prog);
	struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(p, NULL, &opts);

	if (!link)
		printf("cannot attach %s: %s\n", prog, strerror(errno));
	return link;
}

static void print_stacks(int seen, int stacks, char **names)
{
	struct stack_key key, *last = NULL;

	while (!bpf_map_get_next_key(seen, last, &key)) {
		__u64 n = 0, ips[MAX_DEPTH] = {};
		__u32 id = key.stack;
		int i;

		last = &key;
		bpf_map_lookup_elem(seen, &key, &n);
		if (bpf_map_lookup_elem(stacks, &id, ips))
			continue;
		printf("stack %s %s %llu:", key.returns ? "return" : "entry", names[key.func], n);
		for (i = 0; i < MAX_DEPTH && ips[i]; i++)
			printf(" %s", symbol(ips[i]));
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	const char *names[MAX_FUNCS];
	__u64 cookies[MAX_FUNCS], returns[MAX_FUNCS];
	struct bpf_link *entry, *ret;
	struct bpf_object *obj;
	struct { __u64 ip, cookie, stack; } *bss;
	char line[256];
	int nr = 0, gate[2], status, map, called = 0;
	__u64 entered = 0, returned = 0;
	struct bpf_map *bss_map;
	pid_t pid;
	FILE *f;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 5)
		return 2;
	printf("libbpf %s\n", libbpf_version_string());
	read_symbols();
	f = fopen(argv[2], "r");
	while (f && nr < MAX_FUNCS && fgets(line, sizeof(line), f)) {
		line[strcspn(line, " \n")] = 0;
		names[nr] = strdup(line);
		cookies[nr] = FIRST_COOKIE + nr;
		returns[nr] = RETURN_COOKIE(cookies[nr]);
		nr++;
	}
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj || bpf_object__load(obj)) {
		printf("cannot load %s\n", argv[1]);
		return 1;
	}
	map = bpf_object__find_map_fd_by_name(obj, "cookie_of");
	for (int i = 0; i < nr; i++) {
		__u64 ip = address(names[i]);

		if (!ip || bpf_map_update_elem(map, &ip, &cookies[i], BPF_ANY)) {
			printf("no address of %s\n", names[i]);
			return 1;
		}
	}
	if (pipe(gate))
		return 1;
	pid = start_target(atoi(argv[3]), atol(argv[4]), gate);
	entry = attach(obj, "on_entry", names, cookies, nr, false);
	ret = attach(obj, "on_return", names, returns, nr, true);
	if (!entry || !ret) {
		kill(pid, 9);
		return 3;
	}
	printf("attached to %d functions\n", nr);
	sleep(1);
	if (write(gate[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid || status) {
		printf("the processes failed: %d\n", status);
		return 1;
	}
	bpf_link__destroy(entry);
	bpf_link__destroy(ret);

	map = bpf_object__find_map_fd_by_name(obj, "hits");
	for (__u32 i = 0; i < (__u32)nr; i++) {
		struct hits h;

		bpf_map_lookup_elem(map, &i, &h);
		if (!h.entered && !h.returned)
			continue;
		called++;
		entered += h.entered;
		returned += h.returned;
		printf("func %s %llu %llu\n", names[i], h.entered, h.returned);
		if (h.no_stack)
			printf("no stack id in %s: %llu, error %lld\n",
			       names[i], h.no_stack, h.error);
	}
	print_stacks(bpf_object__find_map_fd_by_name(obj, "seen"),
		     bpf_object__find_map_fd_by_name(obj, "stacks"), (char **)names);
	bss_map = bpf_object__find_map_by_name(obj, ".bss");
	bss = calloc(1, bpf_map__value_size(bss_map));
	map = 0;
	bpf_map_lookup_elem(bpf_map__fd(bss_map), &map, bss);
	printf("bad ip %llu, bad cookie %llu, no stack id %llu\n", bss->ip, bss->cookie, bss->stack);
	printf("total: %d functions called, %llu entries, %llu returns\n", called, entered, returned);
	return 0;
}
