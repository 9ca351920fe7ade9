#!/bin/bash
# suite: the kernel's tests of BPF: kprobe_multi, fexit, trampolines, cookies, stacks
# packages: clang lld llvm gcc g++ make libelf-dev libcap-dev zlib1g-dev bpftool pahole libssl-dev python3 python3-docutils rsync xz-utils
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# Types are those of the kernel with the series, which Debian's has, too. The module that the tests
# hook is built for each kernel.
build() {
	local btf=$PWD/vmlinux.btf dir release
	cd linux/tools/testing/selftests/bpf || return
	for dir in /lib/modules/*/build; do
		release=$(basename "${dir%/build}")
		make -C bpf_testmod KDIR="$dir" &&
			mv bpf_testmod/bpf_testmod.ko "bpf_testmod-$release.ko" &&
			make -C bpf_testmod KDIR="$dir" clean || return
	done
	make -j"$(nproc)" VMLINUX_BTF="$btf" KDIR="$dir" BPF_GCC= test_progs
}

run() {
	local t
	cd linux/tools/testing/selftests/bpf || return
	[ -x test_progs ] || { not_ok built; return; }
	cp "bpf_testmod-$(uname -r).ko" bpf_testmod.ko
	for t in kprobe_multi_test get_func_ip_test bpf_cookie fexit_bpf2bpf fexit_test fexit_stress fexit_sleep \
		fentry_fexit fentry_test trampoline_count kprobe_multi_testmod_test attach_probe missed fill_link_info \
		get_stack_raw_tp stacktrace_map modify_return get_func_args_test tracing_struct perf_link; do
		./test_progs -l 2>/dev/null | grep -qx "$t" || { skip "$t" "there is none of this name"; continue; }
		check "$t" timeout 600 ./test_progs -t "$t"
	done
}
suite "$@"
