#!/bin/sh
# shellcheck disable=SC2016 # the changes are written in perl
# SPDX-License-Identifier: GPL-2.0
#
# Puts a defect into a copy of the core, one at a time, and sees whether the
# tests find it. Each is: name, file, what to change (perl, on the whole file).
# Names that begin with "-" are known to survive; the line before says why.
#
# Usage: mutants.sh [PATTERN], in the directory of the tests.

dir=build/mutant
core=$dir/core
n=0
failed=0

mutant()
{
	name=${1#-}
	file=$2
	expr=$3

	case $name in
	*$pattern*) ;;
	*) return ;;
	esac
	n=$((n + 1))
	rm -rf $core $dir/x86_64
	mkdir -p $core
	cp ../../../kernel/trace/fgraph*.[ch] ../../../kernel/trace/ftrace_internal.h $core
	perl -0pi -e "$expr" $core/"$file"
	if cmp -s $core/"$file" ../../../kernel/trace/"$file"; then
		echo "not ok $n mutant: $name # does not apply"
		failed=1
		return
	fi
	by=
	if ! make -s CORE=$core O=$dir $dir/x86_64/step >$dir/log 2>&1; then
		by="the compiler"
	elif ! timeout 120 $dir/x86_64/step -f >$dir/log 2>&1; then
		by="step,$(sed -n 's/^not ok [0-9]* step: \([^#]*\).*/ \1/p' $dir/log)"
	elif ! make -s CORE=$core O=$dir $dir/x86_64/replay >$dir/log 2>&1; then
		by="the compiler"
	elif ! timeout 120 $dir/x86_64/replay 5000 corpus/* >$dir/log 2>&1; then
		by="replay"
	fi
	if [ -n "$by" ]; then
		caught=$((caught + 1))
		echo "ok $n mutant: $name # by $by"
	elif [ "$name" != "$1" ]; then
		echo "ok $n mutant: $name # XFAIL survives"
	else
		echo "not ok $n mutant: $name # survives"
		failed=1
	fi
}

pattern=$1
caught=0
mkdir -p $dir

mutant "header before the top" fgraph_stack.h \
	's/WRITE_ONCE\(st->top, rec\);\n\t\}\n(\tbarrier.*?\n\tfgraph_set_head.*?\n)/}\n$1\tWRITE_ONCE(st->top, rec);\n/s'
mutant "header stays zero until commit" fgraph_stack.h \
	's/\tfgraph_set_head\(rec, FGRAPH_RESERVED \| head \| context\);\n//'
mutant "data slots not cleaned" fgraph_stack.h \
	's/i <= below; i\+\+/i < below; i++/'
mutant "data cleaned after its size is gone" fgraph_stack.h \
	's/fgraph_set_head\(rec, FGRAPH_RESERVED \| below.*?\);/fgraph_set_head(rec, FGRAPH_NONE);/'
mutant "frame visible while its data is cleaned" fgraph_stack.h \
	's/\t\tfgraph_set_head\(rec, FGRAPH_RESERVED \| below.*?;\n//'
mutant "top moved before the header is zero" fgraph_stack.h \
	's/\tfgraph_set_head\(rec, FGRAPH_NONE\);\n\tbarrier\(\);\n(.*?\tWRITE_ONCE\(st->top, top\);\n)/$1\tbarrier();\n\tfgraph_set_head(rec, FGRAPH_NONE);\n/s'
mutant "top left on the header of an empty chunk" fgraph_stack.h \
	's/top = READ_ONCE\(\(\(struct fgraph_chunk \*\)top\)->below\)/;/'
mutant "pop stops one early" fgraph_stack.h \
	's/fgraph_stack_drop\(st, top\);\n\t\} while \(unlikely\(top != rec\)\)/if (top == rec)\n\t\t\tbreak;\n\t\tfgraph_stack_drop(st, top);\n\t} while (1)/'
mutant "fits one slot too many" fgraph_stack.h \
	's/rec = top \+ size;\n\n\treturn/rec = top + size - FGRAPH_SLOT;\n\n\treturn/'
mutant "below ignores chunks" fgraph_stack.h \
	's/return READ_ONCE\(\(\(struct fgraph_chunk \*\)rec\)->below\)/return NULL/'
# This compiler keeps the order anyway.
mutant "-commit does not order" fgraph_stack.h \
	's/\tbarrier\(\);\t\/\* \(4\) \*\/\n//; s/(__always_inline void fgraph_set_head.*?)WRITE_ONCE\(\*\(unsigned long \*\)rec, head\)/$1*(unsigned long *)rec = head/s'
mutant "entries of other frames are taken" fgraph_stack.h \
	's/ &&\n\t\t\(\(struct fgraph_entry \*\)rec\)->frame == frame//'

mutant "chunk lost that an interrupt added" fgraph_stack.c \
	's/while \(\(next = cmpxchg\(&c->next, NULL, new\)\)\)\n\t\tc = next;/while ((next = READ_ONCE(c->next)))\n\t\tc = next;\n\tbarrier();\n\tWRITE_ONCE(c->next, new);/'
mutant "chunk without an end" fgraph_stack.c \
	's/\tnew->end = memory \+ size;\n(.*?c = next;\n)/$1\tnew->end = memory + size;\n/s'
mutant "way down set after the top" fgraph_stack.c \
	's/\tWRITE_ONCE\(next->below, top\);\n\tbarrier/\tbarrier/'
# What an interrupt left leads down, too, only past empty slots.
mutant "-way down not set again" fgraph_stack.c \
	's/(WRITE_ONCE\(st->top, rec\);\n\tbarrier\(\);\n.*?)\tWRITE_ONCE\(next->below, top\);\n\treturn/$1\treturn/s'
mutant "record over the end of a chunk" fgraph_stack.c \
	's/bytes <= next->end\)/bytes <= next->end + FGRAPH_SLOT)/'
mutant "big chunk taken for a small one" fgraph_stack.c \
	's/bytes \+ sizeof\(\*c\) > FGRAPH_CHUNK_SIZE/bytes > FGRAPH_CHUNK_SIZE/'
mutant "second half of a big chunk is overrun" fgraph_stack.c \
	's/top \+ bytes < c->end/top + bytes <= c->end/'
mutant "chunk not used again" fgraph_stack.c \
	's/next = READ_ONCE\(c->next\);\n\t\tif \(!next\)/next = READ_ONCE(c->next);\n\t\tif (1)/'
mutant "reap drops its own place" fgraph_stack.c \
	's/retp >= high/retp > high/'
# Nothing comes back to the task's stack while calls on another one are alive;
# the KUnit test of fgraph_stack_reap() sees it.
mutant "-reap drops other stacks" fgraph_stack.c \
	's/\(void \*\)frame->retp < low \|\| //'
# The header of what an interrupt has dropped is zero, and ends it as well.
mutant "-reap does not look again" fgraph_stack.c \
	's/(unsigned int dropped = 0;\n)(.*?)\t\tvoid \*top = READ_ONCE\(st->top\);/$1\tvoid *top = READ_ONCE(st->top), *next;\n$2/s; s/(frame->retp >= high\)\n\t\t\treturn dropped;\n)\t\tfgraph_stack_drop\(st, top\);/$1\t\tnext = fgraph_below(top);\n\t\tfgraph_stack_drop(st, top);\n\t\ttop = next;/'
mutant "search takes what is not complete" fgraph_stack.c \
	's/fgraph_kind\(fgraph_head\(rec\)\) == FGRAPH_FRAME && frame->retp == retp/frame->retp == retp/'
mutant "find takes what is not complete" fgraph_stack.c \
	's/fgraph_kind\(head\) == FGRAPH_FRAME && retp >= low/retp >= low/'
mutant "find passes data slot by slot" fgraph_stack.c \
	's/rec -= fgraph_size\(head\);\n\t\}\n\treturn 0;/rec -= FGRAPH_SLOT;\n\t}\n\treturn 0;/'
mutant "find stops at a chunk" fgraph_stack.c \
	's/rec = READ_ONCE\(c->below\);\n\t\t\tc = chunk_of\(st, rec, c\);\n\t\t\tcontinue/return 0/'
mutant "cursor not advanced" fgraph_stack.c \
	's/\*cursor = \(unsigned long\)rec;\n//'
mutant "no new search when the cursor fails" fgraph_stack.c \
	's/\tif \(!ret\)\n\t\tret = find_from/\tif (!*cursor)\n\t\tret = find_from/'
mutant "cursor believed" fgraph_stack.c \
	's/struct fgraph_chunk \*c = chunk_of\(st, rec, NULL\);\n\n\twhile/struct fgraph_chunk *c = chunk_of(st, rec, NULL) ?: st->first;\n\n\twhile/'
mutant "first chunk given back with its header only" fgraph_stack.c \
	's/c == st->first \? \(void \*\)st : \(void \*\)c\);\n/(void *)c);\n/; s/c = st->first->next; c; c = next, chunks/c = st->first->next ? st->first->next->next : NULL; c; c = next, chunks/'
# Hidden as long as the task words are known to fail in step.c.
mutant "-words lost that an interrupt added" fgraph_stack.c \
	's/while \(w && \(more = cmpxchg\(end, NULL, w\)\)\)\n\t\t\t\tend = &more->next;/(void)more;\n\t\t\tbarrier();\n\t\t\tif (w)\n\t\t\t\tWRITE_ONCE(*end, w);/'

mutant "return address replaced before the frame is there" fgraph.c \
	's/(\tframe->tag = tag;\n.*?fgraph_stack_commit\(frame, head\);\n)/\tbarrier();\n\tif (!hooked)\n\t\tWRITE_ONCE(*slot, (unsigned long)fgraph_trampoline_light);\n\tbarrier();\n$1/s'
mutant "frame popped before the return address is written" fgraph.c \
	's/(\tWRITE_ONCE\(\*fgraph_record_slot\(retp\), ret\);\n)\tbarrier\(\);\n(\t\/\* Unless something.*?fgraph_stack_pop\(st, frame\);\n)/$2$1/s'
mutant "tag written after commit" fgraph.c \
	's/\tframe->tag = tag;\n(.*?fgraph_stack_commit\(frame, head\);\n)/$1\tframe->tag = tag;\n/s'
mutant "entry visible without its frame" fgraph.c \
	's/\tentry->frame = frame;\n(\tfgraph_stack_commit.*?;\n)/$1\tentry->frame = frame;\n/'
mutant "tail call returns to the trampoline" fgraph.c \
	's/\t\tret = frame->ret;\n\t\thead \|= FGRAPH_TAIL/\t\thead |= FGRAPH_TAIL/'
mutant "tail call not known" fgraph.c \
	's/\t\thead \|= FGRAPH_TAIL;\n//'
mutant "user joins twice" fgraph.c \
	's/ && !fgraph_frame_has\(st, frame, tag\)//'
mutant "another function joins" fgraph.c \
	's/frame->func == func && //'
mutant "joining needs no registers" fgraph.c \
	's/(fgraph_stack_commit\(entry, head \| above\);\n\n)\tif \(gops->flags & FGRAPH_FULL_REGS\)\n.*?;\n/$1/s'
mutant "light trampoline again" fgraph.c \
	's/else if \(!hooked\)/else/'
mutant "veto leaves the frame" fgraph.c \
	's/(fgraph_frame_data\(frame, head\), regs\)\) \{\n)\t\tfgraph_stack_pop\(st, frame\);\n/$1/'
mutant "veto of a joining user leaves the entry" fgraph.c \
	's/\t\tfgraph_stack_pop\(st, entry\);\n//'
mutant "user who is gone hooks" fgraph.c \
	's/unlikely\(!tag\)/0/'
mutant "miss not counted" fgraph.c \
	's/\t\tfgraph_miss\(gops\);\n\t\treturn -ENOMEM/\t\treturn -ENOMEM/'
mutant "callbacks hooked without end" fgraph.c \
	's/return \(above & FGRAPH_AGAIN\) && .*?;/return false;/'
mutant "preemption stays off" fgraph.c \
	's/\tpreempt_enable_notrace\(\);\n\treturn ret;/\treturn ret;/'
mutant "chunk's header taken for an entry" fgraph.c \
	's/unlikely\(!fgraph_is_entry_of\(rec, frame\)\)/0/'
mutant "oldest user told first" fgraph.c \
	's/(gone \|= fgraph_tell\(frame->tag.*?;\n)//; s/(\t\tfor \(rec = READ_ONCE\(st->top\); rec != frame; rec = fgraph_below\(rec\)\) \{\n\t\t\tstruct fgraph_entry \*entry)/\t\tgone |= fgraph_tell(frame->tag, frame, fgraph_frame_data(frame, head), regs);\n$1/'
mutant "frame of the top is taken for that of the place" fgraph.c \
	's/frame && frame->retp == retp \? frame/frame ? frame/'
mutant "reap where a frame is joined" fgraph.c \
	's/high = hooked \? retp : retp \+ 1/high = retp + 1/'
mutant "parent is the frame itself" fgraph.c \
	's/rec = fgraph_below\(frame\); rec; rec/rec = (void *)frame; rec; rec/'
mutant "frame's own user not told of" fgraph.c \
	's/(\t\tif \(rec == frame\)\n\t\t\tbreak;\n)(\t\*?)//; s/(int nr = 0;\n\tvoid \*rec;\n\n\tfor.*?\n)/$1\t\tif (rec == frame)\n\t\t\tbreak;\n/'
# As above.
mutant "-word taken in two steps" fgraph.c \
	's/if \(system_has_cmpxchg_double\(\)\)/if (0)/'
mutant "word not zeroed" fgraph.c \
	's/gops->tag, 0\);\n\t\t\tcontinue/gops->tag, value);\n\t\t\tcontinue/'
mutant "frame popped before the return address is written, slow" fgraph.c \
	's/(\t\tif \(!\(head & FGRAPH_TAIL\)\)\n\t\t\tWRITE_ONCE\(\*fgraph_record_slot\(retp\), ret\);\n)\t\tbarrier\(\);\n(\t\tif \(likely\(uncovered\)\).*?\n\t\t\}\n)/$2$1/s'
# No callback leaves what it called by a longjmp.
mutant "-what abandoned frames covered is not dropped" fgraph.c \
	's/if \(likely\(READ_ONCE\(st->top\) == frame\)\)/if (1)/'
mutant "entry callback does not say so" fgraph.c \
	's/fgraph_stack_reserve\(st, top, head, fgraph_context\(\)\)/fgraph_stack_reserve(st, top, head, 0)/'
mutant "return callback does not say so" fgraph.c \
	's/\tfgraph_set_head\(frame, FGRAPH_FRAME \| fgraph_context\(\)\);\n//'
mutant "what was running is lost at commit" fgraph.c \
	's/fgraph_stack_commit\(frame, head \| above\)/fgraph_stack_commit(frame, head)/'
mutant "trim not asked for" fgraph.c \
	's/\t\tfgraph_trim_later\(\);/\t\t;/'

mutant "chunk taken twice" fgraph_reserve.c \
	's/chunk = xchg\(&place\[i\], NULL\);/chunk = READ_ONCE(place[i]);\n\t\tbarrier();\n\t\tWRITE_ONCE(place[i], NULL);/'
mutant "refill overwrites" fgraph_reserve.c \
	's/if \(cmpxchg\(&place\[i\], NULL, chunk\)\)\n\t\t\tkfree\(chunk\);/WRITE_ONCE(place[i], chunk);/'
mutant "stack made twice" fgraph_reserve.c \
	's/other = cmpxchg\(&current->fgraph_stack, NULL, st\);/other = NULL;\n\tcurrent->fgraph_stack = st;/'
mutant "spare chunk not clean" fgraph_reserve.c \
	's/\t\tmemset\(memory, 0, 2 \* FGRAPH_SLOT\);\n//'
mutant "trim takes what is in use" fgraph_reserve.c \
	's/!fgraph_stack_empty\(st\) \|\| //'
mutant "reserve kept" fgraph_reserve.c \
	's/while \(\(chunk = take_on\(cpu, FGRAPH_BIG_CHUNK_SIZE\)\)\)\n\t\t\tkfree\(chunk\);/;/'
mutant "dead task's stack kept" fgraph_reserve.c \
	's/if \(st\)\n\t\tfree_stack\(st\);/(void)st;/'
mutant "no refill" fgraph_reserve.c \
	's/if \(cpu_online\(smp_processor_id\(\)\)\)/if (0)/'

mutant "generation not looked at" fgraph_internal.h \
	's/READ_ONCE\(slot->tag\) != tag/!READ_ONCE(slot->tag)/'
mutant "generation stays" fgraph_users.c \
	's/\+\+fgraph_generation/(fgraph_generation ?: ++fgraph_generation)/'
mutant "user told after it retired" fgraph_users.c \
	's/\tWRITE_ONCE\(fgraph_slot\(gops->id\)->tag, 0\);\n//'

echo "# mutants: $caught of $n found"
exit $failed
