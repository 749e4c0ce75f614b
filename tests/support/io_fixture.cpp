#include "io_fixture.hpp"

#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rouse_test {

namespace {

int must(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

bool ready_now(int fd, short events) {
  pollfd what{fd, events, 0};
  return ::poll(&what, 1, 0) == 1;
}

} // namespace

raw_pair raw_pipe(int flags) {
  int fds[2];
  must(::pipe2(fds, O_CLOEXEC | flags), "pipe2");
  return {fds[0], fds[1]};
}

raw_pair raw_sockets(int type, int flags) {
  int fds[2];
  must(::socketpair(AF_UNIX, type | SOCK_CLOEXEC | flags, 0, fds), "socketpair");
  return {fds[0], fds[1]};
}

raw_pair raw_tcp() {
  const int listener = must(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* at = reinterpret_cast<sockaddr*>(&address);
  must(::bind(listener, at, size), "bind");
  must(::listen(listener, 1), "listen");
  must(::getsockname(listener, at, &size), "getsockname");
  raw_pair pair;
  pair.first = must(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  must(::connect(pair.first, at, size), "connect");
  pair.second = must(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "accept4");
  ::close(listener);
  return pair;
}

void fill(int fd) {
  const std::string page(4096, 'f');
  struct stat status;
  must(::fstat(fd, &status), "fstat");
  if (S_ISSOCK(status.st_mode)) {
    for (const std::size_t size : {page.size(), std::size_t{1}})
      while (::send(fd, page.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
      }
  } else {
    while (ready_now(fd, POLLOUT) && ::write(fd, page.data(), page.size()) > 0) {
    }
  }
}

std::size_t drain(int fd) {
  std::size_t total = 0;
  for (;;) {
    const std::size_t n = take_now(fd, 65536).size();
    if (n == 0) return total;
    total += n;
  }
}

std::string take_now(int fd, std::size_t most) {
  std::string bytes(most, '\0');
  const ssize_t n = ready_now(fd, POLLIN) ? ::read(fd, bytes.data(), most) : 0;
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

void put(int fd, std::string_view bytes) {
  EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

int flags_of(int fd) { return ::fcntl(fd, F_GETFL); }

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

bool same_file(int a, int b) {
  struct stat x, y;
  return ::fstat(a, &x) == 0 && ::fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

io_result read_now(rouse::stream s, std::size_t most) {
  io_result r;
  r.bytes.resize(most);
  r.count = s.read_some(r.bytes, r.error);
  r.bytes.resize(r.count);
  return r;
}

io_result read_all_of(rouse::stream s, std::size_t size) {
  io_result r;
  r.bytes.resize(size);
  r.count = s.read_exactly(r.bytes, r.error);
  r.bytes.resize(r.count);
  return r;
}

io_result write_now(rouse::stream s, const std::string& bytes) {
  io_result r;
  r.count = s.write_all(bytes, r.error);
  return r;
}

rouse::task<io_result> start_read(rouse::stream s, std::size_t most) {
  return rouse::spawn(read_now, std::move(s), most);
}

rouse::task<io_result> start_read_exactly(rouse::stream s, std::size_t size) {
  return rouse::spawn(read_all_of, std::move(s), size);
}

rouse::task<io_result> start_write(rouse::stream s, std::string bytes) {
  return rouse::spawn(write_now, std::move(s), std::move(bytes));
}

rouse::task<io_result> parked_reader(rouse::stream s, std::size_t most) {
  auto t = start_read(std::move(s), most);
  until_parked(t);
  return t;
}

rouse::task<io_result> parked_writer(rouse::stream s, std::string bytes) {
  auto t = start_write(std::move(s), std::move(bytes));
  until_parked(t);
  return t;
}

std::string pattern(std::size_t size, unsigned seed) {
  std::string bytes(size, '\0');
  std::uint32_t x = 2463534242u + seed * 7919u;
  for (char& c : bytes) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    c = static_cast<char>(x);
  }
  return bytes;
}

std::chrono::nanoseconds cpu_time() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

descriptor_limit::descriptor_limit(std::size_t soft) {
  rlimit limit;
  must(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  before_ = limit.rlim_cur;
  limit.rlim_cur = soft;
  must(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

descriptor_limit::~descriptor_limit() {
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = before_;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

ticker::ticker()
    : thread_(rouse::spawn([count = count_] {
        for (;;) {
          ++*count;
          rouse::this_thread::yield();
        }
      })) {}

ticker::~ticker() {
  thread_.kill();
  thread_.join();
}

void ticker::wait_for(int more) const {
  const int until = count() + more;
  yield_until([&] { return count() >= until; });
}

} // namespace rouse_test
