#pragma once
/// \file
/// Streams: descriptors that threads of a VM block on, and that any of them may close.
///
/// The problem: on Linux, close(2) wakes nobody. A thread that sleeps in read(2) sleeps on, and once the
/// number is given out again it may read a stranger's data. A stream keeps the list of the threads that wait
/// on it. close() wakes exactly those, each with an error that says why; waits until all of them have let go
/// of the descriptor; and only then gives the number back. What other threads do does not matter, and they do
/// not notice.
///
/// The life of a stream:
///
///     open -----> closing -----> closed
///      |             |              |
///      |             |              after close(2): every call fails with stream_closed
///      |             from the call of close(): new calls fail, calls that wait are woken with stream_closed
///      calls work
///
/// Calls are made by threads of the VM that made the stream; handles may be copied and dropped anywhere.
/// Every call that may wait is an interruption point when it begins to and when it ends without a result. A
/// result that is there is never thrown away for an interrupt. An `error_code` twin reports in `error` what
/// its sibling throws; interrupts are thrown by both.

#include <rouse/bytes.hpp>
#include <rouse/duration.hpp>
#include <rouse/io_error.hpp>

#include <cstddef>
#include <system_error>
#include <utility>

namespace rouse {

namespace detail {
struct stream_state;
struct stream_access;
} // namespace detail

/// A counted handle; copies are the same stream. Dropping the last one closes the descriptor without waiting
/// for anything.
class stream {
 public:
  /// An empty handle; every call but is_open() throws thread_error.
  stream() noexcept = default;
  stream(const stream&) noexcept;
  stream(stream&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  stream& operator=(stream other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~stream();

  /// Reads what there is, at least one byte, at most `buffer.size()`; waits for the first.
  /// \returns how many; 0 is end of file and nothing else (but for an empty buffer, which returns 0 at
  ///   once)
  /// \throws stream_closed, io_timeout, errno_error; thread_error outside the VM (CRuby: IO#readpartial)
  std::size_t read_some(mutable_bytes buffer);
  std::size_t read_some(mutable_bytes buffer, std::error_code& error);

  /// Reads exactly `buffer.size()` bytes.
  /// \throws end_of_file if it ends before; then bytes_transferred() says how many came
  void read_exactly(mutable_bytes buffer);
  std::size_t read_exactly(mutable_bytes buffer, std::error_code& error);

  /// Writes at least one byte; waits until the stream takes some.
  /// \returns how many
  /// \throws errno_error<EPIPE> when nobody will read; no signal is raised (CRuby: IO#syswrite)
  std::size_t write_some(const_bytes data);
  std::size_t write_some(const_bytes data, std::error_code& error);

  /// Writes everything; no bytes of another writer come between.
  /// \throws as write_some; bytes_transferred() says how many went out before the error (CRuby: IO#write)
  void write_all(const_bytes data);
  std::size_t write_all(const_bytes data, std::error_code& error);

  /// Waits until a read would not have to wait: there are bytes, or the end, or an error.
  /// \returns false if `limit` passed before. The stream's own time limit does not apply.
  /// \throws stream_closed (CRuby: IO#wait_readable)
  bool wait_readable(duration limit = forever);
  bool wait_readable(duration limit, std::error_code& error);

  /// Likewise for writing.
  bool wait_writable(duration limit = forever);
  bool wait_writable(duration limit, std::error_code& error);

  /// Closes. Every thread that waits on this stream gets stream_closed ("stream closed in another thread").
  /// Returns when all have let go and the number is free. Closing a closed stream does nothing; while another
  /// thread closes it, this one waits for that. An interruption point; an interrupted close is finished by
  /// whoever lets go last, so no descriptor leaks.
  /// \throws errno_error if close(2) fails: the number is gone all the same, except with EBADF, when it
  ///   never was ours
  void close();
  void close(std::error_code& error);

  /// As close(), without sending what is buffered.
  void abort();

  /// Whether neither close() nor abort() has been called. Any thread.
  bool is_open() const noexcept;

  /// The limit of each later read and write; from zero to `forever`, which is how streams start. Applies to
  /// one wait at a time.
  /// \throws std::invalid_argument if it is negative
  void set_timeout(duration limit);
  duration timeout() const;

  /// A stream over a duplicate of the descriptor (close-on-exec), with the same time limit; closing one
  /// leaves the other.
  /// \throws stream_closed, errno_error
  stream dup() const;

  /// The descriptor's number, for calls that the library lacks. Neither close it nor change its flags.
  /// \throws stream_closed
  int native_handle() const;

  friend bool operator==(const stream&, const stream&) = default;

 private:
  friend struct detail::stream_access;
  explicit stream(detail::stream_state* counted) noexcept : state_(counted) {}
  detail::stream_state& checked(const char* call) const;
  detail::stream_state* state_ = nullptr;
};

/// The two ends of a pipe, or of a pair of connected sockets, where both read and write.
struct pipe_ends {
  stream reader, writer;
};
struct socket_ends {
  stream first, second;
};

/// A pipe, close-on-exec.
/// \throws errno_error<EMFILE> and the like; thread_error outside a VM
pipe_ends pipe();

/// A pair of connected UNIX stream sockets, close-on-exec.
/// \throws as pipe()
socket_ends socketpair();

/// Makes a stream that owns the descriptor from now on. Its flags stay as they are: the description may be
/// shared with other processes. Pipes and sockets;
/// \throws io_error (io_errc::not_supported_here) for other kinds, errno_error<EBADF> for a number that is
///   no open descriptor. On an error the descriptor is still the caller's.
stream adopt(int descriptor);

/// Likewise, but close() only wakes the waiters and leaves the number open.
stream borrow(int descriptor);

} // namespace rouse
