// io_close and io_close_contended, CRuby's benchmarks of those names: pipes that were made before are closed,
// both ends of each. In io_close nobody uses them, 100 to an iteration; in io_close_contended a thread is
// blocked on the reading end of each, 10 to an iteration. The twins close as many descriptors.

#include "benchmarks.hpp"
#include "support/crowd.hpp"
#include "support/forms.hpp"
#include "support/in_vm.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace bench {

namespace {

constexpr std::size_t pipes = 100;
constexpr std::size_t contended_pipes = 10;

void count_pipes(benchmark::State& state, std::size_t each) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(each));
}

void close_idle(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    std::vector<rouse::pipe_ends> batch;
    for (auto _ : state) {
      state.PauseTiming();
      batch.clear();
      for (std::size_t i = 0; i < pipes; ++i) batch.push_back(rouse::pipe());
      state.ResumeTiming();
      for (rouse::pipe_ends& p : batch) {
        p.reader.close();
        p.writer.close();
      }
    }
    count_pipes(state, pipes);
  });
}

void close_contended(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    std::vector<rouse::pipe_ends> batch;
    for (auto _ : state) {
      state.PauseTiming();
      batch.clear();
      for (std::size_t i = 0; i < contended_pipes; ++i) {
        batch.push_back(rouse::pipe());
        rouse::spawn([s = batch.back().reader]() mutable { read_for_exception(s); });
      }
      rouse::this_thread::yield(); // now they are blocked
      state.ResumeTiming();
      for (rouse::pipe_ends& p : batch) {
        p.reader.close();
        p.writer.close();
      }
    }
    count_pipes(state, contended_pipes);
  });
}

void close_raw(benchmark::State& state, std::size_t each) {
  in_vm(state, [&](rouse::vm&) {
    std::vector<int> batch(2 * each);
    for (auto _ : state) {
      state.PauseTiming();
      for (std::size_t i = 0; i < batch.size(); i += 2)
        if (::pipe2(&batch[i], O_CLOEXEC | O_NONBLOCK) != 0) return state.SkipWithError("pipe2 failed");
      state.ResumeTiming();
      for (int fd : batch) ::close(fd);
    }
    count_pipes(state, each);
  });
}

} // namespace

void add_io_close() {
  add("io_close", close_idle);
  add("raw/io_close", [](benchmark::State& state) { close_raw(state, pipes); });
  add("io_close_contended", close_contended);
  add("raw/io_close_contended", [](benchmark::State& state) { close_raw(state, contended_pipes); });
}

} // namespace bench
