# shellcheck shell=bash
# shellcheck disable=SC2034
# Sourced by the other scripts: names of the places, and how kernels are made.
set -euo pipefail
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# What all bases share: the guest's root, the disk with the clients.
SHARED=$ROOT/build
export BASE=${BASE:-6.1}
ARCH=${ARCH:-x86_64}
KERNEL=${KERNEL:-series}
CONFIG=${CONFIG:-tracing}
LINUX=${LINUX:-}
TREE=${TREE:-}
# The series of this base, and its topics in their order: a step is
# TOPIC/NNNN-*.patch there.
BASES=(6.1 7.3)
PATCHES=$ROOT/patches/$BASE
TOPICS=(fixes core users tracing tests)
# The directories at whose in-tree paths the series' whole files stand.
WHOLE_DIRS=(include kernel arch lib samples tools Documentation)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$@"; exit 1; }

[[ " ${BASES[*]} " = *" $BASE "* ]] || die "BASE=$BASE: not one of ${BASES[*]}"
BUILD=$SHARED
[ "$BASE" = 6.1 ] || BUILD=$SHARED/$BASE
# only_61 WHAT: for what the other bases do not have yet.
only_61() { [ "$BASE" = 6.1 ] || die "BASE=$BASE: $1 is for 6.1 alone so far"; }
# version_of <MAKEFILE: the version that the Makefile of a kernel names, as 6.1.192.
version_of() { awk '/^(VERSION|PATCHLEVEL|SUBLEVEL) = [0-9]/ { v = v d $3; d = "." } END { print v }'; }
# whole_file BASE PATH: where a whole file of that base's series stands. What cannot be
# the same for all bases is under files/ of the base that has its own.
whole_file() {
	if [ -f "$ROOT/patches/$1/files/$2" ]; then
		echo "$ROOT/patches/$1/files/$2"
	else
		echo "$ROOT/$2"
	fi
}
# whole_files BASE: the whole files that its steps bring, as "PATH<tab>STEP".
whole_files() {
	local step dir=$ROOT/patches/$1
	[ -f "$dir/series" ] || return 0
	while read -r step; do
		case $step in ''|'#'*) continue ;; esac
		[ ! -f "$dir/$step" ] || sed -n "/^diff --git /q; s|^Adds: \\(.*\\)|\\1\t$step|p" "$dir/$step"
	done <"$dir/series"
}

# Cross compiler and image of ARCH. On an arm64 machine arm64 is the native one.
set_arch() {
	case $ARCH in
	x86_64) CROSS=x86_64-linux-gnu- IMAGE=arch/x86/boot/bzImage ;;
	arm64)  CROSS=aarch64-linux-gnu- IMAGE=arch/arm64/boot/Image ;;
	*)      die "ARCH=$ARCH: not x86_64 or arm64" ;;
	esac
	case $(uname -m)/$ARCH in
	x86_64/x86_64|aarch64/arm64) CROSS='' ;;
	esac
}
set_arch
CONFIGS='tracing kprobes clients debug kcsan frame-pointer guess'
[[ " $CONFIGS " = *" $CONFIG "* ]] || die "CONFIG=$CONFIG: not one of $CONFIGS"
# Git that does the same whatever the user's and the machine's settings are.
vcs() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git \
		-c safe.directory='*' -c core.quotePath=false -c core.abbrev=12 \
		-c gc.auto=0 -c advice.detachedHead=false -c core.autocrlf=false \
		-c user.name=tree -c user.email=tree@localhost "$@"
}

# Where the sources of this kernel are and where it is built: SRC, OUT, LABEL.
locate() {
	local suffix=
	[ "$CONFIG" = tracing ] || suffix=-$CONFIG
	if [ -n "$TREE" ]; then
		SRC=$(cd "$TREE" && pwd) || die "TREE=$TREE: no such directory"
		[ -f "$SRC/Kbuild" ] || die "TREE=$TREE: not a kernel tree"
		LABEL=${SRC##*/}
		[ "$SRC" != "$BUILD/tree" ] || LABEL=series
	else
		case $KERNEL in
		series) SRC=$BUILD/tree LABEL=series ;;
		base)   SRC=$BUILD/base LABEL=base ;;
		*)      die "KERNEL=$KERNEL: not base or series" ;;
		esac
	fi
	OUT=$BUILD/$ARCH-$LABEL$suffix
}

# kmake SRC OUT ARGS...: the kernel's make. Nothing of this repository's
# variables reaches it, and nothing in its result tells when or where it ran.
kmake() {
	local src=$1 out=$2
	shift 2
	env -u BASE -u CMD -u FILES -u TREE -u LINUX -u KERNEL -u CONFIG -u SMP -u MEM \
		-u TIMEOUT -u APPEND -u QEMU_ARGS -u QUICK -u V -u C -u W -u M -u O \
		make -C "$src" O="$out" ARCH="$ARCH" CROSS_COMPILE="$CROSS" \
		CC="ccache ${CROSS}gcc" HOSTCC="ccache gcc" LOCALVERSION= \
		KBUILD_BUILD_TIMESTAMP='2020-01-01' KBUILD_BUILD_USER=build \
		KBUILD_BUILD_HOST=build -j"$(nproc)" "$@"
}

# logged NAME WHAT COMMAND...: run a long step with its output in build/log/,
# say what it does, where the log is, now and then how far it is, and how it
# ended. A failure shows the end of the log.
logged() {
	local name=$1 what=$2 start=$SECONDS rc=0 pid beat
	shift 2
	mkdir -p "$BUILD/log"
	local log=$BUILD/log/$name.log
	say "$what (log: ${log#"$ROOT/"})"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	(
		while sleep 30; do
			printf '  ... %ds, %d lines: %.100s\n' $((SECONDS - start)) \
				"$(wc -l <"$log")" "$(tail -n 1 "$log")" >&2
		done
	) &
	beat=$!
	wait "$pid" || rc=$?
	kill "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$rc" -ne 0 ]; then
		tail -n "${LOG_TAIL:-40}" "$log" >&2
		say "$what: FAILED after $((SECONDS - start)) s (log: ${log#"$ROOT/"})"
		return "$rc"
	fi
	say "$what: done in $((SECONDS - start)) s"
}
