#pragma once
// What the list tests put on their lists.

#include <ccan/list/list.h>

#include <vector>

struct job {
  int number;
  list_node link;
};

// The numbers on the list, read along one direction of the bare links, so that it leans on no macro under
// test.
inline std::vector<int> numbers_along(const list_head& list, list_node* list_node::*way) {
  std::vector<int> found;
  for (const list_node* n = list.n.*way; n != &list.n; n = n->*way) {
    found.push_back(
        reinterpret_cast<const job*>(reinterpret_cast<const char*>(n) - offsetof(job, link))->number);
  }
  return found;
}

// What a list holds, given that it reads the same in both directions.
inline std::vector<int> numbers(const list_head& list) {
  const auto there = numbers_along(list, &list_node::next);
  const auto back = numbers_along(list, &list_node::prev);
  return std::vector<int>(back.rbegin(), back.rend()) == there ? there : std::vector<int>{-1};
}

// Jobs 1, 2 and so on, at the end of the list in that order.
template <std::size_t count> void fill(list_head& list, job (&jobs)[count]) {
  int number = 0;
  for (job& j : jobs) {
    j.number = ++number;
    list_add_tail(&list, &j.link);
  }
}
