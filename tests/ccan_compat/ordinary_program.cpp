// Ordinary C++ in which every macro is used, to be compiled with all warnings as errors, with and without
// checks.

#include <ccan/build_assert/build_assert.h>
#include <ccan/check_type/check_type.h>
#include <ccan/container_of/container_of.h>
#include <ccan/list/list.h>

namespace {

struct entry {
  int number = 0;
  list_node link;
};

LIST_HEAD(file_list);
list_head other_list = LIST_HEAD_INIT(other_list);
const size_t off = offsetof(entry, link);

template <class Entry> int total(const list_head* h) {
  const Entry* e;
  int sum = 0;
  list_for_each(h, e, link) sum += e->number;
  return sum;
}

int sum_of(list_head* h) {
  entry *e, *next;
  void *v, *w;
  int sum = 0;
  list_for_each(h, e, link) sum += e->number;
  list_for_each_rev(h, e, link) {
    entry* inner;
    list_for_each(h, inner, link) sum += inner->number;
  }
  list_for_each_safe(h, e, next, link) sum += e->number;
  list_for_each_rev_safe(h, e, next, link) sum += e->number;
  list_for_each_off(h, v, off)++ sum;
  list_for_each_rev_off(h, v, off)++ sum;
  list_for_each_safe_off(h, v, w, off)++ sum;
  list_for_each_rev_safe_off(h, v, w, off)++ sum;
  return sum;
}

void change(list_head* h, entry (&e)[6]) {
  list_head_init(h);
  list_node_init(&e[5].link);
  list_add(h, &e[0].link);
  list_add_tail(h, &e[1].link);
  list_add_after(h, &e[0].link, &e[2].link);
  list_add_before(h, &e[0].link, &e[3].link);
  list_add_off(h, &e[4], off);
  list_swap(&e[0].link, &e[5].link);
  list_del(&e[1].link);
  list_del_init(&e[2].link);
  list_del_from(h, &e[3].link);
  list_del_off(&e[4], off);
  list_del_from_off(h, &e[5], off);
  list_append_list(&file_list, h);
  list_prepend_list(&other_list, &file_list);
}

bool look(const list_head* h, entry* e) {
  BUILD_ASSERT(sizeof(entry) > sizeof(list_node));
  check_type(e, entry*);
  check_types_match(e->link, h->n);
  list_node* none = nullptr;
  const entry* found = list_next(h, e, link);
  found = list_prev(h, e, link);
  found = list_top(h, entry, link);
  found = list_tail(h, entry, link);
  found = list_head_off(h, entry, off);
  found = list_tail_off(h, entry, off);
  found = list_entry_off(&e->link, entry, off + BUILD_ASSERT_OR_ZERO(true));
  found = list_entry(&e->link, entry, link);
  found = container_of(&e->link, entry, link);
  found = container_of_var(&e->link, found, link);
  return list_empty(h) || list_empty_nodebug(h) || list_empty_nocheck(h) || list_check(h, LIST_LOC) ||
         list_check_node(&e->link, nullptr) || found || container_of_or_null(none, entry, link) ||
         container_off(entry, link) != container_off_var(e, link);
}

} // namespace

int main() {
  entry entries[6];
  change(&file_list, entries);
  list_add(&file_list, &entries[0].link);
  const int sum = sum_of(&file_list) + total<entry>(&file_list);
  return look(&file_list, &entries[0]) && sum == 4 && list_pop(&file_list, entry, link) ? 0 : 1;
}
