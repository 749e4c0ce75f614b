// rouse_bench: what threads and streams cost, beside the bare mechanism or the same system calls in a plain
// loop. docs/measuring.md says how to read the names and the figures.

#include "benchmarks.hpp"
#include "support/limits.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace {

// A whole run stays short; who wants other times says so, and the last one counts.
std::string default_time = "--benchmark_min_time=0.1";

} // namespace

int main(int argc, char** argv) {
  bench::raise_descriptor_limit();
  std::vector<char*> arguments;
  arguments.reserve(static_cast<std::size_t>(argc) + 2);
  arguments.push_back(argv[0]);
  arguments.push_back(default_time.data());
  for (int i = 1; i < argc; ++i) arguments.push_back(argv[i]);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  bench::add_context_jump();
  bench::add_throw_catch();
  bench::add_yield();
  bench::add_spawn_join();
  bench::add_spawn_blocked();
  bench::add_mutex_hand_over();
  bench::add_vm_thread_close();
  bench::add_close_wake();
  bench::add_close_wake_distinct();
  bench::add_pipe_ping_pong();
  bench::add_io_close();
  bench::add_io_pipe_rw();
  bench::add_vm_thread();
  bench::add_vm_thread_sync();

  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
