#include "io_throw.hpp"
#include "operation.hpp"
#include "process.hpp"
#include "system_call.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <memory>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace rouse {

namespace detail {

stream_state::stream_state(vm_core& c, int descriptor, stream_kind k, bool close_number) noexcept
    : poll_source(on_poll_events), kind(k), owns_number(close_number), born(fork_generation()), core(&c),
      drop(*this) {
  fd = descriptor;
  c.add_dependent();
}

stream_state::~stream_state() { core->drop_dependent(); }

bool stream_state::may_be_shared() const noexcept { return shared || born != fork_generation(); }

namespace {

using owned_state =
    std::unique_ptr<stream_state>; // not yet given out: destroying it leaves the descriptor open

owned_state make_state(const running& here, int fd, stream_kind kind, bool owns) {
  return owned_state(new stream_state(here.core(), fd, kind, owns));
}

struct descriptor_pair {
  int fds[2] = {-1, -1};
  ~descriptor_pair() {
    for (int fd : fds)
      if (fd >= 0) close_descriptor(fd);
  }
};

// Two ends that hint each other.
std::pair<stream, stream> make_pair_of(const running& here, descriptor_pair& pair, stream_kind kind) {
  owned_state first = make_state(here, pair.fds[0], kind, true);
  owned_state second = make_state(here, pair.fds[1], kind, true);
  first->peer = second.get();
  second->peer = first.get();
  pair.fds[0] = pair.fds[1] = -1;
  revoke_others(here, *first);
  revoke_others(here, *second);
  return {stream_access::adopt(first.release()), stream_access::adopt(second.release())};
}

constexpr long named_pipe = -EOPNOTSUPP;

// \returns a kind, or a negative errno value
long kind_of(int fd) noexcept {
  struct stat status;
  if (long result = system_call(SYS_fstat, fd, &status); result < 0) return result;
  if (S_ISSOCK(status.st_mode)) return static_cast<long>(stream_kind::socket);
  if (!S_ISFIFO(status.st_mode)) return -EOPNOTSUPP;
  struct statfs where;
  if (long result = system_call(SYS_fstatfs, fd, &where); result < 0) return result;
  return where.f_type == PIPEFS_MAGIC ? static_cast<long>(stream_kind::shared_pipe) : named_pipe;
}

stream take(const char* call, int fd, bool owns) {
  running here = require_running(call);
  const long kind = kind_of(fd);
  if (kind == -EOPNOTSUPP) throw_code(make_error_code(io_errc::not_supported_here), call);
  if (kind < 0) throw_errno(static_cast<int>(-kind), call);
  owned_state s = make_state(here, fd, static_cast<stream_kind>(kind), owns);
  s->shared = true;
  if (int error = here.core().io.enter(here, *s)) throw_errno(error, call);
  return stream_access::adopt(s.release());
}

} // namespace

} // namespace detail

using namespace detail;

pipe_ends pipe() {
  running here = require_running("pipe");
  descriptor_pair pair;
  if (long result = system_call(SYS_pipe2, pair.fds, O_CLOEXEC | O_NONBLOCK); result < 0)
    throw_errno(static_cast<int>(-result), "pipe");
  auto [reader, writer] = make_pair_of(here, pair, stream_kind::own_pipe);
  return {std::move(reader), std::move(writer)};
}

socket_ends socketpair() {
  running here = require_running("socketpair");
  descriptor_pair pair;
  long result = system_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.fds);
  if (result < 0) throw_errno(static_cast<int>(-result), "socketpair");
  auto [first, second] = make_pair_of(here, pair, stream_kind::socket);
  return {std::move(first), std::move(second)};
}

stream adopt(int descriptor) { return take("adopt", descriptor, true); }

stream borrow(int descriptor) { return take("borrow", descriptor, false); }

stream stream::dup() const {
  stream_state& s = checked("dup");
  running here = require_running("dup");
  if (s.phase != stream_phase::open) throw_outcome(here, {io_end::closed_before}, "dup");
  if (s.revoked) throw_errno(EBADF, "dup");
  long fd = system_call(SYS_fcntl, s.fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) throw_errno(static_cast<int>(-fd), "dup");
  // The flags belong to both from now on: through either, others may change them.
  if (s.kind == stream_kind::own_pipe) s.kind = stream_kind::shared_pipe;
  descriptor_pair guard{{static_cast<int>(fd), -1}};
  owned_state copy = make_state(here, static_cast<int>(fd), s.kind, true);
  guard.fds[0] = -1;
  revoke_others(here, *copy);
  copy->limit = s.limit;
  copy->shared = s.shared = true;
  return stream_access::adopt(copy.release());
}

} // namespace rouse
