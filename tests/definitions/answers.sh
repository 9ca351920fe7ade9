#!/bin/bash
# Print what this kernel makes of each definition of a probe event in the file LIST, and what the
# tracers write with each of their options: answers.sh LIST. A section begins with "== ". What differs
# from run to run is replaced, as only the form is compared: numbers by # and 0x#, strings by
# "S", offsets by O, callers by CALLER, tasks by TASK.
list=$1
cd /sys/kernel/tracing || exit
shopt -s nullglob

numbers() {
	sed -E 's/0x[0-9a-f]+/0x@/g; s/\b[0-9a-f]{16}\b/x@/g; s/-?[0-9]+/#/g; s/@/#/g; s/"[^"]*"?/"S"/g'
}

clear_all() {
	local f
	for f in dynamic_events kprobe_events uprobe_events synthetic_events; do
		[ ! -e $f ] || : >$f
	done
} 2>/dev/null

# workload: calls what the definitions are about.
workload() {
	(: </etc/hostname)
	read -r _ </etc/passwd
	read -rt 0.02 _ <>/run/fifo
} 2>/dev/null

# event DIRECTORY: prints the fields and the format of an event, and how it is shown.
event() {
	local name=${1##*/} line
	while read -r line; do
		case $line in
		'name: '*|'print fmt: '*) echo "$line" ;;
		*field:*common_*) ;;
		*field:*) echo "${line//$'\t'/ }" ;;
		esac
	done <"$1/format"
	echo 1 >"$1/enable" || return
	workload
	echo 0 >"$1/enable"
	grep -m 1 -oE "(^| )$name: .*" trace |
		sed -E 's/\+0x[0-9a-f]+\/0x[0-9a-f]+/+O/g; s/\(\S+\+O <- /(CALLER <- /' | numbers
	echo >trace
} 2>/dev/null

definition() {
	local file=$1 text=$2 d
	printf '== %s\t%s\n' "$file" "$text"
	[ -e "$file" ] || { echo 'no such file'; return; }
	clear_all
	echo >error_log
	if ! printf '%s\n' "$text" 2>/dev/null >>"$file"; then
		echo refused
		# The message, and the column of the caret.
		sed -nE 's/^\[[^]]*\] //; s/^( *)\^$/column \1^/; /error:|^column/p' error_log
		return
	fi
	echo accepted
	sed -E 's/(0x[0-9a-f]{16})/0x#/g' "$file"
	while read -r d _; do
		case $d in
		*:*) event "events/${d#*:}" ;;
		esac
	done <dynamic_events
}

mkfifo /run/fifo
echo 0 >options/context-info 2>/dev/null
echo nop >current_tracer
while IFS=$'\t' read -r file text; do
	definition "$file" "$text"
done <"$list"
clear_all
echo 1 >options/context-info

for d in events/ftrace/*/; do
	echo "== format of ${d%/}"
	sed -nE '/^(name|print)/p; /common_/d; s/^\t(field:.*)/\1/p' "$d/format" | tr '\t' ' '
done
echo '== files'
find . -maxdepth 1 -printf '%f\n' | sort
echo '== options'
sort trace_options
echo '== tracers'
tr ' ' '\n' <available_tracers | sort

# The tracers' lines for one function, with each option in turn.
echo vfs_open >set_ftrace_filter
for tracer in function function_graph; do
	echo $tracer >current_tracer
	for option in '' options/*; do
		name=${option#options/}
		case $name in
		# What is written with these is not text, is none of the tracer's, or is no line of a call.
		bin|hex|raw|*stacktrace|*stack_trace|*-fork|*-exit|blk_*|overwrite|printk-msg-only|pause-on-trace|disable_on_free|markers|record-*) continue ;;
		esac
		old=
		if [ -n "$option" ]; then
			read -r old <"$option"
			echo $((1 - old)) 2>/dev/null >"$option" || continue
		fi
		echo "== $tracer with ${name:-its defaults}"
		echo >trace
		(: </etc/hostname)
		# A call in which an interrupt or another task was recorded has two lines.
		grep -a '^[^#].*vfs_open' trace | grep -v '[{}]' |
			sed -E 's/\+0x[0-9a-f]+\/0x[0-9a-f]+/+O/g; s/^ *\S+-[0-9]+ /TASK /' | numbers | tr -s ' ' |
			sed -E 's/(^| )[+!*$@#] #\.# us/\1#.# us/; s/us[+!*$@#]/us /; s/<-\S+/<-CALLER/; s/ \S+# \| / TASK | /
				s/ (#?)[.dNnpBbHhSsZz#]{5} / \1FLAGS /' | tr -s ' ' | sort -u | head -n 4
		[ -z "$old" ] || echo "$old" >"$option"
	done
done
echo nop >current_tracer
echo >set_ftrace_filter
