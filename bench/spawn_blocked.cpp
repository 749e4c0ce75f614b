// spawn_blocked: threads that all block on one stream, in a VM that has never had a thread: every stack is a
// new one. One iteration is a VM; its time runs from the first spawn to the moment when the last thread is
// blocked. `bytes_per_thread` is what the process holds then beyond what it held before, page tables
// included.
//
// The twin makes as many stacks, each with a guard page and one fresh page, and does nothing with them.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"
#include "support/memory.hpp"
#include "support/raw_stacks.hpp"

#include <rouse/error.hpp>
#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <system_error>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

struct result {
  double seconds = 0;
  std::size_t count = 0; // less than wanted where the machine gives no more
  std::size_t bytes = 0;
};

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

result block_threads(std::size_t wanted) {
  rouse::pipe_ends ends = rouse::pipe();
  result r;
  const std::size_t before = memory_in_use();
  const clock::time_point start = clock::now();
  std::size_t blocked = 0;
  try {
    for (; r.count < wanted; ++r.count)
      rouse::spawn([&] {
        ++blocked;
        std::byte nothing[1];
        std::error_code closed;
        ends.reader.read_some(nothing, closed);
      });
  } catch (const rouse::resource_error&) {
  }
  while (blocked < r.count) rouse::this_thread::yield();
  r.seconds = seconds_since(start);
  r.bytes = memory_in_use() - before;
  ends.reader.close();
  return r;
}

result make_stacks(std::size_t wanted) {
  raw_stacks stacks;
  result r;
  const std::size_t before = memory_in_use();
  const clock::time_point start = clock::now();
  r.count = stacks.make(wanted);
  r.seconds = seconds_since(start);
  r.bytes = memory_in_use() - before;
  return r;
}

// A page and what it takes to find it, and some room for everybody else.
bool memory_suffices(benchmark::State& state, std::size_t threads) {
  const std::size_t needed = threads * 5500;
  const std::size_t there = memory_available();
  if (needed < there) return true;
  const std::string text = "skipped: it takes " + std::to_string(needed >> 20) + " MiB of memory, and " +
                           std::to_string(there >> 20) + " MiB are available";
  state.SkipWithError(text.c_str());
  return false;
}

void measure(benchmark::State& state, std::size_t threads, result (*once)(std::size_t)) {
  if (!memory_suffices(state, threads)) return;
  std::size_t done = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    in_vm(state, [&](rouse::vm&) {
      const result r = once(threads);
      state.SetIterationTime(r.seconds);
      done += r.count;
      bytes += r.bytes;
      if (r.count < threads)
        state.SetLabel("limit of the machine: only " + std::to_string(r.count) + " (vm.max_map_count?)");
    });
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
  if (done > 0) state.counters["bytes_per_thread"] = static_cast<double>(bytes) / static_cast<double>(done);
}

} // namespace

void add_spawn_blocked() {
  for (std::size_t threads : {10'000u, 100'000u, 1'000'000u}) {
    const std::string rest = "/blocked:" + std::to_string(threads);
    add("spawn_blocked/kind:green" + rest, [=](benchmark::State& s) {
      measure(s, threads, block_threads);
    })->UseManualTime();
    add("raw/spawn_blocked" + rest, [=](benchmark::State& s) {
      measure(s, threads, make_stacks);
    })->UseManualTime();
  }
}

} // namespace bench
