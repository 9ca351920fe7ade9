#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs cbmc once for each argument, NAME.GROW or NAME.GROW.SHAPE: check_NAME() of
# bmc.c; GROW is 1 if chunks may be added; SHAPE says which slots have a header at
# the beginning, one bit for each, without it any may. Called by "make bmc", with
# the command in CBMC. README says more.
#
# If cadical is installed, it solves the problem: that takes half the time of cbmc's
# own solver, but gives no trace of a failure.

command -v cbmc >/dev/null || {
	echo "ok bmc # SKIP no cbmc: Debian 11 and 13 have it, 12 does not"
	exit 0
}

# The limit of CPU time of each program, in seconds.
ulimit -t "${BMC_TIME:=900}"

# solve ARGUMENT...: runs cbmc; status 0 if the check passes.
solve()
{
	if ! command -v cadical >/dev/null; then
		$CBMC "$@" bmc.c >"$log" 2>&1
		return
	fi
	$CBMC "$@" --dimacs --outfile "$log.cnf" bmc.c >"$log" 2>&1
	if [ -s "$log.cnf" ]; then
		cadical -q -n "$log.cnf" >>"$log" 2>&1
		r=$?
		rm -f "$log.cnf"
		[ $r != 20 ] || return 0
		# The check fails: cbmc solves it again, for a trace.
		[ $r != 10 ] || $CBMC "$@" --trace bmc.c >"$log" 2>&1
		return $r
	fi
	grep -q '^VERIFICATION SUCCESSFUL' "$log"
}

summary()
{
	[ "$all" -lt 2 ] || echo "# $family: $passed of $all"
}

family=
all=0
failed=0
for check; do
	IFS=. read -r name grow shape <<-EOF
		$check
	EOF
	log=$O/bmc/$check.log
	if [ "$name.$grow" != "$family" ]; then
		summary
		family=$name.$grow
		passed=0
		all=0
	fi
	all=$((all + 1))
	solve "-DGROW=$grow" ${shape:+"-DSHAPE=$shape"} --function "check_$name"
	r=$?
	if [ $r = 0 ]; then
		passed=$((passed + 1))
		echo "ok bmc: $check"
	elif [ $r -gt 128 ]; then
		failed=1
		echo "not ok bmc: $check # no result in $BMC_TIME s"
	else
		failed=1
		grep -A2 '^Violated\|ERROR' "$log" | sed 's/^/# /'
		echo "not ok bmc: $check # $log"
	fi
done
summary
exit $failed
