# Sourced by guest.sh, memory.sh and profile.py: events on the function of the module.
# shellcheck shell=bash
target=fgraph_bench_target

events() { # NR [ARGUMENTS]
	local i
	for i in $(seq "$1"); do
		echo "r:bench$i $target ${2:-ret=\$retval}"
	done >kprobe_events
	echo 1 >events/kprobes/enable
}

no_events() {
	echo 0 >events/kprobes/enable
	echo >kprobe_events
}
