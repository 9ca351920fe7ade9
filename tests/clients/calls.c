// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls PROCS TIMES MS: starts PROCS processes, each of which calls hrtimer_nanosleep() TIMES
 * times for MS milliseconds. So it is known how many calls a tracer must report.
 *
 * calls spin MS: starts a process on each CPU that computes for MS milliseconds, so that it is
 * hit by interrupts.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void spin(int cpu, long ms)
{
	struct timespec now, end;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec <= end.tv_sec);
}

static void nap(long times, long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (times--)
		nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int spinning = argc == 3 && !strcmp(argv[1], "spin");
	long procs, i;
	int status, bad = 0;

	if (argc != 4 && !spinning) {
		fprintf(stderr, "usage: calls PROCS TIMES MS, or calls spin MS\n");
		return 2;
	}
	procs = spinning ? sysconf(_SC_NPROCESSORS_ONLN) : atol(argv[1]);
	for (i = 0; i < procs; i++) {
		switch (fork()) {
		case -1:
			perror("fork");
			return 1;
		case 0:
			if (spinning)
				spin(i, atol(argv[2]));
			else
				nap(atol(argv[2]), atol(argv[3]));
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	return !!bad;
}
