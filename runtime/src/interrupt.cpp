#include "interrupt.hpp"
#include "park.hpp"
#include "vm_core.hpp"

#include <new>

namespace rouse::detail {

void interrupt_queue::push(interrupt* node) noexcept {
  node->next = nullptr;
  *last_ = node;
  last_ = &node->next;
}

std::size_t interrupt_queue::size() const noexcept {
  std::size_t n = 0;
  for (const interrupt* i = first_; i; i = i->next) ++n;
  return n;
}

std::exception_ptr interrupt_queue::pop() noexcept {
  interrupt* node = first_;
  if (node == &kill_) {
    clear();
    return nullptr;
  }
  first_ = node->next;
  if (!first_) last_ = &first_;
  std::exception_ptr error = std::move(node->error);
  delete node;
  return error;
}

void interrupt_queue::clear() noexcept {
  while (first_) {
    interrupt* next = first_->next;
    if (first_ != &kill_) delete first_;
    first_ = next;
  }
  last_ = &first_;
  kill_queued_ = false;
}

bool may_deliver(const thread_record& self) noexcept {
  return self.defer_depth == 0 && self.core->active_worker->globals->uncaught == 0;
}

[[gnu::noinline]] void deliver(held, thread_record& self) {
  if (self.interrupts.empty() || !may_deliver(self)) return;
  if (std::exception_ptr error = self.interrupts.pop()) std::rethrow_exception(std::move(error));
  self.dying = true;
  throw kill_unwind(self);
}

namespace {

void wake_for_interrupt(held h, thread_record& target) noexcept {
  if (target.ticket != 0 && target.interruptible)
    make_ready(h, target, target.ticket, wake_reason::interrupted);
}

} // namespace

void send_kill(held h, thread_record& target) noexcept {
  if (target.dying || target.status.load(std::memory_order_relaxed) == thread_status::ended) return;
  target.interrupts.push_kill();
  wake_for_interrupt(h, target);
}

void send_error(held h, thread_record& target, interrupt* node) noexcept {
  if (target.status.load(std::memory_order_relaxed) == thread_status::ended) {
    delete node;
    return;
  }
  target.interrupts.push_error(node);
  wake_for_interrupt(h, target);
}

// ---- the thrown kill

namespace {

// The kill was swallowed: it is pending again.
void kill_again(held h, thread_record& target) noexcept {
  target.dying = false;
  send_kill(h, target);
}

struct posted_kill : inbox_node {
  explicit posted_kill(thread_record& t) noexcept : inbox_node(handle_kill), target(&t) {}
  thread_record* target; // counted
  static void handle_kill(inbox_node& node, held h) noexcept {
    auto& self = static_cast<posted_kill&>(node);
    kill_again(h, *self.target);
    drop_count(*self.target);
    delete &self;
  }
};

} // namespace

kill_unwind::kill_unwind(thread_record& self) noexcept : target_(&self) { add_count(self); }

void kill_unwind::disarm() noexcept {
  if (!target_) return;
  drop_count(*target_);
  target_ = nullptr;
}

kill_unwind::~kill_unwind() {
  if (!target_) return;
  thread_record* here = running_record();
  if (here && here->core == target_->core) {
    kill_again(lock_entry::of(*here), *target_);
  } else if (target_->status.load(std::memory_order_acquire) != thread_status::ended) {
    auto* message = new (std::nothrow) posted_kill(*target_);
    if (message && target_->core->post(*message)) return; // the count went along
    delete message;
  }
  drop_count(*target_);
}

} // namespace rouse::detail
