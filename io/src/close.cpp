// How a stream ends.
//
//   1  open to closing: every new call fails
//   2  every waiter of this stream is made ready; it finds "closing" before anything else and leaves with the
//   error 3  wait until no use is left 4  (what is buffered goes out: there is no buffer yet) 5  out of the
//   poller; from here events that were fetched before are stale 6  close(2), once; closed; the other closers
//   are woken
//
// Nothing after step 1 needs the closer to live. If it is interrupted in step 3, a thread that waits for this
// close inherits it; if there is none, the last user to leave does steps 5 and 6. If users is already zero,
// there is no interrupt to heed.

#include "operation.hpp"
#include "system_call.hpp"
#include "test_hooks.hpp"

#include <cerrno>

namespace rouse::detail {

namespace {

void tell(held h, wait_list& list) noexcept {
  for (waiter& w : list) make_ready(h, *w.thread, w.ticket, wake_reason::notified);
}

void tell_waiters(held h, stream_state& s) noexcept {
  for (readiness& side : s.directions) tell(h, side.waiters);
  tell(h, s.turn_waiters);
}

} // namespace

void revoke_others(held h, stream_state& s) noexcept {
  poll_source* next;
  for (poll_source* source = h.core().io.sources_of(h, s.fd); source; source = next) {
    next = source->next_of_number;
    if (source == &s) continue;
    auto& other = static_cast<stream_state&>(*source);
    other.revoked = true;
    h.core().io.remove(h, other, true);
    tell_waiters(h, other);
  }
}

namespace {

void part_from_peer(held h, stream_state& s) noexcept {
  if (!s.peer) return;
  stream_state& other = *s.peer;
  s.peer = other.peer = nullptr;
  note_hang_up(h, other); // a hint: if the description lives on elsewhere, the next attempt there finds out
}

// Steps 5 and 6. \returns what close(2) returned
int release_descriptor(held h, stream_state& s) noexcept {
  ROUSE_TEST_POINT("close.release");
  part_from_peer(h, s);
  if (s.owns_number && !s.revoked) revoke_others(h, s);
  h.core().io.remove(h, s, s.may_be_shared());
  const int fd = s.fd;
  s.fd = -1;
  int result = 0;
  if (s.owns_number) result = s.revoked ? -EBADF : close_descriptor(fd);
  s.phase = stream_phase::closed;
  wake_all(h, s.close_waiters);
  return result;
}

// Steps 1 and 2.
void begin(held h, stream_state& s) noexcept {
  s.phase = stream_phase::closing;
  ROUSE_TEST_POINT("close.closing");
  tell_waiters(h, s);
}

// Step 3. False: interrupted.
bool wait_for_users(held h, thread_record& self, stream_state& s) noexcept {
  const wait_reason reason{"closing", s.fd, &s};
  while (s.users > 0) {
    if (!self.interrupts.empty() && may_deliver(self)) return false;
    s.closer = &self;
    s.closer_ticket = new_ticket(h, self);
    park(h, self, reason);
    s.closer = nullptr;
  }
  return true;
}

// Another thread closes the stream. False: interrupted.
bool wait_for_closer(held h, thread_record& self, stream_state& s) noexcept {
  if (!self.interrupts.empty() && may_deliver(self)) return false;
  const wait_reason reason{"another thread's close", s.fd, &s};
  linked_waiter w(h, self, s.close_waiters);
  return park(h, self, reason) != wake_reason::interrupted;
}

// The handle of a closer that parks may be dropped by another thread: it counts for itself.
class counted {
 public:
  explicit counted(stream_state& s) noexcept : s_(s) { add_count(s); }
  ~counted() { drop_count(s_); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  stream_state& s_;
};

} // namespace

namespace {

io_outcome finish(held h, stream_state& s) noexcept {
  const int result = release_descriptor(h, s);
  return result < 0 ? io_outcome{io_end::failed, -result} : io_outcome{};
}

io_outcome wait_and_finish(held h, thread_record& self, stream_state& s) noexcept {
  counted keep(s);
  while (s.phase == stream_phase::closing && s.closer)
    if (!wait_for_closer(h, self, s)) return {io_end::interrupted};
  if (s.phase == stream_phase::closed) return {};
  if (wait_for_users(h, self, s)) return finish(h, s);
  wake_one(h, s.close_waiters); // it inherits; if there is none, the last user finishes
  return {io_end::interrupted};
}

} // namespace

io_outcome close_stream(held h, thread_record& self, stream_state& s) noexcept {
  if (s.phase == stream_phase::closed) return {};
  if (s.phase == stream_phase::open) begin(h, s);
  return s.users == 0 && !s.closer ? finish(h, s) : wait_and_finish(h, self, s);
}

[[gnu::noinline]] void last_user_left(held h, stream_state& s) noexcept {
  ROUSE_TEST_POINT("close.last_user");
  if (s.closer) {
    make_ready(h, *s.closer, s.closer_ticket, wake_reason::notified);
  } else if (s.close_waiters.empty()) {
    if (s.phase == stream_phase::closing) release_descriptor(h, s);
    if (s.orphaned) delete &s;
  }
}

void abandon(held h, stream_state& s) noexcept {
  if (s.phase == stream_phase::open) begin(h, s);
  if (s.users > 0) {
    s.orphaned = true; // the last user finishes and deletes
    return;
  }
  if (s.phase == stream_phase::closing) release_descriptor(h, s);
  delete &s;
}

} // namespace rouse::detail
