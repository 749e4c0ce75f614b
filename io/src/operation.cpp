#include "operation.hpp"
#include "test_hooks.hpp"
#include "transport.hpp"

#include <cerrno>
#include <utility>

namespace rouse::detail {

namespace {

constexpr std::size_t pipe_page = 4096;

bool must_deliver(const thread_record& self) noexcept {
  return !self.interrupts.empty() && may_deliver(self);
}

// An operation's first look. Done: it may go on.
io_outcome enter(const thread_record& self, const stream_state& s) noexcept {
  if (must_deliver(self)) return {io_end::interrupted};
  if (s.phase != stream_phase::open) return {io_end::closed_before};
  if (s.revoked) return {io_end::failed, EBADF};
  return {};
}

clock::time_point due_of(const stream_state& s) noexcept {
  return s.limit == forever ? clock::time_point::max() : deadline_after(s.limit);
}

// What an operation looks at, in this order, before it waits and once it is resumed.
io_outcome look_again(const thread_record& self, stream_state& s, wake_reason why) noexcept {
  if (self.interrupts.has_kill() && may_deliver(self)) return {io_end::interrupted};
  if (s.phase != stream_phase::open) return {io_end::closed_under};
  if (s.revoked) return {io_end::failed, EBADF};
  if (s.error != 0) return {io_end::failed, std::exchange(s.error, 0)};
  if (why == wake_reason::timed_out) return {io_end::timed_out};
  if (why == wake_reason::interrupted) return {io_end::interrupted};
  return {};
}

// Parks on one of the stream's lists. Done: woken, look at the descriptor again.
io_outcome wait_on(held h, thread_record& self, stream_state& s, wait_list& list, const char* what,
                   clock::time_point due, bool* chosen) noexcept {
  ROUSE_TEST_POINT("stream.before_park");
  if (io_outcome now = look_again(self, s, wake_reason::notified); now.end != io_end::done) return now;
  if (must_deliver(self)) return {io_end::interrupted};
  const wait_reason reason{what, s.fd, &s};
  linked_waiter w(h, self, list);
  const wake_reason why = park(h, self, reason, true, due);
  if (chosen) *chosen = w.chosen;
  ROUSE_TEST_POINT("stream.resumed");
  return look_again(self, s, why);
}

io_outcome wait_for(held h, thread_record& self, stream_state& s, direction d,
                    clock::time_point due) noexcept {
  poller& io = h.core().io;
  io.want(h, s);
  ++io.waiting;
  const io_outcome outcome =
      wait_on(h, self, s, s.side(d).waiters, d == direction::read ? "reading" : "writing", due, nullptr);
  --io.waiting;
  return outcome;
}

// Nothing was there at the last look, and whatever comes is going to be told: a try would be for nothing.
bool surely_nothing(stream_state& s, direction d) noexcept {
  return !s.side(d).ready && (s.registered || s.peer);
}

// The writer's turn: the bytes of one call stay together. It is handed over in order of arrival.
class write_turn {
 public:
  write_turn(held h, stream_state& s) noexcept : h_(h), s_(s) {}
  ~write_turn() {
    if (ours_) pass_on();
  }
  write_turn(const write_turn&) = delete;
  write_turn& operator=(const write_turn&) = delete;

  io_outcome wait(thread_record& self) noexcept {
    if (!s_.writing) {
      s_.writing = ours_ = true;
      return {};
    }
    return wait_on(h_, self, s_, s_.turn_waiters, "its turn to write", due_of(s_), &ours_);
  }

 private:
  void pass_on() noexcept {
    for (waiter& w : s_.turn_waiters)
      if (make_ready(h_, *w.thread, w.ticket, wake_reason::notified)) {
        w.chosen = true;
        return;
      }
    s_.writing = false;
  }

  held h_;
  stream_state& s_;
  bool ours_ = false;
};

} // namespace

[[gnu::flatten]] io_outcome read_bytes(held h, thread_record& self, stream_state& s, void* data,
                                       std::size_t size, extent how_much) noexcept {
  if (io_outcome first = enter(self, s); first.end != io_end::done || size == 0) return first;
  use in_use(h, s, direction::read);
  std::size_t got = 0;
  for (;;) {
    if (!surely_nothing(s, direction::read)) {
      const std::uint32_t tick = s.side(direction::read).tick;
      ROUSE_TEST_POINT("read.before_call");
      const long n = try_read(s, static_cast<std::byte*>(data) + got, size - got);
      if (n >= 0) {
        got += static_cast<std::size_t>(n);
        if (n == 0) return {how_much == extent::all ? io_end::end_of_file : io_end::done, 0, got};
        if (got < size && s.kind == stream_kind::own_pipe) note_short_read(s, tick);
        if (s.peer && (got < size || static_cast<std::size_t>(n) >= pipe_page))
          note_ready(h, *s.peer, direction::write);
        if (got == size || how_much == extent::some) return {io_end::done, 0, got};
        continue;
      }
      if (n != -EAGAIN) return {io_end::failed, static_cast<int>(-n), got};
      note_nothing(s, direction::read, tick);
      if (s.side(direction::read).ready) continue;
    }
    if (io_outcome end = wait_for(h, self, s, direction::read, due_of(s)); end.end != io_end::done)
      return {end.end, end.error, got};
  }
}

[[gnu::flatten]] io_outcome write_bytes(held h, thread_record& self, stream_state& s, const void* data,
                                        std::size_t size, extent how_much) noexcept {
  if (io_outcome first = enter(self, s); first.end != io_end::done || size == 0) return first;
  use in_use(h, s, direction::write);
  write_turn turn(h, s);
  if (io_outcome mine = turn.wait(self); mine.end != io_end::done) return mine;
  std::size_t sent = 0;
  for (;;) {
    if (!surely_nothing(s, direction::write)) {
      const std::uint32_t tick = s.side(direction::write).tick;
      ROUSE_TEST_POINT("write.before_call");
      const long n = try_write(s, static_cast<const std::byte*>(data) + sent, size - sent);
      if (n >= 0) {
        sent += static_cast<std::size_t>(n);
        if (s.peer) note_ready(h, *s.peer, direction::read);
        if (sent == size || how_much == extent::some) return {io_end::done, 0, sent};
        continue;
      }
      if (n != -EAGAIN) return {io_end::failed, static_cast<int>(-n), sent};
      note_nothing(s, direction::write, tick);
      if (s.side(direction::write).ready) continue;
    }
    if (io_outcome end = wait_for(h, self, s, direction::write, due_of(s)); end.end != io_end::done)
      return {end.end, end.error, sent};
  }
}

io_outcome wait_until_ready(held h, thread_record& self, stream_state& s, direction d,
                            clock::time_point due) noexcept {
  if (io_outcome first = enter(self, s); first.end != io_end::done) return first;
  use in_use(h, s, d);
  for (;;) {
    if (!surely_nothing(s, d)) {
      const std::uint32_t tick = s.side(d).tick;
      const long n = poll_now(s, d);
      if (n < 0) return {io_end::failed, static_cast<int>(-n)};
      if (n > 0) return {};
      note_nothing(s, d, tick);
      if (s.side(d).ready) continue;
    }
    if (io_outcome end = wait_for(h, self, s, d, due); end.end != io_end::done) return end;
  }
}

} // namespace rouse::detail
