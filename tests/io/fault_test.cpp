// Every system call fails once, at every place: the error has a type, nothing leaks, and the VM goes on.

#include "io_fixture.hpp"

#include <cerrno>
#include <functional>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace rouse_test;

namespace {

class fault : public vm_test {
 protected:
  // Runs `scenario` again and again, its k-th system call failing with `error`, until it makes fewer than k
  // calls. close(2) is spared: a call that is not made leaves its number open. After each the world must be
  // as before.
  void every_call_fails(int error, const std::function<void()>& scenario) {
    run([&] {
      for (int k = 1;; ++k) {
        ASSERT_LT(k, 500);
        const std::size_t descriptors = open_descriptors();
        int calls = 0;
        {
          system_call_hook fails([&](long number) -> long {
            if (number == SYS_close) return 0;
            return ++calls == k ? -error : 0;
          });
          try {
            scenario();
          } catch (const rouse::io_error& e) {
            EXPECT_TRUE(e.code().category() == rouse::io_category() || e.code().value() == error)
                << "call " << k;
            EXPECT_STRNE(e.call(), "");
          }
        }
        for (int i = 0; i < 3; ++i) rouse::this_thread::yield();
        EXPECT_EQ(open_descriptors(), descriptors) << "call " << k;
        EXPECT_EQ(vm->threads().size(), 1u) << "call " << k;
        auto [reader, writer] = rouse::pipe(); // it goes on
        auto r = parked_reader(reader);
        writer.write_all("x");
        EXPECT_EQ(r.get().bytes, "x") << "call " << k;
        if (calls < k) return;
      }
    });
  }
};

TEST_F(fault, in_making_a_pipe) {
  every_call_fails(ENFILE, [] { rouse::pipe(); });
}

TEST_F(fault, in_making_a_pair_of_sockets) {
  every_call_fails(ENFILE, [] { rouse::socketpair(); });
}

TEST_F(fault, in_making_a_duplicate) {
  every_call_fails(EMFILE, [] {
    auto [a, b] = rouse::socketpair();
    a.dup();
  });
}

TEST_F(fault, in_adopting_leaves_the_descriptor_to_the_caller) {
  every_call_fails(EIO, [] {
    for (raw_pair p : {raw_pipe(), raw_sockets(SOCK_STREAM)}) {
      try {
        rouse::stream s = rouse::adopt(p.first);
        ::close(p.second);
        s.close();
      } catch (const rouse::io_error&) {
        EXPECT_TRUE(is_open(p.first));
        ::close(p.first);
        ::close(p.second);
      }
    }
  });
}

// The other side's threads report in codes; whatever ends early closes its stream, so that nobody waits for
// it.
TEST_F(fault, in_passing_bytes_through_a_pipe) {
  every_call_fails(EIO, [] {
    auto [reader, writer] = rouse::pipe();
    auto r = rouse::spawn([s = reader]() mutable {
      io_result got = read_all_of(s, 100'000);
      s.close();
      return got;
    });
    auto w = rouse::spawn([s = writer]() mutable {
      io_result sent = write_now(s, std::string(100'000, 'x'));
      s.close();
      return sent;
    });
    r.join();
    w.join();
    for (const io_result& each : {r.get(), w.get()})
      EXPECT_TRUE(!each.error || each.error.category() == rouse::io_category() || each.error.value() == EIO ||
                  each.error.value() == EPIPE)
          << each.error.message();
  });
}

TEST_F(fault, in_passing_bytes_through_sockets_that_nobody_hints_at) {
  every_call_fails(EIO, [] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream a, b;
    try {
      a = rouse::adopt(p.first);
    } catch (const rouse::io_error&) {
      ::close(p.first);
      ::close(p.second);
      throw;
    }
    try {
      b = rouse::adopt(p.second);
    } catch (const rouse::io_error&) {
      ::close(p.second);
      throw;
    }
    auto echo = rouse::spawn([s = b]() mutable {
      std::string bytes(10, '\0');
      std::error_code error;
      while (s.read_exactly(bytes, error) == 10 && s.write_all(bytes, error) == 10) {
      }
      s.close(error);
    });
    for (int i = 0; i < 3; ++i) {
      if (write_now(a, "0123456789").error) break;
      if (read_all_of(a, 10).error) break;
    }
    a.close();
    echo.join();
  });
}

TEST_F(fault, in_waiting_for_readiness) {
  every_call_fails(EIO, [] {
    auto [reader, writer] = rouse::pipe();
    EXPECT_FALSE(reader.wait_readable(1ms));
    writer.write_all("x");
    EXPECT_TRUE(reader.wait_readable());
    EXPECT_TRUE(writer.wait_writable(1s));
  });
}

TEST_F(fault, in_closing_under_readers) {
  every_call_fails(EIO, [] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream s;
    try {
      s = rouse::adopt(p.first);
    } catch (const rouse::io_error&) {
      ::close(p.first);
      ::close(p.second);
      throw;
    }
    auto first = parked_reader(s);
    auto second = parked_reader(s);
    rouse::this_thread::sleep_for(1ms);
    s.close();
    EXPECT_TRUE(first.get().error);
    EXPECT_TRUE(second.get().error);
    ::close(p.second);
  });
}

// An epoll that cannot take one more descriptor.
TEST_F(fault, a_descriptor_that_cannot_be_registered_fails_its_waiter_and_no_other) {
  run([] {
    auto [other, other_writer] = rouse::pipe();
    auto unconcerned = parked_reader(other);
    rouse::this_thread::sleep_for(1ms); // registered before
    auto [reader, writer] = rouse::pipe();
    {
      system_call_hook full([](long number) -> long { return number == SYS_epoll_ctl ? -ENOSPC : 0; });
      auto first = parked_reader(reader);
      auto second = parked_reader(reader);
      rouse::this_thread::sleep_for(1ms);
      EXPECT_EQ(first.get().error.value(), ENOSPC);
      EXPECT_EQ(second.get().error.value(), ENOSPC);
      EXPECT_EQ(unconcerned.status(), rouse::thread_status::sleeping);
    }
    auto later = parked_reader(reader);
    put(writer.native_handle(), "x");
    EXPECT_EQ(later.get().bytes, "x");
    other_writer.close();
    unconcerned.join();
  });
}

// A poll that fails is tried again; nobody is forgotten.
TEST_F(fault, a_poll_that_fails_loses_no_event) {
  run([] {
    int fails_left = 5;
    system_call_hook fails([&](long number) -> long {
      const bool polls = number == SYS_epoll_pwait || number == SYS_epoll_pwait2;
      return polls && fails_left > 0 && fails_left-- ? -EINTR : 0;
    });
    auto [reader, writer] = rouse::pipe();
    auto r = parked_reader(reader);
    put(writer.native_handle(), "x");
    EXPECT_EQ(r.get().bytes, "x");
    EXPECT_EQ(fails_left, 0);
  });
}

TEST_F(fault, an_old_kernel_without_epoll_pwait2_keeps_its_limits) {
  run([] {
    system_call_hook old([](long number) -> long { return number == SYS_epoll_pwait2 ? -ENOSYS : 0; });
    auto [reader, writer] = rouse::pipe();
    const auto start = rouse::clock::now();
    EXPECT_FALSE(reader.wait_readable(1500us));
    EXPECT_GE(rouse::clock::now() - start, 1500us);
  });
}

} // namespace
