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

class kill_ : public vm_test {};

// KR-02
TEST_F(kill_, a_killed_thread_is_unwound_at_once_and_has_no_result) {
  run([] {
    bool unwound = false;
    auto t = rouse::spawn([&] {
      at_scope_end note([&] { unwound = true; });
      rouse::this_thread::sleep();
      return 1;
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_TRUE(unwound);
    EXPECT_EQ(what_of<rouse::thread_killed>([&] { t.get(); }),
              "task::get: the thread was killed and has no result");
    EXPECT_EQ(what_of<rouse::thread_killed>([&] { t.take(); }),
              "task::take: the thread was killed and has no result");
  });
}

// KR-02
TEST_F(kill_, a_reader_of_a_pipe_is_killed_and_the_pipe_stays_open) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    for (int i = 0; i < 250; ++i) {
      auto t = rouse::spawn([&r = reader] {
        std::array<char, 1> buffer;
        r.read_some(buffer);
      });
      if (i % 2 == 0) until_parked(t);
      t.kill();
      t.join();
      EXPECT_TRUE(reader.is_open());
    }
  });
}

// KR6: for each kind of wait, also those with a limit, the kill ends it and not the limit.
TEST_F(kill_, every_kind_of_wait_ends_at_once) {
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
    all.emplace_back([] { rouse::this_thread::sleep_until(rouse::clock::now() + 1h); });
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
    for (auto& t : all) t.kill();
    for (auto& t : all) EXPECT_TRUE(t.join_for(30s));
    EXPECT_TRUE(m.is_owned());
    EXPECT_FALSE(of_condition.is_locked());
    EXPECT_TRUE(sleeper.alive());
    m.unlock();
    sleeper.kill();
    sleeper.join();
  });
}

TEST_F(kill_, a_runnable_thread_dies_at_its_next_yield_or_checkpoint) {
  run([] {
    for (void (*point)() : {rouse::this_thread::yield, rouse::this_thread::checkpoint}) {
      int turns = 0;
      auto t = rouse::spawn([&] {
        for (;;) {
          ++turns;
          rouse::this_thread::yield();
          point();
        }
      });
      yield_until([&] { return turns == 3; });
      t.kill();
      EXPECT_TRUE(t.alive()) << "a kill is delivered at interruption points only";
      t.join();
      EXPECT_LE(turns, 4);
    }
  });
}

// KR-01
TEST_F(kill_, killing_an_ended_thread_does_nothing) {
  run([] {
    auto done = rouse::spawn([] { return 3; });
    done.join();
    done.kill();
    EXPECT_EQ(done.get(), 3);
    auto killed = rouse::spawn([] { rouse::this_thread::sleep(); });
    killed.kill();
    killed.kill();
    killed.join();
    killed.kill();
    killed.join();
  });
}

// KR-04
TEST_F(kill_, a_second_kill_does_not_disturb_the_clean_up_after_the_first) {
  run([] {
    int cleaned = 0;
    auto t = rouse::spawn([&] {
      try {
        rouse::this_thread::sleep();
      } catch (...) {
        for (int i = 0; i < 5; ++i) {
          rouse::this_thread::sleep();
          ++cleaned;
        }
        throw;
      }
    });
    until_parked(t);
    t.kill();
    for (int i = 0; i < 5; ++i) {
      yield_until([&] { return t.status() == rouse::thread_status::sleeping && cleaned == i; });
      t.kill();
      t.wakeup();
    }
    t.join();
    EXPECT_EQ(cleaned, 5);
  });
}

// KR-05
TEST_F(kill_, a_raise_before_the_kill_comes_first_and_what_is_queued_behind_the_kill_is_dropped) {
  run([] {
    std::vector<std::string> seen;
    auto t = rouse::spawn([&] {
      rouse::no_interrupts* scope = new rouse::no_interrupts;
      rouse::this_thread::sleep();
      delete scope;
      try {
        rouse::this_thread::checkpoint();
      } catch (const std::runtime_error& e) {
        seen.emplace_back(e.what());
      }
      try {
        rouse::this_thread::checkpoint();
      } catch (...) {
        seen.emplace_back("kill");
        rouse::this_thread::checkpoint(); // the second raise would come here
        throw;
      }
    });
    until_parked(t);
    t.raise(std::runtime_error("first"));
    t.kill();
    t.raise(std::runtime_error("second"));
    t.wakeup();
    t.join();
    EXPECT_EQ(seen, (std::vector<std::string>{"first", "kill"}));
  });
}

TEST_F(kill_, only_catch_all_sees_it) {
  run([] {
    bool as_exception = false;
    bool as_anything = false;
    auto t = rouse::spawn([&] {
      try {
        try {
          rouse::this_thread::sleep();
        } catch (const std::exception&) {
          as_exception = true;
        }
      } catch (...) {
        as_anything = true;
        throw;
      }
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_FALSE(as_exception);
    EXPECT_TRUE(as_anything);
  });
}

TEST_F(kill_, killing_oneself_does_not_return) {
  run([] {
    bool unwound = false;
    bool returned = false;
    auto t = rouse::spawn([&] {
      at_scope_end note([&] { unwound = true; });
      rouse::this_thread::self().kill();
      returned = true;
    });
    t.join();
    EXPECT_TRUE(unwound);
    EXPECT_FALSE(returned);
    EXPECT_THROW(t.get(), rouse::thread_killed);
  });
}

// R-KR-03; there it ends the process, here the run, which says so.
TEST_F(kill_, killing_main_ends_the_run_and_unwinds_everything) {
  int unwound = 0;
  EXPECT_EQ(what_of<rouse::thread_killed>([&] {
              run([&] {
                at_scope_end note([&] { ++unwound; });
                rouse::spawn([&] {
                  at_scope_end note_too([&] { ++unwound; });
                  rouse::this_thread::sleep();
                });
                rouse::spawn([main = rouse::this_thread::self()] { main.kill(); });
                rouse::this_thread::sleep();
              });
            }),
            "vm::run: main was killed and has no result");
  EXPECT_EQ(unwound, 2);
}

TEST_F(kill_, an_os_thread_kills_a_sleeper_of_an_idle_vm) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    std::thread killer([&] {
      while (t.status() != rouse::thread_status::sleeping) std::this_thread::yield();
      t.kill();
    });
    t.join();
    killer.join();
  });
}

TEST_F(kill_, an_os_thread_kills_a_thread_of_a_busy_vm) {
  run([] {
    auto t = rouse::spawn([] {
      for (;;) rouse::this_thread::yield();
    });
    std::thread killer([&] { t.kill(); });
    t.join();
    killer.join();
  });
}

TEST_F(kill_, killing_a_thread_of_a_vm_that_has_ended_does_nothing) {
  rouse::thread t;
  run([&] { t = rouse::spawn([] {}); });
  t.kill();
  t.raise(std::runtime_error("late"));
  vm = std::make_unique<rouse::vm>();
  t.kill();
  t.raise(std::runtime_error("late"));
  EXPECT_EQ(what_of<rouse::thread_error>([&] { t.wakeup(); }), "killed thread");
}

TEST(kill_death, one_that_has_to_leave_a_noexcept_function_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_DEATH(
      {
        rouse::vm vm;
        vm.run([] {
          auto t = rouse::spawn([]() noexcept { rouse::this_thread::sleep(); });
          until_parked(t);
          t.kill();
          t.join();
        });
      },
      "");
}

} // namespace
