#pragma once
// What streams do, as values: nothing here throws. stream.cpp turns outcomes into exceptions and error codes.
//
// Every operation has the same shape: look whether the stream is open and count oneself as a user, in one
// step; try; if there is nothing, wait and look again at everything before the next try; on every way out,
// pass standing readiness on and let a closer know. Between "woken" and "unlinked" nothing can throw or be
// interrupted.

#include "stream_state.hpp"

namespace rouse::detail {

enum class io_end : std::uint8_t {
  done,
  end_of_file,   // before all that was asked for had come
  closed_before, // the call
  closed_under,  // the call
  timed_out,
  interrupted, // the caller delivers
  failed,      // with an errno value
};

struct io_outcome {
  io_end end = io_end::done;
  int error = 0;
  std::size_t bytes = 0;
};

enum class extent : std::uint8_t { some, all };

io_outcome read_bytes(held, thread_record& self, stream_state&, void* data, std::size_t size,
                      extent) noexcept;
io_outcome write_bytes(held, thread_record& self, stream_state&, const void* data, std::size_t size,
                       extent) noexcept;

// Ends with timed_out if `due` passes.
io_outcome wait_until_ready(held, thread_record& self, stream_state&, direction,
                            clock::time_point due) noexcept;

// close.cpp
io_outcome close_stream(held, thread_record& self, stream_state&) noexcept;

// A use of the descriptor: from the first look at it to the end of the scope.
class use {
 public:
  use(held h, stream_state& s, direction d) noexcept : h_(h), s_(s), d_(d) { ++s.users; }
  ~use();
  use(const use&) = delete;
  use& operator=(const use&) = delete;

 private:
  held h_;
  stream_state& s_;
  direction d_;
};

// The last user of a stream that is closing has left: see close.cpp.
void last_user_left(held, stream_state& s) noexcept;

inline use::~use() {
  wake_next(h_, s_, d_);
  if (--s_.users == 0 && s_.phase != stream_phase::open) [[unlikely]]
    last_user_left(h_, s_);
}

} // namespace rouse::detail
