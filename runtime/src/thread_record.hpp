#pragma once
// A thread as the VM sees it.
//
// The record lives at the top of the thread's own stack, so that a blocked thread costs one page in all. It
// is counted: by the thread itself until it has switched away for good, and by handles. Everything but the
// count and the state is guarded by the lock.

#include "context.hpp"
#include "inbox.hpp"
#include "interrupt.hpp"
#include "stack_pool.hpp"

#include <rouse/detail/body.hpp>
#include <rouse/mutex.hpp>
#include <rouse/thread.hpp>

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <memory>

namespace rouse::detail {

// What a thread waits for, in words for dump(). Lives on the waiting thread's stack.
struct wait_reason {
  const char* what;    // "sleep", "join", "read", ...
  int descriptor = -1; // the stream's
  const void* object = nullptr;
  bool wakeable = false; // thread::wakeup ends it
};

enum class wake_reason : std::uint8_t {
  notified,    // what it waited for has happened, or may have
  timed_out,   // its limit has passed
  interrupted, // an interrupt is pending
};

struct living_tag;
struct run_tag;
using living_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<living_tag>,
                                                     boost::intrusive::link_mode<hook_mode>>;
using run_hook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<run_tag>, boost::intrusive::link_mode<hook_mode>>;

// The inside of mutex, for those who hold the lock.
struct mutex_access {
  using held_list =
      boost::intrusive::list<mutex, boost::intrusive::member_hook<mutex, held_hook, &mutex::held_hook_>,
                             boost::intrusive::constant_time_size<false>>;
  static thread_record* owner(const mutex& m) noexcept { return m.owner_; }
  static void take(mutex& m, thread_record& self) noexcept;
  static void release(held, mutex& m) noexcept;
  static void release_all(held, thread_record& ended) noexcept; // what it still holds
  // Waits until it is the caller's. With `interruptible`, an interrupt ends the wait too.
  static wake_reason acquire(held, thread_record& self, mutex& m, bool interruptible,
                             clock::time_point due) noexcept;
};

// Carries a record back into its VM when the last handle is dropped outside.
struct recycle_node : inbox_node {
  explicit recycle_node(thread_record& t) noexcept : inbox_node(take_back), record(&t) {}
  static void take_back(inbox_node& node, held) noexcept;
  thread_record* record;
};

// What a park and a wake-up touch. Together with the switch point and the hook of the run queue it fills one
// cache line.
struct park_state {
  std::uint64_t ticket = 0; // of the park that goes on; 0: not parked
  std::atomic<thread_status> status{thread_status::runnable};
  wake_reason woken_by = wake_reason::notified;
  bool interruptible = false;    // an interrupt ends the park that goes on
  bool dying = false;            // a kill has been thrown in it
  std::uint32_t defer_depth = 0; // of no_interrupts scopes
};

struct thread_record : switch_point, run_hook, park_state, living_hook {
  thread_record(vm_core& c, std::uint64_t number, stack_slot* s, bool main) noexcept
      : core(&c), is_main(main), slot(s), id(number), recycle(*this) {}

  vm_core* core;
  const wait_reason* reason = nullptr; // see waits_for()
  clock::time_point waits_since;
  bool killed = false; // it ended by a kill
  const bool is_main;
  std::atomic<std::uint32_t> count{1};
  interrupt_queue interrupts;
  stack_slot* slot;
  detail::body* body = nullptr;
  std::exception_ptr failure; // what its function threw
  wait_list joiners;
  mutex_access::held_list held_mutexes;
  const std::uint64_t id;
  std::unique_ptr<char[]> name;
  recycle_node recycle;

  // What it waits for, or null.
  const wait_reason* waits_for() const noexcept {
    return status.load(std::memory_order_relaxed) == thread_status::sleeping ? reason : nullptr;
  }
};

using run_queue = boost::intrusive::list<thread_record, boost::intrusive::base_hook<run_hook>,
                                         boost::intrusive::constant_time_size<false>>;
using living_list = boost::intrusive::list<thread_record, boost::intrusive::base_hook<living_hook>,
                                           boost::intrusive::constant_time_size<false>>;

// Drops one count. Who sees that his is the only one left need not write: nobody else can make another.
inline bool is_last_count(std::atomic<std::uint32_t>& count) noexcept {
  return count.load(std::memory_order_acquire) == 1 || count.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

inline void add_count(thread_record& t) noexcept { t.count.fetch_add(1, std::memory_order_relaxed); }

// Any OS thread. The last one gives the stack back.
void drop_count(thread_record& t) noexcept;

} // namespace rouse::detail
