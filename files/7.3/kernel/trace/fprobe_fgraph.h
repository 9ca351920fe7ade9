/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between fprobe.c, which registers fprobes, and fprobe_fgraph.c. */
#ifndef _FPROBE_FGRAPH_H
#define _FPROBE_FGRAPH_H

struct fprobe;

#ifdef CONFIG_FGRAPH
int fprobe_hook_add(struct fprobe *fp, unsigned long *addrs, int num);
void fprobe_hook_remove(struct fprobe *fp);
void fprobe_count_bpf_miss(struct fprobe *fp);
#else
static inline void fprobe_count_bpf_miss(struct fprobe *fp) { }
#endif

#endif /* _FPROBE_FGRAPH_H */
