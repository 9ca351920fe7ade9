# shellcheck shell=bash
# Sourced by the tests of the clients. Functions to check results, and to end a test so
# that it leaves nothing behind for the next one.
#
# A test prints its results and a line "version: ..." with the client's version. Its last
# line is PASS, FAIL or SKIP with the reason, and its status is 0, 1 or 4.
set -u
T=/sys/kernel/tracing
W=$(mktemp -d)
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$HERE:$PATH
LOADED=()

# The function that the tests hook. It has known callers, and sleeps as long as it is told.
# shellcheck disable=SC2034
F=hrtimer_nanosleep

reset() {
	local pids m i line
	pids=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait
	{
		echo 0 >$T/tracing_on
		for i in "$T"/instances/*/; do
			[ ! -d "$i" ] || { echo nop >"$i/current_tracer"; rmdir "$i"; }
		done
		echo nop >$T/current_tracer
		echo 0 >$T/events/kprobes/enable
		for i in "$T"/events/kprobes/*/trigger; do
			while read -r line; do
				echo "!${line% \[*}" >"$i"
			done < <(grep -v '^#' "$i")
		done
		echo >$T/kprobe_events
		echo >$T/set_graph_function
		echo >$T/set_ftrace_filter
		echo >$T/set_ftrace_pid
		echo 0 >$T/max_graph_depth
		echo >$T/trace
		echo 1 >$T/tracing_on
	} 2>/dev/null
	for ((m = ${#LOADED[@]} - 1; m >= 0; m--)); do
		rmmod "${LOADED[m]}" 2>/dev/null
	done
	LOADED=()
	rm -rf "$W"
}
trap reset EXIT

fail() { reset; trap - EXIT; echo "FAIL $*"; exit 1; }
skip() { reset; trap - EXIT; echo "SKIP $*"; exit 4; }
pass() { reset; trap - EXIT; echo "PASS $*"; exit 0; }
version() { echo "version: $*"; }

# same WHAT GOT WANTED: prints a result, which must be as wanted.
bad=
same() {
	if [ "$2" = "$3" ]; then
		echo "ok: $1: $2"
	else
		echo "not ok: $1: ${2:-nothing}, not $3"
		bad+="${bad:+; }$1: ${2:-nothing}, not $3"
	fi
}
# must WHAT COMMAND...: the command must succeed.
must() {
	local what=$1
	shift
	if "$@" >/dev/null 2>&1; then
		echo "ok: $what"
	else
		echo "not ok: $what"
		bad+="${bad:+; }failed: $what"
	fi
}
# verdict TEXT: ends the test; it fails if any same or must has failed.
verdict() {
	[ -z "$bad" ] || fail "$bad"
	pass "$*"
}

# lacks_on_arm64 RELEASE TEXT: skips the test on arm64 with that release, which lacks what TEXT
# says.
lacks_on_arm64() {
	[[ $(uname -m) != aarch64 || $(uname -r) != "$1".* ]] || skip "Linux $1 has no $2 on arm64"
}

load() {
	modprobe "$@" || return
	LOADED+=("$1")
}
unload() {
	rmmod "$1" || return
	local m left=()
	for m in "${LOADED[@]}"; do
		[ "$m" = "$1" ] || left+=("$m")
	done
	LOADED=("${left[@]}")
}

# mark puts a mark into the kernel's log; since prints the log from there on.
mark() { MARK="client-test-$RANDOM$RANDOM"; echo "$MARK" >/dev/kmsg; }
since() { dmesg | sed "1,/$MARK/d" | sed -E 's/^\[ *[0-9.]+\] //'; }

# graph FUNCTION...: starts the function_graph tracer on these functions only.
graph() {
	printf '%s\n' "$@" >$T/set_ftrace_filter &&
		echo function_graph >$T/current_tracer
}
# retprobe NAME FUNCTION [ARGUMENT]: a return probe as an event, without an argument for a
# function that returns nothing.
retprobe() {
	# shellcheck disable=SC2016
	echo "r:kprobes/$1 $2 ${3-ret=\$retval}" >>$T/kprobe_events &&
		echo 1 >"$T/events/kprobes/$1/enable"
}
# probe_profile NAME: prints hits and misses of the event.
probe_profile() { awk -v n="$1" '$1 == n { print $2, $3 }' $T/kprobe_profile; }
# lines FILE COMM REGEX: prints how many lines of COMM in a trace-cmd report match.
lines() { awk -v c="$2" -v re="$3" 'index($1, c "-") == 1 && $0 ~ re' "$1" | wc -l; }
