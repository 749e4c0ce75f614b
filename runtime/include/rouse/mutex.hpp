#pragma once
/// \file
/// Mutual exclusion among the threads of one VM.
///
/// A std::mutex must not be held across a wait in a VM: the wait may end on another OS thread, and whoever
/// locks it meanwhile stops the whole VM. This one parks the thread that has to wait and lets the others run.
/// It goes with std::lock_guard, std::unique_lock and std::scoped_lock.

#include <rouse/detail/wait_list.hpp>
#include <rouse/duration.hpp>

namespace rouse {

/// A mutex, not recursive. A running thread may take it before a waiter that was just woken, but a waiter
/// that was passed over once is handed it. When its owner ends, it is unlocked. Destroying it while it is
/// locked or awaited is a misuse that debug builds stop at; destroying it right after unlock() is fine.
class mutex {
 public:
  mutex() noexcept = default;
  ~mutex();
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Locks, waiting if need be. An interruption point if it has to wait: then the interrupt is thrown and the
  /// mutex is not held.
  /// \throws thread_error "deadlock; recursive locking" if the caller holds it; thread_error outside a VM
  void lock();

  /// \returns whether it was free and now is the caller's. Never waits.
  /// \throws thread_error outside a VM
  bool try_lock();

  /// As lock(), for at most `limit`.
  /// \returns whether it is held
  bool try_lock_for(duration limit);

  /// Unlocks; never delivers an interrupt, never parks.
  /// \throws thread_error if it is not locked ("Attempt to unlock a mutex which is not locked"), or by
  ///   another thread
  void unlock();

  /// Whether anybody holds it.
  bool is_locked() const noexcept { return owner_ != nullptr; }

  /// Whether the caller holds it.
  /// \throws thread_error outside a VM
  bool is_owned() const;

 private:
  friend struct detail::mutex_access;
  detail::thread_record* owner_ = nullptr;
  detail::vm_core* core_ = nullptr;
  detail::wait_list waiters_;
  detail::held_hook held_hook_;
};

} // namespace rouse
