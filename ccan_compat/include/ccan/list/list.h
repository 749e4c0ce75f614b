/// @file
/// @brief Doubly-linked lists of structures that carry their own links.
///
/// Programs written against ccan/list name their lists in this vocabulary. Here it is for C++20, on the
/// circular list algorithms of Boost.Intrusive, so that such a program compiles once this directory is on the
/// include path.
///
/// A list_head stands for the list and a list_node sits in each entry. Together they form a ring, an empty
/// list being a head linked to itself, so that adding and removing need no branches. Nothing is allocated,
/// and nothing is owned.
///
/// Every macro evaluates each of its arguments once, the loops included. No operation locks anything.
///
/// **Finding corruption.** A file that defines `CCAN_LIST_DEBUG` before it includes this header has every
/// operation on a list check all of it, and a removed node loses its links. A list whose links disagree ends
/// the program by `abort()`, after a line on stderr such as `queue.c:51: prev corrupt in node 0x7ffd20 (2) of
/// 0x7ffd08`: the place of the operation, the node whose back link is wrong, its position counted from the
/// head, which is 0, and the head. The files of one program may differ in the setting.

#ifndef CCAN_LIST_H
#define CCAN_LIST_H

#ifndef __cplusplus
#error "this <ccan/list/list.h> is for C++20; compile the file as C++"
#endif

// Most of these are here because upstream's header brings them along, and programs have come to count on it.
// None may be the <c...> form: that one takes back a macro by which a program replaced abort() or fprintf().
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/check_type/check_type.h>
#include <ccan/container_of/container_of.h>

/// @brief The links of one entry, to be a member of the structure that is listed.
///
/// Like the head, it is left uninitialised by its definition; adding it to a list sets it.
///
/// @code
/// struct job {
///   int number;
///   struct list_node link;
/// };
/// @endcode
struct list_node {
  struct list_node* next; ///< the entry behind, or the head
  struct list_node* prev; ///< the entry before, or the head
};

/// @brief A list. It must be initialised before use, by LIST_HEAD(), LIST_HEAD_INIT() or list_head_init().
struct list_head {
  struct list_node n; ///< `n.next` is the first entry and `n.prev` the last
};

/// @brief The initialiser of an empty list.
///
/// @param name  the list that is being defined
///
/// @code
/// static struct list_head jobs = LIST_HEAD_INIT(jobs);
/// @endcode
#define LIST_HEAD_INIT(name) {{&(name).n, &(name).n}}

/// @brief Defines an empty list; `static` may stand before it.
///
/// @param name  the variable to define
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

/// @brief The place of use as a string literal, file and line: what the checks name in their reports.
#define LIST_LOC __FILE__ ":" CCAN_LIST_STRING_(__LINE__)

/// @cond internal
#define CCAN_LIST_STRING_(x) CCAN_LIST_STRING_1_(x)
#define CCAN_LIST_STRING_1_(x) #x
/// @endcond

/// @brief Looks whether the links of a list agree with one another.
///
/// @param h         the list
/// @param abortstr  what the report starts with, or null
/// @return          the list, without its `const`. If it is corrupt: null where `abortstr` is null; otherwise
///                  the report goes to stderr and the program aborts.
///
/// A null link counts as corrupt.
inline struct list_head* list_check(const struct list_head* h, const char* abortstr);

/// @brief list_check() starting from an entry, which must be on some list.
///
/// @param n         the node
/// @param abortstr  what the report starts with, or null
/// @return          the node, without its `const`; for a corrupt list, as list_check()
inline struct list_node* list_check_node(const struct list_node* n, const char* abortstr);

/// @brief Makes a list empty, whatever it was.
///
/// @param h  the list
inline void list_head_init(struct list_head* h);

/// @brief Links a node to itself, so that list_del() may be called on it though it is on no list.
///
/// @param n  the node
inline void list_node_init(struct list_node* n);

#include <ccan/list/list_operations.h>

/// @brief Adds a node at the front.
///
/// @param h  the list
/// @param n  the node, which must not be on a list; what it holds is overwritten
#define list_add(h, n) (::ccan_compat_detail::list_add_<CCAN_LIST_CHECKED_>((h), (n), LIST_LOC))

/// @brief Adds a node at the end.
///
/// @param h  the list
/// @param n  the node, which must not be on a list; what it holds is overwritten
///
/// @code
/// LIST_HEAD(jobs);
/// struct job a, b;
/// list_add_tail(&jobs, &a.link);
/// list_add_tail(&jobs, &b.link);
/// @endcode
#define list_add_tail(h, n) (::ccan_compat_detail::list_add_tail_<CCAN_LIST_CHECKED_>((h), (n), LIST_LOC))

/// @brief Adds a node behind another.
///
/// @param h  the list, which only the checks look at
/// @param p  a node of it
/// @param n  the node to add, which must not be on a list
#define list_add_after(h, p, n)                                                                              \
  (::ccan_compat_detail::list_add_after_<CCAN_LIST_CHECKED_>((h), (p), (n), LIST_LOC))

/// @brief Adds a node in front of another.
///
/// @param h  the list, which only the checks look at
/// @param p  a node of it
/// @param n  the node to add, which must not be on a list
#define list_add_before(h, p, n)                                                                             \
  (::ccan_compat_detail::list_add_before_<CCAN_LIST_CHECKED_>((h), (p), (n), LIST_LOC))

/// @brief Removes a node from the list it is on.
///
/// @param n  the node. It may be added again, but not removed again: it still holds its old links, or null
///           under `CCAN_LIST_DEBUG`.
#define list_del(n) (::ccan_compat_detail::list_del_<CCAN_LIST_CHECKED_>((n), LIST_LOC))

/// @brief Removes a node from the list it is on and links it to itself, so that it may be removed again.
///
/// @param n  the node
#define list_del_init(n) (::ccan_compat_detail::list_del_init_<CCAN_LIST_CHECKED_>((n), LIST_LOC))

/// @brief list_del() that says which list.
///
/// @param h  the list that the node is on
/// @param n  the node
///
/// An `assert` stops it on an empty list. Under `CCAN_LIST_DEBUG` it reports a node that is not on that list,
/// and aborts.
#define list_del_from(h, n) (::ccan_compat_detail::list_del_from_<CCAN_LIST_CHECKED_>((h), (n), LIST_LOC))

/// @brief Puts a node into the place of another.
///
/// @param o  the node to take off its list; afterwards it is as after list_del()
/// @param n  the node to put there, which must not be on a list
#define list_swap(o, n) (::ccan_compat_detail::list_swap_<CCAN_LIST_CHECKED_>((o), (n), LIST_LOC))

/// @brief Moves all entries of one list to the end of another.
///
/// @param t  the list that receives them
/// @param f  the list that is emptied; a list other than `t`
#define list_append_list(t, f)                                                                               \
  (::ccan_compat_detail::list_append_list_<CCAN_LIST_CHECKED_>((t), (f), LIST_LOC))

/// @brief Moves all entries of one list to the front of another.
///
/// @param t  the list that receives them; they keep their order
/// @param f  the list that is emptied; a list other than `t`
#define list_prepend_list(t, f)                                                                              \
  (::ccan_compat_detail::list_prepend_list_<CCAN_LIST_CHECKED_>((t), (f), LIST_LOC))

/// @brief Whether a list has no entries.
///
/// @param h  the list
/// @return   a `bool`
#define list_empty(h) (::ccan_compat_detail::list_empty_<CCAN_LIST_CHECKED_>((h), LIST_LOC))

/// @brief list_empty() that never checks the list, `CCAN_LIST_DEBUG` or not.
///
/// @param h  the list
/// @return   whether it has no entries
inline bool list_empty_nodebug(const struct list_head* h);

/// @brief list_empty() for a thread that does not hold the lock of the list.
///
/// @param h  the list
/// @return   whether it had no entries at some moment. It reads the head once, from memory, and checks
///           nothing: good for deciding whether the lock is worth taking, for nothing more.
inline bool list_empty_nocheck(const struct list_head* h);

/// @brief The entry that a node is part of.
///
/// @param n       a pointer to the node; not to the head, which is in no entry
/// @param type    the type of the entry
/// @param member  the list_node in it
/// @return        a `type*`
#define list_entry(n, type, member) container_of(n, type, member)

/// @brief The first entry.
///
/// @param h       the list, which may be `const`
/// @param type    the type of the entries
/// @param member  the list_node in them
/// @return        a `type*`, null if the list is empty
#define list_top(h, type, member)                                                                            \
  (::ccan_compat_detail::list_end_<CCAN_LIST_CHECKED_, ::ccan_compat_detail::forward, type>(                 \
      (h), list_off_(type, member), LIST_LOC))

/// @brief The last entry.
///
/// @param h       the list, which may be `const`
/// @param type    the type of the entries
/// @param member  the list_node in them
/// @return        a `type*`, null if the list is empty
#define list_tail(h, type, member)                                                                           \
  (::ccan_compat_detail::list_end_<CCAN_LIST_CHECKED_, ::ccan_compat_detail::backward, type>(                \
      (h), list_off_(type, member), LIST_LOC))

/// @brief Removes the first entry.
///
/// @param h       the list
/// @param type    the type of the entries
/// @param member  the list_node in them
/// @return        the entry as a `type*`, null if the list is empty
///
/// @code
/// while (struct job* j = list_pop(&jobs, struct job, link)) run(j);
/// @endcode
#define list_pop(h, type, member)                                                                            \
  (::ccan_compat_detail::list_pop_<CCAN_LIST_CHECKED_, type>((h), list_off_(type, member), LIST_LOC))

/// @brief The entry behind an entry.
///
/// @param h       the list
/// @param i       a pointer to an entry of it
/// @param member  the list_node in the entries
/// @return        a pointer of the type of `i`, null if `i` is the last one
#define list_next(h, i, member)                                                                              \
  (::ccan_compat_detail::list_neighbour_<CCAN_LIST_CHECKED_, ::ccan_compat_detail::forward>(                 \
      (h), (i), list_off_var_(i, member), LIST_LOC))

/// @brief The entry in front of an entry.
///
/// @param h       the list
/// @param i       a pointer to an entry of it
/// @param member  the list_node in the entries
/// @return        a pointer of the type of `i`, null if `i` is the first one
#define list_prev(h, i, member)                                                                              \
  (::ccan_compat_detail::list_neighbour_<CCAN_LIST_CHECKED_, ::ccan_compat_detail::backward>(                \
      (h), (i), list_off_var_(i, member), LIST_LOC))

#include <ccan/list/list_loops.h>

#endif
