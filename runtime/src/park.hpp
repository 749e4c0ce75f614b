#pragma once
// Park and make ready: the one mechanism of waiting.
//
// A thread that waits does, without giving up the lock in between:
//   1. deliver(h, self)             or find a pending interrupt some other way
//   2. look whether it has to wait at all
//   3. arm(h, self, waiter)         a new ticket, and the waiter hangs on the list of what it waits for
//   4. park(h, self, ...)           run others
//   5. unlink the waiter            unless wake_one has done it; nothing can throw in between
// Whoever has the ticket may make the thread ready, once; all others, and all late ones, are told that it was
// spent.

#include "thread_record.hpp"

namespace rouse::detail {

// Gives the running thread a new ticket. No timer, notifier or interrupt that knows an older one can wake the
// next park.
std::uint64_t new_ticket(held, thread_record& self) noexcept;

inline void arm(held h, thread_record& self, waiter& w) noexcept {
  w.thread = &self;
  w.ticket = new_ticket(h, self);
}

// Parks the running thread until its ticket is spent or `due` has passed. Interrupts end the park if
// `interruptible` and they may be delivered; then the caller, once everything is unlinked, calls deliver().
wake_reason park(held, thread_record& self, const wait_reason& reason, bool interruptible = true,
                 clock::time_point due = clock::time_point::max()) noexcept;

// Spends a ticket: the thread is runnable again, and park() returns `why`. False: it was spent.
bool make_ready(held, thread_record& t, std::uint64_t ticket, wake_reason why) noexcept;

// Unlinks waiters from the front until one of them could be made ready: the list may be gone as soon as that
// thread runs. False: there was none; a waiter whose ticket was spent leaves for another reason, and the next
// one is tried.
bool wake_one(held, wait_list& list) noexcept;

// Likewise all of them.
void wake_all(held, wait_list& list) noexcept;

// Links a waiter for the time of one wait.
class linked_waiter : public waiter {
 public:
  linked_waiter(held h, thread_record& self, wait_list& list) noexcept : list_(list) {
    arm(h, self, *this);
    list_.push_back(*this);
    linked = true;
  }
  ~linked_waiter() {
    if (linked) list_.erase(list_.iterator_to(*this));
  }
  linked_waiter(const linked_waiter&) = delete;
  linked_waiter& operator=(const linked_waiter&) = delete;

 private:
  wait_list& list_;
};

} // namespace rouse::detail
