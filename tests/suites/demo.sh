#!/bin/bash
# suite: what `make demo` runs in its guest
# packages: trace-cmd
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

of() { sed -n "s/^@ $1=//p" /mnt/files/suite; }
run() {
	mkdir -p /mnt/files
	bash ./demo suite 500 | tee /mnt/files/suite
	same 'function_graph and the profiler at once' "$(of together)" yes
	least 'of 20 instances, with a graph' "$(of seen)" 20
	least 'of 500 tasks asleep, returns seen' "$(of returned)" 500
	same 'returns missed' "$(of missed)" 0
}
suite "$@"
