#pragma once
// Parks that end at a given time.
//
// A timer lives on the parked thread's stack and names the park by its ticket, so a late one wakes nobody.
// The queue is a balanced tree through the timers themselves: nothing is allocated, and so nothing can fail.

#include "lock_word.hpp"

#include <rouse/detail/wait_list.hpp>
#include <rouse/duration.hpp>

#include <boost/intrusive/set.hpp>

namespace rouse::detail {

struct timer_tag;
using timer_hook =
    boost::intrusive::set_base_hook<boost::intrusive::tag<timer_tag>, boost::intrusive::link_mode<hook_mode>>;

struct timer : timer_hook {
  clock::time_point due;
  thread_record* thread = nullptr;
  std::uint64_t ticket = 0;
  bool queued = false;
  friend bool operator<(const timer& a, const timer& b) noexcept { return a.due < b.due; }
};

class timer_queue {
 public:
  bool empty() const noexcept { return tree_.empty(); }
  clock::time_point earliest() const noexcept { return tree_.begin()->due; }
  void add(held, timer& t) noexcept {
    tree_.insert(t);
    t.queued = true;
  }
  void remove(held, timer& t) noexcept {
    tree_.erase(tree_.s_iterator_to(t));
    t.queued = false;
  }

  // Makes ready whoever is due at `now`, and takes those timers out.
  void fire(held, clock::time_point now) noexcept;

 private:
  boost::intrusive::multiset<timer, boost::intrusive::base_hook<timer_hook>,
                             boost::intrusive::constant_time_size<false>>
      tree_;
};

} // namespace rouse::detail
