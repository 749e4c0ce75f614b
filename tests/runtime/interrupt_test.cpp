// Where interrupts are delivered, and where they are not.

#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/condition_variable.hpp>
#include <rouse/mutex.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace rouse_test;

namespace {

class interrupt_ : public vm_test {
 protected:
  // Raises in the calling thread, as another thread would: it is pending afterwards.
  static void raise_here(const char* text) {
    rouse::spawn([text, self = rouse::this_thread::self()] { self.raise(std::runtime_error(text)); });
    rouse::no_interrupts scope;
    rouse::this_thread::yield();
  }
};

TEST_F(interrupt_, each_wait_delivers_a_pending_one_on_entering) {
  run([] {
    rouse::mutex m;
    rouse::condition_variable changed;
    auto ended = rouse::spawn([] {});
    ended.join();
    rouse::mutex taken;
    auto holder = rouse::spawn([&] {
      taken.lock();
      rouse::this_thread::sleep();
    });
    until_parked(holder);
    const std::vector<std::function<void()>> points{
        [] { rouse::this_thread::yield(); },
        [] { rouse::this_thread::checkpoint(); },
        [] { rouse::this_thread::sleep(); },
        [] { rouse::this_thread::sleep_for(0ms); },
        [] { rouse::this_thread::sleep_for(1h); },
        [] { rouse::this_thread::sleep_until(rouse::clock::now() - 1s); },
        [&] { ended.join(); },
        [&] { taken.lock(); },
        [&] { taken.try_lock_for(1h); },
        [&] {
          std::unique_lock lock(m);
          changed.wait_for(lock, 1h);
        },
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
      raise_here("pending");
      EXPECT_EQ(what_of<std::runtime_error>(points[i]), "pending") << "point " << i;
      EXPECT_FALSE(m.is_locked());
    }
    holder.kill();
    holder.join();
  });
}

TEST_F(interrupt_, what_does_not_wait_does_not_deliver) {
  run([this] {
    rouse::mutex m;
    rouse::condition_variable changed;
    raise_here("later");
    m.lock();
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
    changed.notify_one();
    changed.notify_all();
    rouse::spawn([] {});
    static_cast<void>(vm->dump());
    EXPECT_EQ(what_of<std::runtime_error>([] { rouse::this_thread::checkpoint(); }), "later");
  });
}

// KR-07, with the scope of part 1; it is delivered at the next point and not at the boundary, since a
// destructor must not throw (design section 6).
TEST_F(interrupt_, a_scope_defers_raise_and_kill_until_the_first_point_after_the_outermost) {
  run([] {
    std::vector<std::string> seen;
    auto t = rouse::spawn([&] {
      {
        rouse::no_interrupts outer;
        {
          rouse::no_interrupts inner;
          rouse::this_thread::sleep();
        }
        rouse::this_thread::yield();
        rouse::this_thread::checkpoint();
        rouse::this_thread::sleep_for(1ms);
        seen.emplace_back("not inside");
      }
      seen.emplace_back("not at the end");
      try {
        rouse::this_thread::checkpoint();
      } catch (const std::runtime_error& e) {
        seen.emplace_back(e.what());
      }
      rouse::this_thread::checkpoint();
      seen.emplace_back("never");
    });
    until_parked(t);
    t.raise(std::runtime_error("raised"));
    t.kill();
    t.wakeup();
    t.join();
    EXPECT_EQ(seen, (std::vector<std::string>{"not inside", "not at the end", "raised"}));
    EXPECT_THROW(t.get(), rouse::thread_killed);
  });
}

TEST_F(interrupt_, a_deferred_one_does_not_cut_a_wait_short) {
  run([] {
    rouse::clock::duration slept{};
    auto t = rouse::spawn([&] {
      rouse::no_interrupts scope;
      const auto before = rouse::clock::now();
      rouse::this_thread::sleep_for(10ms);
      slept = rouse::clock::now() - before;
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_GE(slept, 10ms);
  });
}

TEST_F(interrupt_, a_kill_of_oneself_inside_a_scope_waits_for_its_end) {
  run([] {
    std::vector<int> seen;
    auto t = rouse::spawn([&] {
      {
        rouse::no_interrupts scope;
        rouse::this_thread::self().kill();
        seen.push_back(1);
      }
      seen.push_back(2);
      rouse::this_thread::checkpoint();
      seen.push_back(3);
    });
    t.join();
    EXPECT_EQ(seen, (std::vector<int>{1, 2}));
  });
}

TEST_F(interrupt_, nothing_is_delivered_while_an_exception_is_in_flight) {
  run([] {
    std::vector<std::string> seen;
    auto t = rouse::spawn([&] {
      try {
        at_scope_end waits([&] {
          rouse::this_thread::sleep(); // no scope: a throw from here would end the program
          rouse::this_thread::yield();
          rouse::this_thread::checkpoint();
          rouse::this_thread::sleep_for(1ms);
          seen.emplace_back("destructor done");
        });
        throw std::logic_error("in flight");
      } catch (const std::logic_error& e) {
        seen.emplace_back(e.what());
        try {
          rouse::this_thread::checkpoint();
        } catch (const std::runtime_error& raised) {
          seen.emplace_back(raised.what());
        }
      }
      rouse::this_thread::checkpoint();
      seen.emplace_back("never");
    });
    until_parked(t);
    t.raise(std::runtime_error("raised"));
    t.kill();
    t.wakeup();
    t.join();
    EXPECT_EQ(seen, (std::vector<std::string>{"destructor done", "in flight", "raised"}));
  });
}

TEST_F(interrupt_, destructors_that_wait_are_left_alone_while_a_kill_unwinds) {
  run([] {
    int finished = 0;
    auto t = rouse::spawn([&] {
      at_scope_end outer([&] {
        rouse::this_thread::sleep_for(1ms);
        ++finished;
      });
      at_scope_end inner([&] {
        rouse::this_thread::sleep();
        ++finished;
      });
      rouse::this_thread::sleep();
    });
    until_parked(t);
    t.kill();
    rouse::this_thread::yield();
    until_parked(t);
    t.kill();
    t.raise(std::runtime_error("too late"));
    EXPECT_EQ(finished, 0);
    t.wakeup();
    t.join();
    EXPECT_EQ(finished, 2);
  });
}

// LW1: it is sent between the last look at what is pending and the wait in the kernel.
TEST_F(interrupt_, one_that_arrives_just_before_the_vm_waits_is_not_lost) {
  for (const char* point : {"poll.leave", "poll.idle", "poller.wait"}) {
    std::atomic<bool> armed{false};
    rouse::thread victim;
    at_test_point hook([&](std::string_view at) {
      if (at != point || !armed.exchange(false)) return;
      std::thread([&] { victim.raise(std::runtime_error("in the gap")); }).join();
    });
    run([&] {
      auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
      victim = t;
      until_parked(t);
      armed = true;
      EXPECT_EQ(what_of<std::runtime_error>([&] { t.join(); }), "in the gap") << point;
    });
    EXPECT_FALSE(armed) << point << " was not passed";
  }
}

// Kill, raise, wake-up, time-out and notification meet at one parked thread in all orders: it wakes once.
TEST_F(interrupt_, whatever_meets_at_one_wait_wakes_it_once) {
  run([] {
    rouse::mutex m;
    rouse::condition_variable changed;
    for (int order = 0; order < 24; ++order) {
      std::vector<int> steps{0, 1, 2, 3};
      for (int i = 0; i < order; ++i) std::next_permutation(steps.begin(), steps.end());
      int wakes = 0;
      int errors = 0;
      auto t = rouse::spawn([&] {
        for (int i = 0; i < 2; ++i) try {
            std::unique_lock lock(m);
            changed.wait_for(lock, i == 0 ? 1ms : 10ms);
            ++wakes;
          } catch (const std::runtime_error&) {
            ++errors;
          }
        rouse::this_thread::checkpoint();
        ADD_FAILURE() << "the kill was lost";
      });
      until_parked(t);
      for (int step : steps) {
        if (step == 0) t.raise(std::runtime_error("x"));
        if (step == 1) t.kill();
        if (step == 2) t.wakeup();
        if (step == 3) changed.notify_one();
      }
      const auto until = std::chrono::steady_clock::now() + 2ms;
      while (std::chrono::steady_clock::now() < until) { // the limit passes too, before the thread has run
      }
      t.join();
      EXPECT_LE(wakes + errors, 2);
      EXPECT_FALSE(m.is_locked());
    }
  });
}

TEST_F(interrupt_, pending_ones_are_delivered_before_a_thread_that_never_waited_starts) {
  run([] {
    std::vector<rouse::task<void>> all;
    for (int i = 0; i < 10; ++i) all.push_back(rouse::spawn([] { ADD_FAILURE() << "it ran"; }));
    for (auto& t : all) t.kill();
    for (auto& t : all) t.join();
  });
}

} // namespace
