// A kill that somebody swallows comes again.

#include "interrupt.hpp"
#include "vm_fixture.hpp"

#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace rouse_test;

namespace {

class sticky_kill : public vm_test {};

// brpc 721: the stop lands in an inner call that handles whatever comes.
TEST_F(sticky_kill, one_that_was_swallowed_comes_again_at_the_next_interruption_point) {
  run([] {
    int swallowed = 0;
    bool slept = false;
    auto t = rouse::spawn([&] {
      for (int i = 0; i < 3; ++i) {
        try {
          rouse::this_thread::sleep();
        } catch (...) {
          ++swallowed;
        }
      }
      rouse::this_thread::sleep_for(1h);
      slept = true;
    });
    until_parked(t);
    t.kill();
    EXPECT_TRUE(t.join_for(30s));
    EXPECT_EQ(swallowed, 3);
    EXPECT_FALSE(slept);
    EXPECT_THROW(t.get(), rouse::thread_killed);
  });
}

TEST_F(sticky_kill, a_handler_that_throws_something_else_only_delays_it) {
  run([] {
    bool went_on = false;
    auto t = rouse::spawn([&] {
      try {
        try {
          rouse::this_thread::sleep();
        } catch (...) {
          throw std::runtime_error("instead");
        }
      } catch (const std::runtime_error&) {
        rouse::this_thread::checkpoint();
        went_on = true;
      }
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_FALSE(went_on);
    EXPECT_THROW(t.get(), rouse::thread_killed);
  });
}

TEST_F(sticky_kill, a_thread_that_swallows_it_and_never_waits_again_ends_as_it_likes) {
  run([] {
    auto t = rouse::spawn([] {
      try {
        rouse::this_thread::sleep();
      } catch (...) {
      }
      return 5;
    });
    until_parked(t);
    t.kill();
    EXPECT_EQ(t.get(), 5);
  });
}

// What a thread does with a kill that it keeps in an exception_ptr.
struct kept_kill {
  std::exception_ptr kept;
  int survived = 0;
  rouse::task<void> victim;

  void start() {
    victim = rouse::spawn([this] {
      try {
        rouse::this_thread::sleep();
      } catch (...) {
        kept = std::current_exception();
      }
      for (;;) {
        rouse::this_thread::checkpoint();
        ++survived;
        rouse::this_thread::sleep();
      }
    });
    until_parked(victim);
    victim.kill();
    yield_until([&] { return survived == 1; });
    until_parked(victim);
  }
};

TEST_F(sticky_kill, one_that_is_kept_is_pending_again_when_the_last_owner_lets_go) {
  run([] {
    kept_kill k;
    k.start();
    k.victim.wakeup();
    yield_until([&] { return k.survived == 2; });
    std::exception_ptr second = k.kept;
    k.kept = nullptr;
    EXPECT_FALSE(k.victim.join_for(1ms)) << "there is another owner";
    second = nullptr;
    k.victim.join();
    EXPECT_EQ(k.survived, 2);
  });
}

TEST_F(sticky_kill, one_that_is_kept_may_be_let_go_on_another_os_thread) {
  run([] {
    kept_kill k;
    k.start();
    std::thread([&] { k.kept = nullptr; }).join();
    k.victim.join();
    EXPECT_EQ(k.survived, 1);
  });
}

TEST_F(sticky_kill, one_that_is_kept_may_be_let_go_after_its_thread_and_after_its_vm) {
  std::vector<std::exception_ptr> kept;
  for (int i = 0; i < 2; ++i)
    run([&] {
      auto t = rouse::spawn([&] {
        try {
          rouse::this_thread::sleep();
        } catch (...) {
          kept.push_back(std::current_exception());
        }
      });
      until_parked(t);
      t.kill();
      t.join();
      if (i == 0) std::thread([&] { kept.clear(); }).join();
    });
  vm = std::make_unique<rouse::vm>();
  EXPECT_EQ(kept.size(), 1u);
  std::thread([&] { kept.clear(); }).join();
}

TEST_F(sticky_kill, a_copy_of_the_thrown_object_is_inert) {
  run([] {
    std::vector<rouse::detail::kill_unwind> copies;
    int points = 0;
    auto t = rouse::spawn([&] {
      try {
        rouse::this_thread::sleep();
      } catch (rouse::detail::kill_unwind& k) {
        copies.push_back(k);
        k.disarm();
      }
      rouse::this_thread::yield();
      ++points;
      copies.clear();
      rouse::this_thread::yield();
      ++points;
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_EQ(points, 2);
  });
}

} // namespace
