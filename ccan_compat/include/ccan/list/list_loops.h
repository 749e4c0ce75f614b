/// @file
/// @brief The loops over a list, and the forms that take an offset for a member. Included by list.h.
///
/// Each loop is a `for` statement, so that `break` and `continue` do what they say. Its variables are the
/// caller's, and are pointers to the entries.

#ifndef CCAN_LIST_LOOPS_H
#define CCAN_LIST_LOOPS_H

#include <ccan/list/list.h>

/// @brief Runs a statement for every entry, first to last.
///
/// @param h       the list, which may be `const`
/// @param i       the variable that points to each entry in turn. The body must not remove that entry.
/// @param member  the list_node in the entries
///
/// @code
/// struct job* j;
/// list_for_each(&jobs, j, link) printf("%d\n", j->number);
/// @endcode
#define list_for_each(h, i, member) list_for_each_off(h, i, list_off_var_(i, member))

/// @brief list_for_each() from last to first.
///
/// @param h       the list
/// @param i       the variable that points to each entry in turn
/// @param member  the list_node in the entries
#define list_for_each_rev(h, i, member) list_for_each_rev_off(h, i, list_off_var_(i, member))

/// @brief list_for_each() whose body may remove the entry it is at, and free it.
///
/// @param h       the list
/// @param i       the variable that points to each entry in turn
/// @param nxt     a second variable, which holds the entry after that; the body must not remove that one
/// @param member  the list_node in the entries
///
/// @code
/// struct job *j, *next;
/// list_for_each_safe(&jobs, j, next, link) {
///   list_del(&j->link);
///   free(j);
/// }
/// @endcode
#define list_for_each_safe(h, i, nxt, member) list_for_each_safe_off(h, i, nxt, list_off_var_(i, member))

/// @brief list_for_each_safe() from last to first.
///
/// @param h       the list
/// @param i       the variable that points to each entry in turn
/// @param nxt     a second variable, which holds the entry before that
/// @param member  the list_node in the entries
#define list_for_each_rev_safe(h, i, nxt, member)                                                            \
  list_for_each_rev_safe_off(h, i, nxt, list_off_var_(i, member))

/// @brief list_for_each() for entries whose type is not known here.
///
/// @param h    the list
/// @param i    the variable: a pointer to any type, `void` and undefined structures included
/// @param off  how many bytes into an entry its list_node lies. Nothing checks it.
#define list_for_each_off(h, i, off) CCAN_LIST_LOOP_(h, i, forward, off)

/// @brief list_for_each_off() from last to first.
///
/// @param h    the list
/// @param i    the variable
/// @param off  how many bytes into an entry its list_node lies
#define list_for_each_rev_off(h, i, off) CCAN_LIST_LOOP_(h, i, backward, off)

/// @brief list_for_each_off() whose body may remove the entry it is at, and free it.
///
/// @param h    the list
/// @param i    the variable
/// @param nxt  a second variable, which holds the entry after that
/// @param off  how many bytes into an entry its list_node lies
#define list_for_each_safe_off(h, i, nxt, off) CCAN_LIST_SAFE_LOOP_(h, i, nxt, forward, off)

/// @brief list_for_each_safe_off() from last to first.
///
/// @param h    the list
/// @param i    the variable
/// @param nxt  a second variable, which holds the entry before that
/// @param off  how many bytes into an entry its list_node lies
#define list_for_each_rev_safe_off(h, i, nxt, off) CCAN_LIST_SAFE_LOOP_(h, i, nxt, backward, off)

/// @brief list_entry() by offset.
///
/// @param n     a pointer to the node
/// @param type  the type of the entry
/// @param off   how many bytes into an entry its list_node lies
/// @return      a `type*`
#define list_entry_off(n, type, off) (::ccan_compat_detail::entry_of<type>((n), (off)))

/// @brief list_top() by offset.
///
/// @param h     the list
/// @param type  the type of the entries
/// @param off   how many bytes into an entry its list_node lies
/// @return      the first entry as a `type*`, null if the list is empty
#define list_head_off(h, type, off)                                                                          \
  (::ccan_compat_detail::list_end_<CCAN_LIST_CHECKED_, ::ccan_compat_detail::forward, type>(                 \
      (h), (off), LIST_LOC))

/// @brief list_tail() by offset.
///
/// @param h     the list
/// @param type  the type of the entries
/// @param off   how many bytes into an entry its list_node lies
/// @return      the last entry as a `type*`, null if the list is empty
#define list_tail_off(h, type, off)                                                                          \
  (::ccan_compat_detail::list_end_<CCAN_LIST_CHECKED_, ::ccan_compat_detail::backward, type>(                \
      (h), (off), LIST_LOC))

/// @brief list_add() by offset.
///
/// @param h    the list
/// @param n    a pointer to the entry, not to its node
/// @param off  how many bytes into the entry its list_node lies
#define list_add_off(h, n, off) list_add(h, (::ccan_compat_detail::node_of((n), (off))))

/// @brief list_del() by offset.
///
/// @param n    a pointer to the entry, not to its node
/// @param off  how many bytes into the entry its list_node lies
#define list_del_off(n, off) list_del((::ccan_compat_detail::node_of((n), (off))))

/// @brief list_del_from() by offset.
///
/// @param h    the list that the entry is on
/// @param n    a pointer to the entry, not to its node
/// @param off  how many bytes into the entry its list_node lies
#define list_del_from_off(h, n, off) list_del_from(h, (::ccan_compat_detail::node_of((n), (off))))

/// @cond internal

// The name has the line in it, so that a loop in the body of another shadows the outer one's only where both
// are on one line, which does no harm.
#define CCAN_LIST_WALK_ CCAN_LIST_JOIN_(ccan_list_walk_, __LINE__)
#define CCAN_LIST_JOIN_(a, b) CCAN_LIST_JOIN_1_(a, b)
#define CCAN_LIST_JOIN_1_(a, b) a##b

#define CCAN_LIST_LOOP_(h, i, to, off)                                                                       \
  for (auto CCAN_LIST_WALK_ = ::ccan_compat_detail::walk<CCAN_LIST_CHECKED_, ::ccan_compat_detail::to>(      \
           (h), (i), (off), LIST_LOC);                                                                       \
       CCAN_LIST_WALK_.more(); CCAN_LIST_WALK_.step())

#define CCAN_LIST_SAFE_LOOP_(h, i, nxt, to, off)                                                             \
  for (auto CCAN_LIST_WALK_ = ::ccan_compat_detail::safe_walk<CCAN_LIST_CHECKED_, ::ccan_compat_detail::to>( \
           (h), (i), (nxt), (off), LIST_LOC);                                                                \
       CCAN_LIST_WALK_.more(); CCAN_LIST_WALK_.step())

/// @endcond

#endif
