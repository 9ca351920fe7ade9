#!/bin/bash
# suite: Debian with systemd: units, modules, the kernel's log
# packages: systemd-sysv
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

run() {
	local state line
	state=$(timeout 600 systemctl is-system-running --wait)
	systemctl --failed --no-legend --plain
	same 'all units are up' "$state" running
	same 'modules are of this kernel' "$(modinfo -F vermagic virtio_net | cut -d' ' -f1)" "$(uname -r)"
	line=$(dmesg --level=emerg,alert,crit,err | grep -v 'RETBleed\|Spectre' | head -n 3)
	same 'errors in the log' "$line" ''
	grep -H . /sys/devices/system/cpu/vulnerabilities/* /sys/kernel/security/l* | sed 's|.*/||'
	cat /proc/version /proc/cmdline
}
suite "$@"
