// yield: two threads that only let each other run. One iteration is one yield, which is one switch.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/thread.hpp>

namespace bench {

namespace {

constexpr int yields_a_batch = 1024;

void yield_green(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    bool over = false;
    rouse::thread first([&] {
      while (state.KeepRunningBatch(yields_a_batch))
        for (int i = 0; i < yields_a_batch; i += 2) rouse::this_thread::yield();
      over = true;
    });
    rouse::thread second([&] {
      while (!over) rouse::this_thread::yield();
    });
    first.join();
    second.join();
  });
}

} // namespace

void add_yield() { add("yield/kind:green", yield_green); }

} // namespace bench
