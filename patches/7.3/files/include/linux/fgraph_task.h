/* SPDX-License-Identifier: GPL-2.0 */
/* fgraph: functions for the code that resets and frees tasks. */
#ifndef _LINUX_FGRAPH_TASK_H
#define _LINUX_FGRAPH_TASK_H

struct task_struct;

#ifdef CONFIG_FGRAPH
void fgraph_free_task(struct task_struct *task);
void fgraph_reset_task(struct task_struct *task);
#else
static inline void fgraph_free_task(struct task_struct *task) { }
static inline void fgraph_reset_task(struct task_struct *task) { }
#endif /* CONFIG_FGRAPH */

#endif /* _LINUX_FGRAPH_TASK_H */
