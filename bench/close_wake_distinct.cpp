// close_wake_distinct: many pipes with one reader each, and all of them are closed in turn. One iteration is
// one round over all; its time runs from the first call of close() to the moment when the last reader has its
// error.
//
// Only the reading ends are closed within the time, and they are known to epoll by then: the VM was idle
// before, as one is that waits for descriptors. So a round of N takes N times close(2) of a pipe's reading
// end, which takes it out of epoll as well, beside the waking.
//
// The twin does the same to N pipes that it has entered into an epoll set for the same events, also before
// the time: N times close(2). It runs as main of a VM in which N threads sleep.

#include "benchmarks.hpp"
#include "support/crowd.hpp"
#include "support/forms.hpp"
#include "support/in_vm.hpp"

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <chrono>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <sys/epoll.h>
#include <unistd.h>
#include <vector>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start, clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

class readers {
 public:
  explicit readers(std::size_t count) : count_(count) { open(now_); }
  readers(const readers&) = delete;
  readers& operator=(const readers&) = delete;

  template <class Wait> void start_threads(Wait wait) {
    for (std::size_t i = 0; i < count_; ++i)
      rouse::spawn([this, wait, i] {
        while (!over_) {
          ++blocked_;
          wait(ends_[now_][i].reader);
          if (++seen_ == count_) last_seen_ = clock::now();
          rouse::this_thread::yield();
        }
      });
  }

  // One round, in seconds.
  double close() {
    while (blocked_ < count_) rouse::this_thread::yield();
    std::vector<rouse::pipe_ends>& closing = ends_[now_];
    open(1 - now_);
    // Idle: now all are known to epoll. The last thing before the time, as it is in the twin.
    rouse::this_thread::sleep_for(std::chrono::microseconds(100));
    blocked_ = seen_ = 0;
    now_ = 1 - now_;
    const clock::time_point start = clock::now();
    for (rouse::pipe_ends& p : closing) p.reader.close();
    while (seen_ < count_) rouse::this_thread::yield();
    closing.clear();
    return seconds_since(start, last_seen_);
  }

  void end() {
    while (blocked_ < count_) rouse::this_thread::yield();
    over_ = true;
    close();
    rouse::this_thread::yield();
  }

 private:
  void open(std::size_t which) {
    ends_[which].reserve(count_);
    while (ends_[which].size() < count_) ends_[which].push_back(rouse::pipe());
  }

  const std::size_t count_;
  std::vector<rouse::pipe_ends> ends_[2]; // of this round, and of the next
  std::size_t now_ = 0;
  std::size_t blocked_ = 0;
  std::size_t seen_ = 0;
  clock::time_point last_seen_;
  bool over_ = false;
};

// Two rounds' pipes are open at a time.
std::size_t as_many_as_fit(benchmark::State& state, std::size_t streams) {
  const std::size_t fit = std::min(streams, spare_descriptors() / 4);
  if (fit < streams) state.SetLabel("descriptor limit: only " + std::to_string(fit) + " streams");
  return fit;
}

template <class Wait> void close_wake_distinct(benchmark::State& state, std::size_t streams, Wait wait) {
  in_vm(state, [&](rouse::vm&) {
    const std::size_t count = as_many_as_fit(state, streams);
    readers all(count);
    all.start_threads(wait);
    for (auto _ : state) state.SetIterationTime(all.close());
    all.end();
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
  });
}

// The pipes of one round of the twin, in an epoll set.
class registered_pipes {
 public:
  explicit registered_pipes(std::size_t count) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < count; ++i) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
      readers_.push_back(ends[0]);
      writers_.push_back(ends[1]);
      epoll_event event{EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {}};
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, ends[0], &event);
    }
  }
  ~registered_pipes() {
    for (int fd : writers_) ::close(fd);
    ::close(epoll_);
  }
  registered_pipes(const registered_pipes&) = delete;
  registered_pipes& operator=(const registered_pipes&) = delete;

  double close_readers() {
    const clock::time_point start = clock::now();
    for (int fd : readers_) ::close(fd);
    return seconds_since(start, clock::now());
  }

 private:
  int epoll_;
  std::vector<int> readers_, writers_;
};

void raw_close_wake_distinct(benchmark::State& state, std::size_t streams) {
  in_vm(state, [&](rouse::vm&) {
    const std::size_t count = as_many_as_fit(state, streams);
    crowd others(count, 0);
    for (auto _ : state) state.SetIterationTime(registered_pipes(count).close_readers());
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
  });
}

} // namespace

void add_close_wake_distinct() {
  constexpr std::size_t streams = 1000;
  const std::string rest = "/streams:" + std::to_string(streams);
  add("close_wake_distinct/form:value/kind:green" + rest, [=](benchmark::State& s) {
    close_wake_distinct(s, streams, read_for_value);
  })->UseManualTime();
  add("close_wake_distinct/form:exception/kind:green" + rest, [=](benchmark::State& s) {
    close_wake_distinct(s, streams, read_for_exception);
  })->UseManualTime();
  add("raw/close_wake_distinct" + rest, [=](benchmark::State& s) {
    raw_close_wake_distinct(s, streams);
  })->UseManualTime();
}

} // namespace bench
