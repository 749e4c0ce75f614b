// raw/throw_catch: what the language takes to throw the closed-stream error from where a read throws it and
// to catch it where the caller of the read does. The frames between are those of close_wake/form:exception:
// the caller, the public call, the one function that throws.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/io_error.hpp>
#include <rouse/thread.hpp>

#include <cstddef>

namespace bench {

namespace {

// Copied as the library copies its own.
const rouse::stream_closed& prototype() {
  static const auto& the =
      *new rouse::stream_closed(make_error_code(rouse::io_errc::closed_under_call), "read");
  return the;
}

// Has nothing to destroy, as the library's has not: a clean-up would cost as much as a frame or two.
[[gnu::noinline]] void throw_closed(std::size_t moved) {
  benchmark::DoNotOptimize(moved);
  throw rouse::stream_closed(prototype());
}

[[gnu::noinline]] std::size_t read_that_fails(std::size_t moved) {
  benchmark::DoNotOptimize(moved);
  throw_closed(moved);
  return moved; // keeps the call above from being the tail
}

void throw_catch(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    rouse::spawn([&] {
      for (auto _ : state) {
        try {
          read_that_fails(0);
        } catch (const rouse::stream_closed& error) {
          benchmark::DoNotOptimize(&error);
        }
      }
    }).join();
  });
}

} // namespace

void add_throw_catch() { add("raw/throw_catch", throw_catch); }

} // namespace bench
