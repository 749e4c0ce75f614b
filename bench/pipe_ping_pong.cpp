// pipe_ping_pong: two threads hand one byte to and fro through two pipes. One iteration is one round trip.
//
// The least that blocking threads need for it are four system calls. A runtime that looks for data before it
// waits makes six: each side also reads in vain once. The twins make four and six in one loop.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <cstddef>
#include <fcntl.h>
#include <unistd.h>

namespace bench {

namespace {

void ping_pong_green(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    rouse::pipe_ends there = rouse::pipe();
    rouse::pipe_ends back = rouse::pipe();
    rouse::thread echo([&] {
      std::byte ball[1];
      while (there.reader.read_some(ball) == 1) back.writer.write_all(ball);
    });
    std::byte ball[1] = {};
    for (auto _ : state) {
      there.writer.write_all(ball);
      back.reader.read_exactly(ball);
    }
    there.writer.close();
    echo.join();
  });
}

struct descriptor_pipe {
  int ends[2];
  descriptor_pipe() {
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw rouse::errno_error<EMFILE>("pipe2");
  }
  ~descriptor_pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  descriptor_pipe(const descriptor_pipe&) = delete;
  descriptor_pipe& operator=(const descriptor_pipe&) = delete;

  bool write(char c) noexcept { return ::write(ends[1], &c, 1) == 1; }
  bool read(char& c) noexcept { return ::read(ends[0], &c, 1) == 1; }
};

template <bool looks_first> void ping_pong_raw(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    descriptor_pipe there, back;
    char ball = 0;
    for (auto _ : state) {
      bool right = there.write(ball);
      if (looks_first) right &= !back.read(ball);
      right &= there.read(ball) && back.write(ball);
      if (looks_first) right &= !there.read(ball);
      right &= back.read(ball);
      if (!right) return state.SkipWithError("a pipe did not do as expected");
    }
  });
}

} // namespace

void add_pipe_ping_pong() {
  add("pipe_ping_pong/kind:green", ping_pong_green);
  add("raw/pipe_ping_pong/calls:6", ping_pong_raw<true>);
  add("raw/pipe_ping_pong/calls:4", ping_pong_raw<false>);
}

} // namespace bench
