#pragma once
// What one thread sends another: an exception to throw, or a kill.
//
// Per thread a FIFO. It is delivered at interruption points only: before a thread's function is called, on
// entering a wait or a stream operation, on leaving one that has no result, in yield() and in checkpoint().
// "Look for a pending one and publish that we are parked" is one step under the lock, so that none falls
// between. A kill is sticky: what is thrown re-enters the queue when the last owner of the thrown object lets
// go of it, unless the thread's own outermost handler has disarmed it.

#include "lock_word.hpp"

#include <cstddef>
#include <exception>

namespace rouse::detail {

struct thread_record;

struct interrupt {
  interrupt* next = nullptr;
  std::exception_ptr error; // none: a kill
};

class interrupt_queue {
 public:
  interrupt_queue() = default;
  interrupt_queue(const interrupt_queue&) = delete;
  interrupt_queue& operator=(const interrupt_queue&) = delete;
  ~interrupt_queue() { clear(); }

  bool empty() const noexcept { return first_ == nullptr; }
  bool has_kill() const noexcept { return kill_queued_; }
  std::size_t size() const noexcept;

  // Takes the node over.
  void push_error(interrupt* node) noexcept { push(node); }

  // Allocates nothing: a thread can be killed when memory is out. A second kill while one is queued changes
  // nothing.
  void push_kill() noexcept {
    if (!kill_queued_) push(&kill_);
    kill_queued_ = true;
  }

  // The oldest: an exception, or null for a kill. Taking a kill drops what is queued behind it.
  std::exception_ptr pop() noexcept;

  void clear() noexcept;

 private:
  void push(interrupt* node) noexcept;
  interrupt* first_ = nullptr; // this and the next are looked at in every wait
  bool kill_queued_ = false;
  interrupt** last_ = &first_;
  interrupt kill_;
};

// Thrown in a thread that is killed. Not a std::exception, so only `catch (...)` sees it.
class kill_unwind {
 public:
  explicit kill_unwind(thread_record& self) noexcept;
  kill_unwind(const kill_unwind&) noexcept {} // a copy, which the language may make, is inert
  kill_unwind& operator=(const kill_unwind&) = delete;
  ~kill_unwind();
  void disarm() noexcept;

 private:
  thread_record* target_ = nullptr; // counted while armed
};

// Whether an interrupt may be delivered to the running thread now: no scope defers it and no exception is in
// flight.
bool may_deliver(const thread_record& self) noexcept;

// Throws the oldest pending interrupt of the running thread, if there is one and it may be delivered.
void deliver(held, thread_record& self);

// Sends. Under the lock; a parked target whose wait can be interrupted is made ready.
void send_kill(held, thread_record& target) noexcept;
void send_error(held, thread_record& target, interrupt* node) noexcept;

} // namespace rouse::detail
