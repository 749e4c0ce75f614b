#pragma once
/// \file
/// Waiting for a condition that a mutex guards.

#include <rouse/mutex.hpp>

#include <condition_variable>
#include <mutex>

namespace rouse {

/// As std::condition_variable, for rouse::mutex. A wait ends with the mutex held, also when it ends by an
/// exception. There are no spurious wake-ups other than those of `thread::wakeup`, so use the forms with a
/// predicate. A notification goes to a waiter that has not been killed or timed out yet.
class condition_variable {
 public:
  condition_variable() noexcept = default;
  ~condition_variable();
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Unlocks, waits for a notification, locks again. An interruption point.
  /// \throws thread_error if `lock` does not hold its mutex, or outside a VM
  void wait(std::unique_lock<mutex>& lock);

  /// Waits until `done()` is true.
  template <class P> void wait(std::unique_lock<mutex>& lock, P done) {
    while (!done()) wait(lock);
  }

  /// As wait, for at most `limit`, which says nothing about how long locking again takes.
  std::cv_status wait_for(std::unique_lock<mutex>& lock, duration limit);

  /// Waits until `when` at the latest.
  std::cv_status wait_until(std::unique_lock<mutex>& lock, clock::time_point when);

  /// \returns what `done()` says at the end
  template <class P> bool wait_for(std::unique_lock<mutex>& lock, duration limit, P done) {
    return wait_until(lock, detail::deadline_after(limit), std::move(done));
  }
  template <class P> bool wait_until(std::unique_lock<mutex>& lock, clock::time_point when, P done) {
    while (!done())
      if (wait_until(lock, when) == std::cv_status::timeout) return done();
    return true;
  }

  /// Wakes the thread that has waited longest, if there is one. Nothing is remembered otherwise. Never parks.
  /// \throws thread_error outside a VM
  void notify_one();

  /// Wakes all. Never parks.
  /// \throws thread_error outside a VM
  void notify_all();

 private:
  detail::vm_core* core_ = nullptr;
  detail::wait_list waiters_;
};

} // namespace rouse
