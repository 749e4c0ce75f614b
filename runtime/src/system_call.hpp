#pragma once
// Every system call of the library goes through here.
//
// The result is the kernel's own: a negative errno value on failure. errno is never read, since a compiler
// may keep its address across a park, after which the thread may be on another OS thread.

#include <cstddef>
#include <cstdint>
#include <sys/syscall.h>
#include <type_traits>

namespace rouse::detail {

long raw_system_call(long number, long a, long b, long c, long d, long e, long f) noexcept;

template <class T> long system_call_argument(T value) noexcept {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<long>(reinterpret_cast<std::intptr_t>(value));
  else if constexpr (std::is_null_pointer_v<T>)
    return 0;
  else
    return static_cast<long>(value);
}

// One call. EINTR is the caller's business: see system_call_retrying.
template <class... A> long system_call(long number, A... arguments) noexcept {
  static_assert(sizeof...(A) <= 6);
  long all[6] = {system_call_argument(arguments)...};
  return raw_system_call(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

// Repeats the call while a signal ends it. Not for close(2): on Linux the number is free once EINTR comes
// back.
template <class... A> long system_call_retrying(long number, A... arguments) noexcept {
  long result;
  do result = system_call(number, arguments...);
  while (result == -4); // EINTR
  return result;
}

// close(2); EINTR counts as done.
inline int close_descriptor(int fd) noexcept {
  long result = system_call(SYS_close, fd);
  return result == -4 ? 0 : static_cast<int>(result);
}

} // namespace rouse::detail
