#pragma once
// What every test of the library stands on.
//
// Each test gets a VM. Its body runs as main through run(). A watchdog ends a hang and prints what every
// thread waits for. The tear-down demands that nothing is left: no thread but main, no open descriptor that
// was not there before.

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>
#include <rouse/vm.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

namespace rouse_test {

using namespace std::chrono_literals;

// How many descriptors this process has open.
std::size_t open_descriptors();

// Ends the program with a report if it lives longer than `limit`.
class watchdog {
 public:
  explicit watchdog(std::chrono::seconds limit = 60s);
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  void watch(rouse::vm& vm); // a hang of it is reported with its dump

 private:
  struct state;
  std::shared_ptr<state> state_;
};

class vm_test : public ::testing::Test {
 protected:
  vm_test() : vm(std::make_unique<rouse::vm>()) {}
  void TearDown() override;

  // Runs `f` as main; afterwards the VM must be empty.
  template <class F> auto run(F&& f) {
    dog.watch(*vm);
    return vm->run(std::forward<F>(f));
  }

  std::size_t descriptors_before = open_descriptors(); // before the VM is made
  watchdog dog;
  std::unique_ptr<rouse::vm> vm;
};

// Yields until `done()`; for states that only other threads of the VM bring about.
template <class P> void yield_until(P done) {
  while (!done()) rouse::this_thread::yield();
}

// Yields until the thread is parked: the event that tests wait for before they act on a blocked thread.
inline void until_parked(const rouse::thread& t) {
  yield_until([&] { return t.status() != rouse::thread_status::runnable; });
}

// Sets the hook of <test_hooks.hpp> for a scope. `at` is called with the name of each point that a thread
// passes.
class at_test_point {
 public:
  explicit at_test_point(std::function<void(std::string_view)> at);
  ~at_test_point();
  at_test_point(const at_test_point&) = delete;
  at_test_point& operator=(const at_test_point&) = delete;
};

// Makes system calls fail for a scope: `before` is given the number of each, and a negative errno value that
// it returns takes the place of the call.
class system_call_hook {
 public:
  explicit system_call_hook(std::function<long(long number)> before);
  ~system_call_hook();
  system_call_hook(const system_call_hook&) = delete;
  system_call_hook& operator=(const system_call_hook&) = delete;
};

// The number of rounds of a stress test: a tenth under the sanitizers, which are slow.
constexpr int rounds(int normal) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return normal / 10;
#else
  return normal;
#endif
}

} // namespace rouse_test
