#!/bin/bash
# suite: the kernel's tests of BPF: kprobe_multi, fexit, trampolines, cookies, stacks
# packages: clang lld llvm gcc g++ make libelf-dev libcap-dev zlib1g-dev bpftool pahole libssl-dev libzstd-dev python3 python3-docutils rsync xz-utils
# shellcheck source=tests/suites/lib.sh
. "$(dirname "$0")/lib.sh"

# Types are those of the kernel with the series, which Debian's has, too. The modules that the tests
# hook are built for each kernel; 7.3 has them in test_kmods. With BPF_STRICT_BUILD=0 it builds what
# the compiler can compile of the tests: libarena needs a newer one than Debian 13 has.
build() {
	local btf=$PWD/vmlinux.btf kmods=test_kmods dir release
	cd linux/tools/testing/selftests/bpf || return
	[ -d "$kmods" ] || kmods=bpf_testmod
	for dir in /lib/modules/*/build; do
		release=$(basename "${dir%/build}")
		mkdir -p "kmods-$release"
		make -C "$kmods" KDIR="$dir" &&
			mv "$kmods"/*.ko "kmods-$release/" &&
			make -C "$kmods" KDIR="$dir" clean || return
	done
	make -j"$(nproc)" VMLINUX_BTF="$btf" KDIR="$dir" BPF_GCC= BPF_STRICT_BUILD=0 LIBARENA_SKEL= test_progs
}

run() {
	local t
	cd linux/tools/testing/selftests/bpf || return
	[ -x test_progs ] || { not_ok built; return; }
	cp "kmods-$(uname -r)"/*.ko .
	for t in kprobe_multi_test get_func_ip_test bpf_cookie fexit_bpf2bpf fexit_test fexit_stress fexit_sleep \
		fentry_fexit fentry_test fsession_test trampoline_count kprobe_multi_testmod_test attach_probe missed \
		fill_link_info get_stack_raw_tp stacktrace_map stacktrace_map_skip stacktrace_ips modify_return \
		get_func_args_test tracing_struct perf_link livepatch_trampoline module_attach uprobe_multi_test; do
		./test_progs -l 2>/dev/null | grep -qx "$t" || { skip "$t" "there is none of this name"; continue; }
		check "$t" timeout 600 ./test_progs -t "$t"
	done
}
suite "$@"
