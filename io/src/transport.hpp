#pragma once
// The narrow waist of a stream: one attempt to move bytes, which never waits. TLS will be another one.

#include "stream_state.hpp"

namespace rouse::detail {

// \returns the count, or a negative errno value; -EAGAIN: nothing can be moved now. EINTR does not come out.
long try_read(stream_state& s, void* data, std::size_t size) noexcept;
long try_write(stream_state& s, const void* data, std::size_t size) noexcept;

// What poll(2) says of the direction at this moment: 1 ready, 0 not, or a negative errno value.
long poll_now(stream_state& s, direction d) noexcept;

} // namespace rouse::detail
