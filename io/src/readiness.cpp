#include "stream_state.hpp"
#include "test_hooks.hpp"

#include <sys/epoll.h>

namespace rouse::detail {

namespace {

// A waiter whose ticket is spent is on its way, and wakes the next one when it leaves while readiness stands.
void wake_first(held h, wait_list& list) noexcept {
  if (list.empty()) return;
  waiter& w = list.front();
  make_ready(h, *w.thread, w.ticket, wake_reason::notified);
}

} // namespace

void note_ready(held h, stream_state& s, direction d) noexcept {
  readiness& side = s.side(d);
  side.ready = true;
  ++side.tick;
  wake_first(h, side.waiters);
}

void note_nothing(stream_state& s, direction d, std::uint32_t tick) noexcept {
  readiness& side = s.side(d);
  if (side.tick != tick)
    return; // an event came in between, about something that the attempt may not have seen
  side.ready = false;
  // An error is consumed once; a real end shows itself at every attempt to read and never gets here. A writer
  // that finds no room has learned nothing about the end.
  if (d == direction::read) s.hung_up = false;
}

void note_short_read(stream_state& s, std::uint32_t tick) noexcept {
  readiness& side = s.side(direction::read);
  if (side.tick == tick && !s.hung_up) side.ready = false;
}

void note_hang_up(held h, stream_state& s) noexcept {
  s.hung_up = true;
  note_ready(h, s, direction::read);
  note_ready(h, s, direction::write);
}

void wake_next(held h, stream_state& s, direction d) noexcept {
  readiness& side = s.side(d);
  if (side.ready) wake_first(h, side.waiters);
}

void on_poll_events(poll_source& source, held h, std::uint32_t events) noexcept {
  auto& s = static_cast<stream_state&>(source);
  // One that could not be registered makes everybody look, and find the error.
  if (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP | poller::registration_failed)) return note_hang_up(h, s);
  if (events & (EPOLLIN | EPOLLPRI)) note_ready(h, s, direction::read);
  if (events & EPOLLOUT) note_ready(h, s, direction::write);
}

} // namespace rouse::detail
