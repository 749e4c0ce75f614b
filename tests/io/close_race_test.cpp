// Close against everything that may happen at the same instant: each step of it is held open.

#include "io_fixture.hpp"

#include <array>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

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

} // namespace
