// close_wake: many threads read from one stream, and it is closed. One iteration is one close; its time runs
// from the call of close() to the moment when the last waiter has its error in hand. The error comes as a
// value or as an exception.
//
// The threads are the same in each round: within the time each of them does no more than see its error and
// let the next one run, and then, outside the time, they block on the pipe of the next round.

#include "benchmarks.hpp"
#include "support/forms.hpp"
#include "support/in_vm.hpp"

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

class rounds {
 public:
  explicit rounds(std::size_t waiters) : waiters_(waiters) { ends_[now_] = rouse::pipe(); }
  rounds(const rounds&) = delete;
  rounds& operator=(const rounds&) = delete;

  template <class Wait> void start_threads(Wait wait) {
    for (std::size_t i = 0; i < waiters_; ++i)
      rouse::spawn([this, wait] {
        while (!over_) {
          ++blocked_;
          wait(ends_[now_].reader);
          if (++seen_ == waiters_) last_seen_ = clock::now();
          rouse::this_thread::yield();
        }
      });
  }

  // One round, in seconds.
  double close() {
    while (blocked_ < waiters_) rouse::this_thread::yield();
    blocked_ = seen_ = 0;
    rouse::pipe_ends& closing = ends_[now_];
    now_ = 1 - now_;
    ends_[now_] = rouse::pipe();
    const clock::time_point start = clock::now();
    closing.reader.close();
    while (seen_ < waiters_) rouse::this_thread::yield();
    return std::chrono::duration<double>(last_seen_ - start).count();
  }

  void end() {
    while (blocked_ < waiters_) rouse::this_thread::yield();
    over_ = true;
    close();
    rouse::this_thread::yield();
  }

 private:
  const std::size_t waiters_;
  rouse::pipe_ends ends_[2]; // of this round, and of the next
  std::size_t now_ = 0;
  std::size_t blocked_ = 0;
  std::size_t seen_ = 0;
  clock::time_point last_seen_;
  bool over_ = false;
};

template <class Wait> void close_wake(benchmark::State& state, std::size_t waiters, Wait wait) {
  in_vm(state, [&](rouse::vm&) {
    rounds all(waiters);
    all.start_threads(wait);
    for (auto _ : state) state.SetIterationTime(all.close());
    all.end();
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(waiters));
  });
}

} // namespace

void add_close_wake() {
  for (std::size_t waiters : {1000u, 10000u}) {
    const std::string rest = "/kind:green/waiters:" + std::to_string(waiters);
    add("close_wake/form:value" + rest, [=](benchmark::State& s) {
      close_wake(s, waiters, read_for_value);
    })->UseManualTime();
    add("close_wake/form:exception" + rest, [=](benchmark::State& s) {
      close_wake(s, waiters, read_for_exception);
    })->UseManualTime();
  }
}

} // namespace bench
