#include "jobs.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace {

// Every macro is handed expressions that count how often they are evaluated.
class evaluated_once : public testing::Test {
 protected:
  evaluated_once() { fill(list, jobs); }

  template <class T> T&& counted(T&& value) {
    ++count;
    return std::forward<T>(value);
  }
  std::size_t counted_offset() {
    ++count;
    return offsetof(job, link);
  }
  list_head* a_list() {
    ++count;
    return &list;
  }
  list_node* fresh_node() {
    ++count;
    return &fresh.link;
  }

  // How many evaluations there were since it was last asked.
  int evaluations() { return std::exchange(count, 0); }

  int count = 0;
  LIST_HEAD(list);
  job jobs[4];
  job fresh{9, {}};
  job* j = nullptr;
  job* next = nullptr;
};

TEST_F(evaluated_once, holds_for_adding) {
  list_add(a_list(), fresh_node());
  EXPECT_EQ(evaluations(), 2);
  list_del(&fresh.link);
  list_add_tail(a_list(), fresh_node());
  EXPECT_EQ(evaluations(), 2);
  list_del(&fresh.link);
  list_add_after(a_list(), counted(&jobs[0].link), fresh_node());
  EXPECT_EQ(evaluations(), 3);
  list_del(&fresh.link);
  list_add_before(a_list(), counted(&jobs[0].link), fresh_node());
  EXPECT_EQ(evaluations(), 3);
}

TEST_F(evaluated_once, holds_for_deleting_and_swapping) {
  list_del(counted(&jobs[0].link));
  EXPECT_EQ(evaluations(), 1);
  list_del_init(counted(&jobs[1].link));
  EXPECT_EQ(evaluations(), 1);
  list_del_from(a_list(), counted(&jobs[2].link));
  EXPECT_EQ(evaluations(), 2);
  list_swap(counted(&jobs[3].link), fresh_node());
  EXPECT_EQ(evaluations(), 2);
}

TEST_F(evaluated_once, holds_for_questions_and_checks) {
  EXPECT_FALSE(list_empty(a_list()));
  EXPECT_FALSE(list_empty_nodebug(a_list()));
  EXPECT_FALSE(list_empty_nocheck(a_list()));
  EXPECT_TRUE(list_check(a_list(), "corrupt"));
  EXPECT_TRUE(list_check_node(counted(&jobs[0].link), "corrupt"));
  EXPECT_EQ(evaluations(), 5);
}

TEST_F(evaluated_once, holds_for_reaching_entries) {
  EXPECT_EQ(list_entry(counted(&jobs[0].link), job, link), &jobs[0]);
  EXPECT_EQ(list_top(a_list(), job, link), &jobs[0]);
  EXPECT_EQ(list_tail(a_list(), job, link), &jobs[3]);
  EXPECT_EQ(evaluations(), 3);
  EXPECT_EQ(list_next(a_list(), counted(&jobs[0]), link), &jobs[1]);
  EXPECT_EQ(evaluations(), 2);
  EXPECT_EQ(list_prev(a_list(), counted(&jobs[1]), link), &jobs[0]);
  EXPECT_EQ(evaluations(), 2);
  EXPECT_EQ(list_pop(a_list(), job, link), &jobs[0]);
  EXPECT_EQ(evaluations(), 1);
}

TEST_F(evaluated_once, holds_for_moving_lists) {
  LIST_HEAD(other);
  list_append_list(counted(&other), a_list());
  EXPECT_EQ(evaluations(), 2);
  list_prepend_list(a_list(), counted(&other));
  EXPECT_EQ(evaluations(), 2);
}

TEST_F(evaluated_once, holds_for_the_loops_however_often_they_turn) {
  list_for_each(a_list(), counted(j), link) {}
  EXPECT_EQ(evaluations(), 2);
  list_for_each_rev(a_list(), counted(j), link) {}
  EXPECT_EQ(evaluations(), 2);
  list_for_each_safe(a_list(), counted(j), counted(next), link) {}
  EXPECT_EQ(evaluations(), 3);
  list_for_each_rev_safe(a_list(), counted(j), counted(next), link) {}
  EXPECT_EQ(evaluations(), 3);
  list_for_each_off(a_list(), counted(j), counted_offset()) {}
  EXPECT_EQ(evaluations(), 3);
  list_for_each_rev_off(a_list(), counted(j), counted_offset()) {}
  EXPECT_EQ(evaluations(), 3);
  list_for_each_safe_off(a_list(), counted(j), counted(next), counted_offset()) {}
  EXPECT_EQ(evaluations(), 4);
  list_for_each_rev_safe_off(a_list(), counted(j), counted(next), counted_offset()) {}
  EXPECT_EQ(evaluations(), 4);
}

TEST_F(evaluated_once, holds_for_the_operations_by_offset) {
  list_add_off(a_list(), counted(&fresh), counted_offset());
  EXPECT_EQ(evaluations(), 3);
  list_del_off(counted(&fresh), counted_offset());
  EXPECT_EQ(evaluations(), 2);
  list_del_from_off(a_list(), counted(&jobs[0]), counted_offset());
  EXPECT_EQ(evaluations(), 3);
  EXPECT_EQ(list_entry_off(counted(&jobs[1].link), job, counted_offset()), &jobs[1]);
  EXPECT_EQ(evaluations(), 2);
  EXPECT_EQ(list_head_off(a_list(), job, counted_offset()), &jobs[1]);
  EXPECT_EQ(evaluations(), 2);
  EXPECT_EQ(list_tail_off(a_list(), job, counted_offset()), &jobs[3]);
  EXPECT_EQ(evaluations(), 2);
}

TEST_F(evaluated_once, holds_for_container_of_whose_container_is_not_evaluated_at_all) {
  EXPECT_EQ(container_of(counted(&jobs[0].link), job, link), &jobs[0]);
  EXPECT_EQ(container_of_or_null(counted(&jobs[0].link), job, link), &jobs[0]);
  EXPECT_EQ(evaluations(), 2);
  EXPECT_EQ(container_of_var(counted(&jobs[0].link), counted(j), link), &jobs[0]);
  EXPECT_EQ(evaluations(), 1);
  EXPECT_EQ(container_off_var(counted(j), link), offsetof(job, link));
  EXPECT_EQ(evaluations(), 0);
}

TEST_F(evaluated_once, does_not_hold_for_type_checks_which_evaluate_nothing) {
  EXPECT_EQ(check_type(counted(count), int), 0);
  EXPECT_EQ(check_types_match(counted(count), counted(jobs[0].number)), 0);
  EXPECT_EQ(evaluations(), 0);
}

} // namespace
