#include "vm_core.hpp"

#include <sstream>

namespace rouse::detail {

namespace {

const char* state_of(const thread_record& t, const vm_core& core) noexcept {
  if (core.active_worker && core.active_worker->current == &t) return "running";
  return t.status.load(std::memory_order_relaxed) == thread_status::sleeping ? "parked" : "runnable";
}

void describe_wait(std::ostream& out, const thread_record& t, clock::time_point now) {
  const wait_reason& reason = *t.waits_for();
  out << ", waits for " << reason.what;
  if (reason.object) out << " on stream " << reason.object;
  if (reason.descriptor >= 0) out << " (descriptor " << reason.descriptor << ")";
  // The VM does not look at the clock at every park: the time is that of its last look before.
  if (t.waits_since != clock::time_point{})
    out << " for about " << std::chrono::duration_cast<std::chrono::milliseconds>(now - t.waits_since).count()
        << " ms";
}

void describe_interrupts(std::ostream& out, const thread_record& t) {
  if (t.interrupts.empty()) return;
  out << ", pending interrupts: " << t.interrupts.size() << (t.interrupts.has_kill() ? " (kill)" : "");
}

} // namespace

std::string vm_core::describe(held) const {
  const clock::time_point now = clock::now();
  std::ostringstream out;
  for (const thread_record& t : living) {
    out << "thread " << t.id;
    if (t.name) out << " \"" << t.name.get() << '"';
    out << ": " << state_of(t, *this);
    if (t.waits_for()) describe_wait(out, t, now);
    describe_interrupts(out, t);
    out << '\n';
  }
  return out.str();
}

} // namespace rouse::detail
