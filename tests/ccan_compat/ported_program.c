/* A C program written against ccan/list, which g++ compiles as C++ with -fpermissive. It counts on void
 * pointers that become any pointer, on structures named with the keyword, and on what list.h includes. */
#include <stdio.h>
#include <stdlib.h>

#include <ccan/list/list.h>
#include <ccan/list/list.c>

struct queue {
	const char *name;
	struct list_head jobs;
	unsigned int count;
};

struct job {
	const char *name;
	struct list_node list;
};

static LIST_HEAD(idle_queues);

static struct job *new_job(const char *name)
{
	struct job *j = malloc(sizeof(*j));

	assert(j);
	memset(j, 0, sizeof(*j));
	j->name = name;
	return j;
}

static struct job *job_of(struct list_node *n)
{
	return container_of(n, struct job, list);
}

static bool known(const struct list_head *jobs, const char *name)
{
	const struct job *j;

	list_for_each(jobs, j, list)
		if (strcmp(j->name, name) == 0)
			return true;
	return false;
}

int main(void)
{
	struct queue q = { "first", LIST_HEAD_INIT(q.jobs), 0 };
	struct job *j, *next;
	void *anything, *after;
	unsigned int seen = 0;

	list_add_tail(&q.jobs, &new_job("a")->list);
	list_add_tail(&q.jobs, &new_job("b")->list);
	list_add(&q.jobs, &new_job("c")->list);
	list_add_off(&q.jobs, new_job("d"), offsetof(struct job, list));

	assert(known(&q.jobs, "b") && !known(&q.jobs, "e"));
	assert(job_of(q.jobs.n.next) == list_top(&q.jobs, struct job, list));
	j = list_tail(&q.jobs, struct job, list);
	assert(strcmp(list_prev(&q.jobs, j, list)->name, "a") == 0);

	list_for_each_safe_off(&q.jobs, anything, after, offsetof(struct job, list)) {
		j = anything;
		if (strcmp(j->name, "c") == 0) {
			list_del(&j->list);
			free(j);
		}
	}
	list_for_each_safe(&q.jobs, j, next, list) {
		list_del_from(&q.jobs, &j->list);
		free(j);
		seen++;
	}
	assert(list_empty(&q.jobs) && list_empty(&idle_queues));
	printf("%u jobs\n", seen);
	return seen == 3 ? 0 : 1;
}
