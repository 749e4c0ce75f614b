/// @file
/// @brief From a pointer to a member to the structure around it.
///
/// Code that is handed a pointer to a member, such as the node by which a structure hangs on a list, wants
/// the structure. That is a subtraction, and these macros add what C++ leaves out: that the pointer is of the
/// member's type.
///
/// A `member` may be whatever `offsetof` takes, `a.b` and `a[1]` included. Compilers warn when the containing
/// type is no standard-layout class, since the standard does not promise that such a class has fixed offsets.

#ifndef CCAN_CONTAINER_OF_H
#define CCAN_CONTAINER_OF_H

#include <stddef.h>
#include <stdint.h>

#include <type_traits>
#include <utility>

#include <ccan/check_type/check_type.h>

/// @brief The structure that a member lies in.
///
/// @param member_ptr       a pointer to the member, or a `void*`, whose type is then taken on trust; never
///                         null
/// @param containing_type  the type of the structure
/// @param member           the name of the member in it
/// @return                 a `containing_type*`. As in C, a `const` of `member_ptr` is not carried over;
///                         where it matters, name a `const` type.
///
/// @code
/// struct job {
///   int number;
///   struct list_node link;
/// };
/// struct job* job_of(struct list_node* n) { return container_of(n, struct job, link); }
/// @endcode
#define container_of(member_ptr, containing_type, member)                                                    \
  (::ccan_compat_detail::enclosing<containing_type, CCAN_MEMBER_TYPE_(containing_type, member)>(             \
      (member_ptr), container_off(containing_type, member)))

/// @brief The structure that a member lies in, or null for null.
///
/// @param member_ptr       as for container_of(), but it may be null, the literal `NULL` included
/// @param containing_type  the type of the structure
/// @param member           the name of the member in it
/// @return                 a `containing_type*`, null if `member_ptr` is
#define container_of_or_null(member_ptr, containing_type, member)                                            \
  (::ccan_compat_detail::enclosing_or_null<containing_type, CCAN_MEMBER_TYPE_(containing_type, member)>(     \
      (member_ptr), container_off(containing_type, member)))

/// @brief How far into a structure a member lies.
///
/// @param containing_type  the type of the structure
/// @param member           the name of the member in it
/// @return                 the offset in bytes, as a `size_t` and a constant expression
#define container_off(containing_type, member) offsetof(containing_type, member)

/// @brief container_of() for the type that a variable points to.
///
/// @param member_ptr     a pointer to the member
/// @param container_var  a pointer to the containing type, used for its type only; it need not have a value
///                       yet
/// @param member         the name of the member
/// @return               a pointer of the type of `container_var`
///
/// @code
/// struct job* j = container_of_var(n, j, link);
/// @endcode
#define container_of_var(member_ptr, container_var, member)                                                  \
  container_of(member_ptr, CCAN_POINTEE_(container_var), member)

/// @brief container_off() for the type that a variable points to.
///
/// @param container_var  a pointer to the containing type; it is not evaluated
/// @param member         the name of the member
/// @return               the offset in bytes, as a `size_t` and a constant expression
#define container_off_var(container_var, member) container_off(CCAN_POINTEE_(container_var), member)

/// @cond internal
#define CCAN_POINTEE_(pointer) ::std::remove_reference_t<decltype(*(pointer))>
#define CCAN_MEMBER_TYPE_(type, member) decltype((::std::declval<type&>().member))

namespace ccan_compat_detail {

// In integers, since a loop over a list also asks for the entry around the head, which is in none: a pointer
// must not leave its object, and compilers notice. What lies there is a Container by the caller's word.
template <class Container> Container* back_by(const volatile void* member, size_t offset) noexcept {
  return reinterpret_cast<Container*>(reinterpret_cast<uintptr_t>(member) - offset);
}

template <class Container, class Member, class Pointee>
Container* enclosing(Pointee* member, size_t offset) noexcept {
  static_assert(std::is_void_v<Pointee> || same_but_for_cv<Pointee, Member>,
                "container_of: the pointer is not of the type of the member");
  return back_by<Container>(member, offset);
}

template <class Container, class Member, class Pointee>
Container* enclosing_or_null(Pointee* member, size_t offset) noexcept {
  return member ? enclosing<Container, Member>(member, offset) : nullptr;
}

template <class Container, class Member> Container* enclosing_or_null(decltype(nullptr), size_t) noexcept {
  return nullptr;
}

} // namespace ccan_compat_detail
/// @endcond

#endif
