// Descriptors that the library did not make, and what becomes of their flags.

#include "io_fixture.hpp"

#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class adopt : public vm_test {};

std::vector<raw_pair> every_kind() {
  return {raw_pipe(), raw_sockets(SOCK_STREAM), raw_sockets(SOCK_SEQPACKET), raw_tcp()};
}

// NB3
TEST_F(adopt, leaves_the_flags_of_the_description_as_they_are) {
  run([] {
    for (raw_pair p : every_kind()) {
      const int before = flags_of(p.first), before_second = flags_of(p.second);
      EXPECT_EQ(before & O_NONBLOCK, 0);
      rouse::stream a = rouse::adopt(p.first), b = rouse::adopt(p.second);
      auto r = parked_reader(a);
      rouse::stream d = a.dup();
      b.write_all("x");
      EXPECT_EQ(r.get().bytes, "x");
      EXPECT_EQ(flags_of(p.first), before);
      EXPECT_EQ(flags_of(p.second), before_second);
      auto blocked = parked_reader(a);
      blocked.kill();
      blocked.join();
      EXPECT_EQ(flags_of(p.first), before);
    }
  });
}

TEST_F(adopt, a_blocking_descriptor_never_stops_the_vm) {
  run([] {
    ticker others;
    for (raw_pair p : {raw_pipe(), raw_sockets(SOCK_STREAM), raw_tcp()}) {
      rouse::stream a = rouse::adopt(p.first), b = rouse::adopt(p.second);
      auto r = parked_reader(a);
      others.wait_for(10);
      auto w = parked_writer(b, std::string(32 << 20, 'x')); // far more than fits
      others.wait_for(10);
      EXPECT_FALSE(r.get().error);
      b.close();
      EXPECT_TRUE(w.get().error);
    }
  });
}

TEST_F(adopt, bytes_pass_both_ways_and_arrive_whole) {
  run([] {
    for (raw_pair p : {raw_pipe(), raw_sockets(SOCK_STREAM), raw_tcp()}) {
      rouse::stream a = rouse::adopt(p.first), b = rouse::adopt(p.second);
      const std::string sent = pattern(1 << 20);
      auto w = start_write(b, sent);
      EXPECT_EQ(read_all_of(a, sent.size()).bytes, sent);
      EXPECT_EQ(w.get().count, sent.size());
      b.close();
      EXPECT_EQ(read_now(a).count, 0u);
    }
  });
}

TEST_F(adopt, two_streams_over_one_description_work_side_by_side) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    rouse::stream copy = reader.dup();
    EXPECT_NE(copy, reader);
    auto a = parked_reader(reader, 1);
    auto b = parked_reader(copy, 1);
    writer.write_all("xy");
    EXPECT_EQ(a.get().count + b.get().count, 2u);
    reader.close();
    writer.write_all("z");
    EXPECT_EQ(read_now(copy).bytes, "z");
  });
}

TEST_F(adopt, other_kinds_of_descriptors_are_refused_and_stay_the_callers) {
  const std::string fifo = ::testing::TempDir() + "rouse_fifo_" + std::to_string(::getpid());
  run([&] {
    ::mkfifo(fifo.c_str(), 0600);
    for (int fd : {::open("/dev/null", O_RDWR | O_CLOEXEC), ::open(".", O_RDONLY | O_CLOEXEC),
                   ::open(fifo.c_str(), O_RDWR | O_CLOEXEC)}) {
      for (auto make : {rouse::adopt, rouse::borrow}) {
        try {
          make(fd);
          FAIL();
        } catch (const rouse::io_error& e) {
          EXPECT_EQ(e.code(), rouse::io_errc::not_supported_here);
        }
      }
      EXPECT_TRUE(is_open(fd));
      ::close(fd);
    }
    EXPECT_THROW(rouse::adopt(-1), rouse::errno_error<EBADF>);
    EXPECT_THROW(rouse::borrow(9999), rouse::errno_error<EBADF>);
  });
  ::unlink(fifo.c_str());
}

TEST_F(adopt, outside_a_vm_every_maker_is_a_misuse) {
  raw_pair p = raw_pipe();
  EXPECT_THROW(rouse::adopt(p.first), rouse::thread_error);
  EXPECT_THROW(rouse::borrow(p.first), rouse::thread_error);
  EXPECT_THROW(rouse::pipe(), rouse::thread_error);
  EXPECT_THROW(rouse::socketpair(), rouse::thread_error);
  EXPECT_TRUE(is_open(p.first));
  ::close(p.first);
  ::close(p.second);
}

TEST_F(adopt, an_empty_handle_is_a_misuse_in_every_call) {
  run([] {
    rouse::stream none;
    char c;
    EXPECT_THROW(none.read_some({&c, 1}), rouse::thread_error);
    EXPECT_THROW(none.write_all("x"), rouse::thread_error);
    EXPECT_THROW(none.close(), rouse::thread_error);
    EXPECT_THROW(none.dup(), rouse::thread_error);
    EXPECT_THROW(none.native_handle(), rouse::thread_error);
    EXPECT_FALSE(none.is_open());
  });
}

// R-CL-02, CL-21
TEST_F(adopt, a_borrowed_number_stays_open_after_close_and_after_the_last_handle) {
  run([] {
    raw_pair p = raw_pipe();
    {
      rouse::stream s = rouse::borrow(p.first);
      auto r = parked_reader(s);
      s.close();
      EXPECT_CLOSED_UNDER(r.get());
      EXPECT_TRUE(is_open(p.first));
      rouse::stream dropped = rouse::borrow(p.first);
    }
    EXPECT_TRUE(is_open(p.first));
    rouse::stream again = rouse::borrow(p.first);
    put(p.second, "x");
    EXPECT_EQ(read_now(again).bytes, "x");
    again.close();
    ::close(p.first);
    ::close(p.second);
  });
}

// FK4
TEST_F(adopt, every_descriptor_that_the_library_makes_is_closed_on_exec) {
  run([this] {
    const std::size_t outside = descriptors_before;
    auto [reader, writer] = rouse::pipe();
    auto [a, b] = rouse::socketpair();
    rouse::stream d = a.dup(), e = reader.dup();
    vm->event_descriptor();
    EXPECT_GE(open_descriptors(), outside + 9);
    for (const rouse::stream& s : {reader, writer, a, b, d, e})
      EXPECT_EQ(::fcntl(s.native_handle(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    // What a program started from here sees.
    raw_pair out = raw_pipe();
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(out.second, 1);
      ::execl("/bin/sh", "sh", "-c", "for f in /proc/self/fd/*; do readlink $f; done", nullptr);
      ::_exit(1);
    }
    ::close(out.second);
    std::string listing;
    for (std::string some(4096, '\0');;) {
      const ssize_t n = ::read(out.first, some.data(), some.size());
      if (n <= 0) break;
      listing.append(some, 0, static_cast<std::size_t>(n));
    }
    ::close(out.first);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(listing.find("anon_inode"), std::string::npos) << listing;
    EXPECT_EQ(listing.find("socket:"), std::string::npos) << listing;
  });
}

TEST_F(adopt, dup_has_a_number_of_its_own_the_same_limit_and_a_life_of_its_own) {
  run([] {
    auto [a, b] = rouse::socketpair();
    a.set_timeout(5s);
    rouse::stream d = a.dup();
    EXPECT_NE(d.native_handle(), a.native_handle());
    EXPECT_TRUE(same_file(d.native_handle(), a.native_handle()));
    EXPECT_EQ(d.timeout(), 5s); // R-IT-01
    EXPECT_EQ(b.timeout(), rouse::forever);
    auto r = parked_reader(d);
    a.close();
    rouse::this_thread::yield();
    EXPECT_EQ(r.status(), rouse::thread_status::sleeping);
    b.write_all("x");
    EXPECT_EQ(r.get().bytes, "x");
  });
}

// R-CL-13
TEST_F(adopt, a_shutdown_from_elsewhere_is_an_end_and_no_close) {
  run([] {
    auto [a, b] = rouse::socketpair();
    auto r = parked_reader(a);
    rouse::this_thread::sleep_for(1ms);
    ::shutdown(a.native_handle(), SHUT_RDWR);
    EXPECT_FALSE(r.get().error);
    EXPECT_EQ(r.get().count, 0u);
    EXPECT_TRUE(a.is_open());
  });
}

// CR8
TEST_F(adopt, an_address_can_be_bound_again_as_soon_as_close_returns) {
  run([] {
    int port = 0;
    for (int i = 0; i < rounds(1000); ++i) {
      const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = static_cast<in_port_t>(port);
      socklen_t size = sizeof address;
      auto* at = reinterpret_cast<sockaddr*>(&address);
      ASSERT_EQ(::bind(fd, at, size), 0) << "round " << i << ": the number was still open";
      ::getsockname(fd, at, &size);
      port = address.sin_port;
      rouse::stream s = rouse::adopt(fd);
      auto r = parked_reader(s);
      s.close();
      EXPECT_CLOSED_UNDER(r.get());
    }
  });
}

} // namespace
