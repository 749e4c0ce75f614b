// Nothing after the first step of close needs the closer to live: whoever is left finishes it, once.

#include "io_fixture.hpp"

#include <array>
#include <sys/syscall.h>
#include <vector>

using namespace rouse_test;

namespace {

class closer_interrupted : public vm_test {
 protected:
  // A stream that is closing, and stays so: a reader is held between its wake-up and its end, and a closer
  // waits for it. Each test interrupts the closer, brings others, and lets the reader go. close(2) is
  // counted.
  template <class F> void with_held_close(F&& f) {
    run([&] {
      rouse::pipe_ends ends = rouse::pipe();
      stream = ends.reader;
      number = stream.native_handle();
      reader = parked_reader(stream);
      release = resumed = false;
      at_test_point hold([&](std::string_view name) {
        if (name != "stream.resumed" || resumed) return;
        resumed = true;
        rouse::no_interrupts quiet;
        yield_until([&] { return release; });
      });
      int closes = 0;
      system_call_hook count([&](long call) -> long { return closes += call == SYS_close, 0; });
      closer = parked_closer();
      yield_until([&] { return resumed; });
      f();
      release = true;
      reader.join();
      EXPECT_CLOSED_UNDER(reader.get());
      EXPECT_TRUE(is_closed(stream));
      EXPECT_FALSE(is_open(number));
      EXPECT_EQ(closes, 1) << "close(2) is called once";
      stream = rouse::stream();
      reader = {};
      closer = {};
    });
  }

  rouse::thread parked_closer() {
    rouse::thread t = rouse::spawn([s = stream]() mutable { s.close(); });
    until_parked(t);
    return t;
  }

  void end(rouse::thread t) {
    t.kill();
    t.join();
  }

  rouse::stream stream;
  int number = -1;
  rouse::task<io_result> reader;
  rouse::thread closer;
  bool release = false, resumed = false;
};

// CL-36
TEST_F(closer_interrupted, and_alone_leaves_the_rest_to_the_last_user) {
  with_held_close([&] {
    end(closer);
    EXPECT_TRUE(is_closing(stream));
    EXPECT_TRUE(is_open(number));
  });
}

TEST_F(closer_interrupted, hands_the_close_to_another_that_waits_for_it) {
  with_held_close([&] {
    rouse::thread heir = parked_closer();
    end(closer);
    until_parked(heir);
    EXPECT_EQ(heir.status(), rouse::thread_status::sleeping) << "it returned before the number was free";
    release = true;
    heir.join();
    EXPECT_FALSE(is_open(number));
  });
}

TEST_F(closer_interrupted, hands_it_to_one_of_two_and_both_return_when_it_is_done) {
  with_held_close([&] {
    rouse::thread first = parked_closer();
    rouse::thread second = parked_closer();
    end(closer);
    until_parked(first);
    release = true;
    first.join();
    second.join();
    EXPECT_FALSE(is_open(number));
  });
}

TEST_F(closer_interrupted, and_its_heir_too_the_next_one_finishes) {
  with_held_close([&] {
    rouse::thread first = parked_closer();
    rouse::thread second = parked_closer();
    end(closer);
    end(first);
    until_parked(second);
    release = true;
    second.join();
    EXPECT_FALSE(is_open(number));
  });
}

TEST_F(closer_interrupted, and_all_heirs_before_they_could_run_the_last_user_finishes) {
  with_held_close([&] {
    rouse::thread first = parked_closer();
    rouse::thread second = parked_closer();
    closer.kill(); // none of them has run when the next is killed
    first.kill();
    second.kill();
    for (const rouse::thread& t : {closer, first, second}) t.join();
    EXPECT_TRUE(is_open(number));
  });
}

TEST_F(closer_interrupted, and_the_users_gone_before_it_could_run_it_still_closes_once) {
  with_held_close([&] {
    closer.kill();
    release = true; // the reader is ahead of the closer in the queue, or behind: both end here
    closer.join();
    reader.join();
  });
}

TEST_F(closer_interrupted, an_heir_killed_after_it_was_chosen_passes_the_close_on) {
  with_held_close([&] {
    rouse::thread first = parked_closer();
    rouse::thread second = parked_closer();
    closer.kill();
    yield_until([&] { return !closer.alive(); }); // first is chosen
    first.kill();
    first.join();
    release = true;
    second.join();
    EXPECT_FALSE(is_open(number));
  });
}

TEST_F(closer_interrupted, the_last_user_may_leave_while_the_chosen_heir_has_not_run) {
  run([&] {
    // The heir is chosen when the killed closer leaves; the last user leaves in the same turn.
    for (int round = 0; round < 4; ++round) {
      auto [r, w] = rouse::pipe();
      stream = r;
      number = r.native_handle();
      bool go = false;
      at_test_point hold([&](std::string_view name) {
        if (name != "stream.resumed") return;
        rouse::no_interrupts quiet;
        yield_until([&] { return go; });
      });
      auto user = parked_reader(r);
      rouse::thread first = parked_closer();
      rouse::thread heir = parked_closer();
      if (round & 1) go = true;
      first.kill();
      go = true;
      if (round & 2) heir.kill();
      for (const rouse::thread& t : {first, heir}) t.join();
      EXPECT_CLOSED_UNDER(user.get());
      EXPECT_FALSE(is_open(number));
      stream = rouse::stream();
    }
  });
}

// CL-36
TEST_F(closer_interrupted, a_later_close_finishes) {
  with_held_close([&] {
    end(closer);
    rouse::thread later = parked_closer();
    EXPECT_TRUE(is_open(number));
    release = true;
    later.join();
    EXPECT_FALSE(is_open(number));
  });
}

// CL-37
TEST_F(closer_interrupted, by_a_raise_the_exception_leaves_close_and_it_can_be_called_again) {
  with_held_close([&] {
    end(closer);
    bool raised = false;
    rouse::thread t = rouse::spawn([&, s = stream]() mutable {
      try {
        s.close();
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "stop");
        raised = true;
      }
      EXPECT_FALSE(s.is_open());
      s.close();
    });
    until_parked(t);
    t.raise(std::runtime_error("stop"));
    yield_until([&] { return raised; });
    until_parked(t);
    release = true;
    t.join();
    EXPECT_FALSE(is_open(number));
  });
}

TEST_F(closer_interrupted, a_waiting_closer_may_be_killed_without_harm_to_the_close) {
  with_held_close([&] {
    rouse::thread other = parked_closer();
    end(other);
    EXPECT_TRUE(is_open(number));
    release = true;
    closer.join();
    EXPECT_FALSE(is_open(number));
  });
}

TEST_F(closer_interrupted, an_interrupt_that_comes_when_nobody_uses_the_stream_does_not_stop_close) {
  run([] {
    auto [end_a, end_b] = rouse::pipe();
    bool done = false;
    auto t = rouse::spawn([&, s = end_a]() mutable {
      {
        rouse::no_interrupts quiet;
        rouse::this_thread::yield(); // the kill comes now
      }
      s.close();
      done = true;
    });
    rouse::this_thread::yield();
    t.kill();
    t.join();
    EXPECT_TRUE(done) << "nothing was waited for: there is no interruption point";
    EXPECT_FALSE(end_a.is_open());
  });
}

TEST_F(closer_interrupted, handles_dropped_meanwhile_leave_the_stream_to_the_last_user) {
  run([&] {
    auto ends = std::make_unique<rouse::pipe_ends>(rouse::pipe());
    number = ends->reader.native_handle();
    std::error_code error;
    bool go = false;
    at_test_point hold([&](std::string_view name) {
      if (name != "stream.resumed") return;
      rouse::no_interrupts quiet;
      yield_until([&] { return go; });
    });
    auto user = rouse::spawn([&, s = &ends->reader] {
      std::array<char, 4> b;
      s->read_some(b, error);
    });
    until_parked(user);
    auto first = rouse::spawn([s = &ends->reader] { s->close(); });
    until_parked(first);
    ends.reset(); // the closer and the user have it now
    end(first);
    EXPECT_TRUE(is_open(number));
    go = true;
    user.join();
    EXPECT_FALSE(is_open(number));
    EXPECT_EQ(error, rouse::io_errc::closed_under_call);
  });
}

TEST_F(closer_interrupted, every_mix_of_closers_killers_and_users_ends_with_one_close) {
  run([&] {
    unsigned seed = 12345;
    auto next = [&](unsigned below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    for (int round = 0; round < rounds(5000); ++round) {
      int closes = 0;
      auto [r, w] = rouse::pipe();
      const int fd = r.native_handle();
      system_call_hook count([&](long call) -> long { return closes += call == SYS_close, 0; });
      std::vector<rouse::thread> threads;
      for (unsigned i = next(4); i > 0; --i) threads.push_back(start_read(r));
      for (unsigned i = 1 + next(4); i > 0; --i)
        threads.push_back(rouse::spawn([s = r]() mutable { s.close(); }));
      for (unsigned i = next(6); i > 0; --i) rouse::this_thread::yield();
      for (unsigned i = next(4); i > 0; --i) threads[next(static_cast<unsigned>(threads.size()))].kill();
      r.close(); // perhaps every closer was killed before it began
      for (auto& t : threads) t.join();
      ASSERT_TRUE(is_closed(r)) << "round " << round;
      ASSERT_EQ(closes, 1) << "round " << round;
      ASSERT_FALSE(is_open(fd)) << "round " << round;
    }
  });
}

} // namespace
