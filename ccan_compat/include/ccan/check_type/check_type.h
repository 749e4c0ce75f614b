/// @file
/// @brief Type checks for the arguments of macros.
///
/// A macro takes whatever it is given. These two let it insist on a type, at no cost when the program runs.

#ifndef CCAN_CHECK_TYPE_H
#define CCAN_CHECK_TYPE_H

#include <type_traits>

/// @brief Refuses to compile unless an expression has a given type.
///
/// @param expr  the expression; it is not evaluated
/// @param type  the type it must have. Nothing is promoted or converted: an `int` is no `unsigned int`, and a
///              derived class is not its base. Only a `const` or `volatile` of the object itself is passed
///              over.
/// @return      0, as an `int` and a constant expression
///
/// @code
/// #define set_limit(x) set_limit_((x) + check_type((x), uint64_t))
/// @endcode
#define check_type(expr, type) (::ccan_compat_detail::zero_if_same<decltype((expr)), type>())

/// @brief Refuses to compile unless two expressions have the same type.
///
/// @param expr1  an expression; it is not evaluated
/// @param expr2  another one; it is not evaluated either
/// @return       0, as an `int` and a constant expression
///
/// The types are compared as check_type() compares them.
#define check_types_match(expr1, expr2)                                                                      \
  (::ccan_compat_detail::zero_if_same<decltype((expr1)), decltype((expr2))>())

/// @cond internal
namespace ccan_compat_detail {

template <class A, class B> inline constexpr bool same_but_for_cv =
    std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>>;

template <class Found, class Wanted> constexpr int zero_if_same() noexcept {
  static_assert(same_but_for_cv<Found, Wanted>, "check_type: the types differ");
  return 0;
}

} // namespace ccan_compat_detail
/// @endcond

#endif
