// Descriptor numbers come back: nobody may meet a stranger under a number that once was his.

#include "io_fixture.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace rouse_test;
using rouse::detail::direction;

namespace {

class number_reuse : public vm_test {};

// A raw pipe that holds SECRET, its reading end at the number `fd`, which must be free.
raw_pair stranger_at(int fd) {
  raw_pair p = raw_pipe();
  if (p.first != fd) {
    EXPECT_FALSE(is_open(fd));
    ::dup3(p.first, fd, O_CLOEXEC);
    ::close(p.first);
    p.first = fd;
  }
  put(p.second, "SECRET");
  return p;
}

void end_stranger(raw_pair p) {
  EXPECT_EQ(take_now(p.first), "SECRET") << "somebody has read a stranger's bytes";
  ::close(p.first);
  ::close(p.second);
}

// What the VM does before it polls, when somebody waits for the stream.
void register_now(rouse::stream& s) {
  auto here = rouse::detail::require_running("test");
  here.core().io.want(here, inside(s));
  here.core().io.register_pending(here);
}

// FR3, CL-20
TEST_F(number_reuse, closing_one_of_two_owners_of_a_number_makes_the_other_fail_with_a_bad_descriptor) {
  run([] {
    auto [read_end, write_end] = raw_pipe();
    rouse::stream a = rouse::adopt(read_end);
    rouse::stream b = rouse::adopt(read_end);
    auto through_b = parked_reader(b);
    a.close();
    raw_pair stranger = stranger_at(read_end); // before the reader has run
    EXPECT_EQ(through_b.get().error.value(), EBADF);
    EXPECT_EQ(read_now(b).error.value(), EBADF);
    EXPECT_EQ(write_now(b, "x").error.value(), EBADF);
    EXPECT_THROW(b.wait_readable(), rouse::errno_error<EBADF>);
    EXPECT_THROW(b.native_handle(), rouse::errno_error<EBADF>);
    EXPECT_THROW(b.dup(), rouse::errno_error<EBADF>);
    EXPECT_TRUE(b.is_open());
    EXPECT_THROW(b.close(), rouse::errno_error<EBADF>); // R-CL-03
    EXPECT_TRUE(is_closed(b));
    end_stranger(stranger);
    ::close(write_end);
  });
}

// CL-21
TEST_F(number_reuse, closing_a_borrowed_stream_leaves_the_owner_and_the_number_alone) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    rouse::stream borrowed = rouse::borrow(fd);
    auto of_owner = parked_reader(reader);
    auto of_borrower = parked_reader(borrowed);
    borrowed.close();
    EXPECT_CLOSED_UNDER(of_borrower.get());
    EXPECT_TRUE(is_open(fd));
    EXPECT_EQ(of_owner.status(), rouse::thread_status::sleeping);
    writer.write_all("abc");
    EXPECT_EQ(of_owner.get().bytes, "abc");
  });
}

TEST_F(number_reuse, closing_the_owner_takes_the_number_from_the_borrower) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    rouse::stream borrowed = rouse::borrow(fd);
    auto of_borrower = parked_reader(borrowed);
    reader.close();
    raw_pair stranger = stranger_at(fd); // before the reader has run
    EXPECT_EQ(of_borrower.get().error.value(), EBADF);
    EXPECT_EQ(read_now(borrowed).error.value(), EBADF);
    borrowed.close(); // closes nothing: no error
    end_stranger(stranger);
  });
}

TEST_F(number_reuse, a_pipe_of_ours_knows_when_its_number_was_adopted_and_closed) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    rouse::stream second_owner = rouse::adopt(fd);
    second_owner.close();
    raw_pair stranger = stranger_at(fd);
    EXPECT_EQ(read_now(reader).error.value(), EBADF);
    EXPECT_THROW(reader.close(), rouse::errno_error<EBADF>);
    end_stranger(stranger);
  });
}

TEST_F(number_reuse, a_revoked_stream_may_be_dropped_without_closing_the_stranger) {
  run([] {
    auto [read_end, write_end] = raw_pipe();
    rouse::stream a = rouse::adopt(read_end);
    rouse::stream b = rouse::adopt(read_end);
    a.close();
    raw_pair stranger = stranger_at(read_end);
    b = rouse::stream();
    EXPECT_TRUE(is_open(read_end));
    end_stranger(stranger);
    ::close(write_end);
  });
}

// CL-31
TEST_F(number_reuse, a_reader_of_the_next_owner_of_the_number_never_hears_of_the_old_close) {
  run([] {
    for (int round = 0; round < rounds(2000); ++round) {
      auto [reader, writer] = rouse::pipe();
      const int fd = reader.native_handle();
      auto old_reader = parked_reader(reader);
      reader.close();
      auto [next, next_writer] = rouse::pipe();
      EXPECT_EQ(next.native_handle(), fd);
      auto new_reader = start_read(next);
      EXPECT_CLOSED_UNDER(old_reader.get());
      until_parked(new_reader);
      next_writer.write_all("mine");
      EXPECT_EQ(new_reader.get().bytes, "mine");
    }
  });
}

// FR5, C 25: a description that lives on elsewhere
TEST_F(number_reuse, a_registration_does_not_survive_close_when_a_duplicate_lives_on) {
  run([] {
    raw_pair old = raw_sockets(SOCK_STREAM);
    const int duplicate = ::fcntl(old.first, F_DUPFD_CLOEXEC, 100);
    rouse::stream s = rouse::adopt(old.first);
    auto r = parked_reader(s);
    rouse::this_thread::sleep_for(1ms); // the VM has polled: it is registered
    EXPECT_TRUE(inside(s).registered);
    s.close();
    EXPECT_CLOSED_UNDER(r.get());

    raw_pair next = raw_sockets(SOCK_STREAM);
    EXPECT_EQ(next.first, old.first);
    rouse::stream n = rouse::adopt(next.first);
    auto fresh = parked_reader(n);
    rouse::this_thread::sleep_for(1ms);
    put(old.second, "for the old one"); // would be an event under the number
    rouse::this_thread::sleep_for(1ms);
    EXPECT_EQ(inside(n).side(direction::read).tick, 0u);
    EXPECT_EQ(fresh.status(), rouse::thread_status::sleeping);
    put(next.second, "mine");
    EXPECT_EQ(fresh.get().bytes, "mine");
    for (int fd : {duplicate, old.second, next.second}) ::close(fd);
  });
}

TEST_F(number_reuse, a_duplicate_with_unread_data_leaves_the_vm_idle_after_close) {
  run([] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    const int duplicate = ::fcntl(p.first, F_DUPFD_CLOEXEC, 0);
    rouse::stream s = rouse::adopt(p.first);
    auto r = parked_reader(s);
    rouse::this_thread::sleep_for(1ms);
    s.close();
    int polls = 0;
    {
      system_call_hook count([&](long number) -> long {
        polls += number == SYS_epoll_pwait || number == SYS_epoll_pwait2;
        return 0;
      });
      std::thread peer([&] {
        for (int i = 0; i < 20; ++i) {
          put(p.second, "x");
          std::this_thread::sleep_for(1ms);
        }
      });
      rouse::this_thread::sleep_for(30ms);
      peer.join();
    }
    EXPECT_LE(polls, 3);
    EXPECT_CLOSED_UNDER(r.get());
    ::close(duplicate);
    ::close(p.second);
  });
}

// C 26
TEST_F(number_reuse, a_forked_child_that_still_has_the_socket_leaves_the_vm_idle_after_close) {
  run([] {
    auto [a, b] = rouse::socketpair();
    auto r = parked_reader(a);
    rouse::this_thread::sleep_for(1ms); // registered before the fork
    raw_pair stop = raw_pipe();
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(stop.second);
      char c;
      static_cast<void>(!::read(stop.first, &c, 1));
      ::_exit(0);
    }
    ::close(stop.first);
    a.close();
    EXPECT_CLOSED_UNDER(r.get());
    int polls = 0;
    {
      system_call_hook count([&](long number) -> long {
        polls += number == SYS_epoll_pwait || number == SYS_epoll_pwait2;
        return 0;
      });
      const int peer = b.native_handle();
      for (int i = 0; i < 5; ++i) {
        ::send(peer, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        rouse::this_thread::sleep_for(1ms);
      }
    }
    EXPECT_LE(polls, 12);
    EXPECT_EQ(inside(a).fd, -1);
    ::close(stop.second);
    ::waitpid(child, nullptr, 0);
  });
}

// B 22, FR5
TEST_F(number_reuse, a_stale_event_does_not_touch_the_next_owner_that_is_registered_already) {
  run([] {
    auto [idle_reader, idle_writer] = rouse::pipe();
    auto idle = parked_reader(idle_reader); // somebody waits: a busy VM polls
    raw_pair old = raw_sockets(SOCK_STREAM);
    rouse::stream s = rouse::adopt(old.first);
    EXPECT_FALSE(s.wait_readable(1ms)); // registered
    rouse::stream next;
    bool swapped = false;
    int next_peer = -1;
    {
      at_test_point hold([&](std::string_view name) {
        if (name != "poller.dispatch" || swapped || !rouse::this_thread::get_id().value()) return;
        swapped = true;
        s.close(); // has no users: it does not park
        raw_pair fresh = raw_sockets(SOCK_STREAM);
        EXPECT_EQ(fresh.first, old.first);
        next = rouse::adopt(fresh.first);
        next_peer = fresh.second;
        register_now(next);
      });
      put(old.second, "x");
      for (int i = 0; i < 5000 && !swapped; ++i) rouse::this_thread::yield();
      ASSERT_TRUE(swapped);
    }
    EXPECT_TRUE(inside(next).registered);
    EXPECT_EQ(inside(next).side(direction::read).tick, 0u) << "a stranger's event was delivered";
    idle_writer.close();
    idle.join();
    ::close(old.second);
    ::close(next_peer);
  });
}

// Not a misuse of ours: somebody closed the number behind our back. CL-22
TEST_F(number_reuse, a_number_closed_behind_our_back_is_reported_by_close) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    ::close(reader.native_handle());
    EXPECT_EQ(read_now(reader).error.value(), EBADF);
    EXPECT_THROW(reader.close(), rouse::errno_error<EBADF>);
    EXPECT_TRUE(is_closed(reader));
  });
}

TEST_F(number_reuse, a_number_closed_behind_our_back_serves_its_next_owner) {
  run([] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream old = rouse::borrow(p.first);
    EXPECT_FALSE(old.wait_readable(1ms)); // registered
    ::close(p.first);
    auto [reader, writer] = rouse::pipe();
    EXPECT_EQ(inside(reader).fd, p.first);
    auto r = parked_reader(reader);
    rouse::this_thread::sleep_for(1ms);
    put(writer.native_handle(), "mine"); // by the system: no hint, only an event tells
    EXPECT_TRUE(r.join_for(2s)) << "the new owner of the number was never registered";
    EXPECT_EQ(r.get().bytes, "mine");
    ::close(p.second);
  });
}

// B 20-like
TEST_F(number_reuse, a_number_serves_a_thousand_owners_in_turn) {
  run([] {
    for (int i = 0; i < rounds(1000); ++i) {
      raw_pair p = raw_sockets(SOCK_STREAM);
      rouse::stream s = rouse::adopt(p.first);
      EXPECT_FALSE(s.wait_readable(0s));
      auto r = parked_reader(s);
      put(p.second, "x");
      EXPECT_EQ(r.get().bytes, "x");
      s.close();
      ::close(p.second);
    }
  });
}

// B 23
TEST_F(number_reuse, the_end_of_a_vm_writes_to_nobodys_descriptor) {
  std::atomic<bool> over{false};
  std::string received;
  std::thread churn([&] {
    while (!over) {
      raw_pair p = raw_pipe(O_NONBLOCK);
      put(p.second, "ok");
      received = take_now(p.first);
      if (received != "ok") break;
      ::close(p.first);
      ::close(p.second);
      received.clear();
    }
  });
  for (int i = 0; i < rounds(500); ++i) {
    auto small = std::make_unique<rouse::vm>();
    rouse::remote r = small->make_remote();
    std::thread outside([r] {
      try {
        for (;;) r.post([] {});
      } catch (const rouse::vm_gone&) {
      }
    });
    small.reset();
    outside.join();
  }
  over = true;
  churn.join();
  EXPECT_EQ(received, "");
}

} // namespace
