// io_pipe_rw, CRuby's benchmark of that name: one thread writes a byte into a pipe and reads it back. Nobody
// waits, so this is what a stream adds to a system call.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/stream.hpp>

#include <cstddef>
#include <fcntl.h>
#include <unistd.h>

namespace bench {

namespace {

void pipe_rw(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    rouse::pipe_ends ends = rouse::pipe();
    std::byte data[1] = {};
    for (auto _ : state) {
      ends.writer.write_all(data);
      ends.reader.read_exactly(data);
    }
  });
}

void pipe_rw_raw(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return state.SkipWithError("pipe2 failed");
    char data = 0;
    for (auto _ : state)
      if (::write(ends[1], &data, 1) != 1 || ::read(ends[0], &data, 1) != 1)
        return state.SkipWithError("the pipe did not do as expected");
    ::close(ends[0]);
    ::close(ends[1]);
  });
}

} // namespace

void add_io_pipe_rw() {
  add("io_pipe_rw", pipe_rw);
  add("raw/io_pipe_rw", pipe_rw_raw);
}

} // namespace bench
