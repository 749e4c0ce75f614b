#include <rouse/condition_variable.hpp>
#include <rouse/mutex.hpp>

#include "vm_core.hpp"

#include <cstdio>
#include <cstdlib>

namespace rouse {

using namespace detail;

namespace {

// The objects know no VM until a thread uses them; then they belong to its.
void bind(vm_core*& bound, const running& here, const char* call) {
  if (!bound) bound = here.self.core;
  if (bound != here.self.core) throw thread_error(std::string(call) + ": it belongs to another VM");
}

void check_destruction([[maybe_unused]] bool in_use, [[maybe_unused]] const char* what) noexcept {
#ifdef ROUSE_DEBUG_CHECKS
  if (!in_use) return;
  std::fprintf(stderr, "rouse: a %s is destroyed while threads use it\n", what);
  std::abort();
#endif
}

} // namespace

// ---- mutex

void mutex_access::take(mutex& m, thread_record& self) noexcept {
  m.owner_ = &self;
  self.held_mutexes.push_back(m);
}

void mutex_access::release(held h, mutex& m) noexcept {
  m.owner_->held_mutexes.erase(held_list::s_iterator_to(m));
  m.owner_ = nullptr;
  for (waiter& w : m.waiters_) {
    if (w.chosen) return; // it is on its way
    if (w.ticket != w.thread->ticket) continue;
    if (w.passed_over)
      take(m, *w.thread); // handed over, so that nobody starves
    else
      w.chosen = true;
    make_ready(h, *w.thread, w.ticket, wake_reason::notified);
    return;
  }
}

void mutex_access::release_all(held h, thread_record& ended) noexcept {
  while (!ended.held_mutexes.empty()) release(h, ended.held_mutexes.front());
}

wake_reason mutex_access::acquire(held h, thread_record& self, mutex& m, bool interruptible,
                                  clock::time_point due) noexcept {
  static constexpr wait_reason reason{"mutex"};
  if (!m.owner_) {
    take(m, self);
    return wake_reason::notified;
  }
  linked_waiter w(h, self, m.waiters_);
  for (;;) {
    const wake_reason why = park(h, self, reason, interruptible, due);
    if (m.owner_ == &self) return wake_reason::notified;
    if (why != wake_reason::notified) return why;
    w.chosen = false;
    if (!m.owner_) {
      take(m, self);
      return wake_reason::notified;
    }
    w.passed_over = true; // a running thread was faster; the place in the list stays
    arm(h, self, w);
  }
}

mutex::~mutex() {
  check_destruction(owner_ || !waiters_.empty(), "mutex");
  if (owner_) owner_->held_mutexes.erase(mutex_access::held_list::s_iterator_to(*this));
}

void mutex::lock() {
  running here = require_running("mutex::lock");
  bind(core_, here, "mutex::lock");
  if (owner_ == &here.self) throw thread_error("deadlock; recursive locking");
  if (owner_) deliver(here, here.self);
  while (mutex_access::acquire(here, here.self, *this, true, clock::time_point::max()) !=
         wake_reason::notified)
    deliver(here, here.self);
}

bool mutex::try_lock() {
  running here = require_running("mutex::try_lock");
  bind(core_, here, "mutex::try_lock");
  if (owner_) return false;
  mutex_access::take(*this, here.self);
  return true;
}

bool mutex::try_lock_for(duration limit) {
  running here = require_running("mutex::try_lock_for");
  bind(core_, here, "mutex::try_lock_for");
  if (owner_ == &here.self) throw thread_error("deadlock; recursive locking");
  if (owner_) deliver(here, here.self);
  const auto due = deadline_after(limit);
  for (;;) {
    const wake_reason why = mutex_access::acquire(here, here.self, *this, true, due);
    if (why != wake_reason::interrupted) return why == wake_reason::notified;
    deliver(here, here.self);
  }
}

void mutex::unlock() {
  running here = require_running("mutex::unlock");
  if (!owner_) throw thread_error("Attempt to unlock a mutex which is not locked");
  if (owner_ != &here.self)
    throw thread_error("Attempt to unlock a mutex which is locked by another thread/fiber");
  mutex_access::release(here, *this);
}

bool mutex::is_owned() const { return owner_ == &require_running("mutex::is_owned").self; }

// ---- condition_variable

namespace {

wake_reason wait_on(wait_list& waiters, vm_core*& core, std::unique_lock<mutex>& lock,
                    clock::time_point due) {
  static constexpr wait_reason reason{"condition variable", -1, nullptr, true};
  running here = require_running("condition_variable::wait");
  bind(core, here, "condition_variable::wait");
  if (!lock.owns_lock() || mutex_access::owner(*lock.mutex()) != &here.self)
    throw thread_error("condition_variable::wait: the calling thread does not hold the mutex");
  deliver(here, here.self);
  wake_reason why;
  {
    linked_waiter w(here, here.self, waiters);
    mutex_access::release(here, *lock.mutex());
    why = park(here, here.self, reason, true, due);
  }
  mutex_access::acquire(here, here.self, *lock.mutex(), false, clock::time_point::max());
  if (why == wake_reason::interrupted) deliver(here, here.self);
  return why;
}

} // namespace

condition_variable::~condition_variable() { check_destruction(!waiters_.empty(), "condition_variable"); }

void condition_variable::wait(std::unique_lock<mutex>& lock) {
  wait_on(waiters_, core_, lock, clock::time_point::max());
}

std::cv_status condition_variable::wait_for(std::unique_lock<mutex>& lock, duration limit) {
  return wait_until(lock, deadline_after(limit));
}

std::cv_status condition_variable::wait_until(std::unique_lock<mutex>& lock, clock::time_point when) {
  const wake_reason why = wait_on(waiters_, core_, lock, when);
  return why == wake_reason::timed_out ? std::cv_status::timeout : std::cv_status::no_timeout;
}

void condition_variable::notify_one() {
  running here = require_running("condition_variable::notify_one");
  bind(core_, here, "condition_variable::notify_one");
  wake_one(here, waiters_);
}

void condition_variable::notify_all() {
  running here = require_running("condition_variable::notify_all");
  bind(core_, here, "condition_variable::notify_all");
  wake_all(here, waiters_);
}

} // namespace rouse
