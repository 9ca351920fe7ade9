// SPDX-License-Identifier: GPL-2.0
/*
 * Has one bug of each kind that the debugging configurations look for. The bugs that lockdep
 * finds come first, as lockdep stops after a deadlock and may stop after other bugs.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static DEFINE_MUTEX(outer);
static DEFINE_MUTEX(inner);
static void __rcu *pointer;
static unsigned long shared, sink;

static noinline void splat_kasan(void)
{
	char *p = kmalloc(32, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	sink += *(volatile char *)(p + 32);
	kfree(p);
}

static noinline void splat_sleep(void)
{
	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static noinline void splat_preempt(void)
{
	sink += smp_processor_id();
}

static noinline void splat_list(void)
{
	LIST_HEAD(head);
	LIST_HEAD(other);
	LIST_HEAD(new);

	__list_add(&new, &head, &other);
}

static noinline void splat_rcu(void)
{
	sink += !!rcu_dereference(pointer);
}

/*
 * More than a slab has. In Linux 7.3, the sheaves of a slab still have the addresses of what they
 * gave out last, and kmemleak takes these for references.
 */
static noinline void splat_leak(void)
{
	sink += !!kmalloc(KMALLOC_MAX_CACHE_SIZE + 1, GFP_KERNEL);
}

static noinline void splat_locks(void)
{
	mutex_lock(&outer);
	mutex_lock(&inner);
	mutex_unlock(&inner);
	mutex_unlock(&outer);
	mutex_lock(&inner);
	mutex_lock(&outer);
	mutex_unlock(&outer);
	mutex_unlock(&inner);
}

static int splat_race(void *unused)
{
	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 1000; i++) {
			shared++;
			barrier();
		}
		cond_resched();
	}
	return 0;
}

static void splat_kcsan(void)
{
	struct task_struct *one = kthread_run(splat_race, NULL, "splat");
	struct task_struct *two = kthread_run(splat_race, NULL, "splat");

	msleep(3000);
	if (!IS_ERR(one))
		kthread_stop(one);
	if (!IS_ERR(two))
		kthread_stop(two);
}

static int __init splats_init(void)
{
	if (IS_ENABLED(CONFIG_KCSAN))
		splat_kcsan();
	if (IS_ENABLED(CONFIG_KASAN)) {
		splat_rcu();
		splat_locks();
		splat_sleep();
		splat_preempt();
		splat_list();
		splat_leak();
		splat_kasan();
	}
	return 0;
}

static void __exit splats_exit(void)
{
}

module_init(splats_init);
module_exit(splats_exit);
MODULE_DESCRIPTION("Bugs for the kernel's detectors");
MODULE_LICENSE("GPL");
