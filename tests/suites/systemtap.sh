#!/bin/bash
# suite: systemtap: probes of functions and of their returns
# packages: systemtap gcc make
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# tap NAME REGEX SCRIPT: the script ends by itself.
tap() {
	(for _ in $(seq 1200); do sleep 0.1; done) &
	timeout 900 stap "${how[@]}" -e "$3" >/tmp/out 2>&1
	kill $! 2>/dev/null
	sed 's/^/  /' /tmp/out | head -n 25
	if grep -qE "$2" /tmp/out; then ok "$1"; else not_ok "$1" "$(grep -v '^$' /tmp/out | tail -n 3)"; fi
}

# Without debug information and System.map, which Debian has in packages of their own: functions by
# name, from the running kernel. Debian 12's version has no modules for the newest 6.1.y, whose
# task_work_cancel() takes something else; then the scripts are run as BPF programs.
run() {
	grep -v '\[' /proc/kallsyms >"/boot/System.map-$(uname -r)"
	how=()
	if ! timeout 900 stap -p4 -e 'probe kprobe.function("hrtimer_nanosleep") { exit() }' >/tmp/out 2>&1; then
		skip 'as modules' "systemtap cannot compile them: $(grep -m 1 'error:' /tmp/out)"
		how=(--runtime=bpf)
	fi
	tap 'kprobe.function' '^hits [1-9]' '
		global n
		probe kprobe.function("hrtimer_nanosleep") { n++ }
		probe timer.s(5) { printf("hits %d\n", n); exit() }'
	tap 'kprobe.function.return' '^calls [1-9][0-9]* returns [1-9]' '
		global n, r
		probe kprobe.function("hrtimer_nanosleep") { n++ }
		probe kprobe.function("hrtimer_nanosleep").return { r++ }
		probe timer.s(5) { printf("calls %d returns %d\n", n, r); exit() }'
	tap 'kprobe.function.return.maxactive' '^returns [1-9]' '
		global n
		probe kprobe.function("hrtimer_nanosleep").return.maxactive(1) { n++ }
		probe timer.s(5) { printf("returns %d\n", n); exit() }'
	tap 'a duration of each call' '^least [1-9][0-9]+ ms of [1-9]' '
		global at, n, least
		probe kprobe.function("hrtimer_nanosleep") { at[tid()] = gettimeofday_ns() }
		probe kprobe.function("hrtimer_nanosleep").return {
			if (at[tid()]) {
				d = gettimeofday_ns() - at[tid()]
				if (!n || d < least) least = d
				n++
			}
		}
		probe timer.s(5) { printf("least %d ms of %d\n", least / 1000000, n); exit() }'
}
suite "$@"
