#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/condition_variable.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

using namespace rouse_test;

namespace {

class condition_variable_ : public vm_test {
 protected:
  rouse::mutex m;
  rouse::condition_variable changed;
  std::vector<int> order; // of waiters that were notified

  // A thread that waits for one notification. It is parked on return.
  rouse::task<void> waiter(int n) {
    auto t = rouse::spawn([this, n] {
      std::unique_lock lock(m);
      changed.wait(lock);
      EXPECT_TRUE(m.is_owned());
      order.push_back(n);
    });
    until_parked(t);
    return t;
  }
};

// CV-01
TEST_F(condition_variable_, waiting_without_the_mutex_is_an_error) {
  run([this] {
    constexpr auto text = "condition_variable::wait: the calling thread does not hold the mutex";
    std::unique_lock lock(m, std::defer_lock);
    EXPECT_EQ(what_of<rouse::thread_error>([&] { changed.wait(lock); }), text);
    EXPECT_EQ(what_of<rouse::thread_error>([&] { changed.wait_for(lock, 100ms); }), text);
    std::unique_lock<rouse::mutex> none;
    EXPECT_EQ(what_of<rouse::thread_error>([&] { changed.wait(none); }), text);
    lock.lock();
    rouse::spawn([&] {
      EXPECT_EQ(what_of<rouse::thread_error>([&] { changed.wait(lock); }), text) << "somebody else's guard";
    }).join();
    changed.notify_all(); // nobody is left on the list
  });
}

// R-CV-01
TEST_F(condition_variable_, a_notification_without_a_waiter_is_not_remembered) {
  run([this] {
    changed.notify_one();
    changed.notify_all();
    std::unique_lock lock(m);
    EXPECT_EQ(changed.wait_for(lock, 1ms), std::cv_status::timeout);
  });
}

// nng 54: one event wakes one sleeper.
TEST_F(condition_variable_, one_notification_wakes_the_longest_waiter_and_nobody_else) {
  run([this] {
    std::vector<rouse::thread> all;
    for (int i = 0; i < 200; ++i) all.push_back(waiter(i));
    for (int i = 0; i < 200; ++i) {
      changed.notify_one();
      int runnable = 0;
      for (auto& t : all) runnable += t.status() == rouse::thread_status::runnable;
      ASSERT_EQ(runnable, 1);
      all[static_cast<std::size_t>(i)].join();
      ASSERT_EQ(order.size(), static_cast<std::size_t>(i) + 1);
      ASSERT_EQ(order.back(), i);
    }
  });
}

TEST_F(condition_variable_, notify_all_wakes_all_and_they_take_the_mutex_in_turn) {
  run([this] {
    std::vector<rouse::thread> all;
    for (int i = 0; i < 5; ++i) all.push_back(waiter(i));
    m.lock();
    changed.notify_all();
    rouse::this_thread::yield();
    EXPECT_TRUE(order.empty());
    m.unlock();
    for (auto& t : all) t.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  });
}

TEST_F(condition_variable_, the_mutex_is_free_during_the_wait) {
  run([this] {
    auto t = waiter(1);
    EXPECT_FALSE(m.is_locked());
    changed.notify_one();
    t.join();
    EXPECT_FALSE(m.is_locked());
  });
}

// CV-03, MX-09
TEST_F(condition_variable_, a_wait_with_a_limit_ends_at_it_with_the_mutex_held) {
  run([this] {
    std::unique_lock lock(m);
    const auto before = rouse::clock::now();
    EXPECT_EQ(changed.wait_for(lock, 10ms), std::cv_status::timeout);
    EXPECT_GE(rouse::clock::now() - before, 10ms);
    EXPECT_TRUE(m.is_owned());
    EXPECT_EQ(changed.wait_until(lock, rouse::clock::now() - 1s), std::cv_status::timeout);
    EXPECT_TRUE(m.is_owned());
  });
}

TEST_F(condition_variable_, the_forms_with_a_predicate_look_again_after_each_wake_up) {
  run([this] {
    int value = 0;
    auto t = rouse::spawn([&] {
      std::unique_lock lock(m);
      changed.wait(lock, [&] { return value == 2; });
      EXPECT_TRUE(changed.wait_for(lock, 1h, [&] { return value == 3; }));
      EXPECT_FALSE(changed.wait_for(lock, 1ms, [&] { return value == 4; }));
      EXPECT_TRUE(changed.wait_until(lock, rouse::clock::now(), [&] { return value == 3; }));
    });
    for (value = 1; value <= 3; ++value) {
      until_parked(t);
      changed.notify_all();
      if (value == 3) break;
      rouse::this_thread::yield();
    }
    t.join();
  });
}

// MX-10, without the number of seconds
TEST_F(condition_variable_, wakeup_ends_a_wait_with_the_mutex_held) {
  run([this] {
    auto t = waiter(1);
    t.wakeup();
    t.join();
    EXPECT_EQ(order, std::vector<int>{1});
  });
}

// CV-05
TEST_F(condition_variable_, a_killed_waiter_holds_the_mutex_while_it_unwinds) {
  run([this] {
    bool owned = false;
    auto t = rouse::spawn([&] {
      std::unique_lock lock(m);
      at_scope_end look([&] { owned = m.is_owned(); });
      changed.wait(lock);
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_TRUE(owned);
    EXPECT_FALSE(m.is_locked());
  });
}

// CV-06, with the kill before and after it waits for the mutex
TEST_F(condition_variable_, a_waiter_that_is_killed_after_the_notification_consumes_it) {
  run([this] {
    for (const bool waits_for_mutex : {false, true}) {
      bool owned = false;
      auto t = rouse::spawn([&] {
        std::unique_lock lock(m);
        at_scope_end look([&] { owned = m.is_owned(); });
        changed.wait(lock);
        EXPECT_TRUE(m.is_owned());
        rouse::this_thread::checkpoint();
        ADD_FAILURE() << "the kill was lost";
      });
      until_parked(t);
      auto other = waiter(2);
      m.lock();
      changed.notify_one();
      if (waits_for_mutex) rouse::this_thread::yield();
      t.kill();
      rouse::this_thread::yield();
      EXPECT_TRUE(t.alive());
      m.unlock();
      t.join();
      EXPECT_TRUE(owned);
      EXPECT_EQ(other.status(), rouse::thread_status::sleeping);
      EXPECT_TRUE(order.empty());
      other.kill();
      other.join();
    }
  });
}

// CV-07, MX-11
TEST_F(condition_variable_, an_exception_is_thrown_after_the_mutex_is_held_again_and_disturbs_nobody) {
  run([this] {
    std::string seen;
    auto t = rouse::spawn([&] {
      std::unique_lock lock(m);
      try {
        changed.wait(lock);
      } catch (const std::runtime_error& e) {
        EXPECT_TRUE(m.is_owned());
        seen = e.what();
      }
    });
    until_parked(t);
    auto other = waiter(2);
    m.lock();
    t.raise(std::runtime_error("raised"));
    for (int i = 0; i < 3; ++i) rouse::this_thread::yield();
    EXPECT_EQ(seen, "");
    m.unlock();
    t.join();
    EXPECT_EQ(seen, "raised");
    EXPECT_EQ(other.status(), rouse::thread_status::sleeping);
    changed.notify_one();
    other.join();
  });
}

TEST_F(condition_variable_, a_notification_goes_past_a_waiter_that_leaves_for_a_kill) {
  run([this] {
    auto first = waiter(1);
    auto second = waiter(2);
    first.kill();
    changed.notify_one();
    second.join();
    first.join();
    EXPECT_EQ(order, std::vector<int>{2});
  });
}

// MN5: the limit has passed, and the notification comes before the waiter has run.
TEST_F(condition_variable_, a_notification_goes_past_a_waiter_whose_limit_has_passed) {
  run([this] {
    auto status = std::cv_status::no_timeout;
    auto notifier = rouse::spawn([this] {
      rouse::this_thread::sleep_for(2ms);
      changed.notify_one();
    });
    until_parked(notifier);
    auto first = rouse::spawn([&] {
      std::unique_lock lock(m);
      status = changed.wait_for(lock, 3ms);
    });
    until_parked(first);
    auto second = waiter(2);
    const auto until = rouse::clock::now() + 6ms; // both are due before anybody looks
    while (rouse::clock::now() < until) {
    }
    second.join();
    first.join();
    notifier.join();
    EXPECT_EQ(status, std::cv_status::timeout);
    EXPECT_EQ(order, std::vector<int>{2});
  });
}

TEST_F(condition_variable_, a_notified_waiter_that_finds_its_limit_passed_says_notified) {
  run([this] {
    auto status = std::cv_status::timeout;
    auto t = rouse::spawn([&] {
      std::unique_lock lock(m);
      status = changed.wait_for(lock, 1ms);
    });
    until_parked(t);
    changed.notify_one();
    const auto until = rouse::clock::now() + 3ms;
    while (rouse::clock::now() < until) {
    }
    t.join();
    EXPECT_EQ(status, std::cv_status::no_timeout);
  });
}

// SY4
TEST_F(condition_variable_, a_waiter_may_destroy_it_right_after_the_notification) {
  run([] {
    struct shared {
      rouse::mutex m;
      rouse::condition_variable changed;
      bool set = false;
    };
    for (int i = 0; i < rounds(2000); ++i) {
      auto state = std::make_unique<shared>();
      auto t = rouse::spawn([&] {
        {
          std::unique_lock lock(state->m);
          state->changed.wait(lock, [&] { return state->set; });
        }
        state.reset();
      });
      until_parked(t);
      {
        std::lock_guard guard(state->m);
        state->set = true;
      }
      i % 2 ? state->changed.notify_all() : state->changed.notify_one();
      t.join();
    }
  });
}

// MN5, the stress: timers and notifications meet at varying phases.
TEST_F(condition_variable_, each_wait_wakes_once_when_limits_and_notifications_meet) {
  run([this] {
    bool stop = false;
    long waits = 0;
    long wakes = 0;
    std::vector<rouse::thread> all;
    for (int i = 0; i < 6; ++i)
      all.emplace_back([&] {
        std::unique_lock lock(m);
        while (!stop) {
          ++waits;
          changed.wait_for(lock, 50us);
          ++wakes;
        }
      });
    for (int i = 0; i < rounds(3000); ++i) {
      rouse::this_thread::sleep_for(std::chrono::microseconds(i % 70));
      changed.notify_one();
    }
    stop = true;
    changed.notify_all();
    for (auto& t : all) t.join();
    EXPECT_EQ(waits, wakes);
  });
}

TEST_F(condition_variable_, it_belongs_to_the_vm_that_used_it_first) {
  run([this] { changed.notify_one(); });
  rouse::vm other;
  other.run([this] {
    EXPECT_EQ(what_of<rouse::thread_error>([&] { changed.notify_one(); }),
              "condition_variable::notify_one: it belongs to another VM");
  });
  EXPECT_EQ(what_of<rouse::thread_error>([&] { changed.notify_all(); }),
            "condition_variable::notify_all: not inside a VM");
}

#ifdef ROUSE_DEBUG_CHECKS
TEST(condition_variable_death, destroying_one_that_is_waited_for_stops_a_debug_build) {
  EXPECT_DEATH(
      {
        rouse::vm vm;
        vm.run([] {
          rouse::mutex m;
          std::optional<rouse::condition_variable> changed(std::in_place);
          auto t = rouse::spawn([&] {
            std::unique_lock lock(m);
            changed->wait(lock);
          });
          until_parked(t);
          changed.reset();
        });
      },
      "a condition_variable is destroyed while threads use it");
}
#endif

} // namespace

// Rows without a counterpart here:
//   CV-09     fork belongs to a later part
//   R-CV-03   a wait on any object with a sleep of its own
