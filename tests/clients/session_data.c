// SPDX-License-Identifier: GPL-2.0-only
/*
 * session_data OBJECT: attaches the programs of session_data.bpf.c, makes the calls that they
 * look at, and prints what they have seen:
 *
 *   files	opens files, half of which are not there: each return has the name of its entry
 *   calls	500 threads that sleep, and epoll files in each other, of which a function calls
 *		itself for each to see whether there is a loop
 *   sleeps	the same threads, for a program that runs at returns only
 *   tails	tail calls to a program that asks for more than the one that is attached
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "multi_link.h"
#include "session_data.h"

#define FILES	100
#define ADDS	1000

static struct bpf_object *obj;
static struct results results;

static int program(const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(obj, name));
}

static int attach(const char *name, enum bpf_attach_type type, const char **functions, int nr)
{
	int link = multi_link(program(name), type, functions, nr);

	if (link < 0) {
		printf("cannot attach %s to %s: %s\n", name, functions[0], strerror(errno));
		exit(1);
	}
	return link;
}

static void read_results(void)
{
	struct { struct results results; __u32 pid; } bss;
	int key = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss")), &key,
				&bss)) {
		printf("no results: %s\n", strerror(errno));
		exit(1);
	}
	results = bss.results;
}

static void load(const char *file)
{
	static const char *const session[] = { "file", "call", "head", "tail" };
	struct { struct results results; __u32 pid; } bss = { .pid = getpid() };
	int i, key = 0, tail;

	obj = bpf_object__open_file(file, NULL);
	if (!obj)
		exit(1);
	for (i = 0; i < 4; i++)
		bpf_program__set_expected_attach_type(
			bpf_object__find_program_by_name(obj, session[i]), KPROBE_SESSION);
	bpf_program__set_expected_attach_type(
		bpf_object__find_program_by_name(obj, "sleep"), KPROBE_MULTI);
	if (bpf_object__load(obj)) {
		printf("cannot load %s\n", file);
		exit(3);
	}
	tail = program("tail");
	if (bpf_map_update_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss")), &key, &bss,
				BPF_ANY) ||
	    bpf_map_update_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, "tails")), &key,
				&tail, BPF_ANY)) {
		printf("cannot write the maps: %s\n", strerror(errno));
		exit(1);
	}
}

static void files(void)
{
	const char *function = "do_sys_openat2";
	int link = attach("file", KPROBE_SESSION, &function, 1), i, right = 0;
	char name[FILES][40];
	long fd[FILES];

	for (i = 0; i < FILES; i++) {
		snprintf(name[i], sizeof(name[i]), "/tmp/session-%d-%d", getpid(), i);
		fd[i] = syscall(SYS_openat, AT_FDCWD, name[i], i & 1 ? O_RDONLY : O_CREAT | O_WRONLY,
				0600);
		if (fd[i] < 0)
			fd[i] = -errno;
	}
	close(link);
	read_results();
	for (i = 0; i < FILES && i < (int)results.opens; i++) {
		struct opened *o = &results.opened[i];

		right += !strcmp(o->name, name[i]) && o->result == fd[i] &&
			 o->address == (__u64)name[i] && o->duration > 0 &&
			 o->duration < 10000000000;
		if (i < 2)
			printf("# %s: %lld after %llu ns\n", o->name, o->result, o->duration);
	}
	for (i = 0; i < FILES; i += 2) {
		close(fd[i]);
		unlink(name[i]);
	}
	printf("files %d\nfiles.returns %llu\nfiles.right %d\n", FILES, results.opens, right);
}

static void *sleeper(void *nr)
{
	struct timespec t = { .tv_nsec = SLEEP_NS + (long)nr };

	nanosleep(&t, NULL);
	return NULL;
}

/* Four epoll files, each in the next one. */
static int nest(void)
{
	int inner = epoll_create1(0), outer, i;
	struct epoll_event event = { .events = EPOLLIN };

	for (i = 1; i < 4; i++) {
		outer = epoll_create1(0);
		if (epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event)) {
			perror("epoll_ctl");
			exit(1);
		}
		inner = outer;
	}
	return inner;
}

static void calls(void)
{
	static const char *const functions[] = { "hrtimer_nanosleep", "ep_loop_check_proc" };
	int links[2], i, inner = nest(), outer = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	pthread_t threads[SLEEPERS];
	pthread_attr_t attr;

	links[0] = attach("call", KPROBE_SESSION, (const char **)functions, 2);
	links[1] = attach("sleep", KPROBE_MULTI, (const char **)functions, 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < SLEEPERS; i++) {
		if (pthread_create(&threads[i], &attr, sleeper, (void *)(long)i)) {
			perror("pthread_create");
			exit(1);
		}
	}
	for (i = 0; i < ADDS; i++) {
		epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event);
		epoll_ctl(outer, EPOLL_CTL_DEL, inner, NULL);
	}
	for (i = 0; i < SLEEPERS; i++)
		pthread_join(threads[i], NULL);
	close(links[0]);
	close(links[1]);
	read_results();
	printf("calls %d\n", SLEEPERS + 4 * ADDS);
	printf("calls.entries %llu\ncalls.refused %llu\ncalls.returns %llu\n",
	       results.entries, results.refused, results.returns);
	printf("calls.lost %lld\ncalls.wrong %llu\ncalls.not_zero %llu\ncalls.without %llu\n",
	       (long long)(results.entries - results.refused - results.returns), results.wrong,
	       results.not_zero, results.without);
	printf("sleeps %llu\nsleeps.wrong %llu\nsleeps.too_short %llu\nsleeps.longest %llu\n",
	       results.sleeps, results.wrong_times, results.too_short, results.longest);
}

static void tails(void)
{
	const char *function = "do_sys_openat2";
	int link = attach("head", KPROBE_SESSION, &function, 1);

	syscall(SYS_openat, AT_FDCWD, "/tmp/not there", O_RDONLY);
	close(link);
	read_results();
	printf("tails %llu\ntails.wrong %llu\n", results.tails, results.wrong_tails);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2)
		return 2;
	printf("libbpf %s\n", libbpf_version_string());
	load(argv[1]);
	files();
	calls();
	tails();
	return 0;
}
