#!/bin/bash
# suite: a module with a kretprobe, built by DKMS against the headers package
# packages: dkms gcc make
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# The sample of the kernel's source, which prints each return and at its end what it missed.
build() {
	local dir=/usr/src/kretprobe-sample-1.0
	mkdir -p $dir
	cp linux/samples/kprobes/kretprobe_example.c $dir/
	echo 'obj-m := kretprobe_example.o' >$dir/Makefile
	cat >$dir/dkms.conf <<-'END'
	PACKAGE_NAME=kretprobe-sample
	PACKAGE_VERSION=1.0
	BUILT_MODULE_NAME[0]=kretprobe_example
	DEST_MODULE_LOCATION[0]=/updates/dkms
	AUTOINSTALL=yes
	END
	dkms add kretprobe-sample/1.0
}

run() {
	local n=100 i returned missed
	check 'build and install' dkms install kretprobe-sample/1.0 -k "$(uname -r)"
	dmesg -C
	check 'load' modprobe kretprobe_example func=hrtimer_nanosleep
	for ((i = 0; i < n; i++)); do
		sleep 5 &
	done
	wait
	check 'unload' rmmod kretprobe_example
	returned=$(dmesg | grep -c 'hrtimer_nanosleep returned 0 and took [5-9][0-9]\{9\} ns')
	missed=$(dmesg | sed -n 's/.*Missed probing \([0-9]*\) instances.*/\1/p')
	least "returns of $n tasks asleep, 20 instances asked for" "$returned" $n
	same missed "$missed" 0
}
suite "$@"
