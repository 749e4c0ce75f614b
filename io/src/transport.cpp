#include "transport.hpp"
#include "system_call.hpp"

#include <cerrno>
#include <ctime>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif

namespace rouse::detail {

namespace {

// Of a pipe that others share nothing may be assumed, and its flags are not ours to set: each call says for
// itself that it must not wait. Sockets have that anyway.
long read_without_waiting(int fd, void* data, std::size_t size) noexcept {
  iovec piece{data, size};
  return system_call_retrying(SYS_preadv2, fd, &piece, 1, -1L, -1L, RWF_NOWAIT);
}

long write_without_waiting(int fd, const void* data, std::size_t size) noexcept {
  iovec piece{const_cast<void*>(data), size};
  return system_call_retrying(SYS_pwritev2, fd, &piece, 1, -1L, -1L, RWF_NOWAIT);
}

} // namespace

long try_read(stream_state& s, void* data, std::size_t size) noexcept {
  switch (s.kind) {
  case stream_kind::own_pipe: return system_call_retrying(SYS_read, s.fd, data, size);
  case stream_kind::shared_pipe: return read_without_waiting(s.fd, data, size);
  case stream_kind::socket:
    return system_call_retrying(SYS_recvfrom, s.fd, data, size, MSG_DONTWAIT, nullptr, nullptr);
  }
  return -EBADF;
}

long try_write(stream_state& s, const void* data, std::size_t size) noexcept {
  switch (s.kind) {
  case stream_kind::own_pipe: return system_call_retrying(SYS_write, s.fd, data, size);
  case stream_kind::shared_pipe: return write_without_waiting(s.fd, data, size);
  case stream_kind::socket:
    return system_call_retrying(SYS_sendto, s.fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
  }
  return -EBADF;
}

long poll_now(stream_state& s, direction d) noexcept {
  pollfd what{s.fd, static_cast<short>(d == direction::read ? POLLIN : POLLOUT), 0};
  timespec no_wait{};
  long result = system_call_retrying(SYS_ppoll, &what, 1, &no_wait, nullptr, 8);
  if (result > 0 && (what.revents & POLLNVAL)) return -EBADF;
  return result;
}

} // namespace rouse::detail
