#pragma once
// The threads that a close should not have to care about: asleep, or blocked on other streams.

#include "support/limits.hpp"

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

// What goes around the read of a blocked thread where nothing has to.
struct no_scope {
  int operator()(const rouse::stream&) const noexcept { return 0; }
};

// `asleep` threads that sleep for good and `blocked` threads that read from pipes nobody writes to, two on
// each. They stand when the constructor returns: parked, and the pipes known to epoll. They end with the VM.
class crowd {
 public:
  static constexpr std::size_t readers_a_pipe = 2;

  // `around_read(stream)` is called by each blocked thread, and what it returns lives around its read.
  template <class F = no_scope> crowd(std::size_t asleep, std::size_t blocked, F around_read = {}) {
    for (std::size_t i = 0; i < asleep; ++i) rouse::spawn([] { rouse::this_thread::sleep(); });
    const std::size_t fit = spare_descriptors() / 2;
    const std::size_t pipes = std::min(blocked / readers_a_pipe, fit);
    pipes_.reserve(pipes);
    for (std::size_t i = 0; i < pipes; ++i) {
      pipes_.push_back(rouse::pipe());
      for (std::size_t n = 0; n < readers_a_pipe; ++n)
        rouse::spawn([this, i, around_read] { block_on(pipes_[i].reader, around_read); });
    }
    rouse::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  ~crowd() {
    for (rouse::pipe_ends& p : pipes_) p.reader.close();
  }

  // Less than was asked for where descriptors are short.
  std::size_t blocked() const noexcept { return blocked_; }

 private:
  template <class F> void block_on(rouse::stream& s, F around_read) {
    [[maybe_unused]] auto scope = around_read(s);
    ++blocked_;
    std::byte nothing[1];
    std::error_code closed;
    s.read_some(nothing, closed);
  }

  std::vector<rouse::pipe_ends> pipes_;
  std::size_t blocked_ = 0;
};

} // namespace bench
