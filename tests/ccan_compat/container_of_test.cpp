#include <ccan/build_assert/build_assert.h>
#include <ccan/check_type/check_type.h>
#include <ccan/container_of/container_of.h>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

struct inner {
  char before;
  int value;
};
struct outer {
  double before;
  int plain;
  inner nested;
  int several[3];
  int* pointer;
};

TEST(container_of, finds_the_structure_around_a_member) {
  outer o{};
  EXPECT_EQ(container_of(&o.before, outer, before), &o);
  EXPECT_EQ(container_of(&o.plain, outer, plain), &o);
  EXPECT_EQ(container_of(&o.nested, struct outer, nested), &o);
  EXPECT_EQ(container_of(&o.pointer, outer, pointer), &o);
}

TEST(container_of, finds_it_around_members_of_members_and_elements_of_arrays) {
  outer o{};
  EXPECT_EQ(container_of(&o.nested.value, outer, nested.value), &o);
  EXPECT_EQ(container_of(&o.several[2], outer, several[2]), &o);
}

TEST(container_of, gives_the_type_that_was_named_whatever_the_const_of_the_pointer) {
  outer o{};
  const int* fixed = &o.plain;
  static_assert(std::is_same_v<decltype(container_of(fixed, outer, plain)), outer*>);
  static_assert(std::is_same_v<decltype(container_of(fixed, const outer, plain)), const outer*>);
  EXPECT_EQ(container_of(fixed, const outer, plain), &o);
}

TEST(container_of, takes_a_pointer_to_void_on_trust) {
  outer o{};
  void* unknown = &o.plain;
  EXPECT_EQ(container_of(unknown, outer, plain), &o);
  EXPECT_EQ(container_of_or_null(unknown, outer, plain), &o);
}

TEST(container_of, gives_null_for_null_when_asked_to) {
  outer o{};
  int* none = nullptr;
  EXPECT_EQ(container_of_or_null(&o.plain, outer, plain), &o);
  EXPECT_EQ(container_of_or_null(none, outer, plain), nullptr);
  EXPECT_EQ(container_of_or_null(NULL, outer, plain), nullptr);
  EXPECT_EQ(container_of_or_null(nullptr, outer, plain), nullptr);
}

TEST(container_of, takes_the_type_from_a_variable_that_has_no_value_yet) {
  outer o{};
  outer* found = container_of_var(&o.plain, found, plain);
  EXPECT_EQ(found, &o);
  const outer* fixed = container_of_var(&o.several[1], fixed, several[1]);
  EXPECT_EQ(fixed, &o);
}

TEST(container_of, knows_offsets_as_constants) {
  static_assert(container_off(outer, plain) == offsetof(outer, plain));
  constexpr outer* var = nullptr;
  static_assert(container_off_var(var, nested) == offsetof(outer, nested));
  EXPECT_EQ(container_off(struct outer, before), 0U);
}

TEST(check_type, is_zero_for_the_right_type_and_passes_over_const) {
  int x = 0;
  const int fixed = 1;
  int several[2] = {};
  static_assert(check_type(1, int) == 0);
  EXPECT_EQ(check_type(x, int), 0);
  EXPECT_EQ(check_type(fixed, int), fixed - 1);
  EXPECT_EQ(check_type(&x, int*), 0);
  EXPECT_EQ(check_type(several, int[2]), 0);
  EXPECT_EQ(check_types_match(x, fixed), 0);
  EXPECT_EQ(check_types_match(&x, &several[0]), 0);
  static_assert(std::is_same_v<decltype(check_type(x, int)), int>);
}

BUILD_ASSERT(sizeof(std::uint32_t) == 4);
constexpr char sized_by_assertion[1 + BUILD_ASSERT_OR_ZERO(sizeof(std::uint32_t) == 4)] = {};

TEST(build_assert, is_a_statement_that_a_true_condition_makes_nothing_of) {
  BUILD_ASSERT(1 == 1);
  BUILD_ASSERT(7);
  if (sizeof(int) == 4)
    BUILD_ASSERT(sizeof(long long) >= 8);
  else
    BUILD_ASSERT(true);
}

TEST(build_assert, is_zero_in_an_expression) {
  EXPECT_EQ(BUILD_ASSERT_OR_ZERO(1 == 1), 0U);
  EXPECT_EQ(sizeof sized_by_assertion, 1U);
}

} // namespace
