#define CCAN_LIST_DEBUG 1
#include "jobs.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace {

using ints = std::vector<int>;

constexpr auto prev_corrupt =
    "^[^\n]*list_debug_test\\.cpp:[0-9]+: prev corrupt in node [^ ]+ \\([0-9]+\\) of 0x[0-9a-f]+\n$";

#define EXPECT_REPORT(statement) EXPECT_EXIT(statement, testing::KilledBySignal(SIGABRT), prev_corrupt)

class list_debug_death : public testing::Test {
 protected:
  list_debug_death() {
    fill(list, jobs);
    jobs[1].link.prev = &jobs[2].link;
  }

  LIST_HEAD(list);
  LIST_HEAD(sound);
  job jobs[3];
  job fresh{9, {}};
  job* j = nullptr;
  job* next = nullptr;
};

TEST_F(list_debug_death, adding_to_a_corrupt_list_reports_it) {
  EXPECT_REPORT(list_add(&list, &fresh.link));
  EXPECT_REPORT(list_add_tail(&list, &fresh.link));
  EXPECT_REPORT(list_add_after(&list, &jobs[2].link, &fresh.link));
  EXPECT_REPORT(list_add_before(&list, &jobs[0].link, &fresh.link));
  EXPECT_REPORT(list_add_off(&list, &fresh, offsetof(job, link)));
}

TEST_F(list_debug_death, removing_from_a_corrupt_list_reports_it) {
  EXPECT_REPORT(list_del(&jobs[0].link));
  EXPECT_REPORT(list_del_init(&jobs[0].link));
  EXPECT_REPORT(list_del_from(&list, &jobs[0].link));
  EXPECT_REPORT(list_del_off(&jobs[0], offsetof(job, link)));
  EXPECT_REPORT(list_del_from_off(&list, &jobs[0], offsetof(job, link)));
  EXPECT_REPORT(list_swap(&jobs[0].link, &fresh.link));
  EXPECT_REPORT((void)list_pop(&list, job, link));
}

TEST_F(list_debug_death, looking_at_a_corrupt_list_reports_it) {
  EXPECT_REPORT((void)list_empty(&list));
  EXPECT_REPORT((void)list_top(&list, job, link));
  EXPECT_REPORT((void)list_tail(&list, job, link));
  EXPECT_REPORT((void)list_next(&list, &jobs[0], link));
  EXPECT_REPORT((void)list_prev(&list, &jobs[0], link));
  EXPECT_REPORT((void)list_head_off(&list, job, offsetof(job, link)));
  EXPECT_REPORT((void)list_tail_off(&list, job, offsetof(job, link)));
}

TEST_F(list_debug_death, looping_over_a_corrupt_list_reports_it) {
  const std::size_t off = offsetof(job, link);
  EXPECT_REPORT(list_for_each(&list, j, link){});
  EXPECT_REPORT(list_for_each_rev(&list, j, link){});
  EXPECT_REPORT(list_for_each_safe(&list, j, next, link){});
  EXPECT_REPORT(list_for_each_rev_safe(&list, j, next, link){});
  EXPECT_REPORT(list_for_each_off(&list, j, off){});
  EXPECT_REPORT(list_for_each_rev_off(&list, j, off){});
  EXPECT_REPORT(list_for_each_safe_off(&list, j, next, off){});
  EXPECT_REPORT(list_for_each_rev_safe_off(&list, j, next, off){});
}

TEST_F(list_debug_death, moving_a_corrupt_list_or_onto_one_reports_it) {
  EXPECT_REPORT(list_append_list(&list, &sound));
  EXPECT_REPORT(list_append_list(&sound, &list));
  EXPECT_REPORT(list_prepend_list(&list, &sound));
  EXPECT_REPORT(list_prepend_list(&sound, &list));
}

TEST_F(list_debug_death, the_report_names_line_node_place_and_head) {
  list.n.prev = &jobs[0].link;
  jobs[1].link.prev = &jobs[0].link;
  char expected[200];
  std::snprintf(expected, sizeof expected,
                "list_debug_test\\.cpp:%d: prev corrupt in node %p \\(0\\) of %p\n", __LINE__ + 2,
                static_cast<void*>(&list), static_cast<void*>(&list));
  EXPECT_EXIT((void)list_empty(&list), testing::KilledBySignal(SIGABRT), expected);
}

TEST_F(list_debug_death, adding_a_node_twice_reports_it) {
  list_add(&sound, &fresh.link);
  job other{8, {}};
  list_add(&sound, &other.link);
  EXPECT_REPORT(list_add_tail(&sound, &other.link));
}

TEST_F(list_debug_death, removing_a_node_twice_reports_it) {
  list_add(&sound, &fresh.link);
  list_del(&fresh.link);
  EXPECT_REPORT(list_del(&fresh.link));
}

TEST_F(list_debug_death, removing_from_a_list_that_the_node_is_not_on_reports_it) {
  job other{8, {}};
  list_add(&sound, &other.link);
  LIST_HEAD(empty);
  constexpr auto expected = "list_debug_test\\.cpp:[0-9]+: node 0x[0-9a-f]+ is not in list 0x[0-9a-f]+\n$";
  EXPECT_EXIT(list_del_from(&sound, &jobs[0].link), testing::KilledBySignal(SIGABRT), expected);
  EXPECT_EXIT(list_del_from(&empty, &jobs[0].link), testing::KilledBySignal(SIGABRT), expected);
}

TEST_F(list_debug_death, the_questions_that_promise_no_check_make_none) {
  EXPECT_FALSE(list_empty_nodebug(&list));
  EXPECT_FALSE(list_empty_nocheck(&list));
}

TEST(list_debug, a_removed_node_loses_its_links) {
  LIST_HEAD(list);
  job jobs[2], fresh{9, {}};
  fill(list, jobs);
  list_del(&jobs[0].link);
  EXPECT_EQ(jobs[0].link.next, nullptr);
  EXPECT_EQ(jobs[0].link.prev, nullptr);
  list_swap(&jobs[1].link, &fresh.link);
  EXPECT_EQ(jobs[1].link.next, nullptr);
  EXPECT_EQ(jobs[1].link.prev, nullptr);
  list_del_init(&fresh.link);
  EXPECT_EQ(fresh.link.next, &fresh.link);
}

TEST(list_debug, sound_lists_pass_every_check) {
  LIST_HEAD(list);
  LIST_HEAD(other);
  job jobs[4], fresh{9, {}};
  job *j, *next;
  fill(list, jobs);
  list_add_after(&list, &jobs[0].link, &fresh.link);
  list_del_from(&list, &jobs[3].link);
  list_append_list(&other, &list);
  EXPECT_EQ(list_pop(&other, job, link), &jobs[0]);
  list_for_each_safe(&other, j, next, link) {
    if (j == &fresh) list_del(&j->link);
  }
  list_prepend_list(&list, &other);
  EXPECT_EQ(numbers(list), (ints{2, 3}));
}

} // namespace
