# The scripts do all the work; this file only has their dependencies. Variables of the
# command line are passed to the scripts unchanged.
vars := ARCH BASE SINCE FROM KERNEL CONFIG SMALL LINUX TREE CMD FILES SMP MEM TIMEOUT APPEND \
	QEMU_ARGS CPU SELFTEST KUNIT LOG VERBOSE ALLOW QUICK ALL ONLY LIMIT FORCE \
	CLIENTS PERF BENCH BPF SUITES SYSTEM RELEASE DEB FLAVOUR LSMOD KCONFIG DEBUG UPSTREAM PEER DISK \
	MINUTES TORTURE_ARGS TORTURE_TREES KERNELS PROFILE NATIVE RUNS ROUNDS KEEP GUARD \
	BUILDS SEED TOPIC
$(foreach v,$(vars),$(if $(filter-out undefined default,$(origin $v)),$(eval override export $v := $$(value $v))))

# A tree that TREE names is built as it is, without applying the series.
tree := $(if $(TREE),,tree)

.PHONY: help setup tree refresh build run shell demo test torture bench baseline check mails series release deb clean
help:
	@cat scripts/help

setup:
	@scripts/setup
tree:
	@scripts/tree $(patsubst base,stock,$(filter base stock,$(KERNEL)))
refresh:
	@scripts/refresh
build: $(tree)
	@scripts/guest
	@scripts/build
run: build
	@scripts/run
shell: build
	@scripts/run shell
demo:
	@scripts/demo
test:
	@scripts/test
torture: build
	@scripts/torture
bench:
	@scripts/bench
baseline:
	@scripts/tree stock
	@scripts/run-stages baseline
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
	rm -rf $(foreach d,build build/7.3,$(filter-out build/7.3 $d/tree $d/tree.% $d/stock,$(wildcard $d/*)))
