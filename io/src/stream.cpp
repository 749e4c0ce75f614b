#include "io_throw.hpp"
#include "operation.hpp"
#include "system_call.hpp"

#include <cerrno>
#include <stdexcept>

namespace rouse {

namespace detail {

void add_count(stream_state& s) noexcept { s.count.fetch_add(1, std::memory_order_relaxed); }

void drop_count(stream_state& s) noexcept {
  if (!is_last_count(s.count)) return;
  vm_core& core = *s.core;
  worker* w = current_worker();
  if (w && w->core == &core) return abandon(w->lock, s);
  if (core.post(s.drop)) return;
  if (s.owns_number && s.fd >= 0 && !s.revoked)
    close_descriptor(s.fd); // the VM is gone, and with it whoever could wait
  delete &s;
}

void drop_node::handle_it(inbox_node& node, held h) noexcept {
  abandon(h, *static_cast<drop_node&>(node).stream);
}

} // namespace detail

using namespace detail;

stream::stream(const stream& other) noexcept : state_(other.state_) {
  if (state_) add_count(*state_);
}

stream::~stream() {
  if (state_) drop_count(*state_);
}

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void throw_misuse(const char* call, const char* what) {
  throw thread_error(std::string(call) + ": " + what);
}

// The calling thread and the stream, which must be of one VM.
struct call_site {
  running here;
  stream_state& stream;
};

call_site begin_call(stream_state* s, const char* call) {
  if (!s) throw_misuse(call, "the stream handle is empty");
  running here = require_running(call);
  if (s->core != here.self.core) throw_code(make_error_code(io_errc::wrong_vm), call);
  return {here, *s};
}

std::size_t bytes_or_throw(const running& here, io_outcome outcome, const char* call) {
  if (outcome.end != io_end::done) throw_outcome(here, outcome, call);
  return outcome.bytes;
}

std::size_t bytes_and_code(const running& here, io_outcome outcome, std::error_code& error) {
  error = code_of(here, outcome);
  return outcome.bytes;
}

io_outcome wait_within(const call_site& at, direction d, duration limit) noexcept {
  const auto due = limit == forever ? clock::time_point::max() : deadline_after(limit);
  return wait_until_ready(at.here, at.here.self, at.stream, d, due);
}

// A limit of one call is not an error.
bool ready_or_throw(const running& here, io_outcome outcome, const char* call) {
  if (outcome.end == io_end::timed_out) return false;
  bytes_or_throw(here, outcome, call);
  return true;
}

bool ready_and_code(const running& here, io_outcome outcome, std::error_code& error) {
  error.clear();
  if (outcome.end == io_end::timed_out) return false;
  error = code_of(here, outcome);
  return !error;
}

} // namespace

stream_state& stream::checked(const char* call) const { return begin_call(state_, call).stream; }

std::size_t stream::read_some(mutable_bytes b) {
  const call_site at = begin_call(state_, "read_some");
  const io_outcome r = read_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::some);
  return bytes_or_throw(at.here, r, "read_some");
}

std::size_t stream::read_some(mutable_bytes b, std::error_code& error) {
  const call_site at = begin_call(state_, "read_some");
  const io_outcome r = read_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::some);
  return bytes_and_code(at.here, r, error);
}

void stream::read_exactly(mutable_bytes b) {
  const call_site at = begin_call(state_, "read_exactly");
  const io_outcome r = read_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::all);
  bytes_or_throw(at.here, r, "read_exactly");
}

std::size_t stream::read_exactly(mutable_bytes b, std::error_code& error) {
  const call_site at = begin_call(state_, "read_exactly");
  const io_outcome r = read_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::all);
  return bytes_and_code(at.here, r, error);
}

std::size_t stream::write_some(const_bytes b) {
  const call_site at = begin_call(state_, "write_some");
  const io_outcome r = write_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::some);
  return bytes_or_throw(at.here, r, "write_some");
}

std::size_t stream::write_some(const_bytes b, std::error_code& error) {
  const call_site at = begin_call(state_, "write_some");
  const io_outcome r = write_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::some);
  return bytes_and_code(at.here, r, error);
}

void stream::write_all(const_bytes b) {
  const call_site at = begin_call(state_, "write_all");
  const io_outcome r = write_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::all);
  bytes_or_throw(at.here, r, "write_all");
}

std::size_t stream::write_all(const_bytes b, std::error_code& error) {
  const call_site at = begin_call(state_, "write_all");
  const io_outcome r = write_bytes(at.here, at.here.self, at.stream, b.data(), b.size(), extent::all);
  return bytes_and_code(at.here, r, error);
}

bool stream::wait_readable(duration limit) {
  const call_site at = begin_call(state_, "wait_readable");
  return ready_or_throw(at.here, wait_within(at, direction::read, limit), "wait_readable");
}

bool stream::wait_readable(duration limit, std::error_code& error) {
  const call_site at = begin_call(state_, "wait_readable");
  return ready_and_code(at.here, wait_within(at, direction::read, limit), error);
}

bool stream::wait_writable(duration limit) {
  const call_site at = begin_call(state_, "wait_writable");
  return ready_or_throw(at.here, wait_within(at, direction::write, limit), "wait_writable");
}

bool stream::wait_writable(duration limit, std::error_code& error) {
  const call_site at = begin_call(state_, "wait_writable");
  return ready_and_code(at.here, wait_within(at, direction::write, limit), error);
}

void stream::close() {
  const call_site at = begin_call(state_, "close");
  bytes_or_throw(at.here, close_stream(at.here, at.here.self, at.stream), "close");
}

void stream::close(std::error_code& error) {
  const call_site at = begin_call(state_, "close");
  bytes_and_code(at.here, close_stream(at.here, at.here.self, at.stream), error);
}

void stream::abort() {
  const call_site at = begin_call(state_, "abort");
  bytes_or_throw(at.here, close_stream(at.here, at.here.self, at.stream), "abort");
}

bool stream::is_open() const noexcept { return state_ && state_->phase == stream_phase::open; }

void stream::set_timeout(duration limit) {
  if (limit < duration::zero()) throw std::invalid_argument("set_timeout: the limit must not be negative");
  begin_call(state_, "set_timeout").stream.limit = limit;
}

duration stream::timeout() const { return begin_call(state_, "timeout").stream.limit; }

int stream::native_handle() const {
  const call_site at = begin_call(state_, "native_handle");
  if (at.stream.phase != stream_phase::open) throw_outcome(at.here, {io_end::closed_before}, "native_handle");
  if (at.stream.revoked) throw_errno(EBADF, "native_handle");
  // From now on others may use the number, duplicate the description or change its flags.
  if (int error = at.here.core().io.enter(at.here, at.stream)) throw_errno(error, "native_handle");
  at.stream.shared = true;
  if (at.stream.kind == stream_kind::own_pipe) at.stream.kind = stream_kind::shared_pipe;
  return at.stream.fd;
}

} // namespace rouse
