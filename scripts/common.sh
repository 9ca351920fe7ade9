# shellcheck shell=bash
# shellcheck disable=SC2034
# Sourced by the other scripts: paths, configurations, and functions to build kernels.
set -euo pipefail
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# The directory of what all bases share: the guest's root and the disk with the clients.
SHARED=$ROOT/build
export BASE=${BASE:-6.1}
ARCH=${ARCH:-x86_64}
KERNEL=${KERNEL:-series}
# The name that the stock kernel had before.
[ "$KERNEL" != base ] || KERNEL=stock
CONFIG=${CONFIG:-tracing}
LINUX=${LINUX:-}
TREE=${TREE:-}
SMALL=${SMALL:-}
# The bases; the directory of the series for this base; and the topics of a series in their
# order. A step is TOPIC/NAME, its file TOPIC/NAME.patch.
BASES=(6.1 7.3)
PATCHES=$ROOT/patches/$BASE
TOPICS=(fixes core users tracing bpf tests)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$@"; exit 1; }

[[ " ${BASES[*]} " = *" $BASE "* ]] || die "BASE=$BASE: not one of ${BASES[*]}"
# build_dir BASE: prints the directory of what is made for a base alone.
build_dir() { if [ "$1" = 6.1 ]; then echo "$SHARED"; else echo "$SHARED/$1"; fi; }
BUILD=$(build_dir "$BASE")
# only_61 WHAT: ends the script if BASE is not 6.1, as WHAT works for no other base yet.
only_61() { [ "$BASE" = 6.1 ] || die "BASE=$BASE: $1 is for 6.1 alone so far"; }
# version_of <MAKEFILE: prints the version in the Makefile of a kernel, such as 6.1.192.
version_of() { awk '/^(VERSION|PATCHLEVEL|SUBLEVEL) = [0-9]/ { v = v d $3; d = "." } END { print v }'; }
# series_version: prints the version of the series, the first heading of CHANGELOG.md.
series_version() {
	local v
	v=$(sed -nE 's/^## ([a-z0-9.]+)( .*)?$/\1/p' "$ROOT/CHANGELOG.md" | sed q)
	[ -n "$v" ] || die "CHANGELOG.md has no heading '## VERSION (DATE)'"
	echo "$v"
}
# whole_file BASE PATH: prints where this repository has the whole file PATH of the series
# for BASE: below files/both if the series share it, else below files/BASE.
whole_file() {
	if [ -f "$ROOT/files/both/$2" ]; then
		echo "$ROOT/files/both/$2"
	else
		echo "$ROOT/files/$1/$2"
	fi
}
# whole_files BASE: prints the whole files that the steps for BASE add, as "PATH<tab>STEP".
whole_files() {
	local step dir=$ROOT/patches/$1
	[ -f "$dir/series" ] || return 0
	while read -r step; do
		case $step in ''|'#'*) continue ;; esac
		[ ! -f "$dir/$step" ] || sed -n "/^diff --git /q; s|^Adds: \\(.*\\)|\\1\t$step|p" "$dir/$step"
	done <"$dir/series"
}
# stages: prints the names of all stages of the tests.
stages() { (cd "$ROOT/scripts/stages" && echo *); }
# stage_header STAGE KEY: prints what the header of the stage says.
stage_header() { sed -n "/^[^#]/q; s/^# $2: //p" "$ROOT/scripts/stages/$1"; }
# How many minutes a kernel takes on two cores, if it is not built yet.
BUILD_MINUTES=8
# stage_minutes STAGE ARCH: prints how many minutes the stage takes there.
stage_minutes() {
	local x86 other
	read -r x86 other < <(stage_header "$1" minutes)
	if [ "$2" = x86_64 ]; then echo "$x86"; else echo "${other:-$x86}"; fi
}

# step_of TREE COMMIT: prints TOPIC/NAME of the step that the commit is.
step_of() {
	vcs -C "$1" log -1 --format='%(trailers:key=Step,valueonly,separator=%x20)' "$2"
}

# Set what depends on ARCH: SRCARCH, its directory in arch; CROSS, the prefix of its compiler,
# which is empty on a machine of its own; IMAGE, the kernel's image; DEB_ARCH, Debian's name of
# it; SMOKE, whether only the small kernel of configs/smoke.config is built for it.
set_arch() {
	SRCARCH=$ARCH DEB_ARCH=$ARCH SMOKE=
	case $ARCH in
	x86_64)  SRCARCH=x86 CROSS=x86_64-linux-gnu- IMAGE=arch/x86/boot/bzImage DEB_ARCH=amd64 ;;
	i386)    SRCARCH=x86 CROSS=x86_64-linux-gnu- IMAGE=arch/x86/boot/bzImage SMOKE=1 ;;
	arm64)   CROSS=aarch64-linux-gnu- IMAGE=arch/arm64/boot/Image ;;
	riscv)   CROSS=riscv64-linux-gnu- IMAGE=arch/riscv/boot/Image DEB_ARCH=riscv64 ;;
	s390)    CROSS=s390x-linux-gnu- IMAGE=arch/s390/boot/bzImage DEB_ARCH=s390x SMOKE=1 ;;
	powerpc) CROSS=powerpc64le-linux-gnu- IMAGE=vmlinux DEB_ARCH=ppc64el SMOKE=1 ;;
	*)       die "ARCH=$ARCH: not x86_64, arm64, riscv, i386, s390 or powerpc" ;;
	esac
	case $(uname -m)/$SRCARCH in
	x86_64/x86|aarch64/arm64) CROSS='' ;;
	esac
}
set_arch
KNOWN_CONFIGS='tracing kprobes demo clients debug kcsan frame-pointer guess rt cfi defconfig no-modules suspend hardened cross'
[[ " $KNOWN_CONFIGS " = *" $CONFIG "* ]] || die "CONFIG=$CONFIG: not one of $KNOWN_CONFIGS"
[ -z "$SMOKE" ] || [ "$CONFIG" = tracing ] || die "CONFIG=$CONFIG: ARCH=$ARCH has only configs/smoke.config"
# Run git without the settings of the user and of the machine.
vcs() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git \
		-c safe.directory='*' -c core.quotePath=false -c core.abbrev=12 \
		-c gc.auto=0 -c advice.detachedHead=false -c core.autocrlf=false \
		-c user.name=tree -c user.email=tree@localhost "$@"
}

# Set SRC, the sources of the kernel; OUT, where it is built; and LABEL, its name.
locate() {
	local suffix=
	[ "$CONFIG" = tracing ] || suffix=-$CONFIG
	[ -z "$SMALL" ] || suffix+=-small
	if [ -n "$TREE" ]; then
		SRC=$(cd "$TREE" && pwd) || die "TREE=$TREE: no such directory"
		[ -f "$SRC/Kbuild" ] || die "TREE=$TREE: not a kernel tree"
		LABEL=${SRC##*/}
	else
		case $KERNEL in
		series) SRC=$BUILD/tree LABEL=series ;;
		stock)  SRC=$BUILD/stock LABEL=stock ;;
		debian)
			[ "$BASE/$ARCH/$CONFIG" = 6.1/x86_64/tracing ] ||
				die "KERNEL=debian: for BASE=6.1 and ARCH=x86_64 alone, and without CONFIG="
			SRC='' LABEL=debian ;;
		*)      die "KERNEL=$KERNEL: not series, stock or debian" ;;
		esac
	fi
	# The trees of a base are built in its directory, also if they are named by TREE=.
	local dir=$BUILD
	case $SRC in "$SHARED"/tree|"$SHARED"/*/tree) LABEL=series dir=${SRC%/*} ;;
	"$SHARED"/stock|"$SHARED"/*/stock) dir=${SRC%/*} ;;
	esac
	OUT=$dir/$ARCH-$LABEL$suffix
}

# kmake SRC OUT ARGS...: runs the kernel's make, without the variables of this repository,
# and so that the result does not depend on when and where it runs. CONFIG=cfi is compiled by
# the clang of the version LLVM, as gcc has no kCFI.
LLVM=19
kmake() {
	local src=$1 out=$2 cc=(CC="ccache ${CROSS}gcc")
	shift 2
	[ "$CONFIG" != cfi ] || cc=(LLVM="-$LLVM" CC="ccache clang-$LLVM")
	env -u BASE -u CMD -u FILES -u TREE -u LINUX -u KERNEL -u CONFIG -u SMALL -u SMP -u MEM \
		-u TIMEOUT -u APPEND -u QEMU_ARGS -u QUICK -u V -u C -u W -u M -u O \
		make -C "$src" O="$out" ARCH="$ARCH" CROSS_COMPILE="$CROSS" \
		"${cc[@]}" HOSTCC="ccache gcc" LOCALVERSION= \
		KBUILD_BUILD_TIMESTAMP='2020-01-01' KBUILD_BUILD_USER=build \
		KBUILD_BUILD_HOST=build -j"$(nproc)" "$@"
}

# ext4_disk FILE DIR FREE [OPTION...]: makes a disk image with the files of DIR, and about FREE
# megabytes for more. The options are those of mke2fs.
ext4_disk() {
	local file=$1 dir=$2 free=$3
	shift 3
	truncate -s "$(($(du -sm "$dir" | cut -f 1) * 5 / 4 + free))M" "$file"
	mke2fs -q -t ext4 "$@" -d "$dir" "$file"
}

# logged NAME WHAT COMMAND...: runs a long command with its output in build/log/. Prints what
# it does, where the log is, from time to time the progress, and how it ended. After a
# failure, the end of the log is printed, and the first errors in it, which several jobs of make
# push far from the end. If the command writes a number of files to the
# log with the ending .files, the progress is the share of them that has been compiled.
logged() {
	local name=$1 what=$2 start=$SECONDS rc=0 pid beat
	shift 2
	mkdir -p "$BUILD/log"
	local log=$BUILD/log/$name.log
	say "$what (log: ${log#"$ROOT/"})"
	rm -f "$log.files"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	(
		while sleep 30; do
			printf '  ... %ds, %s\n' $((SECONDS - start)) "$(progress "$log")" >&2
		done
	) &
	beat=$!
	wait "$pid" || rc=$?
	kill "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$rc" -ne 0 ]; then
		tail -n "${LOG_TAIL:-40}" "$log" >&2
		grep -m 5 -nE "$ERRORS" "$log" | sed 's/^/  line /' >&2 || true
		say "$what: FAILED after $((SECONDS - start)) s (log: ${log#"$ROOT/"})"
		return "$rc"
	fi
	say "$what: done in $((SECONDS - start)) s"
}

# progress LOG: prints how far the command is that writes this log.
progress() {
	local all n
	all=$(cat "$1.files" 2>/dev/null || true)
	if [ "${all:-0}" -gt 0 ]; then
		n=$(grep -cE "$COMPILES" "$1" || true)
		if [ "$n" -lt "$all" ]; then
			echo "$n of $all files compiled ($((n * 100 / all)) %)"
		else
			echo "all $all files compiled, linking"
		fi
	else
		printf '%d lines: %.100s\n' "$(wc -l <"$1")" "$(tail -n 1 "$1")"
	fi
}
# The messages of make about files of the kernel that it compiles. Those of tools have a whole path.
COMPILES='^  (CC|AS)( \[M\])? +[^/ ].*\.o$'
# The messages of compilers and linkers about what they could not do.
ERRORS='(^|: )(fatal )?error: |undefined reference|No space left on device'

# need_room MEGABYTES DIR WHAT: ends the script if less is free for DIR.
need_room() {
	local free
	free=$(df -m --output=avail "$2" | tail -n 1)
	[ "$free" -ge "$1" ] ||
		die "$3 takes $1 MB, and $((free)) MB are free for $2: make room, for example by 'make clean'"
}

# bpf_programs SOURCE DIR: compiles programs of BPF, SOURCE*.bpf.c, and SOURCE.c, which attaches them
# and needs no libraries in the guest. Both go to DIR.
bpf_programs() {
	local file object
	gcc -O2 -Wall -Werror -static -o "$2/${1##*/}" "$1.c" -lbpf -lelf -lz
	for file in "$1"*.bpf.c; do
		object=${file##*/}
		clang -O2 -g -Wall -Werror -target bpf -I"/usr/include/$(gcc -print-multiarch)" \
			-c "$file" -o "$2/${object%.c}.o"
	done
}
