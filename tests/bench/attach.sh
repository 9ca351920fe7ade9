#!/bin/bash
# Runs in the guest of scripts/bench ATTACH=1: prints what it takes to attach return probes to many
# functions, and to detach them, for each function. There is no line for what a kernel lacks.
set -u
dir=${0%/*}
cd /sys/kernel/tracing || exit 1
echo 0 >/proc/sys/kernel/watchdog 2>/dev/null

# Names that one function has, without those that are called all the time while this runs: each of
# these calls would count.
awk '$2 ~ /^[tT]$/ && NF == 3 { n[$3]++ } END { for (f in n) if (n[f] == 1) print f }' /proc/kallsyms |
	sort >/tmp/unique
grep -E '^[a-z][a-z0-9_]*$' available_filter_functions |
	grep -vE 'rcu|lock|irq|sched|tick|trace|kprobe|ring_buffer|^rb_|poke|smp|kmem|mem|page|vma|pte|fault|alloc|free|task|wake|x64_sys|^(vfs|fd|do|ksys)_' |
	sort | comm -12 - /tmp/unique >/tmp/functions

"$dir/attach" perf 1000 </tmp/functions
"$dir/attach" link 50 </tmp/functions
"$dir/attach" multi 10000 </tmp/functions

# 50 events of tracefs, as by a pattern of bpftrace or trace-cmd
nanoseconds() { date +%s%N; }
head -n 50 /tmp/functions | sed 's/.*/r:& &/' >/tmp/events
began=$(nanoseconds)
cat /tmp/events >kprobe_events
added=$(nanoseconds)
echo 1 >events/kprobes/enable
enabled=$(nanoseconds)
echo 0 >events/kprobes/enable
disabled=$(nanoseconds)
echo >kprobe_events
removed=$(nanoseconds)
echo "@ add-event*50 $(((added - began) / 50))"
echo "@ attach-event*50 $(((enabled - added) / 50))"
echo "@ detach-event*50 $(((disabled - enabled) / 50))"
echo "@ remove-event*50 $(((removed - disabled) / 50))"
