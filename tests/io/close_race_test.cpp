// Close against everything that may happen at the same instant: each step of it is held open.

#include "io_fixture.hpp"

#include <array>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;
using rouse::detail::direction;

namespace {

class close_race : public vm_test {};

// Yields inside a hook. The library's own frames are below: nothing may be thrown through them.
template <class P> void hold_until(P done) {
  rouse::no_interrupts quiet;
  yield_until(done);
}

// Runs `f` the first time that the point is passed.
template <class F> auto once_at(std::string_view point, F f) {
  return [point, f, done = false](std::string_view name) mutable {
    if (name != point || done) return;
    done = true;
    f();
  };
}

// B 18, CL-30, CL-31, FR2, I5
TEST_F(close_race, a_reader_between_its_look_and_its_call_never_sees_a_strangers_file) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    int taken = -1;
    bool closer_done = false;
    at_test_point hold(once_at("read.before_call", [&] {
      hold_until([&, r = reader] { return is_closing(r); });
      // The closer waits for us. Whoever now asks for a number must get another one.
      for (int i = 0; i < 20; ++i) rouse::this_thread::yield();
      EXPECT_FALSE(closer_done);
      EXPECT_TRUE(is_open(fd));
      raw_pair stranger = raw_pipe();
      EXPECT_NE(stranger.first, fd);
      put(stranger.second, "SECRET");
      taken = stranger.first;
      ::close(stranger.second);
    }));
    auto r = start_read(reader);
    auto c = rouse::spawn([&, s = reader]() mutable {
      yield_until([&] { return inside(s).users > 0; });
      s.close();
      closer_done = true;
    });
    c.join();
    EXPECT_CLOSED_UNDER(r.get());
    EXPECT_EQ(r.get().bytes, "");
    ::close(taken);
  });
}

TEST_F(close_race, a_writer_between_its_look_and_its_call_never_writes_to_a_stranger) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = writer.native_handle();
    at_test_point hold(once_at("write.before_call", [&, w = writer] {
      hold_until([&] { return is_closing(w); });
      for (int i = 0; i < 20; ++i) rouse::this_thread::yield();
      EXPECT_TRUE(is_open(fd)) << "closed under a user";
    }));
    auto w = start_write(writer, "abc");
    yield_until([s = writer] { return inside(s).users > 0; });
    writer.close();
    // Its call was under way when close began, and it completed: I9
    EXPECT_FALSE(w.get().error);
    EXPECT_EQ(read_now(reader).bytes, "abc");
    EXPECT_FALSE(is_open(fd));
  });
}

// I9, CL-30
TEST_F(close_race, data_that_was_read_while_close_began_is_kept) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    writer.write_all("kept");
    at_test_point hold(
        once_at("read.before_call", [r = reader] { hold_until([&] { return is_closing(r); }); }));
    auto r = start_read(reader);
    yield_until([s = reader] { return inside(s).users > 0; });
    reader.close();
    EXPECT_FALSE(r.get().error);
    EXPECT_EQ(r.get().bytes, "kept");
  });
}

// PW-08: what a read of a size had already is in the error
TEST_F(close_race, a_read_of_a_size_keeps_what_it_had_when_close_began) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto r = start_read_exactly(reader, 10);
    until_parked(r);
    writer.write_all("part");
    bool first = true;
    at_test_point hold([&, s = reader](std::string_view name) {
      if (name != "read.before_call" || !std::exchange(first, false)) return;
      hold_until([&] { return is_closing(s); });
    });
    yield_until([&] { return !first; });
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
    EXPECT_EQ(r.get().bytes, "part");
  });
}

// I6
TEST_F(close_race, a_reader_that_is_ready_already_when_close_begins_gets_the_error) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto r = parked_reader(reader);
    writer.write_all("late"); // makes it ready; it has not run
    EXPECT_EQ(r.status(), rouse::thread_status::runnable);
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
  });
}

TEST_F(close_race, a_reader_held_before_its_park_is_not_missed) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    bool held = false;
    at_test_point hold(once_at("stream.before_park", [&, s = reader] {
      // No waiter of ours hangs on any list yet; the close that begins now cannot find one.
      held = true;
      for (int i = 0; i < 50 && !is_closing(s); ++i) rouse::this_thread::yield();
    }));
    auto r = start_read(reader);
    yield_until([&] { return held; });
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
  });
}

TEST_F(close_race, a_reader_held_between_its_wake_up_and_its_look_finds_the_close) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto r = parked_reader(reader);
    bool resumed = false;
    at_test_point hold(once_at("stream.resumed", [&, s = reader] {
      resumed = true;
      hold_until([&] { return is_closing(s); });
    }));
    writer.write_all("abc");
    yield_until([&] { return resumed; });
    const int fd = reader.native_handle();
    reader.close();
    EXPECT_FALSE(is_open(fd));
    EXPECT_CLOSED_UNDER(r.get());
  });
}

// CL-46
TEST_F(close_race, an_operation_that_begins_while_close_is_under_way_fails_at_once) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto r = parked_reader(reader);
    std::vector<io_result> late;
    at_test_point hold(once_at("stream.resumed", [&, s = reader] {
      // The closer waits for us.
      EXPECT_TRUE(is_closing(s));
      late.push_back(start_read(s).get());
      std::error_code error;
      rouse::stream copy = s;
      copy.wait_readable(rouse::forever, error);
      late.push_back({error, {}, 0});
    }));
    reader.close();
    ASSERT_EQ(late.size(), 2u);
    for (const io_result& l : late) EXPECT_CLOSED_BEFORE(l);
    EXPECT_CLOSED_UNDER(r.get());
  });
}

// Both due at the same look at the clock: the limit has ended the wait, and close comes before it resumes.
TEST_F(close_race, close_outranks_a_limit_that_passed_at_the_same_instant) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    reader.set_timeout(3ms);
    auto r = parked_reader(reader);
    const auto all_due = rouse::clock::now() + 8ms;
    at_test_point hold([&](std::string_view name) {
      while (name == "poller.wait" && rouse::clock::now() < all_due) {
      }
    });
    rouse::this_thread::sleep_for(1ms); // due before the reader's limit, noticed together with it
    EXPECT_EQ(r.status(), rouse::thread_status::runnable)
        << "the limit has not passed: the test shows nothing";
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
  });
}

TEST_F(close_race, a_limit_that_passes_after_close_began_changes_nothing) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    reader.set_timeout(2ms);
    auto r = parked_reader(reader);
    at_test_point hold([&, until = rouse::clock::now() + 5ms](std::string_view name) {
      while (name == "close.closing" && rouse::clock::now() < until) {
      }
    });
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
  });
}

// Kill outranks the closed error, whichever came first.
TEST_F(close_race, kill_outranks_the_closed_error_when_it_comes_first) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    bool saw_error = false;
    auto t = rouse::spawn([&, s = reader] {
      read_now(s);
      saw_error = true;
    });
    until_parked(t);
    t.kill();
    reader.close();
    t.join();
    EXPECT_FALSE(saw_error);
    EXPECT_THROW(t.get(), rouse::thread_killed);
  });
}

TEST_F(close_race, kill_outranks_the_closed_error_when_it_comes_later) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    bool saw_error = false, resumed = false, killed = false;
    auto t = rouse::spawn([&, s = reader] {
      read_now(s);
      saw_error = true;
    });
    until_parked(t);
    at_test_point hold(once_at("stream.resumed", [&] {
      resumed = true;
      hold_until([&] { return killed; });
    }));
    auto closer = rouse::spawn([s = reader]() mutable { s.close(); });
    yield_until([&] { return resumed; });
    t.kill();
    killed = true;
    t.join();
    closer.join();
    EXPECT_FALSE(saw_error);
    EXPECT_THROW(t.get(), rouse::thread_killed);
  });
}

TEST_F(close_race, a_raise_does_not_hide_the_closed_error_and_comes_afterwards) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    std::error_code error;
    bool raised = false;
    auto t = rouse::spawn([&, s = reader]() mutable {
      std::array<char, 4> b;
      try {
        s.read_some(b, error);
        rouse::this_thread::checkpoint();
      } catch (const std::runtime_error&) {
        raised = true;
      }
    });
    until_parked(t);
    t.raise(std::runtime_error("later"));
    reader.close();
    t.join();
    EXPECT_EQ(error, rouse::io_errc::closed_under_call);
    EXPECT_TRUE(raised);
  });
}

// CR5
TEST_F(close_race, the_error_belongs_to_the_operation_and_never_to_a_later_one) {
  run([] {
    for (int i = 0; i < 100; ++i) {
      auto [a, a_writer] = rouse::pipe();
      auto [b, b_writer] = rouse::pipe();
      auto t = rouse::spawn([a = a, b = b]() mutable {
        std::error_code error;
        a.wait_readable(rouse::forever, error);
        return read_now(b); // whatever happened to a
      });
      until_parked(t);
      a_writer.write_all("x");
      if (i % 2) rouse::this_thread::yield(); // it has resumed, and waits for b
      a.close();
      b_writer.write_all("y");
      EXPECT_FALSE(t.get().error);
      EXPECT_EQ(t.get().bytes, "y");
    }
  });
}

// CR1
TEST_F(close_race, a_parked_reader_of_a_tcp_socket_is_told_every_time_and_nobody_else_is) {
  run([] {
    auto [other_reader, other_writer] = rouse::pipe();
    auto other = parked_reader(other_reader);
    for (int round = 0; round < 200; ++round) {
      auto [client, server] = raw_tcp();
      rouse::stream s = rouse::adopt(server);
      auto r = parked_reader(s);
      const auto start = rouse::clock::now();
      s.close();
      EXPECT_CLOSED_UNDER(r.get());
      EXPECT_LT(rouse::clock::now() - start, 100ms);
      ::close(client);
    }
    EXPECT_EQ(other.status(), rouse::thread_status::sleeping);
    other_writer.close();
    EXPECT_EQ(other.get().count, 0u);
  });
}

// CR1, the variant: somebody makes the shared description blocking
TEST_F(close_race, a_description_made_blocking_through_its_number_never_blocks_the_vm) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    ASSERT_EQ(::fcntl(fd, F_SETFL, 0), 0);
    ticker others;
    auto r = parked_reader(reader);
    others.wait_for(10);
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
  });
}

TEST_F(close_race, a_description_made_blocking_through_a_dup_never_blocks_the_vm) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    rouse::stream dup = reader.dup();
    ASSERT_EQ(::fcntl(dup.native_handle(), F_SETFL, 0), 0);
    auto r = parked_reader(reader);
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
    auto d = parked_reader(dup);
    dup.close();
    EXPECT_CLOSED_UNDER(d.get());
  });
}

TEST_F(close_race, a_writer_of_a_description_made_blocking_never_blocks_the_vm) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    ASSERT_EQ(::fcntl(writer.native_handle(), F_SETFL, 0), 0);
    auto w = parked_writer(writer, std::string(1 << 20, 'x'));
    writer.close();
    EXPECT_CLOSED_UNDER(w.get());
    EXPECT_GT(w.get().count, 0u);
  });
}

// CR3
TEST_F(close_race, data_writer_close_and_reader_close_together_leave_no_reader_behind) {
  run([] {
    for (int round = 0; round < rounds(1000); ++round) {
      std::vector<rouse::pipe_ends> pipes;
      std::vector<rouse::task<void>> loops;
      for (int i = 0; i < 10; ++i) {
        pipes.push_back(rouse::pipe());
        loops.push_back(rouse::spawn([s = pipes.back().reader]() mutable {
          io_result r;
          while (r = read_now(s), !r.error && r.count > 0) {
          }
          EXPECT_TRUE(!r.error || r.error.category() == rouse::io_category());
        }));
      }
      if (round % 2) rouse::this_thread::yield();
      for (auto& p : pipes) {
        p.writer.write_all("line\n");
        p.writer.close();
        p.reader.close();
      }
      for (auto& t : loops) EXPECT_TRUE(t.join_for(2s));
    }
  });
}

// A 5
TEST_F(close_race, a_read_in_pieces_ends_with_its_data_the_end_or_the_closed_error) {
  run([] {
    for (int round = 0; round < rounds(20'000); ++round) {
      auto [reader, writer] = rouse::pipe();
      auto r = start_read_exactly(reader, 8);
      auto closer = rouse::spawn([&, s = reader]() mutable {
        for (int i = round % 4; i > 0; --i) rouse::this_thread::yield();
        s.close();
      });
      for (int i = 0; i < 2; ++i) {
        std::error_code error;
        writer.write_all("1234", error);
        EXPECT_TRUE(!error || error.value() == EPIPE);
        if (round & (8 << i)) rouse::this_thread::yield();
      }
      writer.close();
      closer.join();
      const io_result& got = r.get();
      EXPECT_EQ(got.bytes, std::string("12341234").substr(0, got.count));
      if (got.error)
        EXPECT_EQ(got.error.category(), rouse::io_category()) << got.error.message();
      else
        EXPECT_EQ(got.count, 8u);
    }
  });
}

// A 15
TEST_F(close_race, a_thread_in_a_loop_over_a_stream_stops_with_the_closed_error) {
  run([] {
    for (int round = 0; round < rounds(5000); ++round) {
      auto [a, b] = rouse::socketpair();
      auto loop = rouse::spawn([a = a, b = b]() mutable {
        for (;;) {
          if (io_result w = write_now(a, "ping"); w.error) return w.error;
          write_now(b, "pong");
          if (io_result r = read_now(a); r.error) return r.error;
          rouse::this_thread::yield();
        }
      });
      for (int i = round % 7; i >= 0; --i) rouse::this_thread::yield();
      a.close();
      EXPECT_EQ(loop.get().category(), rouse::io_category());
      EXPECT_LE(loop.get().value(), static_cast<int>(rouse::io_errc::closed_under_call));
    }
  });
}

// A 16
TEST_F(close_race, a_big_write_reports_how_much_went_out_before_the_close) {
  run([] {
    auto [client, server] = raw_tcp();
    rouse::stream s = rouse::adopt(client);
    std::size_t sent = 0;
    auto w = rouse::spawn([&, s]() mutable {
      const std::string big(64 << 20, 'x');
      try {
        s.write_all(big);
      } catch (const rouse::stream_closed& e) {
        sent = e.bytes_transferred();
      }
    });
    until_parked(w);
    std::size_t received = drain(server);
    yield_until([&] { return w.status() == rouse::thread_status::sleeping; });
    s.close();
    w.join();
    EXPECT_GT(sent, 0u);
    EXPECT_LT(sent, std::size_t{64 << 20});
    for (std::size_t more; (more = drain(server)) > 0;) received += more;
    EXPECT_EQ(received, sent);
    ::close(server);
  });
}

// R-CL-16
TEST_F(close_race, of_many_streams_one_close_wakes_the_threads_of_that_stream_alone) {
  run([] {
    constexpr int others = rounds(1000);
    std::vector<rouse::pipe_ends> pipes;
    std::vector<rouse::task<io_result>> waiting;
    int resumed = 0;
    for (int i = 0; i < others; ++i) {
      pipes.push_back(rouse::pipe());
      waiting.push_back(start_read(pipes.back().reader));
    }
    auto [reader, writer] = rouse::pipe();
    std::vector<rouse::task<io_result>> three;
    for (int i = 0; i < 3; ++i) three.push_back(start_read(reader));
    for (auto& t : three) until_parked(t);
    for (auto& t : waiting) until_parked(t);
    {
      at_test_point count([&](std::string_view name) { resumed += name == "stream.resumed"; });
      reader.close();
      for (auto& t : three) EXPECT_CLOSED_UNDER(t.get());
      for (auto& t : waiting) ASSERT_EQ(t.status(), rouse::thread_status::sleeping);
    }
    EXPECT_EQ(resumed, 3) << "I7";
    for (auto& p : pipes) p.writer.close();
    for (auto& t : waiting) EXPECT_FALSE(t.get().error);
  });
}

} // namespace
