#pragma once
/// \file
/// The errors of streams.
///
///     std::system_error
///       io_error                  any of them: call(), bytes_transferred()
///         stream_closed           the stream was closed before the call, or under it
///         end_of_file             the other side ended before all that was asked for had come
///         io_timeout              the stream's time limit passed
///         errno_error<E>          what the kernel said; catch errno_error<EPIPE>, or io_error and look at
///         code()
///
/// They are thrown as copies of objects that are made once: a raise builds no text and no table.

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace rouse {

/// The conditions that are not the kernel's.
enum class io_errc {
  closed = 1,         ///< the stream was closed before the call ("closed stream")
  closed_under_call,  ///< another thread closed it during the call ("stream closed in another thread")
  end_of_file,        ///< "end of file reached"
  timed_out,          ///< "Blocking operation timed out!"
  wrong_vm,           ///< the stream belongs to another VM
  not_supported_here, ///< this kind of descriptor cannot be used
};

namespace detail {
struct io_error_access;
}

const std::error_category& io_category() noexcept;
inline std::error_code make_error_code(io_errc e) noexcept { return {static_cast<int>(e), io_category()}; }

/// What every stream call throws.
class io_error : public std::system_error {
 public:
  /// \param call a literal
  io_error(std::error_code code, const char* call, std::size_t bytes = 0)
      : std::system_error(code), call_(call), bytes_(bytes) {}

  /// The name of the call that failed. A literal.
  const char* call() const noexcept { return call_; }

  /// How many bytes the call had moved before it failed.
  std::size_t bytes_transferred() const noexcept { return bytes_; }

 private:
  friend struct detail::io_error_access;
  const char* call_;
  std::size_t bytes_;
};

class stream_closed : public io_error {
 public:
  using io_error::io_error;
};

class end_of_file : public io_error {
 public:
  using io_error::io_error;
};

class io_timeout : public io_error {
 public:
  using io_error::io_error;
};

/// An errno value as a type.
template <int E> class errno_error : public io_error {
 public:
  static constexpr int value = E;
  explicit errno_error(const char* call, std::size_t bytes = 0)
      : io_error({E, std::generic_category()}, call, bytes) {}
};

} // namespace rouse

template <> struct std::is_error_code_enum<rouse::io_errc> : std::true_type {};
