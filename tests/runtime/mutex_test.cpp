#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/mutex.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

using namespace rouse_test;

namespace {

class mutex_ : public vm_test {};

// MX-01
TEST_F(mutex_, locking_twice_is_an_error_and_keeps_the_lock) {
  run([] {
    rouse::mutex m;
    m.lock();
    EXPECT_EQ(what_of<rouse::thread_error>([&] { m.lock(); }), "deadlock; recursive locking");
    EXPECT_EQ(what_of<rouse::thread_error>([&] { m.try_lock_for(1ms); }), "deadlock; recursive locking");
    EXPECT_FALSE(m.try_lock());
    EXPECT_TRUE(m.is_owned());
    m.unlock();
  });
}

// MX-02
TEST_F(mutex_, only_the_owner_unlocks) {
  run([] {
    rouse::mutex m;
    EXPECT_EQ(what_of<rouse::thread_error>([&] { m.unlock(); }),
              "Attempt to unlock a mutex which is not locked");
    m.lock();
    rouse::spawn([&] {
      EXPECT_EQ(what_of<rouse::thread_error>([&] { m.unlock(); }),
                "Attempt to unlock a mutex which is locked by another thread/fiber");
    }).join();
    EXPECT_TRUE(m.is_owned());
    m.unlock();
  });
}

// R-MX-05
TEST_F(mutex_, owned_is_the_owners_view_and_locked_everybodys) {
  run([] {
    rouse::mutex m;
    EXPECT_FALSE(m.is_locked());
    EXPECT_FALSE(m.is_owned());
    std::lock_guard guard(m);
    EXPECT_TRUE(m.is_locked());
    EXPECT_TRUE(m.is_owned());
    rouse::spawn([&] {
      EXPECT_TRUE(m.is_locked());
      EXPECT_FALSE(m.is_owned());
    }).join();
  });
}

// R-MX-03
TEST_F(mutex_, an_exception_leaves_the_guard_and_the_mutex_is_free) {
  run([] {
    rouse::mutex m;
    EXPECT_EQ(what_of<std::runtime_error>([&] {
                std::lock_guard guard(m);
                throw std::runtime_error("inside");
              }),
              "inside");
    EXPECT_FALSE(m.is_locked());
  });
}

// R-MX-04
TEST_F(mutex_, two_may_be_released_in_any_order) {
  run([] {
    rouse::mutex a;
    rouse::mutex b;
    a.lock();
    b.lock();
    a.unlock();
    EXPECT_TRUE(b.is_owned());
    b.unlock();
    EXPECT_FALSE(a.is_locked());
    EXPECT_FALSE(b.is_locked());
    std::scoped_lock both(a, b);
  });
}

// MX-04
TEST_F(mutex_, waiters_get_it_in_the_order_of_their_arrival) {
  run([] {
    rouse::mutex m;
    m.lock();
    std::vector<int> order;
    std::vector<rouse::thread> all;
    for (int i = 0; i < 5; ++i) {
      all.emplace_back([&, i] {
        std::lock_guard guard(m);
        order.push_back(i);
      });
      until_parked(all.back());
    }
    m.unlock();
    for (auto& t : all) t.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  });
}

// MX-04, MX-05
TEST_F(mutex_, a_running_thread_may_be_faster_than_a_woken_one_but_only_once) {
  run([] {
    rouse::mutex m;
    m.lock();
    bool got = false;
    auto waiter = rouse::spawn([&] {
      std::lock_guard guard(m);
      got = true;
    });
    until_parked(waiter);
    m.unlock();
    EXPECT_TRUE(m.try_lock()) << "the running thread goes first";
    rouse::this_thread::yield(); // the waiter finds it taken, and keeps its place
    EXPECT_FALSE(got);
    m.unlock();
    EXPECT_FALSE(m.try_lock()) << "now it was handed over";
    waiter.join();
    EXPECT_TRUE(got);
    EXPECT_FALSE(m.is_locked());
  });
}

// MX-05
TEST_F(mutex_, an_owner_that_locks_again_at_once_starves_nobody) {
  run([] {
    rouse::mutex m;
    bool got = false;
    auto waiter = rouse::spawn([&] {
      std::lock_guard guard(m);
      got = true;
    });
    int turns = 0;
    while (!got) {
      std::lock_guard guard(m);
      rouse::this_thread::yield();
      ASSERT_LT(++turns, 5);
    }
    waiter.join();
  });
}

// TH-11, R-MX-07
TEST_F(mutex_, what_a_thread_holds_is_released_when_it_ends_however_it_ends) {
  run([] {
    for (int how = 0; how < 3; ++how) {
      rouse::mutex a;
      rouse::mutex b;
      auto owner = rouse::spawn([&] {
        a.lock();
        b.lock();
        rouse::this_thread::sleep();
        if (how == 1) throw std::runtime_error("out");
      });
      until_parked(owner);
      auto waiter = rouse::spawn([&] {
        std::lock_guard guard(a);
        std::lock_guard guard_too(b);
      });
      until_parked(waiter);
      how == 2 ? owner.kill() : owner.wakeup();
      waiter.join();
      EXPECT_FALSE(a.is_locked());
      EXPECT_FALSE(b.is_locked());
    }
  });
}

TEST_F(mutex_, one_waiter_at_a_time_is_on_its_way_to_it) {
  run([] {
    rouse::mutex m;
    m.lock();
    auto first = rouse::spawn([&] { std::lock_guard guard(m); });
    until_parked(first);
    auto second = rouse::spawn([&] { std::lock_guard guard(m); });
    until_parked(second);
    for (int i = 0; i < 3; ++i) {
      m.unlock();
      EXPECT_TRUE(m.try_lock());
    }
    m.unlock();
    EXPECT_EQ(first.status(), rouse::thread_status::runnable);
    EXPECT_EQ(second.status(), rouse::thread_status::sleeping);
    second.join();
  });
}

TEST_F(mutex_, a_try_that_times_out_after_it_was_passed_over_does_not_swallow_the_next_unlock) {
  run([] {
    rouse::mutex m;
    m.lock();
    auto tries = rouse::spawn([&] { return m.try_lock_for(5ms); });
    until_parked(tries);
    auto waits = rouse::spawn([&] { std::lock_guard guard(m); });
    until_parked(waits);
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    EXPECT_FALSE(tries.get());
    m.unlock();
    waits.join();
  });
}

// The limit of the first waiter passes in the same look at the clock that wakes the owner; then the owner
// unlocks.
TEST_F(mutex_, an_unlock_goes_past_a_waiter_whose_limit_has_passed) {
  run([] {
    rouse::mutex m;
    auto owner = rouse::spawn([&] {
      std::lock_guard guard(m);
      rouse::this_thread::sleep_for(2ms);
    });
    until_parked(owner);
    auto tries = rouse::spawn([&] { return m.try_lock_for(3ms); });
    until_parked(tries);
    auto waits = rouse::spawn([&] { std::lock_guard guard(m); });
    until_parked(waits);
    const auto until = rouse::clock::now() + 6ms; // both are due before anybody looks
    while (rouse::clock::now() < until) {
    }
    waits.join();
    EXPECT_FALSE(tries.get());
    owner.join();
    EXPECT_FALSE(m.is_locked());
  });
}

TEST_F(mutex_, try_lock_for_gives_up_at_its_limit_and_not_before) {
  run([] {
    rouse::mutex m;
    EXPECT_TRUE(m.try_lock_for(0ms));
    rouse::spawn([&] {
      const auto before = rouse::clock::now();
      EXPECT_FALSE(m.try_lock_for(5ms));
      EXPECT_GE(rouse::clock::now() - before, 5ms);
      EXPECT_FALSE(m.try_lock_for(0ms));
      EXPECT_FALSE(m.try_lock_for(-1s));
    }).join();
    auto waits = rouse::spawn([&] {
      const bool got = m.try_lock_for(rouse::forever);
      if (got) m.unlock();
      return got;
    });
    until_parked(waits);
    m.unlock();
    EXPECT_TRUE(waits.get());
  });
}

// SY4: unlock is the last look at it, even when the woken waiter destroys it at once.
TEST_F(mutex_, a_waiter_may_destroy_it_as_soon_as_it_has_unlocked) {
  run([] {
    for (int i = 0; i < rounds(2000); ++i) {
      auto m = std::make_unique<rouse::mutex>();
      rouse::mutex& shared = *m;
      shared.lock();
      auto waiter = rouse::spawn([&m] {
        m->lock();
        m->unlock();
        m.reset();
      });
      until_parked(waiter);
      shared.unlock();
      waiter.join();
      EXPECT_FALSE(m);
    }
  });
}

TEST_F(mutex_, it_belongs_to_the_vm_that_used_it_first) {
  rouse::mutex m;
  run([&] { std::lock_guard guard(m); });
  rouse::vm other;
  other.run([&] {
    EXPECT_EQ(what_of<rouse::thread_error>([&] { m.lock(); }), "mutex::lock: it belongs to another VM");
    EXPECT_EQ(what_of<rouse::thread_error>([&] { m.try_lock(); }),
              "mutex::try_lock: it belongs to another VM");
  });
}

TEST_F(mutex_, outside_a_vm_it_can_not_be_used) {
  rouse::mutex m;
  EXPECT_EQ(what_of<rouse::thread_error>([&] { m.lock(); }), "mutex::lock: not inside a VM");
  EXPECT_EQ(what_of<rouse::thread_error>([&] { m.unlock(); }), "mutex::unlock: not inside a VM");
  EXPECT_EQ(what_of<rouse::thread_error>([&] { m.try_lock(); }), "mutex::try_lock: not inside a VM");
  EXPECT_EQ(what_of<rouse::thread_error>([&] { m.try_lock_for(1ms); }),
            "mutex::try_lock_for: not inside a VM");
  EXPECT_EQ(what_of<rouse::thread_error>([&] { static_cast<void>(m.is_owned()); }),
            "mutex::is_owned: not inside a VM");
  EXPECT_FALSE(m.is_locked());
}

#ifdef ROUSE_DEBUG_CHECKS
TEST(mutex_death, destroying_a_locked_one_stops_a_debug_build) {
  EXPECT_DEATH(
      {
        rouse::vm vm;
        vm.run([] {
          std::optional<rouse::mutex> m(std::in_place);
          m->lock();
          m.reset();
        });
      },
      "a mutex is destroyed while threads use it");
}
#endif

} // namespace

// Rows without a counterpart here:
//   MX-06              signal handlers run outside the VM, where a lock() says so
//   MX-08 to -11       the mutex's own sleep: see condition_variable_test.cpp
//   MX-14, R-MX-06     a monitor that can be entered repeatedly
