# SPDX-License-Identifier: GPL-2.0
# Puts a call of step_entry before each instruction of the compiler's assembly:
# lines with an instruction start with a lower case letter. The call changes no
# flags, and is made only while step_left is not zero.

/^[ \t]*\.(text|section|data|bss)/ {
	code = /\.text/
}

code && /^[ \t]+[a-z]/ {
	if (arch == "aarch64") {
		print "\tstp\tx29, x30, [sp, #-16]!"
		print "\tadrp\tx30, step_left"
		print "\tldr\tx30, [x30, :lo12:step_left]"
		print "\tcbz\tx30, 1f"
		print "\tbl\tstep_entry"
		print "1:\tldp\tx29, x30, [sp], #16"
	} else {
		print "\tpush\t%rcx"
		print "\tmov\tstep_left(%rip), %rcx"
		print "\tjrcxz\t1f"
		print "\tcall\tstep_entry"
		print "1:\tpop\t%rcx"
	}
}

{ print }
