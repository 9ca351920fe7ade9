#!/bin/bash
# suite: systemtap: probes of functions and of their returns
# packages: systemtap gcc make
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# tap NAME REGEX SCRIPT: the script ends by itself.
tap() {
	(for _ in $(seq 1200); do sleep 0.1; done) &
	timeout 900 stap --kmap=/tmp/symbols -e "$3" >/tmp/out 2>&1
	kill $! 2>/dev/null
	sed 's/^/  /' /tmp/out | head -n 25
	if grep -qE "$2" /tmp/out; then ok "$1"; else not_ok "$1" "$(grep -v '^$' /tmp/out | tail -n 3)"; fi
}

# Without debug information and System.map, which Debian has in packages of their own: functions by
# name, from the running kernel.
run() {
	grep -v '\[' /proc/kallsyms >/tmp/symbols
	tap 'kprobe.function' '^hits [1-9]' '
		global n
		probe kprobe.function("hrtimer_nanosleep") { n++ }
		probe timer.s(5) { printf("hits %d\n", n); exit() }'
	tap 'kprobe.function.return' '^returns [1-9][0-9]* at least [1-9]' '
		global n, at, least
		probe kprobe.function("hrtimer_nanosleep") { at[tid()] = gettimeofday_ms() }
		probe kprobe.function("hrtimer_nanosleep").return {
			n++
			if (tid() in at) { d = gettimeofday_ms() - at[tid()]; if (d >= 90) least++ }
		}
		probe timer.s(5) { printf("returns %d at least %d\n", n, least); exit() }'
	tap 'kprobe.function.return.maxactive' '^returns [1-9]' '
		global n
		probe kprobe.function("hrtimer_nanosleep").return.maxactive(1) { n++ }
		probe timer.s(5) { printf("returns %d\n", n); exit() }'
	tap 'nd_syscall.open and its return' '^opened [1-9].* returned [0-9]' '
		global n, r
		probe nd_syscall.nanosleep, nd_syscall.clock_nanosleep { n++ }
		probe nd_syscall.nanosleep.return, nd_syscall.clock_nanosleep.return { r++ }
		probe timer.s(5) { printf("opened %d returned %d\n", n, r); exit() }'
}
suite "$@"
