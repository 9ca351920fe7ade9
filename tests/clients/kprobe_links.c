// SPDX-License-Identifier: GPL-2.0-only
/*
 * kprobe_links: makes links of kprobe.multi and kprobe.session, compares what the kernel tells
 * about them with what they were made of, and asks for what must be refused. Prints a line for
 * each check. Status 4: the kernel has no kprobe.session.
 *
 * kprobe_links COMMAND: runs COMMAND while there is a link of each kind, and returns its status.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>

/* Not all of this is in the headers of Debian 12. */
#define KPROBE_MULTI	42
#define LSM_CGROUP	43
#define KPROBE_SESSION	56
#define MULTI_RETURN	1
#define LINK_PERF_EVENT	7
#define LINK_KPROBE_MULTI	8
#define EVENT_KPROBE	3
#define EVENT_KRETPROBE	4

#define NR	3

/* The beginning of struct bpf_link_info. */
struct info {
	__u32 type, id, prog_id, unused;
	__u64 addrs;
	__u32 count, flags;
	__u64 missed, cookies;
};

/* The same of a perf link at a kprobe. */
struct perf_info {
	__u32 type, id, prog_id, unused;
	__u32 event_type, unused2;
	__u64 name;
	__u32 size, offset;
	__u64 addr, missed, cookie;
};

/* Not in the order of their addresses, so that cookies have to follow when they are sorted. */
static const char *const functions[NR] = { "schedule", "do_nanosleep", "hrtimer_nanosleep" };
static __u64 symbols[NR];
static const __u64 cookies[NR] = { 11, 22, 33 };
static int bad;

static void __attribute__((format(printf, 2, 3))) check(bool ok, const char *what, ...)
{
	va_list args;

	printf("%s: ", ok ? "ok" : "not ok");
	va_start(args, what);
	vprintf(what, args);
	va_end(args);
	printf("\n");
	bad += !ok;
}

/* Load a program that returns a number. Returns -1 with errno. */
static int load(int attach_type, int result, char *log, size_t size)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = result },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)attach_type,
		    .log_buf = log, .log_size = size, .log_level = log ? 1 : 0);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "links", "GPL", insns, 2, &opts);
}

static int attach_to(int prog, int attach_type, const char *const *names, __u32 nr, __u32 flags,
		     const __u64 *with_cookies)
{
	union bpf_attr attr = { };

	attr.link_create.prog_fd = prog;
	attr.link_create.attach_type = attach_type;
	attr.link_create.kprobe_multi.syms = (__u64)names;
	attr.link_create.kprobe_multi.cnt = nr;
	attr.link_create.kprobe_multi.flags = flags;
	attr.link_create.kprobe_multi.cookies = (__u64)with_cookies;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static int attach(int prog, int attach_type, __u32 flags, bool with_cookies)
{
	return attach_to(prog, attach_type, functions, NR, flags, with_cookies ? cookies : NULL);
}

static void check_refused(int prog, int attach_type, const char *what)
{
	int link = attach(prog, attach_type, 0, false);

	check(link < 0 && errno == EINVAL, "%s, attach type %d: %s", what, attach_type,
	      link < 0 ? strerror(errno) : "attached");
	if (link >= 0)
		close(link);
}

static int get_info(int link, void *info, __u32 size)
{
	union bpf_attr attr = { };

	attr.info.bpf_fd = link;
	attr.info.info = (__u64)info;
	attr.info.info_len = size;
	return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) ? errno : 0;
}

/* The index of the function at an address of the kernel's call to ftrace. */
static int function_at(__u64 addr)
{
	int i;

	for (i = 0; i < NR; i++) {
		if (addr - symbols[i] < 32)
			return i;
	}
	return -1;
}

static void check_info(int link, const char *what, __u32 flags, bool with_cookies)
{
	__u64 addrs[NR] = { }, got[NR] = { };
	struct info info = { };
	int i, f, err, pairs = 0;

	err = get_info(link, &info, sizeof(info));
	check(!err && info.type == LINK_KPROBE_MULTI && info.count == NR && info.flags == flags,
	      "%s: type %u, %u functions, flags %u, %llu missed", what, info.type, info.count,
	      info.flags, info.missed);

	memset(got, 0xff, sizeof(got));
	info = (struct info){ .addrs = (__u64)addrs, .cookies = (__u64)got, .count = NR };
	err = get_info(link, &info, sizeof(info));
	for (i = 0; i < NR; i++) {
		f = function_at(addrs[i]);
		pairs += f >= 0 && got[i] == (with_cookies ? cookies[f] : 0);
	}
	check(!err && info.count == NR && pairs == NR, "%s: %d functions with their cookies", what,
	      pairs);
}

static void check_info_errors(int link)
{
	__u64 addrs[NR] = { };
	struct info info;

	info = (struct info){ .addrs = (__u64)addrs, .count = NR - 1 };
	check(get_info(link, &info, sizeof(info)) == ENOSPC && addrs[NR - 2] && !addrs[NR - 1],
	      "room for %d of %d functions: the first ones", NR - 1, NR);
	info = (struct info){ .addrs = (__u64)addrs };
	check(get_info(link, &info, sizeof(info)) == EINVAL, "addresses without a count");
	info = (struct info){ .count = NR };
	check(get_info(link, &info, sizeof(info)) == EINVAL, "a count without addresses");
	info = (struct info){ .cookies = (__u64)addrs };
	check(get_info(link, &info, sizeof(info)) == EINVAL, "cookies without a count");
	info = (struct info){ .addrs = 8, .count = NR };
	check(get_info(link, &info, sizeof(info)) == EFAULT, "addresses to nowhere");
}

static void read_fdinfo(int link, char *text, size_t room)
{
	char name[64];
	size_t size = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", link);
	f = fopen(name, "r");
	if (f) {
		size = fread(text, 1, room - 1, f);
		fclose(f);
	}
	text[size] = 0;
}

static void check_fdinfo(int link, const char *type, bool with_cookies)
{
	char text[4096], line[128];
	int i, found = 0;

	read_fdinfo(link, text, sizeof(text));
	for (i = 0; i < NR; i++) {
		snprintf(line, sizeof(line), "\n%llu\t %s+0x", with_cookies ? cookies[i] : 0,
			 functions[i]);
		found += !!strstr(text, line);
	}
	snprintf(line, sizeof(line), "link_type:\t%s\n", type);
	check(strstr(text, line) && strstr(text, "\nkprobe_cnt:\t3\n") &&
	      strstr(text, "\nmissed:\t") && found == NR,
	      "fdinfo of %s: %d functions with their cookies", type, found);
	if (found != NR)
		printf("%s\n", text);
}

static void check_links(int multi, int session)
{
	int link;

	link = attach(multi, KPROBE_MULTI, 0, true);
	check_info(link, "kprobe.multi", 0, true);
	check_fdinfo(link, "kprobe_multi", true);
	check_info_errors(link);
	close(link);
	link = attach(multi, KPROBE_MULTI, MULTI_RETURN, false);
	check_info(link, "kretprobe.multi", MULTI_RETURN, false);
	check_fdinfo(link, "kretprobe_multi", false);
	close(link);
	link = attach(session, KPROBE_SESSION, 0, true);
	check_info(link, "kprobe.session", 0, true);
	check_fdinfo(link, "kprobe_multi", true);
	close(link);
}

/* A kprobe or kretprobe of the first function as a perf event, without a program. */
static int open_kprobe(bool is_return)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_period = 1 };
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "r");

	if (!f || fscanf(f, "%u", &attr.type) != 1)
		return -1;
	fclose(f);
	attr.config = is_return;
	attr.config1 = (__u64)functions[0];
	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static int attach_perf(int prog, int event, __u64 cookie)
{
	union bpf_attr attr = { };

	attr.link_create.prog_fd = prog;
	attr.link_create.target_fd = event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

/* A perf event runs a program without a link that it could find the call by. */
static void check_perf_refused(int session)
{
	int event = open_kprobe(false);

	check(event >= 0, "a kprobe as a perf event");
	check(ioctl(event, PERF_EVENT_IOC_SET_BPF, session) && errno == EINVAL,
	      "kprobe.session at a perf event by ioctl is refused");
	check(attach_perf(session, event, 0) < 0 && errno == EINVAL,
	      "kprobe.session at a perf event by a link is refused");
	close(event);
}

static void check_perf_link(int plain, bool is_return)
{
	int event = open_kprobe(is_return), link = attach_perf(plain, event, 44), err;
	const char *what = is_return ? "kretprobe" : "kprobe";
	char text[4096], line[128], end[64];
	__u32 type = is_return ? EVENT_KRETPROBE : EVENT_KPROBE;
	char name[64] = "";
	struct perf_info info = { .name = (__u64)name, .size = sizeof(name) };

	err = get_info(link, &info, sizeof(info));
	check(!err && info.type == LINK_PERF_EVENT && info.event_type == type &&
	      !strcmp(name, functions[0]) && info.size == strlen(name) + 1 && !info.offset &&
	      info.cookie == 44, "perf link at a %s: %s, cookie %llu, %llu missed", what, name,
	      info.cookie, info.missed);
	info = (struct perf_info){ .name = (__u64)name, .size = 4 };
	err = get_info(link, &info, sizeof(info));
	check(err == ENOSPC && !strncmp(name, functions[0], 3) && !name[3],
	      "perf link at a %s, room for a part of its name: %s", what, name);
	info = (struct perf_info){ .size = 4 };
	check(get_info(link, &info, sizeof(info)) == EINVAL, "a size without a name");

	read_fdinfo(link, text, sizeof(text));
	snprintf(line, sizeof(line), "\nname:\t%s\noffset:\t0x0\nmissed:\t0\naddr:\t0xffff", functions[0]);
	snprintf(end, sizeof(end), "\nevent_type:\t%s\ncookie:\t44\n", what);
	check(strstr(text, line) && strstr(text, end), "fdinfo of a perf link at a %s", what);
	if (!strstr(text, line))
		printf("%s\n", text);
	close(link);
	close(event);
}

/* Unload the module. A link that was closed holds it until its memory is freed. */
static int unload(bool wait)
{
	int i, err = -1;

	for (i = 0; i < 50 && err; i++) {
		err = syscall(SYS_delete_module, "test_fgraph", O_NONBLOCK);
		if (!wait)
			break;
		if (err)
			usleep(100000);
	}
	return err;
}

/* The module test_fgraph is loaded. */
static void check_module(int multi)
{
	const char *names[] = { "test_fgraph_nest", functions[0], "test_fgraph_add" };
	char text[4096];
	int link;

	link = attach_to(multi, KPROBE_MULTI, names, 3, 0, NULL);
	check(link >= 0, "functions of a module by their names: %s",
	      link < 0 ? strerror(errno) : "attached");
	read_fdinfo(link, text, sizeof(text));
	check(strstr(text, "test_fgraph_nest+0x") && strstr(text, "test_fgraph_add+0x") &&
	      strstr(text, functions[0]), "fdinfo names functions of a module");
	check(unload(false) && errno == EWOULDBLOCK, "the module stays while a link is at it");
	close(link);
	check(!unload(true), "the module can be unloaded once the link is closed");
	link = attach_to(multi, KPROBE_MULTI, names, 3, 0, NULL);
	check(link < 0 && errno == ESRCH, "functions of a module that is not there: %s",
	      strerror(errno));
}

static void read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[128], type;
	__u64 addr;
	int i;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %127s", &addr, &type, name) != 3)
			continue;
		for (i = 0; i < NR; i++) {
			if (!strcmp(name, functions[i]))
				symbols[i] = addr;
		}
	}
	if (f)
		fclose(f);
}

/* Run a command while there are links, the first two with cookies. Returns its status, or 1. */
static int run_with_links(int plain, int multi, int session, const char *command)
{
	int event[2] = { open_kprobe(false), open_kprobe(true) };

	if (attach(multi, KPROBE_MULTI, 0, true) < 0 ||
	    attach(session, KPROBE_SESSION, 0, true) < 0 ||
	    attach(multi, KPROBE_MULTI, MULTI_RETURN, false) < 0 ||
	    attach_perf(plain, event[0], 44) < 0 || attach_perf(plain, event[1], 55) < 0) {
		printf("cannot attach: %s\n", strerror(errno));
		return 1;
	}
	return system(command) ? 1 : 0;
}

int main(int argc, char **argv)
{
	static char log[65536];
	int plain, multi, session, link, type;

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_symbols();
	plain = load(0, 0, NULL, 0);
	multi = load(KPROBE_MULTI, 0, NULL, 0);
	session = load(KPROBE_SESSION, 0, NULL, 0);
	if (plain < 0 || multi < 0 || session < 0) {
		printf("cannot load: %s\n", strerror(errno));
		return 1;
	}
	link = attach(session, KPROBE_SESSION, 0, false);
	if (link < 0) {
		printf("no kprobe.session: %s\n", strerror(errno));
		return 4;
	}
	close(link);
	if (argc > 1)
		return run_with_links(plain, multi, session, argv[1]);
	check(load(KPROBE_SESSION, 2, log, sizeof(log)) < 0 && errno == EINVAL &&
	      strstr(log, "At program exit the register R0"), "a result of 2 is refused");
	check(load(KPROBE_SESSION, 1, NULL, 0) >= 0, "a result of 1 is accepted");
	for (type = LSM_CGROUP; type < KPROBE_SESSION; type++)
		check_refused(plain, type, "plain");
	check_refused(plain, KPROBE_SESSION, "plain");
	check_refused(multi, KPROBE_SESSION, "kprobe.multi");
	check_refused(session, KPROBE_MULTI, "kprobe.session");
	check_refused(session, KPROBE_SESSION + 1, "kprobe.session");
	check_refused(session, 1000, "kprobe.session");
	check_perf_refused(session);
	check_perf_link(plain, false);
	check_perf_link(plain, true);
	check_links(multi, session);
	check_module(multi);
	printf("bad %d\n", bad);
	return 0;
}
