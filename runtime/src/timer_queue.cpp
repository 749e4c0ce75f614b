#include "timer_queue.hpp"
#include "park.hpp"

namespace rouse::detail {

void timer_queue::fire(held h, clock::time_point now) noexcept {
  while (!tree_.empty() && tree_.begin()->due <= now) {
    timer& t = *tree_.begin();
    remove(h, t);
    make_ready(h, *t.thread, t.ticket, wake_reason::timed_out);
  }
}

clock::time_point deadline_after(duration limit) noexcept {
  const clock::time_point now = clock::now();
  if (limit >= clock::time_point::max() - now) return clock::time_point::max();
  return now + limit;
}

} // namespace rouse::detail
