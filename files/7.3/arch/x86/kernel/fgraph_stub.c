// SPDX-License-Identifier: GPL-2.0
/*
 * The text of fgraph's stubs. kernel/trace/fgraph_stubs.c explains what a stub is.
 *
 * ftrace has a function jump to its stub, where the function has pushed nothing yet:
 *
 *	pad:   jmp  stub		stub:  call fgraph_stub_enter
 *	body:  ...			       test %r11d, %r11d
 *	       ret			       jz   3f
 *				       js   2f
 *				       call body
 *			light_ret:     jmp  fgraph_stub_leave_light
 *				2:     call body
 *			full_ret:      jmp  fgraph_stub_leave_full
 *				3:     jmp  body
 *				       ...
 *				       .quad pad
 *
 * All branches are direct, so they need neither ENDBR nor a retpoline, and kCFI has nothing to
 * check. There is no RET in a stub, so no return thunk. Each CALL is paired with the RET that
 * returns to it, and the RET at the end of fgraph_stub_leave_* with the CALL of the function's
 * caller. With call depth tracking, the stub counts a CALL of the body, as the RET of the body is
 * counted; fgraph_stub_enter counts its own CALL.
 *
 * The addresses light_ret and full_ret are on the stack while the body runs. The word above has the
 * real return address, always: the stub calls the body only if the call was not hooked at entry and
 * no tail call, see fgraph_is_hooked(), and nobody hooks a call later than that. So an unwinder
 * skips a word and need not ask for a frame.
 *
 * At all other addresses of a stub the stack is that of a function at its entry.
 */
#include <linux/execmem.h>
#include <linux/fgraph_stubs.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <linux/text-patching.h>

#include <asm/alternative.h>
#include <asm/fgraph_stub.h>
#include <asm/nospec-branch.h>

#include "../../../kernel/trace/fgraph_stubs.h"

/* The distance of light_ret and full_ret from the start of a stub, the same for all stubs. */
static unsigned int light_ret, full_ret;

/* Is it better to have a stub than to replace the return address, on this CPU? */
bool arch_fgraph_stubs_wanted(void)
{
	/*
	 * SRSO's safe RET and retbleed's untrained one cost a misprediction each, and there are as
	 * many with a stub as without. Call depth tracking was not measured.
	 */
	return !IS_ENABLED(CONFIG_MITIGATION_RETHUNK) || x86_return_thunk == __x86_return_thunk ||
	       (IS_ENABLED(CONFIG_MITIGATION_ITS) && x86_return_thunk == its_return_thunk);
}

/* Allocate a page for stubs, filled with INT3. Returns NULL if there is no memory. */
void *arch_fgraph_stub_page(void)
{
	void *page = execmem_alloc_rw(EXECMEM_FTRACE, PAGE_SIZE);

	if (!page)
		return NULL;
	memset(page, INT3_INSN_OPCODE, PAGE_SIZE);
	if (set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		return NULL;
	}
	return page;
}

/* A piece of code while it is being made. */
struct stub_code {
	u8		code[FGRAPH_STUB_SIZE];
	u8		*end;
	unsigned long	at;
	bool		too_far;
};

/* Where the code ends that was made so far. */
static unsigned long here(const struct stub_code *c)
{
	return c->at + (c->end - c->code);
}

static void emit_branch(struct stub_code *c, u8 opcode, unsigned long to)
{
	long distance = to - (here(c) + CALL_INSN_SIZE);
	s32 rel = distance;

	c->too_far |= rel != distance;
	*c->end++ = opcode;
	memcpy(c->end, &rel, sizeof(rel));
	c->end += sizeof(rel);
}

/* Call the body and jump to @leave. Returns the distance of the return address. */
static unsigned int emit_body(struct stub_code *c, unsigned long body, unsigned long leave)
{
	unsigned int ret;

	x86_call_depth_emit_accounting(&c->end, NULL, (void *)here(c));
	emit_branch(c, CALL_INSN_OPCODE, body);
	ret = c->end - c->code;
	emit_branch(c, JMP32_INSN_OPCODE, leave);
	return ret;
}

/* Emit a conditional jump. Its distance is set by land(). */
static u8 *emit_jcc(struct stub_code *c, u8 opcode)
{
	*c->end++ = opcode;
	return c->end++;
}

static void land(struct stub_code *c, u8 *jcc)
{
	*jcc = c->end - (jcc + 1);
}

/**
 * arch_fgraph_stub_write() - make the stub of a function
 * @stub:	the place, in a page of arch_fgraph_stub_page(), where nobody runs
 * @ip:		the address of the function's call to ftrace
 *
 * Context: process. May sleep.
 *
 * Return: the distance from @stub of a return address as fgraph_stub_is_return() knows it, where
 * all registers are passed to the return callbacks; 0 if a branch does not reach so far.
 */
unsigned int arch_fgraph_stub_write(unsigned long stub, unsigned long ip)
{
	static const u8 test[] = { 0x45, 0x85, 0xdb };	/* test %r11d, %r11d */
	unsigned long body = ip + MCOUNT_INSN_SIZE;
	struct stub_code c = { .at = stub };
	u8 *jz, *js;

	memset(c.code, INT3_INSN_OPCODE, sizeof(c.code));
	c.end = c.code;
	emit_branch(&c, CALL_INSN_OPCODE, (unsigned long)fgraph_stub_enter);
	memcpy(c.end, test, sizeof(test));
	c.end += sizeof(test);
	jz = emit_jcc(&c, 0x74);
	js = emit_jcc(&c, 0x78);
	light_ret = emit_body(&c, body, (unsigned long)fgraph_stub_leave_light);
	land(&c, js);
	full_ret = emit_body(&c, body, (unsigned long)fgraph_stub_leave_full);
	land(&c, jz);
	emit_branch(&c, JMP32_INSN_OPCODE, body);
	if (WARN_ON_ONCE(c.too_far || c.end > c.code + FGRAPH_STUB_IP))
		return 0;
	memcpy(c.code + FGRAPH_STUB_IP, &ip, sizeof(ip));
	text_poke_copy((void *)stub, c.code, sizeof(c.code));
	return full_ret;
}

/* See fgraph_stub_is_return(). */
notrace bool __fgraph_stub_is_return(unsigned long addr)
{
	unsigned int at = addr & (FGRAPH_STUB_SIZE - 1);

	return (at == light_ret || at == full_ret) && __fgraph_stub_start(addr);
}
NOKPROBE_SYMBOL(__fgraph_stub_is_return);

/* See fgraph_stub_stands_for(). */
notrace unsigned long __fgraph_stub_stands_for(unsigned long addr, bool interrupted)
{
	unsigned long start = __fgraph_stub_start(addr);
	unsigned int at = addr - start;

	if (!start)
		return addr;
	if (at == light_ret || at == full_ret) {
		if (!interrupted)
			return addr;
		return at == light_ret ? (unsigned long)fgraph_stub_leave_light :
					 (unsigned long)fgraph_stub_leave_full;
	}
	return READ_ONCE(*(unsigned long *)(start + FGRAPH_STUB_IP)) + MCOUNT_INSN_SIZE;
}
NOKPROBE_SYMBOL(__fgraph_stub_stands_for);
