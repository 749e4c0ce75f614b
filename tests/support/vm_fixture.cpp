#include "vm_fixture.hpp"
#include "test_hooks.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

namespace rouse_test {

std::size_t open_descriptors() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n - 1; // the one that the look itself opens
}

struct watchdog::state {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::unique_ptr<rouse::remote> vm;
};

namespace {

// The VM prints its own dump, if it still takes work in.
void report(const std::unique_ptr<rouse::remote>& vm, rouse::vm* watched) {
  std::fprintf(stderr, "watchdog: the test hangs\n");
  if (!vm || !watched) return;
  try {
    vm->post([watched] { std::fprintf(stderr, "%s", watched->dump().c_str()); });
  } catch (const rouse::thread_error& e) {
    std::fprintf(stderr, "watchdog: %s\n", e.what());
  }
  std::this_thread::sleep_for(2s);
}

} // namespace

static rouse::vm* watched_vm = nullptr;

watchdog::watchdog(std::chrono::seconds limit) : state_(std::make_shared<state>()) {
  std::thread([s = state_, limit] {
    std::unique_lock lock(s->mutex);
    if (s->changed.wait_for(lock, limit, [&] { return s->over; })) return;
    report(s->vm, watched_vm);
    std::abort();
  }).detach();
}

watchdog::~watchdog() {
  {
    std::lock_guard lock(state_->mutex);
    state_->over = true;
    state_->vm.reset();
    watched_vm = nullptr;
  }
  state_->changed.notify_all();
}

void watchdog::watch(rouse::vm& vm) {
  std::lock_guard lock(state_->mutex);
  state_->vm = std::make_unique<rouse::remote>(vm.make_remote());
  watched_vm = &vm;
}

void vm_test::TearDown() {
  EXPECT_TRUE(vm->threads().empty()) << "threads are left:\n" << vm->dump();
  vm.reset();
  EXPECT_EQ(open_descriptors(), descriptors_before) << "descriptors are left open";
}

at_test_point::at_test_point(std::function<void(std::string_view)> at) {
  rouse::test_hooks::at_point = std::move(at);
}
at_test_point::~at_test_point() { rouse::test_hooks::at_point = nullptr; }

system_call_hook::system_call_hook(std::function<long(long)> before) {
  rouse::test_hooks::before_call = std::move(before);
}
system_call_hook::~system_call_hook() { rouse::test_hooks::before_call = nullptr; }

} // namespace rouse_test
