// spawn_join: a thread that does nothing, made and awaited; its stack is a warm one.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/thread.hpp>

namespace bench {

namespace {

void spawn_join_green(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    for (auto _ : state) rouse::spawn([] {}).join();
  });
}

} // namespace

void add_spawn_join() { add("spawn_join/kind:green", spawn_join_green); }

} // namespace bench
