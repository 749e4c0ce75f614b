#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/condition_variable.hpp>
#include <rouse/mutex.hpp>

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace rouse_test;

namespace {

class raise_ : public vm_test {};

// R-KR-01
TEST_F(raise_, the_error_is_thrown_in_the_sleeper_and_the_sender_goes_on_at_once) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    until_parked(t);
    t.raise(std::runtime_error("for you"));
    EXPECT_TRUE(t.alive());
    EXPECT_EQ(what_of<std::runtime_error>([&] { t.join(); }), "for you");
  });
}

TEST_F(raise_, every_kind_of_wait_ends_at_once_with_the_error) {
  run([] {
    rouse::mutex m;
    m.lock();
    rouse::mutex of_condition;
    rouse::condition_variable condition;
    auto [reader, writer] = rouse::pipe();
    auto sleeper = rouse::spawn([] { rouse::this_thread::sleep(); });
    std::vector<rouse::thread> all;
    all.emplace_back([] { rouse::this_thread::sleep(); });
    all.emplace_back([] { rouse::this_thread::sleep_for(1h); });
    all.emplace_back([&] { sleeper.join(); });
    all.emplace_back([&] { sleeper.join_for(1h); });
    all.emplace_back([&] { m.lock(); });
    all.emplace_back([&] { m.try_lock_for(1h); });
    all.emplace_back([&] {
      std::unique_lock lock(of_condition);
      condition.wait(lock);
    });
    all.emplace_back([&] {
      std::unique_lock lock(of_condition);
      condition.wait_for(lock, 1h);
    });
    all.emplace_back([&r = reader] {
      std::array<char, 1> buffer;
      r.read_some(buffer);
    });
    for (auto& t : all) until_parked(t);
    for (auto& t : all) t.raise(std::runtime_error("out"));
    for (auto& t : all) EXPECT_EQ(what_of<std::runtime_error>([&] { t.join_for(30s); }), "out");
    m.unlock();
    sleeper.kill();
  });
}

TEST_F(raise_, the_very_object_is_thrown) {
  run([] {
    const auto error = std::make_exception_ptr(std::runtime_error("one"));
    const void* address = nullptr;
    try {
      std::rethrow_exception(error);
    } catch (const std::runtime_error& e) {
      address = &e;
    }
    const void* seen = nullptr;
    auto t = rouse::spawn([&] {
      try {
        rouse::this_thread::sleep();
      } catch (const std::runtime_error& e) {
        seen = &e;
      }
    });
    until_parked(t);
    t.raise(error);
    t.join();
    EXPECT_EQ(seen, address);
  });
}

TEST_F(raise_, anything_can_be_thrown) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    until_parked(t);
    t.raise(42);
    try {
      t.join();
      FAIL() << "join returned";
    } catch (int n) {
      EXPECT_EQ(n, 42);
    }
  });
}

TEST_F(raise_, it_is_delivered_once) {
  run([] {
    int caught = 0;
    auto t = rouse::spawn([&] {
      try {
        rouse::this_thread::sleep();
      } catch (const std::runtime_error&) {
        ++caught;
      }
      for (int i = 0; i < 10; ++i) rouse::this_thread::yield();
      rouse::this_thread::sleep_for(1ms);
    });
    until_parked(t);
    t.raise(std::runtime_error("once"));
    t.join();
    EXPECT_EQ(caught, 1);
  });
}

// KR-16: the second comes at the next interruption point, even in the handler of the first.
TEST_F(raise_, they_come_first_in_first_out) {
  run([] {
    std::vector<std::string> seen;
    auto t = rouse::spawn([&] {
      try {
        rouse::this_thread::sleep();
      } catch (const std::runtime_error& first) {
        seen.emplace_back(first.what());
        try {
          rouse::this_thread::checkpoint();
        } catch (const std::runtime_error& second) {
          seen.emplace_back(second.what());
        }
      }
      try {
        rouse::this_thread::checkpoint();
      } catch (const std::runtime_error& third) {
        seen.emplace_back(third.what());
      }
      rouse::this_thread::checkpoint();
    });
    until_parked(t);
    for (const char* text : {"1", "2", "3"}) t.raise(std::runtime_error(text));
    t.join();
    EXPECT_EQ(seen, (std::vector<std::string>{"1", "2", "3"}));
  });
}

// R-KR-02
TEST_F(raise_, raising_in_an_ended_thread_does_nothing) {
  run([] {
    auto t = rouse::spawn([c = tracked()] { return 1; });
    t.join();
    t.raise(std::runtime_error("late"));
    t.raise(tracked());
    EXPECT_EQ(t.get(), 1);
    EXPECT_EQ(tracked::alive(), 0);
  });
}

TEST_F(raise_, what_was_not_delivered_dies_with_the_thread) {
  run([] {
    auto t = rouse::spawn([] {
      rouse::no_interrupts scope;
      rouse::this_thread::sleep();
    });
    until_parked(t);
    for (int i = 0; i < 5; ++i) t.raise(tracked());
    EXPECT_EQ(tracked::alive(), 5);
    t.wakeup();
    t.join();
    EXPECT_EQ(tracked::alive(), 0);
  });
}

// R-KR-09
TEST_F(raise_, raising_in_oneself_throws_before_the_next_statement) {
  run([] {
    const rouse::thread me = rouse::this_thread::self();
    EXPECT_EQ(what_of<std::runtime_error>([&] { me.raise(std::runtime_error("mine")); }), "mine");
    rouse::no_interrupts scope;
    EXPECT_EQ(what_of<std::runtime_error>([&] { me.raise(std::runtime_error("mine")); }), "mine")
        << "it is a throw, and nothing to defer";
  });
}

TEST_F(raise_, an_empty_pointer_is_an_error_of_the_sender) {
  run([] {
    EXPECT_EQ(what_of<rouse::thread_error>([] { rouse::this_thread::self().raise(std::exception_ptr()); }),
              "thread::raise: there is no exception in the pointer");
  });
}

TEST_F(raise_, a_thread_that_has_not_started_ends_with_it_before_its_function_is_called) {
  run([] {
    bool called = false;
    auto t = rouse::spawn([&called, c = tracked()] { called = true; });
    t.raise(std::runtime_error("too early"));
    EXPECT_EQ(what_of<std::runtime_error>([&] { t.join(); }), "too early");
    EXPECT_FALSE(called);
    EXPECT_EQ(tracked::alive(), 0);
  });
}

TEST_F(raise_, main_gets_it_like_any_thread_and_run_throws_it) {
  EXPECT_EQ(what_of<std::runtime_error>([&] {
              run([] {
                rouse::spawn([main = rouse::this_thread::self()] { main.raise(std::runtime_error("main")); });
                rouse::this_thread::sleep();
              });
            }),
            "main");
}

TEST_F(raise_, a_thread_that_handles_another_exception_gets_it) {
  run([] {
    std::string seen;
    auto t = rouse::spawn([&] {
      try {
        throw std::logic_error("handled");
      } catch (const std::logic_error& outer) {
        try {
          rouse::this_thread::sleep();
        } catch (const std::runtime_error& e) {
          seen = std::string(outer.what()) + ", " + e.what();
        }
      }
    });
    until_parked(t);
    t.raise(std::runtime_error("raised"));
    t.join();
    EXPECT_EQ(seen, "handled, raised");
  });
}

TEST_F(raise_, a_wait_that_is_over_already_keeps_its_result_and_the_error_comes_next) {
  run([] {
    rouse::mutex m;
    rouse::condition_variable changed;
    std::vector<std::string> seen;
    auto t = rouse::spawn([&] {
      std::unique_lock lock(m);
      changed.wait(lock);
      seen.emplace_back("notified");
      try {
        rouse::this_thread::checkpoint();
      } catch (const std::runtime_error&) {
        seen.emplace_back("raised");
      }
    });
    until_parked(t);
    changed.notify_one();
    t.raise(std::runtime_error("x"));
    t.join();
    EXPECT_EQ(seen, (std::vector<std::string>{"notified", "raised"}));
  });
}

// SY5: an interrupt in the middle of a join is handled, and the target ends meanwhile.
TEST_F(raise_, a_join_that_was_interrupted_finds_out_that_the_target_has_ended) {
  run([] {
    auto target = rouse::spawn([] { rouse::this_thread::sleep(); });
    int interrupted = 0;
    auto joiner = rouse::spawn([&] {
      for (;;) try {
          target.join();
          return;
        } catch (const std::runtime_error&) {
          ++interrupted;
          rouse::this_thread::yield();
          rouse::this_thread::yield();
        }
    });
    until_parked(joiner);
    joiner.raise(std::runtime_error("handle me"));
    target.wakeup();
    joiner.join();
    EXPECT_EQ(interrupted, 1);
  });
}

TEST_F(raise_, an_os_thread_raises_in_an_idle_and_in_a_busy_vm) {
  run([] {
    for (const bool busy : {false, true}) {
      auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
      auto spinner = rouse::spawn([&] {
        while (busy) rouse::this_thread::yield();
      });
      std::thread sender([&] {
        while (t.status() != rouse::thread_status::sleeping) std::this_thread::yield();
        t.raise(std::runtime_error("from outside"));
      });
      EXPECT_EQ(what_of<std::runtime_error>([&] { t.join(); }), "from outside");
      sender.join();
      spinner.kill();
      spinner.join();
    }
  });
}

// KR1: after any number of raises the mutex is either held by a guard or free.
TEST_F(raise_, a_raise_around_a_lock_never_leaves_it_locked) {
  run([] {
    rouse::mutex m;
    for (int round = 0; round < rounds(2000); ++round) {
      bool stop = false;
      int caught = 0;
      auto body = [&] {
        while (!stop) try {
            std::lock_guard guard(m);
            rouse::this_thread::yield();
          } catch (const std::runtime_error&) {
            ++caught;
          }
      };
      std::array<rouse::task<void>, 2> all{rouse::spawn(body), rouse::spawn(body)};
      for (int i = 0; i < 25; ++i) {
        for (auto& t : all) t.raise(std::runtime_error("now"));
        for (int y = 0; y < i % 4; ++y) rouse::this_thread::yield();
      }
      stop = true;
      for (auto& t : all) {
        try {
          t.join();
        } catch (const std::runtime_error&) {
          ++caught; // it came before the thread's first statement
        }
      }
      ASSERT_FALSE(m.is_locked()) << "round " << round;
      ASSERT_GT(caught, 0);
    }
  });
}

} // namespace
