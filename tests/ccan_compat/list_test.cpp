#include "jobs.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using ints = std::vector<int>;

static LIST_HEAD(static_list);
constinit list_head constant_list = LIST_HEAD_INIT(constant_list);

TEST(list, a_head_and_a_node_have_the_layout_that_c_programs_know) {
  EXPECT_EQ(offsetof(list_node, next), 0U);
  EXPECT_EQ(offsetof(list_node, prev), sizeof(void*));
  EXPECT_EQ(sizeof(list_head), 2 * sizeof(void*));
  EXPECT_TRUE(std::is_trivial_v<list_node> && std::is_trivial_v<list_head>);
  EXPECT_TRUE(std::is_standard_layout_v<list_node> && std::is_standard_layout_v<list_head>);
}

TEST(list, a_list_defined_by_macro_is_empty_wherever_it_is_defined) {
  LIST_HEAD(local);
  list_head other = LIST_HEAD_INIT(other);
  for (const list_head* h : {&static_list, &constant_list, &local, &other}) {
    EXPECT_EQ(h->n.next, &h->n);
    EXPECT_EQ(h->n.prev, &h->n);
    EXPECT_TRUE(list_empty(h));
  }
}

TEST(list, initialising_a_head_empties_the_list) {
  list_head list;
  list_head_init(&list);
  job a{1, {}};
  list_add(&list, &a.link);
  list_head_init(&list);
  EXPECT_TRUE(list_empty(&list));
}

TEST(list, adding_puts_the_new_one_first) {
  LIST_HEAD(list);
  job a{1, {}}, b{2, {}};
  list_add(&list, &a.link);
  list_add(&list, &b.link);
  EXPECT_EQ(numbers(list), (ints{2, 1}));
}

TEST(list, adding_at_the_tail_puts_the_new_one_last) {
  LIST_HEAD(list);
  job a{1, {}}, b{2, {}};
  list_add_tail(&list, &a.link);
  list_add_tail(&list, &b.link);
  EXPECT_EQ(numbers(list), (ints{1, 2}));
}

TEST(list, adding_after_a_node_places_the_new_one_behind_it) {
  LIST_HEAD(list);
  job jobs[2], c{3, {}}, d{4, {}};
  fill(list, jobs);
  list_add_after(&list, &jobs[0].link, &c.link);
  list_add_after(&list, &jobs[1].link, &d.link);
  EXPECT_EQ(numbers(list), (ints{1, 3, 2, 4}));
}

TEST(list, adding_before_a_node_places_the_new_one_in_front_of_it) {
  LIST_HEAD(list);
  job jobs[2], c{3, {}}, d{4, {}};
  fill(list, jobs);
  list_add_before(&list, &jobs[0].link, &c.link);
  list_add_before(&list, &jobs[1].link, &d.link);
  EXPECT_EQ(numbers(list), (ints{3, 1, 4, 2}));
}

TEST(list, deleting_takes_out_the_first_the_middle_the_last_and_the_only_one) {
  LIST_HEAD(list);
  job jobs[4];
  fill(list, jobs);
  list_del(&jobs[1].link);
  EXPECT_EQ(numbers(list), (ints{1, 3, 4}));
  list_del(&jobs[0].link);
  EXPECT_EQ(numbers(list), (ints{3, 4}));
  list_del(&jobs[3].link);
  EXPECT_EQ(numbers(list), (ints{3}));
  list_del(&jobs[2].link);
  EXPECT_TRUE(list_empty(&list));
}

TEST(list, a_deleted_node_can_be_added_again) {
  LIST_HEAD(list);
  job jobs[2];
  fill(list, jobs);
  list_del(&jobs[0].link);
  list_add_tail(&list, &jobs[0].link);
  EXPECT_EQ(numbers(list), (ints{2, 1}));
}

TEST(list, a_node_linked_to_itself_can_be_deleted_again_and_again) {
  LIST_HEAD(list);
  job jobs[2];
  fill(list, jobs);
  list_del_init(&jobs[0].link);
  list_del_init(&jobs[0].link);
  list_del(&jobs[0].link);
  list_node alone;
  list_node_init(&alone);
  list_del(&alone);
  EXPECT_EQ(alone.next, &alone);
  EXPECT_EQ(alone.prev, &alone);
  EXPECT_EQ(numbers(list), (ints{2}));
}

TEST(list, deleting_from_a_named_list_takes_the_node_out) {
  LIST_HEAD(list);
  job jobs[3];
  fill(list, jobs);
  list_del_from(&list, &jobs[1].link);
  EXPECT_EQ(numbers(list), (ints{1, 3}));
}

#ifndef NDEBUG
TEST(list_death, deleting_from_an_empty_list_fails_an_assertion) {
  LIST_HEAD(list);
  LIST_HEAD(other);
  job jobs[1];
  fill(other, jobs);
  EXPECT_DEATH(list_del_from(&list, &jobs[0].link), "list_empty");
}
#endif

TEST(list, swapping_puts_a_node_in_the_place_of_the_first_the_middle_the_last_and_the_only_one) {
  for (std::size_t place : {0U, 1U, 2U}) {
    LIST_HEAD(list);
    job jobs[3], fresh{9, {}};
    fill(list, jobs);
    ints expected{1, 2, 3};
    expected[place] = 9;
    list_swap(&jobs[place].link, &fresh.link);
    EXPECT_EQ(numbers(list), expected);
  }
  LIST_HEAD(list);
  job jobs[1], fresh{9, {}};
  fill(list, jobs);
  list_swap(&jobs[0].link, &fresh.link);
  EXPECT_EQ(numbers(list), (ints{9}));
}

TEST(list, swapping_two_neighbours_one_after_the_other_keeps_their_order) {
  LIST_HEAD(list);
  job jobs[2], c{8, {}}, d{9, {}};
  fill(list, jobs);
  list_swap(&jobs[0].link, &c.link);
  list_swap(&jobs[1].link, &d.link);
  EXPECT_EQ(numbers(list), (ints{8, 9}));
}

TEST(list, swapping_the_head_of_an_empty_list_leaves_the_new_head_linked_to_the_old) {
  LIST_HEAD(list);
  list_head fresh;
  list_swap(&list.n, &fresh.n);
  EXPECT_EQ(fresh.n.next, &list.n);
  EXPECT_EQ(fresh.n.prev, &list.n);
}

TEST(list, swapping_the_head_of_a_list_moves_the_list_to_the_new_head) {
  LIST_HEAD(list);
  list_head fresh;
  job jobs[2];
  fill(list, jobs);
  list_swap(&list.n, &fresh.n);
  EXPECT_EQ(numbers(fresh), (ints{1, 2}));
}

TEST(list, all_three_questions_tell_an_empty_list_from_another) {
  LIST_HEAD(list);
  EXPECT_TRUE(list_empty(&list) && list_empty_nodebug(&list) && list_empty_nocheck(&list));
  job jobs[1];
  fill(list, jobs);
  EXPECT_FALSE(list_empty(&list) || list_empty_nodebug(&list) || list_empty_nocheck(&list));
}

TEST(list, an_entry_is_found_from_its_node) {
  job a{1, {}};
  EXPECT_EQ(list_entry(&a.link, job, link), &a);
  EXPECT_EQ(list_entry(&a.link, struct job, link), &a);
}

TEST(list, top_and_tail_are_the_ends_of_a_list_and_null_for_an_empty_one) {
  LIST_HEAD(list);
  EXPECT_EQ(list_top(&list, job, link), nullptr);
  EXPECT_EQ(list_tail(&list, job, link), nullptr);
  job jobs[3];
  fill(list, jobs);
  const list_head* unchanging = &list;
  EXPECT_EQ(list_top(unchanging, job, link), &jobs[0]);
  EXPECT_EQ(list_tail(unchanging, const job, link), &jobs[2]);
}

TEST(list, popping_takes_the_entries_from_the_front_until_it_gives_null) {
  LIST_HEAD(list);
  job jobs[2];
  fill(list, jobs);
  EXPECT_EQ(list_pop(&list, job, link), &jobs[0]);
  EXPECT_EQ(numbers(list), (ints{2}));
  EXPECT_EQ(list_pop(&list, job, link), &jobs[1]);
  EXPECT_EQ(list_pop(&list, job, link), nullptr);
  EXPECT_TRUE(list_empty(&list));
}

TEST(list, next_and_prev_are_the_neighbours_and_null_beyond_the_ends) {
  LIST_HEAD(list);
  job jobs[3];
  fill(list, jobs);
  EXPECT_EQ(list_next(&list, &jobs[0], link), &jobs[1]);
  EXPECT_EQ(list_next(&list, &jobs[2], link), nullptr);
  EXPECT_EQ(list_prev(&list, &jobs[2], link), &jobs[1]);
  EXPECT_EQ(list_prev(&list, &jobs[0], link), nullptr);
}

TEST(list, next_and_prev_keep_the_const_of_the_entry) {
  LIST_HEAD(list);
  job jobs[2];
  fill(list, jobs);
  const job* first = &jobs[0];
  const list_head* unchanging = &list;
  static_assert(std::is_same_v<decltype(list_next(unchanging, first, link)), const job*>);
  EXPECT_EQ(list_next(unchanging, first, link), &jobs[1]);
  EXPECT_EQ(list_prev(unchanging, first, link), nullptr);
}

// Every pairing of lists of 0, 1 and 2 entries.
template <class Move> void move_lists(Move move, bool to_the_end) {
  for (int to_count = 0; to_count <= 2; ++to_count) {
    for (int from_count = 0; from_count <= 2; ++from_count) {
      LIST_HEAD(to);
      LIST_HEAD(from);
      job jobs[4];
      ints held, moved;
      for (int i = 0; i < to_count + from_count; ++i) {
        const bool moves = i >= to_count;
        jobs[i].number = i;
        list_add_tail(moves ? &from : &to, &jobs[i].link);
        (moves ? moved : held).push_back(i);
      }
      move(&to, &from);
      ints expected = to_the_end ? held : moved;
      const ints& rest = to_the_end ? moved : held;
      expected.insert(expected.end(), rest.begin(), rest.end());
      EXPECT_EQ(numbers(to), expected);
      EXPECT_TRUE(list_empty(&from) && list_check(&from, nullptr));
    }
  }
}

TEST(list, appending_a_list_moves_its_entries_to_the_end_in_their_order) {
  move_lists([](list_head* to, list_head* from) { list_append_list(to, from); }, true);
}

TEST(list, prepending_a_list_moves_its_entries_to_the_front_in_their_order) {
  move_lists([](list_head* to, list_head* from) { list_prepend_list(to, from); }, false);
}

TEST(list, checking_gives_back_a_sound_list_and_a_sound_node) {
  LIST_HEAD(list);
  job jobs[2];
  fill(list, jobs);
  const list_head* unchanging = &list;
  EXPECT_EQ(list_check(unchanging, nullptr), &list);
  EXPECT_EQ(list_check(unchanging, "a sound list"), &list);
  EXPECT_EQ(list_check_node(&jobs[1].link, nullptr), &jobs[1].link);
  list_add(list_check(unchanging, "the result is not const"), list_check_node(&jobs[1].link, "nor is this"));
}

TEST(list, checking_gives_null_for_a_wrong_back_link_or_a_null_link) {
  LIST_HEAD(list);
  job jobs[2];
  fill(list, jobs);
  jobs[1].link.prev = &jobs[1].link;
  EXPECT_EQ(list_check(&list, nullptr), nullptr);
  EXPECT_EQ(list_check_node(&jobs[0].link, nullptr), nullptr);
  jobs[1].link.prev = &jobs[0].link;
  EXPECT_NE(list_check(&list, nullptr), nullptr);
  list.n.prev = &jobs[0].link;
  EXPECT_EQ(list_check(&list, nullptr), nullptr);
  list.n.prev = &jobs[1].link;
  jobs[1].link.next = nullptr;
  EXPECT_EQ(list_check(&list, nullptr), nullptr);
  list_head zeroed{};
  EXPECT_EQ(list_check(&zeroed, nullptr), nullptr);
}

TEST(list, checking_ends_on_a_ring_that_misses_its_head) {
  LIST_HEAD(list);
  job jobs[3];
  fill(list, jobs);
  jobs[2].link.next = &jobs[1].link;
  EXPECT_EQ(list_check(&list, nullptr), nullptr);
}

TEST(list_death, a_failed_check_with_a_message_reports_and_aborts) {
  LIST_HEAD(list);
  job jobs[2];
  fill(list, jobs);
  jobs[1].link.prev = &list.n;
  EXPECT_EXIT(list_check(&list, "here"), testing::KilledBySignal(SIGABRT),
              "^here: prev corrupt in node 0x[0-9a-f]+ \\(2\\) of 0x[0-9a-f]+\n$");
  EXPECT_EXIT(list_check_node(&jobs[1].link, "there"), testing::KilledBySignal(SIGABRT),
              "^there: prev corrupt in node 0x[0-9a-f]+ \\(0\\) of 0x[0-9a-f]+\n$");
}

} // namespace
