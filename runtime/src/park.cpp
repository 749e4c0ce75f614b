#include "park.hpp"
#include "test_hooks.hpp"
#include "vm_core.hpp"

namespace rouse::detail {

std::uint64_t new_ticket(held h, thread_record& self) noexcept {
  return self.ticket = ++h.core().next_ticket;
}

wake_reason park(held h, thread_record& self, const wait_reason& reason, bool interruptible,
                 clock::time_point due) noexcept {
  vm_core& core = h.core();
  self.reason = &reason;
  self.waits_since = core.coarse_now;
  self.interruptible = interruptible && may_deliver(self);
  self.status.store(thread_status::sleeping, std::memory_order_relaxed);
  if (due == clock::time_point::max()) {
    core.switch_away(h, self);
    return self.woken_by;
  }
  timer limit;
  limit.due = due;
  limit.thread = &self;
  limit.ticket = self.ticket;
  core.timers.add(h, limit);
  core.switch_away(h, self);
  if (limit.queued) core.timers.remove(h, limit);
  return self.woken_by;
}

bool make_ready(held h, thread_record& t, std::uint64_t ticket, wake_reason why) noexcept {
  if (t.ticket != ticket) return false;
  t.ticket = 0;
  t.woken_by = why;
  t.status.store(thread_status::runnable, std::memory_order_relaxed);
  h.core().run_later(h, t);
  return true;
}

bool wake_one(held h, wait_list& list) noexcept {
  while (!list.empty()) {
    waiter& w = list.front();
    list.pop_front();
    w.linked = false;
    if (make_ready(h, *w.thread, w.ticket, wake_reason::notified)) return true;
  }
  return false;
}

void wake_all(held h, wait_list& list) noexcept {
  while (wake_one(h, list)) {
  }
}

} // namespace rouse::detail
