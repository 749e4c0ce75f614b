// Bytes arrive once, in order, and are counted right.

#include "io_fixture.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class read_write : public vm_test {};

// EO-03
TEST_F(read_write, read_some_returns_what_there_is_and_read_exactly_waits_for_all) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    writer.write_all("abc");
    EXPECT_EQ(read_now(reader, 5).bytes, "abc");
    writer.write_all("abc");
    auto r = start_read_exactly(reader, 5);
    until_parked(r);
    writer.write_all("de");
    EXPECT_EQ(r.get().bytes, "abcde");
  });
}

// EO-02
TEST_F(read_write, the_end_comes_after_the_last_byte_and_stays) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    writer.write_all("12345678");
    writer.close();
    EXPECT_EQ(read_now(reader, 5).bytes, "12345");
    EXPECT_EQ(read_now(reader, 5).bytes, "678");
    for (int i = 0; i < 3; ++i) {
      const io_result end = read_now(reader, 5);
      EXPECT_FALSE(end.error);
      EXPECT_EQ(end.count, 0u);
    }
  });
}

TEST_F(read_write, read_exactly_reports_an_early_end_with_what_it_had) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    writer.write_all("abc");
    writer.close();
    std::array<char, 8> buffer{};
    try {
      reader.read_exactly(buffer);
      FAIL();
    } catch (const rouse::end_of_file& e) {
      EXPECT_EQ(e.bytes_transferred(), 3u);
      EXPECT_STREQ(e.what(), "end of file reached");
      EXPECT_STREQ(e.call(), "read_exactly");
    }
    EXPECT_EQ(read_all_of(reader, 8).error, rouse::io_errc::end_of_file);
  });
}

// EO-05
TEST_F(read_write, there_is_no_end_until_every_writer_is_closed) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    rouse::stream second = writer.dup();
    auto r = parked_reader(reader);
    writer.close();
    for (int i = 0; i < 5; ++i) rouse::this_thread::yield();
    rouse::this_thread::sleep_for(1ms);
    EXPECT_EQ(r.status(), rouse::thread_status::sleeping);
    second.write_all("still");
    EXPECT_EQ(r.get().bytes, "still");
    auto end = parked_reader(reader);
    second.close();
    EXPECT_FALSE(end.get().error);
    EXPECT_EQ(end.get().count, 0u);
  });
}

TEST_F(read_write, an_empty_buffer_moves_nothing_and_never_waits) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    int calls = 0;
    system_call_hook count([&](long) -> long { return ++calls, 0; });
    EXPECT_EQ(reader.read_some(rouse::mutable_bytes()), 0u);
    reader.read_exactly(rouse::mutable_bytes());
    EXPECT_EQ(writer.write_some(""), 0u);
    writer.write_all(""); // R-BW-01
    EXPECT_EQ(calls, 0);
  });
}

// PW-03
TEST_F(read_write, write_some_returns_a_short_count_and_does_not_loop) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const std::string big(1 << 20, 'x');
    const std::size_t n = writer.write_some(big);
    EXPECT_GT(n, 0u);
    EXPECT_LT(n, big.size());
    EXPECT_EQ(drain(reader.native_handle()), n);
  });
}

TEST_F(read_write, a_megabyte_arrives_whole) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const std::string sent = pattern(1 << 20);
    auto w = start_write(writer, sent);
    EXPECT_EQ(read_all_of(reader, sent.size()).bytes, sent);
    EXPECT_EQ(w.get().count, sent.size());
  });
}

TEST_F(read_write, both_directions_of_a_socket_move_at_once) {
  run([] {
    auto [a, b] = rouse::socketpair();
    const std::string ab = pattern(1 << 20, 1), ba = pattern(1 << 20, 2);
    auto wa = start_write(a, ab);
    auto wb = start_write(b, ba);
    auto ra = start_read_exactly(a, ba.size());
    auto rb = start_read_exactly(b, ab.size());
    EXPECT_EQ(ra.get().bytes, ba);
    EXPECT_EQ(rb.get().bytes, ab);
    EXPECT_EQ(wa.get().count, ab.size());
    EXPECT_EQ(wb.get().count, ba.size());
  });
}

// BW-13
TEST_F(read_write, the_bytes_of_one_call_stay_together_among_many_writers) {
  run([] {
    constexpr std::size_t size = 1 << 20;
    constexpr int writers = 8;
    auto [reader, writer] = rouse::pipe();
    std::vector<rouse::task<io_result>> all;
    for (int i = 0; i < writers; ++i)
      all.push_back(start_write(writer, std::string(size, static_cast<char>('a' + i))));
    std::string order;
    for (int i = 0; i < writers; ++i) {
      const std::string block = read_all_of(reader, size).bytes;
      ASSERT_EQ(block.size(), size);
      ASSERT_EQ(block.find_first_not_of(block[0]), std::string::npos) << "torn";
      order += block[0];
    }
    EXPECT_EQ(order, "abcdefgh") << "not in order of arrival";
  });
}

TEST_F(read_write, a_writer_killed_in_its_queue_or_in_its_turn_lets_the_next_one_go_on) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const std::string big(1 << 20, 'x');
    auto in_turn = parked_writer(writer, big);
    auto queued = parked_writer(writer, big);
    auto chosen = parked_writer(writer, big);
    auto last = parked_writer(writer, "end");
    queued.kill();
    queued.join();
    in_turn.kill();
    in_turn.join(); // the turn is handed to `chosen`, which has not run
    chosen.kill();
    chosen.join();
    const int fd = reader.native_handle();
    std::string tail;
    while (last.alive()) {
      const std::string some = take_now(fd, 65536);
      if (!some.empty()) tail = some;
      rouse::this_thread::yield();
    }
    for (std::string some; !(some = take_now(fd, 65536)).empty();) tail = some;
    EXPECT_EQ(last.get().count, 3u);
    EXPECT_EQ(tail.substr(tail.size() - 3), "end");
  });
}

TEST_F(read_write, a_failed_write_says_how_much_went_out) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    std::size_t reported = 0;
    auto w = rouse::spawn([&, s = writer]() mutable {
      const std::string big = pattern(1 << 20);
      try {
        s.write_all(big);
      } catch (const rouse::errno_error<EPIPE>& e) {
        reported = e.bytes_transferred();
        EXPECT_STREQ(e.call(), "write_all");
      }
    });
    until_parked(w);
    const std::string got = read_all_of(reader, 100'000).bytes;
    EXPECT_EQ(got, pattern(1 << 20).substr(0, got.size()));
    until_parked(w);
    const std::size_t in_pipe = drain(reader.native_handle());
    reader.close();
    w.join();
    EXPECT_EQ(reported, got.size() + in_pipe);
  });
}

TEST_F(read_write, writing_when_nobody_reads_is_an_error_and_no_signal) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  struct sigaction action;
  run([&] {
    auto [reader, writer] = rouse::pipe();
    reader.close();
    EXPECT_THROW(writer.write_all("x"), rouse::errno_error<EPIPE>);
    EXPECT_EQ(write_now(writer, "x").error.value(), EPIPE);
    auto [a, b] = rouse::socketpair();
    b.close();
    EXPECT_THROW(a.write_all("x"), rouse::errno_error<EPIPE>);
    rouse::stream adopted = rouse::adopt([] {
      raw_pair p = raw_pipe();
      ::close(p.first);
      return p.second;
    }());
    EXPECT_THROW(adopted.write_all("x"), rouse::errno_error<EPIPE>);
  });
  // The mask is as before, the disposition untouched, and the signal that came meanwhile is consumed.
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  ::sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST_F(read_write, a_waiting_writer_learns_that_the_reader_is_gone) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto w = parked_writer(writer, std::string(1 << 20, 'x'));
    reader.close();
    EXPECT_EQ(w.get().error.value(), EPIPE);
    EXPECT_GT(w.get().count, 0u);
  });
}

// KR-02
TEST_F(read_write, a_killed_reader_leaves_the_pipe_open_and_no_wake_up_is_lost) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    for (int i = 0; i < 250; ++i) {
      auto r = start_read(reader);
      if (i % 2) until_parked(r);
      r.kill();
      r.join();
    }
    auto r = parked_reader(reader);
    writer.write_all("x");
    EXPECT_EQ(r.get().bytes, "x");
  });
}

// KR-17, SL-10: nothing of later data is lost to a reader that left
TEST_F(read_write, a_reader_raised_at_takes_no_byte_with_it) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    for (int i = 0; i < 100; ++i) {
      std::string buffer(8, '?');
      auto r = rouse::spawn([&, s = reader]() mutable {
        std::error_code error;
        try {
          return s.read_some(buffer, error);
        } catch (const std::runtime_error&) {
          return std::size_t{99};
        }
      });
      until_parked(r);
      if (i % 2) writer.write_all("abcd");
      r.raise(std::runtime_error("stop"));
      if (!(i % 2)) writer.write_all("abcd");
      const std::size_t n = r.get();
      if (n == 99) {
        EXPECT_EQ(buffer, "????????");
        EXPECT_EQ(read_now(reader).bytes, "abcd");
      } else {
        EXPECT_EQ(buffer.substr(0, n), "abcd"); // the completed result is kept: KR5, I9
      }
    }
  });
}

// BW-15, KR-09
TEST_F(read_write, an_interrupt_that_is_pending_comes_before_any_byte_is_written) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto w = rouse::spawn([s = writer]() mutable {
      {
        rouse::no_interrupts quiet;
        rouse::this_thread::yield();
      }
      s.write_all("never");
    });
    rouse::this_thread::yield();
    w.raise(std::runtime_error("first"));
    EXPECT_THROW(w.join(), std::runtime_error);
    EXPECT_EQ(take_now(reader.native_handle()), "");
  });
}

// KR5
TEST_F(read_write, a_write_that_went_out_returns_its_count_though_an_interrupt_is_pending) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    std::size_t count = 0;
    bool caught = false, held = false, sent = false;
    auto w = rouse::spawn([&, s = writer]() mutable {
      try {
        count = s.write_some("record");
        rouse::this_thread::checkpoint();
      } catch (const std::runtime_error&) {
        caught = true;
      }
    });
    at_test_point hold([&](std::string_view name) {
      if (name != "write.before_call" || held) return;
      held = true;
      rouse::no_interrupts quiet;
      yield_until([&] { return sent; });
    });
    yield_until([&] { return held; });
    w.raise(std::runtime_error("timeout"));
    sent = true;
    w.join();
    EXPECT_EQ(count, 6u);
    EXPECT_TRUE(caught);
    EXPECT_EQ(read_now(reader).bytes, "record");
  });
}

// A 13
TEST_F(read_write, no_stale_errno_shows_up_in_a_wait_that_is_interrupted) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto t = rouse::spawn([s = reader]() mutable {
      {
        rouse::no_interrupts quiet;
        rouse::this_thread::yield();
      }
      errno = ENOENT;
      s.wait_readable();
    });
    rouse::this_thread::yield();
    t.raise(std::runtime_error("now"));
    try {
      t.join();
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "now");
    }
  });
}

// PW-04
TEST_F(read_write, a_call_that_a_signal_cuts_short_is_repeated) {
  run([] {
    auto [a, b] = rouse::socketpair();
    auto [reader, writer] = rouse::pipe();
    int cuts = 0;
    system_call_hook cut([&](long number) -> long {
      const bool moves = number == SYS_read || number == SYS_write || number == SYS_recvfrom ||
                         number == SYS_sendto || number == SYS_ppoll;
      return moves && ++cuts % 3 != 0 ? -EINTR : 0;
    });
    a.write_all("abc");
    EXPECT_TRUE(b.wait_readable());
    EXPECT_EQ(read_now(b).bytes, "abc");
    writer.write_all("def");
    EXPECT_EQ(read_now(reader).bytes, "def");
    EXPECT_GT(cuts, 8);
  });
}

} // namespace
