#!/bin/bash
# suite: systemtap: probes of functions and of their returns
# packages: systemtap gcc make
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# The modules are made here, as this takes minutes for each of them under emulation. Without debug
# information, systemtap looks for functions in System.map, which Debian has in another package:
# any kernel's map tells that there is one of that name.
build() {
	local kernel map
	for map in /boot/System.map-*; do
		[ "$(wc -l <"$map")" -lt 1000 ] || break
	done
	# Debian 12's version knows task_work_cancel() as it was before 6.1.y changed it.
	mkdir systemtap
	if ! grep -rqw task_work_cancel_func /usr/share/systemtap/runtime; then
		cp -r /usr/share/systemtap/runtime systemtap/runtime
		sed -i 's/\btask_work_cancel\b/task_work_cancel_func/' systemtap/runtime/stp_task_work.c
	fi
	for kernel in /lib/modules/*/build; do
		kernel=${kernel%/build} kernel=${kernel##*/}
		[ "$map" -ef "/boot/System.map-$kernel" ] || cp "$map" "/boot/System.map-$kernel"
		# The headers that Linux 7.3 packages are without it.
		[ -f "/lib/modules/$kernel/build/.config" ] ||
			cp "/boot/config-$kernel" "/lib/modules/$kernel/build/.config"
		scripts compile "$kernel"
	done
}

# scripts: calls "$@ NAME REGEX SCRIPT" for each script, which ends by itself and prints a line that
# matches then.
scripts() {
	"$@" kprobe.function '^hits [1-9]' '
		global n
		probe kprobe.function("hrtimer_nanosleep") { n++ }
		probe timer.s(5) { printf("hits %d\n", n); exit() }'
	"$@" kprobe.function.return '^calls [1-9][0-9]* returns [1-9]' '
		global n, r
		probe kprobe.function("hrtimer_nanosleep") { n++ }
		probe kprobe.function("hrtimer_nanosleep").return { r++ }
		probe timer.s(5) { printf("calls %d returns %d\n", n, r); exit() }'
	"$@" kprobe.function.return.maxactive '^returns [1-9]' '
		global n
		probe kprobe.function("hrtimer_nanosleep").return.maxactive(1) { n++ }
		probe timer.s(5) { printf("returns %d\n", n); exit() }'
	"$@" a-duration-of-each-call '^least [1-9][0-9]+ ms of [1-9]' '
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

# compile KERNEL NAME REGEX SCRIPT
compile() {
	local options=(-r "$1" -p4 -m "stap_${2//[.-]/_}")
	[ ! -d "$HERE/systemtap/runtime" ] || options+=(-R "$HERE/systemtap/runtime")
	mkdir -p "$HERE/systemtap/$1"
	(cd "$HERE/systemtap/$1" && stap "${options[@]}" -e "$4" >"$2.log" 2>&1)
}

run() { scripts tap "$(uname -r)"; }

# tap KERNEL NAME REGEX SCRIPT
tap() {
	local module
	module=$HERE/systemtap/$1/stap_${2//[.-]/_}.ko
	if [ ! -f "$module" ]; then
		skip "$2" "systemtap cannot compile it: $(grep -m 1 'error:' "${module%/*}/$2.log")"
		return
	fi
	(for _ in $(seq 1200); do sleep 0.1; done) &
	timeout 120 staprun "$module" >/tmp/out 2>&1
	kill $! 2>/dev/null
	sed 's/^/  /' /tmp/out | head -n 25
	if grep -qE "$3" /tmp/out; then ok "$2"; else not_ok "$2" "$(grep -v '^$' /tmp/out | tail -n 3)"; fi
}

suite "$@"
