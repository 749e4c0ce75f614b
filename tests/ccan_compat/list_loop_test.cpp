#include "jobs.hpp"

#include <gtest/gtest.h>

#include <memory>

struct undefined;

namespace {

using ints = std::vector<int>;

class list_loop : public testing::Test {
 protected:
  list_loop() { fill(list, jobs); }

  LIST_HEAD(list);
  job jobs[4];
  job* j = nullptr;
  job* next = nullptr;
  ints seen;
};

TEST_F(list_loop, runs_from_first_to_last) {
  list_for_each(&list, j, link) seen.push_back(j->number);
  EXPECT_EQ(seen, (ints{1, 2, 3, 4}));
}

TEST_F(list_loop, runs_from_last_to_first_when_reversed) {
  list_for_each_rev(&list, j, link) seen.push_back(j->number);
  EXPECT_EQ(seen, (ints{4, 3, 2, 1}));
}

TEST_F(list_loop, does_nothing_on_an_empty_list) {
  LIST_HEAD(empty);
  list_for_each(&empty, j, link) seen.push_back(0);
  list_for_each_rev(&empty, j, link) seen.push_back(0);
  list_for_each_safe(&empty, j, next, link) seen.push_back(0);
  list_for_each_rev_safe(&empty, j, next, link) seen.push_back(0);
  EXPECT_TRUE(seen.empty());
}

TEST_F(list_loop, obeys_break_and_continue) {
  list_for_each(&list, j, link) {
    if (j->number == 1) continue;
    if (j->number == 4) break;
    seen.push_back(j->number);
  }
  EXPECT_EQ(seen, (ints{2, 3}));
  EXPECT_EQ(j, &jobs[3]);
}

TEST_F(list_loop, takes_const_lists_and_pointers_to_const) {
  const list_head* unchanging = &list;
  const job* c;
  list_for_each(unchanging, c, link) seen.push_back(c->number);
  EXPECT_EQ(seen, (ints{1, 2, 3, 4}));
}

TEST_F(list_loop, leaves_the_variable_where_the_head_would_be_in_an_entry) {
  list_for_each(&list, j, link) {}
  EXPECT_EQ(static_cast<void*>(reinterpret_cast<char*>(j) + offsetof(job, link)), &list.n);
}

TEST_F(list_loop, goes_on_from_where_the_body_moved_the_variable) {
  list_for_each(&list, j, link) {
    seen.push_back(j->number);
    if (j->number == 1) j = &jobs[2];
  }
  EXPECT_EQ(seen, (ints{1, 4}));
}

TEST_F(list_loop, nests_in_another_loop_over_the_same_list) {
  job* inner;
  list_for_each(&list, j, link) {
    list_for_each(&list, inner, link) {
      if (inner->number < j->number) seen.push_back(10 * j->number + inner->number);
    }
  }
  EXPECT_EQ(seen, (ints{21, 31, 32, 41, 42, 43}));
}

TEST_F(list_loop, is_one_statement) {
  if (seen.empty())
    list_for_each(&list, j, link) seen.push_back(j->number);
  else
    seen.clear();
  EXPECT_EQ(seen.size(), 4U);
}

TEST_F(list_loop, lets_a_safe_body_delete_and_overwrite_every_entry) {
  list_for_each_safe(&list, j, next, link) {
    seen.push_back(j->number);
    list_del(&j->link);
    j->link = {nullptr, nullptr};
  }
  EXPECT_EQ(seen, (ints{1, 2, 3, 4}));
  EXPECT_TRUE(list_empty(&list));
}

TEST_F(list_loop, lets_a_safe_body_delete_some_entries_from_the_last_to_the_first) {
  list_for_each_rev_safe(&list, j, next, link) {
    seen.push_back(j->number);
    if (j->number % 2 == 0) list_del_from(&list, &j->link);
  }
  EXPECT_EQ(seen, (ints{4, 3, 2, 1}));
  EXPECT_EQ(numbers(list), (ints{1, 3}));
}

TEST_F(list_loop, lets_a_safe_body_free_the_entries) {
  LIST_HEAD(owned);
  for (int number : {1, 2, 3}) list_add_tail(&owned, &(new job{number, {}})->link);
  list_for_each_safe(&owned, j, next, link) {
    const std::unique_ptr<job> freed(j);
    list_del(&j->link);
    seen.push_back(j->number);
  }
  EXPECT_EQ(seen, (ints{1, 2, 3}));
  EXPECT_TRUE(list_empty(&owned));
}

TEST_F(list_loop, lets_a_safe_body_move_the_entries_to_another_list) {
  LIST_HEAD(other);
  list_for_each_safe(&list, j, next, link) {
    list_del(&j->link);
    list_add(&other, &j->link);
  }
  EXPECT_EQ(numbers(other), (ints{4, 3, 2, 1}));
}

TEST_F(list_loop, takes_an_offset_and_a_variable_of_any_pointer_type) {
  const std::size_t off = offsetof(job, link);
  list_for_each_off(&list, j, off) seen.push_back(j->number);
  void* unknown;
  list_for_each_rev_off(&list, unknown, off) seen.push_back(static_cast<job*>(unknown)->number);
  const undefined* u;
  list_for_each_off(&list, u, off) seen.push_back(reinterpret_cast<const job*>(u)->number);
  EXPECT_EQ(seen, (ints{1, 2, 3, 4, 4, 3, 2, 1, 1, 2, 3, 4}));
}

TEST_F(list_loop, lets_a_safe_body_delete_by_offset_in_both_directions) {
  const std::size_t off = offsetof(job, link);
  void *v, *after;
  list_for_each_safe_off(&list, v, after, off) {
    if (v == &jobs[0] || v == &jobs[2]) list_del_off(v, off);
  }
  EXPECT_EQ(numbers(list), (ints{2, 4}));
  list_for_each_rev_safe_off(&list, v, after, off) {
    seen.push_back(static_cast<job*>(v)->number);
    list_del_from_off(&list, v, off);
  }
  EXPECT_EQ(seen, (ints{4, 2}));
  EXPECT_TRUE(list_empty(&list));
}

TEST(list, the_operations_by_offset_reach_the_entries) {
  const std::size_t off = offsetof(job, link);
  LIST_HEAD(list);
  EXPECT_EQ(list_head_off(&list, job, off), nullptr);
  EXPECT_EQ(list_tail_off(&list, void, off), nullptr);
  job jobs[2], zero{0, {}};
  fill(list, jobs);
  list_add_off(&list, &zero, off);
  EXPECT_EQ(numbers(list), (ints{0, 1, 2}));
  EXPECT_EQ(list_head_off(&list, job, off), &zero);
  EXPECT_EQ(list_tail_off(&list, job, off), &jobs[1]);
  EXPECT_EQ(list_entry_off(&jobs[0].link, job, off), &jobs[0]);
}

} // namespace
