# shellcheck shell=bash
# Sourced by the suites, which run on a Debian system (scripts/system). A suite is a script with
# two functions: run, which runs on each kernel; and build, if something has to be made for that:
# it runs once when the disk is made, as root in it and with the network. Its header has
#
#   # suite: what it is, for the table in docs/results.md
#   # packages: the Debian packages that it needs
#   # kernels: series          if it does not run on the stock kernel
#
# Each result of run is a line: "ok NAME", "not ok NAME # WHY" or "skip NAME # WHY". The results
# of the two kernels are compared by these names.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034
T=/sys/kernel/tracing
cd "$HERE" || exit

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1${2:+ # ${2//$'\n'/|}}"; }
skip() { echo "skip $1 # $2"; }

# check NAME COMMAND...: the command must succeed. What it prints is shown if it does not.
check() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "$(tail -n 3 <<<"$said" | cut -c -200)"
	fi
}

# same NAME GOT WANTED
same() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "${2:-nothing}, not ${3:-nothing}"; fi
}

# least NAME NUMBER LEAST: the number must not be below the least.
least() {
	if [ "$2" -ge "$3" ] 2>/dev/null; then ok "$1"; else not_ok "$1" "${2:-nothing}, not $3"; fi
}

# cunit PROGRAM: runs tests that are written with CUnit, which prints "  Test: NAME ...passed" or
# "...FAILED".
cunit() {
	[ -x "$1" ] || { not_ok built; return; }
	(cd "${1%/*}" && timeout 1800 "./${1##*/}") >/tmp/out 2>&1
	sed 's/^/  /' /tmp/out
	awk '
		/^ *Test: .* \.\.\./ {
			name = $0
			sub(/^ *Test: /, "", name)
			sub(/ *\.\.\..*/, "", name)
		}
		name != "" && /passed$/ { print "ok " name; name = "" }
		name != "" && /FAILED$/ { print "not ok " name; name = "" }
		END { if (name != "") print "not ok " name " # it did not end" }' /tmp/out
	check 'to the end' grep -q '^ *asserts' /tmp/out
}

# source_of PACKAGE: gets and unpacks the source package as ./PACKAGE.
source_of() {
	apt-get -q source "$1" && rm -rf "$1" && mv "$1"-*/ "$1" && rm -f ./*.dsc ./*.tar.* ./*.debian.*
}

# Of the suites that need nothing but their packages.
build() { :; }

# suite build|run
suite() {
	case ${1:-} in
	build) build ;;
	run) run ;;
	*) echo "$0: build or run" >&2; exit 2 ;;
	esac
}
