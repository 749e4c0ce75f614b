// What must not compile, one CASE at a time. CASE 0 is the rest of the file, which must.

#include <ccan/build_assert/build_assert.h>
#include <ccan/check_type/check_type.h>
#include <ccan/list/list.h>

struct entry {
  int number;
  list_node link;
};
struct special_node : list_node {};

void misuse(list_head* h, entry* e, int* number, special_node* special, unsigned char byte) {
#if CASE == 1
  BUILD_ASSERT(sizeof(int) == 3);
#elif CASE == 2
  (void)BUILD_ASSERT_OR_ZERO(sizeof(int) == 3);
#elif CASE == 3
  BUILD_ASSERT(*number == 3);
#elif CASE == 4
  check_type(*number, unsigned);
#elif CASE == 5
  check_types_match(*number, byte);
#elif CASE == 6
  (void)container_of(number, entry, link);
#elif CASE == 7
  (void)container_of_or_null(number, entry, link);
#elif CASE == 8
  e = container_of_var(number, e, link);
#elif CASE == 9
  number = container_of(&e->link, entry, link);
#elif CASE == 10
  (void)container_of(special, entry, link);
#elif CASE == 11
  e = list_top(h, entry, number);
#elif CASE == 12
  list_for_each(h, e, number) {}
#elif CASE == 13
  list_add(h, e);
#endif
  (void)h, (void)e, (void)number, (void)special, (void)byte;
}
