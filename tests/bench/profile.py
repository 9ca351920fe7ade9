#!/usr/bin/python3
"""Count the instructions of one hooked call by symbol.

profile.py DIR ROW: boots the kernel that scripts/run boots, with the module in
DIR, which makes the calls of that row. Then the emulator translates each
instruction by itself and logs it. The first call with the most common number of
instructions is printed, with the instructions of the loop that makes the calls.
"""
import bisect
import collections
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, '..', '..', 'scripts', 'run')
PATIENCE = 300          # seconds until the calls must have begun
ENOUGH = 20 << 20       # bytes of log: a hundred calls and more

GUEST = r'''
dir=/mnt/files
insmod $dir/fgraph_bench.ko && echo 1 >/proc/sys/kernel/printk
param=/sys/module/fgraph_bench/parameters
echo fgraph_bench_target >/sys/kernel/tracing/set_ftrace_filter
case $ROW in *-breakpoint) echo 0 >/proc/sys/debug/kprobes-optimization ;; esac
cat /proc/kallsyms >$dir/symbols
echo 100000000 >$param/calls
cd /sys/kernel/tracing
. $dir/rows.sh
case $ROW in
function_profile)
	echo 1 >function_profile_enabled
	ROW=plain ;;
function*)
	begin_tracer "$ROW" || exit
	ROW=plain ;;
*-event*)
	begin_event "$ROW" || exit
	ROW=plain ;;
bpf-*)
	echo 1 >/proc/sys/net/core/bpf_jit_kallsyms
	case $ROW in *.session-*) object=bpf_session ;; *) object=bpf ;; esac
	: >/tmp/others
	case $ROW in *-functions)
		ROW=${ROW%-functions}
		others "${ROW##*-}" >/tmp/others
		ROW=${ROW%-*} ;;
	esac
	exec "$dir/bpf" "$dir/$object.bpf.o" "${ROW#bpf-}" \
		"cat /proc/kallsyms >$dir/symbols; : >$dir/ready; echo plain >$param/row" </tmp/others ;;
esac
: >$dir/ready
echo "$ROW" >$param/row
'''


class Monitor:
    """The connection to QEMU's monitor, which is read up to its prompt."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.sock.settimeout(60)
        self.wait()

    def wait(self):
        got = b''
        while not got.endswith(b'(qemu) '):
            more = self.sock.recv(4096)
            if not more:
                sys.exit('profile: QEMU has ended')
            got += more

    def __call__(self, command):
        self.sock.sendall(command.encode() + b'\n')
        self.wait()


def wait_for(what, boot, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if boot.poll() is not None or time.monotonic() > end:
            sys.exit(f'profile: {what} did not come')
        time.sleep(0.1)


def record(directory, row, scratch):
    """Boot, and log the instructions of some calls."""
    monitor, log = os.path.join(scratch, 'monitor'), os.path.join(scratch, 'log')
    ready = os.path.join(directory, 'ready')
    if os.path.exists(ready):
        os.remove(ready)
    env = dict(os.environ, SMP='1', FILES=directory, TIMEOUT=str(2 * PATIENCE),
               APPEND='mitigations=off nokaslr', CMD=f"ROW='{row}'\n{GUEST}",
               QEMU_ARGS=f'-monitor unix:{monitor},server,nowait -D {log}')
    boot = subprocess.Popen([RUN], env=env, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    try:
        wait_for('the row', boot, lambda: os.path.exists(ready))
        time.sleep(3)           # it is being set up
        qemu = Monitor(monitor)
        qemu('stop')
        qemu('one-insn-per-tb on')
        qemu('log exec,nochain')
        qemu('cont')
        wait_for('the log', boot,
                 lambda: os.path.exists(log) and os.path.getsize(log) > ENOUGH)
        qemu('stop')
        qemu.sock.sendall(b'quit\n')
    finally:
        boot.wait(timeout=60)
    line = re.compile(r'\[[0-9a-f]+/([0-9a-f]+)/')
    with open(log, errors='replace') as f:
        found = (line.search(text) for text in f)
        return [int(m.group(1), 16) for m in found if m]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    directory, row = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not re.fullmatch(r'[a-z0-9*+._-]+', row):
        sys.exit(f'profile: no row is called {row!r}')
    with tempfile.TemporaryDirectory() as scratch:
        trace = record(directory, row, scratch)

    symbols = []
    with open(os.path.join(directory, 'symbols')) as f:
        for text in f:
            address, kind, name = text.split()[:3]
            if kind in 'tTwW':
                symbols.append((int(address, 16), name))
    symbols.sort()
    starts = [address for address, _ in symbols]

    def name(pc):
        i = bisect.bisect_right(starts, pc) - 1
        return symbols[i][1] if i >= 0 else '?'

    target = {address for address, n in symbols
              if n in ('fgraph_bench_target', 'fgraph_bench_hidden')}
    calls = [i for i, pc in enumerate(trace) if pc in target]
    runs = list(zip(calls, calls[1:]))
    if not runs:
        sys.exit(f'profile: row {row} made no calls')
    length, _ = collections.Counter(b - a for a, b in runs).most_common(1)[0]
    begin, end = next(run for run in runs if run[1] - run[0] == length)
    count = collections.Counter(name(pc) for pc in trace[begin:end])
    print(f'{length:6} instructions: {row}, one of {len(runs)} calls')
    for symbol, n in count.most_common():
        print(f'{n:6} {symbol}')


main()
