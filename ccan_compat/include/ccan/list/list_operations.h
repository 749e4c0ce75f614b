#ifndef CCAN_LIST_OPERATIONS_H
#define CCAN_LIST_OPERATIONS_H

// What stands behind the macros of list.h. Not for users, who include list.h.

#include <boost/intrusive/circular_list_algorithms.hpp>

#include <ccan/list/list.h>

/// @cond internal

#ifdef CCAN_LIST_DEBUG
#define CCAN_LIST_CHECKED_ true
#else
#define CCAN_LIST_CHECKED_ false
#endif

// The offset of a member that has to be a list_node.
#define list_off_(type, member)                                                                              \
  (::ccan_compat_detail::list_offset<CCAN_MEMBER_TYPE_(type, member)>(container_off(type, member)))
#define list_off_var_(var, member) list_off_(CCAN_POINTEE_(var), member)

namespace ccan_compat_detail {

struct list_node_traits {
  using node = list_node;
  using node_ptr = list_node*;
  using const_node_ptr = const list_node*;
  static node_ptr get_next(const_node_ptr n) noexcept { return n->next; }
  static node_ptr get_previous(const_node_ptr n) noexcept { return n->prev; }
  static void set_next(node_ptr n, node_ptr next) noexcept { n->next = next; }
  static void set_previous(node_ptr n, node_ptr prev) noexcept { n->prev = prev; }
};
using ring = boost::intrusive::circular_list_algorithms<list_node_traits>;

using way = list_node* list_node::*; // through the ring
inline constexpr way forward = &list_node::next;
inline constexpr way backward = &list_node::prev;

template <class Member> constexpr size_t list_offset(size_t offset) noexcept {
  static_assert(same_but_for_cv<Member, list_node>, "the member is no struct list_node");
  return offset;
}

template <class Entry> Entry* entry_of(const list_node* n, size_t off) noexcept {
  return back_by<Entry>(n, off);
}

inline list_node* node_of(const volatile void* entry, size_t off) noexcept {
  return reinterpret_cast<list_node*>(reinterpret_cast<uintptr_t>(entry) + off);
}

struct corruption {
  bool found;
  const list_node* node; // whose back link is wrong
  unsigned count;        // its position, the start being 0
};

// Ends on any corruption: a ring that misses its start reaches one of its nodes from two others, and that
// node's back link names only one of them.
inline corruption find_corruption(const list_node* start) noexcept {
  const list_node* behind = start;
  unsigned count = 0;
  for (const list_node* n = start->next; n != start; behind = n, n = n->next) {
    ++count;
    if (!n || n->prev != behind) return {true, n, count};
  }
  return {start->prev != behind, start, 0};
}

inline void stop_if_corrupt(const list_node* start, const char* where) {
  const corruption c = find_corruption(start);
  if (!c.found) return;
  fprintf(stderr, "%s: prev corrupt in node %p (%u) of %p\n", where, static_cast<const void*>(c.node),
          c.count, static_cast<const void*>(start));
  abort();
}

} // namespace ccan_compat_detail

inline struct list_node* list_check_node(const struct list_node* n, const char* abortstr) {
  if (abortstr) {
    ccan_compat_detail::stop_if_corrupt(n, abortstr);
  } else if (ccan_compat_detail::find_corruption(n).found) {
    return nullptr;
  }
  return const_cast<list_node*>(n);
}

inline struct list_head* list_check(const struct list_head* h, const char* abortstr) {
  return list_check_node(&h->n, abortstr) ? const_cast<list_head*>(h) : nullptr;
}

inline void list_head_init(struct list_head* h) { ccan_compat_detail::ring::init_header(&h->n); }
inline void list_node_init(struct list_node* n) { ccan_compat_detail::ring::init_header(n); }

inline bool list_empty_nodebug(const struct list_head* h) { return h->n.next == &h->n; }
inline bool list_empty_nocheck(const struct list_head* h) {
  return __atomic_load_n(&h->n.next, __ATOMIC_RELAXED) == &h->n;
}

// The setting is a template argument, so that files that differ in it do not share one function. The checks
// come where upstream has them: after adding, when they also find a node that was added twice, and otherwise
// before.
namespace ccan_compat_detail {

template <bool checked> void check(const list_head* h, const char* where) {
  if constexpr (checked) stop_if_corrupt(&h->n, where);
}
template <bool checked> void check(const list_node* n, const char* where) {
  if constexpr (checked) stop_if_corrupt(n, where);
}
template <bool checked> void spoil(list_node* n) noexcept {
  if constexpr (checked) ring::init(n); // null links
}

template <bool checked> void list_add_after_(list_head* h, list_node* p, list_node* n, const char* where) {
  ring::link_after(p, n);
  check<checked>(h, where);
}
template <bool checked> void list_add_before_(list_head* h, list_node* p, list_node* n, const char* where) {
  ring::link_before(p, n);
  check<checked>(h, where);
}
template <bool checked> void list_add_(list_head* h, list_node* n, const char* where) {
  list_add_after_<checked>(h, &h->n, n, where);
}
template <bool checked> void list_add_tail_(list_head* h, list_node* n, const char* where) {
  list_add_before_<checked>(h, &h->n, n, where);
}

template <bool checked> void list_del_(list_node* n, const char* where) {
  check<checked>(n, where);
  ring::unlink(n);
  spoil<checked>(n);
}
template <bool checked> void list_del_init_(list_node* n, const char* where) {
  list_del_<checked>(n, where);
  list_node_init(n);
}
template <bool checked> void list_del_from_(list_head* h, list_node* n, const char* where) {
  check<checked>(h, where);
  if constexpr (checked) {
    const list_node* i = h->n.next;
    while (i != n && i != &h->n) i = i->next;
    if (i != n) {
      fprintf(stderr, "%s: node %p is not in list %p\n", where, static_cast<const void*>(n),
              static_cast<const void*>(h));
      abort();
    }
  }
  assert(!list_empty_nodebug(h));
  list_del_<checked>(n, where);
}

template <bool checked> void list_swap_(list_node* o, list_node* n, const char* where) {
  check<checked>(o, where);
  ring::link_before(ring::unlink(o), n);
  spoil<checked>(o);
}

template <bool checked> void list_append_list_(list_head* to, list_head* from, const char* where) {
  check<checked>(from, where);
  check<checked>(to, where);
  ring::transfer(&to->n, from->n.next, &from->n);
}
template <bool checked> void list_prepend_list_(list_head* to, list_head* from, const char* where) {
  check<checked>(from, where);
  check<checked>(to, where);
  ring::transfer(to->n.next, from->n.next, &from->n);
}

template <bool checked> bool list_empty_(const list_head* h, const char* where) {
  check<checked>(h, where);
  return list_empty_nodebug(h);
}

template <class Entry> Entry* entry_or_null(const list_head* h, const list_node* n, size_t off) noexcept {
  return n == &h->n ? nullptr : entry_of<Entry>(n, off);
}

template <bool checked, way to, class Entry>
Entry* list_end_(const list_head* h, size_t off, const char* where) {
  check<checked>(h, where);
  return entry_or_null<Entry>(h, h->n.*to, off);
}

// Upstream takes a const list here, and so must this.
template <bool checked, class Entry> Entry* list_pop_(const list_head* h, size_t off, const char* where) {
  if (list_empty_<checked>(h, where)) return nullptr;
  list_node* n = h->n.next;
  list_del_<checked>(n, where);
  return entry_of<Entry>(n, off);
}

template <bool checked, way to, class Entry>
Entry* list_neighbour_(const list_head* h, Entry* i, size_t off, const char* where) {
  check<checked>(h, where);
  return entry_or_null<Entry>(h, node_of(i, off)->*to, off);
}

// The state of a loop over a list. It holds the loop's variables by reference, so that the macro names each
// of them once, and it reads them back at every step, so that the body may move them. When a loop has run to
// its end, its variable stands where the head would be in an entry; ported programs compare that with the
// head.
template <way to, class Entry> struct list_walk {
  Entry*& i;
  const list_node* head;
  size_t off;

  bool more() const noexcept { return node_of(i, off) != head; }
  void step() noexcept { i = entry_of<Entry>(node_of(i, off)->*to, off); }
};

template <bool checked, way to, class Entry>
list_walk<to, Entry> walk(const list_head* h, Entry*& i, size_t off, const char* where) {
  check<checked>(h, where);
  i = entry_of<Entry>(h->n.*to, off);
  return {i, &h->n, off};
}

// One that knows the next entry before the body runs, which may then remove the current one.
template <way to, class Entry, class Next> struct list_safe_walk {
  Entry*& i;
  Next*& nxt;
  const list_node* head;
  size_t off;

  bool more() const noexcept { return node_of(i, off) != head; }
  void step() noexcept {
    list_node* n = node_of(nxt, off);
    i = entry_of<Entry>(n, off);
    nxt = entry_of<Next>(n->*to, off);
  }
};

template <bool checked, way to, class Entry, class Next> list_safe_walk<to, Entry, Next>
safe_walk(const list_head* h, Entry*& i, Next*& nxt, size_t off, const char* where) {
  check<checked>(h, where);
  nxt = entry_of<Next>(h->n.*to, off);
  list_safe_walk<to, Entry, Next> w{i, nxt, &h->n, off};
  w.step();
  return w;
}

} // namespace ccan_compat_detail

/// @endcond

#endif
