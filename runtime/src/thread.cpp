#include <rouse/thread.hpp>

#include "vm_core.hpp"

#include <new>
#include <stdexcept>

namespace rouse {

namespace detail {

void recycle_node::take_back(inbox_node& node, held h) noexcept {
  h.core().recycle(*static_cast<recycle_node&>(node).record);
}

[[gnu::noinline]] void drop_count(thread_record& t) noexcept {
  if (!is_last_count(t.count)) return;
  if (t.body) t.body->~body(); // here and not in the VM: it is the user's code
  vm_core& core = *t.core;
  worker* w = current_worker();
  if (w && w->core == &core) {
    core.recycle(t);
  } else if (!core.post(t.recycle)) { // the VM is gone: its stacks go with the core
    t.~thread_record();
    core.drop_count();
  }
}

const thread_options& default_thread_options() noexcept {
  static const thread_options options;
  return options;
}

unstarted_thread::unstarted_thread(const thread_options& options, std::size_t body_size,
                                   std::size_t body_align) {
  running here = require_running("spawn");
  record_ = here.core().make_thread(here, options, false);
  auto address = (reinterpret_cast<std::uintptr_t>(record_) - body_size) &
                 ~(static_cast<std::uintptr_t>(body_align) - 1);
  memory_ = reinterpret_cast<void*>(address);
  constexpr std::uintptr_t room_for_frames = 8 * 1024;
  if (address <
      reinterpret_cast<std::uintptr_t>(record_->slot->pool->bottom(*record_->slot)) + room_for_frames) {
    here.core().recycle(*record_);
    throw std::length_error("spawn: the callable and its arguments take " + std::to_string(body_size) +
                            " bytes and do not fit on the stack; raise thread_options::stack_size");
  }
}

unstarted_thread::~unstarted_thread() {
  if (record_) record_->core->recycle(*record_);
}

thread_record* unstarted_thread::start(body& b) noexcept {
  thread_record* t = std::exchange(record_, nullptr);
  t->count.store(2, std::memory_order_relaxed); // the thread's own and the caller's
  t->core->start(lock_entry::of(*t), *t, b);
  return t;
}

} // namespace detail

using namespace detail;

// ---- handles

thread::thread(const thread& other) noexcept : record_(other.record_) {
  if (record_) add_count(*record_);
}

thread::~thread() {
  if (record_) drop_count(*record_);
}

namespace {

thread_record& require(thread_record* record, const char* call) {
  if (!record) throw thread_error(std::string(call) + ": the handle is empty");
  return *record;
}

bool has_ended(const thread_record& t) noexcept {
  return t.status.load(std::memory_order_acquire) == thread_status::ended;
}

void check_join(const running& here, const thread_record& target, const char* call) {
  if (target.core != here.self.core)
    throw thread_error(std::string(call) + ": the thread belongs to another VM");
  if (&target == &here.self) throw thread_error("Target thread must not be current thread");
  if (target.is_main) throw thread_error("Target thread must not be main thread");
}

bool wait_for_end(const running& here, thread_record& target, clock::time_point due) {
  static constexpr wait_reason reason{"join"};
  deliver(here, here.self);
  while (!has_ended(target)) {
    wake_reason why;
    {
      linked_waiter w(here, here.self, target.joiners);
      why = park(here, here.self, reason, true, due);
    }
    if (has_ended(target)) break;
    if (why == wake_reason::timed_out) return false;
    deliver(here, here.self);
  }
  return true;
}

// A message that an OS thread outside sends to a thread of the VM.
struct posted_interrupt : inbox_node {
  using sender = void (*)(held, thread_record&, std::exception_ptr&) noexcept;
  posted_interrupt(thread_record& t, sender s, std::exception_ptr e) noexcept
      : inbox_node(handle_it), target(&t), send(s), error(std::move(e)) {
    add_count(t);
  }
  ~posted_interrupt() { drop_count(*target); }
  static void handle_it(inbox_node& node, held h) noexcept {
    auto& self = static_cast<posted_interrupt&>(node);
    self.send(h, *self.target, self.error);
    delete &self;
  }
  thread_record* target;
  sender send;
  std::exception_ptr error;
};

void post_interrupt(thread_record& target, posted_interrupt::sender send,
                    std::exception_ptr error = nullptr) {
  auto message = std::make_unique<posted_interrupt>(target, send, std::move(error));
  if (target.core->post(*message)) static_cast<void>(message.release());
}

void send_kill_to(held h, thread_record& target, std::exception_ptr&) noexcept { send_kill(h, target); }

void send_error_to(held h, thread_record& target, std::exception_ptr& error) noexcept {
  auto* node = new (std::nothrow) interrupt;
  if (!node)
    return send_kill(h, target); // no memory for the message: the thread cannot go on as if nothing happened
  node->error = std::move(error);
  send_error(h, target, node);
}

void wake_sleeper(held h, thread_record& target, std::exception_ptr&) noexcept {
  if (const wait_reason* reason = target.waits_for(); reason && reason->wakeable)
    make_ready(h, target, target.ticket, wake_reason::notified);
}

bool is_inside(const thread_record& target) noexcept {
  thread_record* here = running_record();
  return here && here->core == target.core;
}

} // namespace

[[gnu::flatten]] void thread::join() const { join_for(forever); }

[[gnu::flatten]] bool thread::join_for(duration limit) const {
  thread_record& target = require(record_, "thread::join");
  running here = require_running("thread::join");
  check_join(here, target, "thread::join");
  const auto due = limit == forever ? clock::time_point::max() : deadline_after(limit);
  if (!wait_for_end(here, target, due)) return false;
  if (target.failure) std::rethrow_exception(target.failure);
  return true;
}

void thread::join_for_result(const char* call) const {
  thread_record& target = require(record_, call);
  running here = require_running(call);
  check_join(here, target, call);
  wait_for_end(here, target, clock::time_point::max());
  if (target.failure) std::rethrow_exception(target.failure);
  if (target.killed) throw thread_killed(std::string(call) + ": the thread was killed and has no result");
}

body& thread::body() const noexcept { return *record_->body; }

void thread::raise(std::exception_ptr error) const {
  thread_record& target = require(record_, "thread::raise");
  if (!error) throw thread_error("thread::raise: there is no exception in the pointer");
  if (&target == running_record()) std::rethrow_exception(std::move(error));
  if (!is_inside(target)) return post_interrupt(target, send_error_to, std::move(error));
  auto node = std::make_unique<interrupt>();
  node->error = std::move(error);
  send_error(lock_entry::of(target), target, node.release());
}

void thread::kill() const {
  thread_record& target = require(record_, "thread::kill");
  if (!is_inside(target)) return post_interrupt(target, send_kill_to);
  held h = lock_entry::of(target);
  send_kill(h, target);
  if (&target == running_record()) deliver(h, target);
}

void thread::wakeup() const {
  thread_record& target = require(record_, "thread::wakeup");
  if (has_ended(target)) throw thread_error("killed thread");
  if (!is_inside(target)) return post_interrupt(target, wake_sleeper);
  std::exception_ptr none;
  wake_sleeper(lock_entry::of(target), target, none);
}

thread_status thread::status() const {
  return require(record_, "thread::status").status.load(std::memory_order_acquire);
}

thread::id thread::get_id() const noexcept { return record_ ? id(record_->id) : id(); }

std::string_view thread::name() const noexcept {
  return record_ && record_->name ? std::string_view(record_->name.get()) : std::string_view();
}

int thread::waits_on_descriptor() const noexcept {
  const wait_reason* reason = record_ ? record_->waits_for() : nullptr;
  return reason ? reason->descriptor : -1;
}

// ---- the calling thread

namespace this_thread {

namespace {

void sleep_to(const char* call, clock::time_point due) {
  static constexpr wait_reason reason{"sleep", -1, nullptr, true};
  running here = require_running(call);
  deliver(here, here.self);
  new_ticket(here, here.self);
  if (park(here, here.self, reason, true, due) == wake_reason::interrupted) deliver(here, here.self);
}

} // namespace

void yield() {
  running here = require_running("this_thread::yield");
  if (!here.self.interrupts.empty()) deliver(here, here.self);
  here.core().run_later(here, here.self);
  here.core().switch_away(here, here.self);
}

void checkpoint() {
  running here = require_running("this_thread::checkpoint");
  here.core().take_in_posted(here);
  if (!here.self.interrupts.empty()) deliver(here, here.self);
}

void sleep() { sleep_to("this_thread::sleep", clock::time_point::max()); }

void sleep_for(duration time) {
  if (time < duration::zero()) throw std::invalid_argument("time interval must not be negative");
  if (time == duration::zero()) return yield();
  sleep_to("this_thread::sleep_for", deadline_after(time));
}

void sleep_until(clock::time_point when) { sleep_to("this_thread::sleep_until", when); }

thread::id get_id() noexcept {
  thread_record* here = running_record();
  return here ? thread::id(here->id) : thread::id();
}

thread self() {
  running here = require_running("this_thread::self");
  add_count(here.self);
  return thread_access::adopt(&here.self);
}

} // namespace this_thread

no_interrupts::no_interrupts() : record_(&require_running("no_interrupts").self) { ++record_->defer_depth; }

no_interrupts::~no_interrupts() { --record_->defer_depth; }

} // namespace rouse
