#pragma once
// Runs a measurement as main of a VM of its own, so that what one leaves behind does not slow the next.

#include <rouse/vm.hpp>

#include <benchmark/benchmark.h>

#include <exception>

namespace bench {

// Calls `f(vm)` as main. What it throws becomes the benchmark's error, and the run goes on with the next.
template <class F> void in_vm(benchmark::State& state, F f) {
  try {
    rouse::vm vm;
    vm.run([&] { f(vm); });
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

// Registers `f(state)` under a name that is built at run time.
template <class F> benchmark::internal::Benchmark* add(const std::string& name, F f) {
  return benchmark::RegisterBenchmark(name.c_str(), f);
}

} // namespace bench
