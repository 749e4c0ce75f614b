#include "vm_core.hpp"
#include "process.hpp"
#include "test_hooks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

namespace rouse::detail {

namespace {
thread_local worker* os_thread_worker = nullptr;

constexpr std::size_t smallest_stack = 16 * 1024;

std::size_t checked_stack_size(std::size_t size, const char* what) {
  if (size < smallest_stack)
    throw std::invalid_argument(std::string(what) + " is " + std::to_string(size) + "; it takes at least " +
                                std::to_string(smallest_stack) + " bytes");
  // The guard page comes on top. An odd number of pages, since stacks that lie a power of two apart would
  // share a few sets of the processor's address translation cache (measured: half the cost of waking 10 000
  // threads).
  const std::size_t page = page_size();
  return (((size + page - 1) / page + 1) | 1) * page;
}

// The first function on every green stack.
void thread_entry(boost::context::detail::transfer_t transfer) noexcept {
  worker* w = current_worker();
  thread_record& self = *w->current;
  held h = lock_entry::of(self);
  self.core->finish_switch(arrived(transfer, self));
  try {
    if (!self.interrupts.empty()) deliver(h, self);
    self.body->run();
  } catch (kill_unwind& k) {
    k.disarm();
    self.killed = true;
  } catch (...) {
    self.failure = std::current_exception();
  }
  self.body->drop_call();
  if (self.is_main) {
    ++self.core->ending; // until the run is over: nobody would end what starts now
    self.core->end_others(h, self, false, clock::time_point::max());
  }
  self.core->leave_for_good(h, self);
}

} // namespace

[[gnu::noinline]] worker* current_worker() noexcept {
  asm volatile("");
  return os_thread_worker;
}

thread_record* running_record() noexcept {
  worker* w = current_worker();
  return w ? w->current : nullptr;
}

running require_running(const char* call) {
  thread_record* self = running_record();
  if (!self) throw thread_error(std::string(call) + ": not inside a VM");
  return {lock_entry::of(*self), *self};
}

lock_entry::lock_entry(vm_core& core, const char* call) : core_(core), worker_(held(core)) {
  if (core.entered.exchange(true, std::memory_order_acquire))
    throw thread_error(std::string(call) + ": this VM is being run already");
  core.word.take();
  block_sigpipe();
  adopt_os_thread(worker_);
  worker_.globals = os_thread_exception_globals();
  worker_.outer = os_thread_worker;
#ifdef ROUSE_ASAN
  if (worker_.outer && worker_.outer->current) {
    worker_.stack_bottom = worker_.outer->current->stack_bottom;
    worker_.stack_size = worker_.outer->current->stack_size;
  }
#endif
  os_thread_worker = &worker_;
  core.active_worker = &worker_;
}

lock_entry::~lock_entry() {
  core_.active_worker = nullptr;
  os_thread_worker = worker_.outer;
  core_.word.leave_idle(); // what is posted from now on kicks the descriptor, and waits for the next entry
  if (core_.io.descriptor() >= 0 && !core_.inbox_.empty()) core_.io.kick(); // what came before did not
  unblock_sigpipe();
  {
    std::lock_guard guard(core_.outside_mutex);
    core_.entered.store(false, std::memory_order_release);
  }
  core_.outside_changed.notify_all();
}

vm_core::vm_core(vm_options o) : options(std::move(o)) {
  options.stack_size = checked_stack_size(options.stack_size, "vm_options::stack_size");
  options.main_stack_size = checked_stack_size(options.main_stack_size, "vm_options::main_stack_size");
  pool_for(options.stack_size);
}

vm_core::~vm_core() = default;

bool vm_core::post(inbox_node& node) noexcept {
  posters_.fetch_add(1, std::memory_order_seq_cst);
  const bool taken = inbox_.push(node);
  ROUSE_TEST_POINT("inbox.pushed");
  if (taken && word.is_idle()) io.kick();
  posters_.fetch_sub(1, std::memory_order_release);
  return taken;
}

// ---- scheduling

thread_record* vm_core::next_runnable(held h) noexcept {
  take_in_posted(h);
  if (--switches_left_ <= 0) [[unlikely]] {
    look_around(h);
    if (coarse_now >= come_back_) return nullptr;
  }
  if (runnable_.empty()) return nullptr;
  thread_record& t = runnable_.front();
  runnable_.pop_front();
  if (!runnable_.empty()) prefetch(runnable_.front());
  return &t;
}

// When many threads become ready at once, each is found on memory that was last touched long ago. So while
// one runs, what the next one needs is fetched: its record, the lines above its stack pointer, and the record
// of the one behind it (measured: half the cost of waking 1000 threads, and a third of that of 10 000).
void vm_core::prefetch(thread_record& next) noexcept {
  constexpr std::size_t line = 64;
  constexpr std::size_t lines_of_a_wait = 8;
  __builtin_prefetch(reinterpret_cast<std::byte*>(&next) + line, 1);
  auto* stack = static_cast<std::byte*>(next.context);
  for (std::size_t i = 0; i < lines_of_a_wait; ++i) __builtin_prefetch(stack + i * line, 1);
  if (auto behind = std::next(run_queue::s_iterator_to(next)); behind != runnable_.end())
    __builtin_prefetch(&*behind, 1);
}

[[gnu::noinline]] void vm_core::look_around(held h) noexcept {
  switches_left_ = switches_between_looks;
  if (io.waiting > 0) poll(h, duration::zero());
  if (!timers.empty() || come_back_ != clock::time_point::max()) coarse_now = clock::now();
  if (!timers.empty()) timers.fire(h, coarse_now);
}

void vm_core::switch_away(held h, thread_record& self) noexcept {
  thread_record* next = next_runnable(h);
  if (next == &self) return;
  worker& w = *active_worker;
  w.current = next;
  switch_point& to = next ? static_cast<switch_point&>(*next) : w;
  finish_switch(switch_to(self, to, *w.globals));
}

void vm_core::leave_for_good(held h, thread_record& self) noexcept {
  if (self.count.load(std::memory_order_acquire) == 1) {
    self.body->~body(); // nobody will ask for the result: it ends in its own thread
    self.body = nullptr;
  }
  ROUSE_TEST_POINT("thread.leaves");
  mutex_access::release_all(h, self);
  self.status.store(thread_status::ended, std::memory_order_release);
  self.interrupts.clear();
  wake_all(h, self.joiners);
  living.erase(living.iterator_to(self));
  if (--living_count <= 1) wake_all(h, quiet_waiters);
  self.ended = true;
  switch_away(h, self);
  __builtin_unreachable();
}

// Runs threads until none is runnable. Green threads switch among themselves; the last one that parks comes
// back here.
void vm_core::run_until_idle(held h, clock::time_point limit) noexcept {
  worker& w = *active_worker;
  come_back_ = limit;
  while (thread_record* next = next_runnable(h)) {
    w.current = next;
    finish_switch(switch_to(w, *next, *w.globals));
    if (limit != clock::time_point::max() && clock::now() >= limit) break;
  }
}

void vm_core::wait_for_work(held h, clock::time_point limit) noexcept {
  if (!timers.empty()) limit = std::min(limit, timers.earliest());
  duration wait = forever;
  if (limit != clock::time_point::max()) {
    coarse_now = clock::now();
    wait = limit <= coarse_now ? duration::zero() : limit - coarse_now; // a time long past would overflow
  }
  poll(h, wait);
  if (!timers.empty()) timers.fire(h, coarse_now = clock::now());
}

void vm_core::poll(held h, duration limit) noexcept {
  io.register_pending(h);
  if (!runnable_.empty()) limit = duration::zero();
  int events;
  if (limit == duration::zero()) {
    events = io.wait(limit); // short: the lock is kept
  } else {
    ROUSE_TEST_POINT("poll.leave");
    word.leave_idle();
    ROUSE_TEST_POINT("poll.idle");
    if (!inbox_.empty() && word.take()) {
      inbox_.drain(h);
      return;
    }
    events = io.wait(limit);
    word.take();
  }
  io.dispatch(h, events);
  take_in_posted(h);
}

// ---- threads

stack_pool& vm_core::pool_for(std::size_t stack_size) {
  for (auto& pool : pools_)
    if (pool->size() == stack_size) return *pool;
  pools_.push_back(std::make_unique<stack_pool>(stack_size));
  return *pools_.back();
}

namespace {

[[noreturn]] void throw_no_stack(int error) {
  std::string text = "can't create Thread: no stack";
  if (error == ENOMEM) text += " (if memory is free, raise vm.max_map_count or vm.overcommit_memory)";
  throw resource_error(error, std::generic_category(), text);
}

std::byte* align_down(std::byte* p, std::size_t alignment) noexcept {
  auto value = reinterpret_cast<std::uintptr_t>(p);
  return p - (value & (alignment - 1));
}

// Stacks lie a multiple of the page size apart. Frames at the same place in their page would look alike to
// the processor's store buffer, and each switch would stall on it (measured: 5 times the cost); so records
// begin at varying places.
std::byte* record_place(stack_slot& slot) noexcept {
  return align_down(reinterpret_cast<std::byte*>(&slot) - sizeof(thread_record) - slot.colour, 64);
}

} // namespace

thread_record* vm_core::make_thread(held, const thread_options& wanted, bool main) {
  if (ending) throw vm_gone("spawn: the VM is ending and takes no new threads");
  const std::size_t usual = main ? options.main_stack_size : options.stack_size;
  const std::size_t size =
      wanted.stack_size ? checked_stack_size(wanted.stack_size, "thread_options::stack_size") : usual;
  std::unique_ptr<char[]> name;
  if (!wanted.name.empty()) {
    name = std::make_unique<char[]>(wanted.name.size() + 1);
    std::memcpy(name.get(), wanted.name.c_str(), wanted.name.size() + 1);
  }
  int error = 0;
  stack_slot* slot = pool_for(size).acquire(error);
  if (!slot) throw_no_stack(error);
  auto* t = ::new (record_place(*slot)) thread_record(*this, ++next_thread_id_, slot, main);
  t->name = std::move(name);
#ifdef ROUSE_TSAN
  t->fiber = slot->fiber;
#endif
  add_dependent();
  return t;
}

void vm_core::start(held h, thread_record& t, body& b) noexcept {
  t.body = &b;
  // The stack begins beneath the record and, unless it is elsewhere, the body.
  std::byte* bottom = t.slot->pool->bottom(*t.slot);
  std::byte* top = reinterpret_cast<std::byte*>(&t);
  auto* body_place = reinterpret_cast<std::byte*>(&b);
  if (body_place > bottom && body_place < top) top = body_place;
  top = align_down(top, 64);
  prepare(t, top, static_cast<std::size_t>(top - bottom), thread_entry);
  living.push_back(t);
  ++living_count;
  run_later(h, t);
}

void vm_core::recycle(thread_record& t) noexcept {
  stack_slot* slot = t.slot;
  t.~thread_record();
  slot->pool->release(*slot);
  drop_dependent();
}

void vm_core::kill_all(held h, const thread_record* except) noexcept {
  for (thread_record& t : living)
    if (&t != except) send_kill(h, t);
}

bool vm_core::end_others(held h, thread_record& self, bool interruptible, clock::time_point due) noexcept {
  static constexpr wait_reason reason{"the end of the other threads"};
  ++ending;
  kill_all(h, &self);
  while (living_count > 1) {
    linked_waiter w(h, self, quiet_waiters);
    if (park(h, self, reason, interruptible, due) != wake_reason::notified) break;
  }
  --ending;
  return living_count <= 1;
}

void vm_core::end_all(const std::function<void(const std::string&)>* report) {
  lock_entry entry(*this, "~vm");
  held h = entry.token();
  ++ending;
  take_in_posted(h);
  kill_all(h, nullptr);
  constexpr auto patience = std::chrono::seconds(3);
  auto next_report = clock::now() + patience;
  while (living_count > 0) {
    run_until_idle(h, next_report);
    if (living_count == 0) break;
    if (clock::now() >= next_report) {
      (*report)("rouse: the destructor of a VM waits for\n" + describe(h));
      next_report = clock::now() + patience;
    }
    wait_for_work(h, next_report);
  }
  // From here on the dependents that are left keep the core, each by a count of its own.
  count_.fetch_add(dependents_, std::memory_order_relaxed);
  dependents_count_ = true;
  inbox_.shut(h);
  // A poster that was in time may still be about to kick: its number must not be a stranger's by then.
  while (posters_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  io.close();
}

} // namespace rouse::detail
