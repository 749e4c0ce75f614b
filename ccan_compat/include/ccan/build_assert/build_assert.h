/// @file
/// @brief Conditions that the compiler settles.
///
/// A layout that a program counts on is best refused while compiling, where the mistake was made. The header
/// keeps ccan's two names for that, so that ported code need not learn `static_assert`.

// The guard has upstream's name: where both copies are in reach, the first one included is the only one.
#ifndef CCAN_BUILD_ASSERT_H
#define CCAN_BUILD_ASSERT_H

#include <stddef.h>

/// @brief Refuses to compile unless a condition holds.
///
/// @param cond  a constant expression, taken as true or false
///
/// It is a statement without effect at run time. Unlike ccan's, it may also stand outside of functions.
///
/// @code
/// BUILD_ASSERT(sizeof(struct packet) == 64);
/// @endcode
#define BUILD_ASSERT(cond) static_assert(!!(cond), "BUILD_ASSERT failed: " #cond)

/// @brief Refuses to compile unless a condition holds, in the middle of an expression.
///
/// @param cond  a constant expression, taken as true or false
/// @return      0, as a `size_t` and a constant expression
///
/// @code
/// #define first_byte(p) ((char*)(p) + BUILD_ASSERT_OR_ZERO(offsetof(struct packet, data) == 0))
/// @endcode
#define BUILD_ASSERT_OR_ZERO(cond) (::ccan_compat_detail::zero_if<!!(cond)>())

/// @cond internal
namespace ccan_compat_detail {

template <bool condition> constexpr size_t zero_if() noexcept {
  static_assert(condition, "BUILD_ASSERT_OR_ZERO failed");
  return 0;
}

} // namespace ccan_compat_detail
/// @endcond

#endif
