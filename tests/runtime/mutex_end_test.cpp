// Mutexes and threads that end: what they held, and what they waited for.

#include "vm_fixture.hpp"

#include <rouse/mutex.hpp>

#include <mutex>
#include <random>
#include <vector>

using namespace rouse_test;

namespace {

class mutex_end : public vm_test {};

TEST_F(mutex_end, what_main_holds_is_released_when_it_ends) {
  rouse::mutex m;
  run([&] { m.lock(); });
  EXPECT_FALSE(m.is_locked());
  run([&] { EXPECT_TRUE(m.try_lock()); });
}

// KR2
TEST_F(mutex_end, a_waiter_can_be_killed_and_does_not_hold_it_then) {
  run([] {
    rouse::mutex m;
    m.lock();
    bool locked = false;
    auto waiter = rouse::spawn([&] {
      m.lock();
      locked = true;
    });
    until_parked(waiter);
    waiter.kill();
    waiter.join();
    EXPECT_FALSE(locked);
    EXPECT_TRUE(m.is_owned());
    m.unlock();
    EXPECT_FALSE(m.is_locked());
  });
}

// KR2: granted, and killed before it has run; ownership that was handed over is passed on.
TEST_F(mutex_end, a_waiter_that_is_killed_after_it_was_chosen_passes_the_mutex_on) {
  run([] {
    for (const bool handed_over : {false, true}) {
      rouse::mutex m;
      m.lock();
      auto first = rouse::spawn([&] {
        std::lock_guard guard(m);
        rouse::this_thread::checkpoint();
        ADD_FAILURE() << "the kill was lost";
      });
      until_parked(first);
      bool got = false;
      auto second = rouse::spawn([&] {
        std::lock_guard guard(m);
        got = true;
      });
      until_parked(second);
      m.unlock();
      if (handed_over) {
        EXPECT_TRUE(m.try_lock());
        rouse::this_thread::yield();
        m.unlock();
        EXPECT_TRUE(m.is_locked());
      }
      first.kill();
      second.join();
      first.join();
      EXPECT_TRUE(got);
      EXPECT_FALSE(m.is_locked());
    }
  });
}

// KR2: kills at every phase: waiting, just granted, holding.
TEST_F(mutex_end, kills_at_any_moment_leave_it_free) {
  run([] {
    std::minstd_rand random(4711); // NOLINT(cert-msc51-cpp): the same every time
    auto pause = [&] {
      for (auto n = random() % 4; n > 0; --n) rouse::this_thread::yield();
    };
    for (int round = 0; round < rounds(2000); ++round) {
      rouse::mutex m;
      std::vector<rouse::thread> all;
      for (int i = 0; i < 3; ++i)
        all.emplace_back([&] {
          pause();
          std::lock_guard guard(m);
          pause();
        });
      for (int i = 0; i < 3; ++i) {
        pause();
        all[random() % 3].kill();
      }
      for (auto& t : all) t.join();
      ASSERT_FALSE(m.is_locked()) << "round " << round;
    }
  });
}

} // namespace
