# The scripts do all the work; this file only has their dependencies. Variables of the
# command line are passed to the scripts unchanged.
vars := ARCH BASE FROM KERNEL CONFIG SMALL LINUX TREE CMD FILES SMP MEM TIMEOUT APPEND \
	QEMU_ARGS CPU SELFTEST KUNIT LOG VERBOSE ALLOW QUICK ONLY FORCE \
	CLIENTS PERF BENCH BPF SUITES SYSTEM RELEASE DEB FLAVOUR LSMOD KCONFIG DEBUG PEER DISK MINUTES \
	TORTURE_ARGS KERNELS PROFILE KEEP GUARD BUILDS SEED TOPIC
$(foreach v,$(vars),$(if $(filter-out undefined default,$(origin $v)),$(eval override export $v := $$(value $v))))

# A tree that TREE names is built as it is, without applying the series.
tree := $(if $(TREE),,tree)

.PHONY: help setup tree refresh build run shell demo test torture bench baseline check mails series release deb clean
help:
	@echo 'make setup      install the Debian packages needed (root or sudo)'
	@echo 'make tree       build/tree: the base kernel and one commit for each step'
	@echo 'make build      the kernel, its modules and the guest'
	@echo "make run        boot it and run CMD='...' as root; FILES=DIR is /mnt/files there"
	@echo 'make shell      boot it and give a shell'
	@echo 'make demo       what the series does, in one boot of it and one of the base kernel'
	@echo 'make test       everything that is tested, in guests of both architectures, or of ARCH'
	@echo '                CLIENTS=1: and trace-cmd, perf, bpftrace, libbpf... (make setup CLIENTS=1)'
	@echo '                PERF=FILE: with this perf'
	@echo '                DEBUG=1: and kernels with KASAN, lockdep, kmemleak, with KCSAN'
	@echo '                PEER=1: and the tests that 7.3 has for probes and function tracers'
	@echo '                (make setup BASE=7.3; make tree BASE=7.3)'
	@echo "                SUITES=1: and the suites of others on Debian with the packages of make deb (x86_64)"
	@echo 'make torture    hook, call, unregister, everywhere at once, for MINUTES=60'
	@echo 'make bench      instructions per hooked call and memory, KERNELS="base series"'
	@echo '                PROFILE=ROW: where the instructions of one call of that row go'
	@echo '                BPF=1: and programs of BPF, on kernels of their own (make setup CLIENTS=1)'
	@echo '                KEEP=1: write tests/baseline/BASE/ARCH.bench, GUARD=1: compare with it'
	@echo 'make check      the series: applies, same tree, checkpatch, builds (QUICK=1: fewer builds;'
	@echo '                BUILDS="x86_64/tracing ...": these)'
	@echo '                CONFIGS=1: in other configurations, RANDOM=20 SEED=: in random ones, too'
	@echo 'make mails      build/mails: the mails for git am and git send-email; TOPIC=fixes: those alone'
	@echo 'make release    build/release: archives of the mails, ids of the trees, notes, checksums'
	@echo "make deb        packages of a kernel with Debian's configuration (make setup DEB=1):"
	@echo '                FLAVOUR=cloud-amd64|amd64|cloud-arm64|arm64, LSMOD=FILE, KCONFIG=FILE'
	@echo 'make refresh    rewrite patches/BASE and whole files from the commits of build/tree, or TREE=PATH,'
	@echo '                after its tag base, or FROM=COMMIT'
	@echo 'make baseline   measure tests/baseline/BASE/ARCH.list on the base kernel'
	@echo 'make clean      remove what was built, but not the tree'
	@echo
	@echo 'BASE=6.1|7.3  the base and its series; those of 7.3 are in build/7.3'
	@echo 'ARCH=x86_64|arm64  KERNEL=series|base  CONFIG=tracing|kprobes|clients|debug|kcsan|frame-pointer|guess|rt|cfi|defconfig|no-modules|suspend|hardened'
	@echo '             SMALL=1: without network and BTF, to build faster (configs/small.config)'
	@echo 'LINUX=PATH   another 6.1.y (7.3.y) as the base  TREE=PATH  build this tree as it is'
	@echo '             (bench: any other version, a column more)'
	@echo 'run, shell:  SMP=2 MEM=2G TIMEOUT=300 APPEND= QEMU_ARGS= CPU= DISK=FILE LOG=FILE VERBOSE=1'
	@echo '             SYSTEM=DIR RELEASE=NAME: a kernel of build/system-*, with systemd'
	@echo '             KUNIT=1, SELFTEST=1: with the tests at boot  ALLOW=REGEX: splats to pass over'
	@echo 'test:        ONLY="host kunit ..."  torture: TORTURE_ARGS="callers=3 ..."'
	@echo 'setup:       CLIENTS=1, BENCH=1, DEB=1, CONFIG=cfi, CONFIG=cross: what these need  tree: FORCE=1 drops its own commits'

setup:
	@scripts/setup
tree:
	@scripts/tree $(filter base,$(KERNEL))
refresh:
	@scripts/refresh
build: $(tree)
	@scripts/guest
	@scripts/build
run: build
	@scripts/run
shell: build
	@scripts/run shell
demo: build
	@scripts/demo
test: $(tree)
	@scripts/test $(if $(ARCH),,all)
torture: build
	@scripts/torture
bench:
	@scripts/bench
baseline:
	@scripts/tree base
	@scripts/test baseline
# The words are passed under other names, as RANDOM is a special variable of bash.
check: $(tree)
ifneq ($(CONFIGS)$(filter command,$(firstword $(origin RANDOM))),)
	@WORDS='$(or $(CONFIGS),random)' $(if $(filter command,$(firstword $(origin RANDOM))),RANDOMS='$(RANDOM)') scripts/check-configs
else
	@scripts/check
endif
mails: tree
	@scripts/mails
# The name that it had before.
series: mails
release:
	@scripts/tree
	@BASE=7.3 scripts/tree
	@scripts/release
deb: tree
	@scripts/deb
clean:
	rm -rf $(foreach d,build build/7.3,$(filter-out build/7.3 $d/tree $d/tree.% $d/base,$(wildcard $d/*)))
