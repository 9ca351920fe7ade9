#!/bin/bash
# boot: own SMP=1 MEM=600M TIMEOUT=900
# Suspend to memory, with hooks of every kind on the path down and up. Then irq_work must be
# alive: the reserve of fgraph is filled again, and a reader of trace_pipe is woken. No frame
# may be left of the calls that never return, and the instance of the profiler must go. A
# kernel that has hibernation also goes the way to that and back: with pm_test as far as the
# image is made, and if there is a disk, it writes the image there, powers off, and resumes from
# it when the machine is started again.
set -u
cd /sys/kernel/tracing || exit 1
power=/sys/power
bad=0
complain() { echo "FAILED: $*"; bad=1; }

wait_until() { # COMMAND: fails if the command still fails after 30 s
	local end=$((SECONDS + 30))
	until eval "$1"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

memory() { # stacks, chunks and bytes in use; chunks and bytes in reserve
	awk '{ printf "%s ", $2 }' fgraph_memory
}

reserve() {
	memory | cut -d ' ' -f 4
}

put() { # VALUE FILE: says why it fails
	echo "$1" 2>/tmp/put >"$2" || complain "$2 does not take $1: $(cat /tmp/put)"
}

# down KIND: suspends by a task that has no shadow stack yet, and comes back.
down() {
	local state=disk
	case $1 in
	memory)
		state=mem
		echo deep >$power/mem_sleep
		echo 0 >/sys/class/rtc/rtc0/wakealarm
		echo +5 >/sys/class/rtc/rtc0/wakealarm ;;
	core) echo core >$power/pm_test ;;
	image) echo shutdown >$power/disk ;;
	esac
	sh -c "echo $state >$power/state" || complain "$1: status $?"
	[ ! -w $power/pm_test ] || echo none >$power/pm_test
}

# alive WHAT: checks that irq_work is not lost.
alive() {
	wait_until "[ \"\$(reserve)\" = $full ]" || complain "$1: the reserve has $(reserve) of $full chunks"
	: >/tmp/pipe
	cat trace_pipe >/tmp/pipe &
	local reader=$!
	sleep 1
	echo "marker $1" >trace_marker
	wait_until 'grep -q "marker '"$1"'" /tmp/pipe' || complain "$1: no marker in trace_pipe"
	kill $reader
	wait $reader 2>/dev/null
}

# misses WHAT: no user may have missed a call for lack of memory.
misses() {
	local missed
	missed=$(awk '!/^#/ && $5 > 0' fgraph_users)
	[ -z "$missed" ] || complain "$1: missed for lack of memory: $missed"
}

hooks_off() {
	local i
	echo 0 >events/enable
	echo nop >current_tracer
	echo >set_ftrace_filter
	# The profiler waits for its irq_work.
	for i in instances/*; do
		[ ! -d "$i" ] || timeout 60 rmdir "$i" || complain "$1: ${i##*/} cannot be removed"
	done
	echo >kprobe_events
	echo >dynamic_events
	echo >trace
	# shellcheck disable=SC2016
	wait_until '[ "$(memory)" = "0 0 0 0 0 " ]' || complain "$1: memory is left: $(xargs <fgraph_memory)"
}

# One return probe on a function that runs while the interrupt controller is off.
one_probe() {
	put 'r:s syscore_suspend' kprobe_events
	echo 1 >events/kprobes/enable
	full=$(reserve)
	down "$1"
	alive "$1-probe"
	grep -q 's: (.* <- syscore_suspend)' trace /tmp/pipe || complain "$1: no event"
	misses "$1-probe"
	hooks_off "$1-probe"
}

# Hook the functions that lead to the point where the machine sleeps, and those that lead from
# it, but not those that run for each page of memory, or in which a shell sleeps.
filter() { # FILE PATTERN...
	local f file=$1
	shift
	for f in "$@" '!*sigsuspend*' '!*_page*'; do
		echo "$f" >>"$file" 2>/dev/null
	done
}

# function_graph at the top and in an instance, return probes by ftrace and by breakpoint, an
# fprobe where there are events of it, and the profiler in an instance, on all of this.
all_hooks() {
	local f
	filter set_ftrace_filter '*suspend*' '*resume*' '*hibern*' '*swsusp*' '*syscore*' create_image
	put function_graph current_tracer
	# The second and the third are assembly, so the probe is a breakpoint.
	for f in x86_acpi_enter_sleep_state do_suspend_lowlevel __cpu_suspend_enter swsusp_save; do
		echo "r:r_$f $f" >>kprobe_events
	done 2>/dev/null
	echo 'f:f_resume syscore_resume%return' >>dynamic_events 2>/dev/null
	echo 1 >events/kprobes/enable
	[ ! -d events/fprobes ] || echo 1 >events/fprobes/enable
	mkdir instances/graph instances/profile
	filter instances/graph/set_ftrace_filter '*suspend*' '*resume*' 'acpi_*'
	put function_graph instances/graph/current_tracer
	if [ -e instances/profile/function_profile_enabled ]; then
		filter instances/profile/set_ftrace_filter '*suspend*' '*resume*' '*lapic*' 'irq_work_*'
		put 1 instances/profile/function_profile_enabled
	fi
	full=$(reserve)
	for kind; do
		down "$kind"
		alive "$kind-all"
		misses "$kind-all"
	done
	hooks_off "$*-all"
}

# Let an image be written to the disk that QEMU was given.
swap_on() {
	mkswap /dev/vda && swapon /dev/vda && cat /sys/class/block/vda/dev >$power/resume
}

main() {
	local kinds=()
	# QEMU does not always wake up again if the machine sleeps for the third time.
	[ -n "${SUSPEND:-}" ] || { echo 'only by hand: see docs/test.md'; exit 4; }
	[ -w $power/state ] || { echo 'no power management'; exit 4; }
	grep -qs deep $power/mem_sleep && [ -w /sys/class/rtc/rtc0/wakealarm ] && kinds+=(memory)
	grep -qw disk $power/state && [ -w $power/pm_test ] && kinds+=(core)
	if [ "$SUSPEND" = image ]; then
		kinds=(image)
		swap_on || exit
	fi
	[ ${#kinds[@]} -gt 0 ] || { echo "no suspend to memory with an alarm, and no hibernation"; exit 4; }
	for kind in "${kinds[@]}"; do
		echo "$kind"
		# An image is made once, as the machine must be started by hand to resume from it.
		[ "$kind" = image ] || one_probe "$kind"
		all_hooks "$kind"
	done
	exit $bad
}
# All of the script has been read before the machine sleeps: its file system may not wake up.
main
