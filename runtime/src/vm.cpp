#include <rouse/vm.hpp>

#include "test_hooks.hpp"
#include "vm_core.hpp"

#include <cstdio>

namespace rouse {

using namespace detail;

namespace {

void report_to_stderr(const std::string& text) { std::fputs((text + "\n").c_str(), stderr); }

struct posted_function : inbox_node {
  explicit posted_function(std::unique_ptr<posted_work> w) noexcept
      : inbox_node(handle_it), work(std::move(w)) {}
  std::unique_ptr<posted_work> work;

  struct work_body final : body {
    explicit work_body(std::unique_ptr<posted_work> w) noexcept : work(std::move(w)) {}
    void run() override { work->run(); }
    void drop_call() noexcept override { work.reset(); }
    std::unique_ptr<posted_work> work;
  };

  static void handle_it(inbox_node& node, held h) noexcept {
    std::unique_ptr<posted_function> self(&static_cast<posted_function&>(node));
    if (h.core().ending) return; // dropped, as post() says; a flood of them must not cost a throw each
    static const thread_options options{"posted", 0};
    try {
      thread_record* t = h.core().make_thread(h, options, false);
      void* place = reinterpret_cast<std::byte*>(t) - sizeof(work_body);
      h.core().start(h, *t, *::new (place) work_body(std::move(self->work)));
    } catch (const std::exception&) {
      // No thread can be made: the work is dropped, as post() says.
    }
  }
};

std::vector<thread> handles_of(const living_list& living, const thread_record* except) {
  std::vector<thread> all;
  for (const thread_record& t : living)
    if (&t != except) {
      add_count(const_cast<thread_record&>(t));
      all.push_back(thread_access::adopt(const_cast<thread_record*>(&t)));
    }
  return all;
}

// Either the caller runs in the VM, or nobody does and the lock can be taken for a moment.
template <class F> auto with_lock_held(vm_core& core, const char* call, F&& f) {
  if (thread_record* here = running_record(); here && here->core == &core) return f(lock_entry::of(*here));
  lock_entry entry(core, call);
  return f(entry.token());
}

} // namespace

// ---- remote

remote::remote(vm_core& core) noexcept : core_(&core) { core.add_count(); }

remote::remote(const remote& other) noexcept : core_(other.core_) {
  if (core_) core_->add_count();
}

remote::~remote() {
  if (core_) core_->drop_count();
}

void remote::post_work(std::unique_ptr<posted_work> work) const {
  if (!core_) throw thread_error("remote::post: the handle was moved from");
  auto message = std::make_unique<posted_function>(std::move(work));
  if (!core_->post(*message)) throw vm_gone("remote::post: the VM has ended");
  static_cast<void>(message.release());
}

// ---- vm

vm::vm(vm_options options) : core_(new vm_core(std::move(options))) {}

vm::~vm() {
  const auto& hook = core_->options.on_slow_end;
  const std::function<void(const std::string&)> report = hook ? hook : report_to_stderr;
  core_->end_all(&report);
  core_->drop_count();
}

void vm::run_main(body& b) {
  std::exception_ptr failure;
  bool killed = false;
  {
    lock_entry entry(*core_, "vm::run");
    held h = entry.token();
    static const thread_options options{"main", 0};
    thread_record* main = core_->make_thread(h, options, true);
    add_count(*main); // ours, so that it still is there when it has ended
    core_->start(h, *main, b);
    core_->run_until_idle(h);
    while (main->status.load(std::memory_order_relaxed) != thread_status::ended) {
      core_->wait_for_work(h, clock::time_point::max());
      core_->run_until_idle(h);
    }
    --core_->ending; // which main's end has set
    failure = main->failure;
    killed = main->killed;
    main->body = nullptr; // it is the caller's
    drop_count(*main);
  }
  if (failure) std::rethrow_exception(std::move(failure));
  if (killed) throw thread_killed("vm::run: main was killed and has no result");
}

remote vm::make_remote() { return remote(*core_); }

std::vector<thread> vm::threads() {
  return with_lock_held(*core_, "vm::threads", [&](held) { return handles_of(core_->living, nullptr); });
}

std::string vm::dump() {
  return with_lock_held(*core_, "vm::dump", [&](held h) { return core_->describe(h); });
}

int vm::event_descriptor() {
  if (!core_->io.has_alarm())
    with_lock_held(*core_, "vm::event_descriptor", [&](held) {
      if (int error = core_->io.arm_alarm(clock::time_point::max()))
        throw std::system_error(error, std::generic_category(), "timerfd_create");
    });
  return core_->io.descriptor();
}

bool vm::run_ready() {
  lock_entry entry(*core_, "vm::run_ready");
  held h = entry.token();
  do {
    core_->poll(h, duration::zero());
    if (!core_->timers.empty()) core_->timers.fire(h, core_->coarse_now = clock::now());
    core_->run_until_idle(h);
    core_->io.register_pending(h);
  } while (core_->anything_runnable());
  if (core_->io.has_alarm())
    core_->io.arm_alarm(core_->timers.empty() ? clock::time_point::max() : core_->timers.earliest());
  return core_->living_count > 0;
}

namespace {

// Runs the VM on the calling OS thread until its threads have ended, or the time has come.
std::vector<thread> end_all_here(vm_core& core, clock::time_point due) {
  lock_entry entry(core, "vm::shutdown");
  held h = entry.token();
  ++core.ending;
  core.take_in_posted(h);
  core.kill_all(h, nullptr);
  core.run_until_idle(h, due);
  while (core.living_count > 0 && clock::now() < due) {
    core.wait_for_work(h, due);
    core.run_until_idle(h, due);
  }
  --core.ending;
  return handles_of(core.living, nullptr);
}

struct posted_end : inbox_node {
  explicit posted_end(std::shared_ptr<std::vector<thread>> h)
      : inbox_node(handle_it), handles(std::move(h)) {}
  std::shared_ptr<std::vector<thread>> handles;
  static void handle_it(inbox_node& node, held h) noexcept {
    std::unique_ptr<posted_end> self(&static_cast<posted_end&>(node));
    vm_core& core = h.core();
    {
      std::lock_guard guard(core.outside_mutex);
      try {
        *self->handles = handles_of(core.living, nullptr);
      } catch (const std::bad_alloc&) {
        self->handles->clear(); // they are killed all the same
      }
    }
    core.kill_all(h, nullptr);
  }
};

// Another OS thread runs the VM: it is told to end everything, and this one waits until it rests. No value:
// it does, but perhaps it had looked at what was posted for the last time before.
std::optional<std::vector<thread>> end_all_there(vm_core& core, clock::time_point due) {
  ROUSE_TEST_POINT("shutdown.post");
  auto handles = std::make_shared<std::vector<thread>>();
  auto message = std::make_unique<posted_end>(handles);
  if (core.post(*message)) static_cast<void>(message.release());
  std::unique_lock guard(core.outside_mutex);
  auto at_rest = [&] { return !core.entered.load(std::memory_order_acquire); };
  if (due == clock::time_point::max()) {
    core.outside_changed.wait(guard, at_rest);
    return std::nullopt;
  }
  if (core.outside_changed.wait_until(guard, due, at_rest)) return std::nullopt;
  std::vector<thread> left;
  for (thread& t : *handles)
    if (t.alive()) left.push_back(std::move(t));
  return left;
}

} // namespace

std::vector<thread> vm::shutdown(duration limit) {
  const auto due = limit == forever ? clock::time_point::max() : deadline_after(limit);
  if (thread_record* here = running_record(); here && here->core == core_) {
    held h = lock_entry::of(*here);
    deliver(h, *here);
    if (!core_->end_others(h, *here, true, due)) deliver(h, *here);
    return handles_of(core_->living, here);
  }
  while (core_->entered.load(std::memory_order_acquire))
    if (auto left = end_all_there(*core_, due)) return std::move(*left);
  return end_all_here(*core_, due);
}

} // namespace rouse
