#pragma once
// The lists that waiting threads hang on. Not for users.

#include <rouse/duration.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>

namespace rouse::detail {

class vm_core;
struct thread_record;
struct mutex_access;

// Release builds trust the code; debug builds stop the program when a node dies while it is linked.
#ifdef ROUSE_DEBUG_CHECKS
inline constexpr auto hook_mode = boost::intrusive::safe_link;
#else
inline constexpr auto hook_mode = boost::intrusive::normal_link;
#endif

struct wait_tag;
struct held_tag;
using wait_hook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<wait_tag>, boost::intrusive::link_mode<hook_mode>>;
using held_hook = boost::intrusive::list_member_hook<boost::intrusive::tag<held_tag>,
                                                     boost::intrusive::link_mode<hook_mode>>;

// The record of one wait of one thread: lives on the waiting thread's stack and hangs on the list of what it
// waits for. The ticket names that one park: whoever holds it may make the thread ready once.
struct waiter : wait_hook {
  thread_record* thread = nullptr;
  std::uint64_t ticket = 0;
  bool linked = false;
  bool chosen = false;      // of a mutex: it was made ready to take the mutex, and has not run since
  bool passed_over = false; // of a mutex: it was chosen, and another thread was faster
};

using wait_list = boost::intrusive::list<waiter, boost::intrusive::base_hook<wait_hook>,
                                         boost::intrusive::constant_time_size<false>>;

// Now + limit, without overflow; a limit of `forever` gives the end of time.
clock::time_point deadline_after(duration limit) noexcept;

} // namespace rouse::detail
