#include "expect.hpp"
#include "vm_fixture.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

using namespace rouse_test;

namespace {

class thread_ : public vm_test {};

// TH-01
TEST_F(thread_, join_returns_and_get_gives_the_result) {
  run([] {
    auto t = rouse::spawn([](int a, int b) { return a + b; }, 40, 2);
    t.join();
    EXPECT_EQ(t.get(), 42);
    EXPECT_EQ(t.get(), 42);
  });
}

TEST_F(thread_, join_waits_until_the_thread_has_ended) {
  run([] {
    bool done = false;
    auto t = rouse::spawn([&] {
      for (int i = 0; i < 3; ++i) rouse::this_thread::yield();
      done = true;
    });
    t.join();
    EXPECT_TRUE(done);
    EXPECT_FALSE(t.alive());
  });
}

TEST_F(thread_, take_moves_the_result_out) {
  run([] {
    auto t = rouse::spawn([] { return std::make_unique<int>(7); });
    std::unique_ptr<int> got = t.take();
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, 7);
  });
}

TEST_F(thread_, a_result_may_be_a_reference) {
  run([] {
    int variable = 1;
    auto t = rouse::spawn([&]() -> int& { return variable; });
    EXPECT_EQ(&t.get(), &variable);
  });
}

TEST_F(thread_, the_result_stays_in_place_while_a_handle_lives) {
  run([] {
    auto t = rouse::spawn([] { return std::string(100, 'x'); });
    const std::string* place = &t.get();
    rouse::spawn([] {}).join();
    EXPECT_EQ(&t.get(), place);
    EXPECT_EQ(*place, std::string(100, 'x'));
  });
}

// TH-03
TEST_F(thread_, every_joiner_gets_the_same_exception_every_time) {
  run([] {
    auto t = rouse::spawn([] { throw std::runtime_error("broken"); });
    const void* first = nullptr;
    for (int i = 0; i < 3; ++i) {
      try {
        t.join();
        FAIL() << "join returned";
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "broken");
        if (!first) first = &e;
        EXPECT_EQ(first, &e);
      }
    }
  });
}

TEST_F(thread_, get_throws_what_the_thread_threw) {
  run([] {
    auto t = rouse::spawn([]() -> int { throw std::out_of_range("far"); });
    EXPECT_EQ(what_of<std::out_of_range>([&] { t.get(); }), "far");
    EXPECT_EQ(what_of<std::out_of_range>([&] { t.take(); }), "far");
  });
}

// TH-09, the flag's counterpart being off always
TEST_F(thread_, an_exception_that_nobody_joins_for_reaches_nobody) {
  run([] {
    auto t = rouse::spawn([] { throw std::runtime_error("unseen"); });
    yield_until([&] { return !t.alive(); });
    EXPECT_NO_THROW(rouse::this_thread::checkpoint());
  });
}

// TH-06
TEST_F(thread_, wakeup_does_not_end_a_join) {
  run([] {
    bool release = false;
    auto target = rouse::spawn([&] { yield_until([&] { return release; }); });
    bool joined = false;
    auto joiner = rouse::spawn([&] {
      target.join();
      joined = true;
    });
    until_parked(joiner);
    for (int i = 0; i < 5; ++i) {
      joiner.wakeup();
      rouse::this_thread::yield();
    }
    EXPECT_FALSE(joined);
    release = true;
    joiner.join();
    EXPECT_TRUE(joined);
  });
}

TEST_F(thread_, one_end_wakes_every_joiner) {
  run([] {
    auto target = rouse::spawn([] { rouse::this_thread::sleep(); });
    int joined = 0;
    std::vector<rouse::thread> joiners;
    for (int i = 0; i < 10; ++i)
      joiners.emplace_back([&] {
        target.join();
        ++joined;
      });
    for (auto& j : joiners) until_parked(j);
    target.wakeup();
    for (auto& j : joiners) j.join();
    EXPECT_EQ(joined, 10);
  });
}

TEST_F(thread_, join_for_says_whether_the_thread_has_ended) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    const auto before = rouse::clock::now();
    EXPECT_FALSE(t.join_for(5ms));
    EXPECT_GE(rouse::clock::now() - before, 5ms);
    EXPECT_FALSE(t.join_for(0ms));
    EXPECT_FALSE(t.join_for(-1s));
    t.wakeup();
    EXPECT_TRUE(t.join_for(10s));
    EXPECT_TRUE(t.join_for(0ms));
  });
}

TEST_F(thread_, a_join_that_timed_out_is_not_woken_by_the_end) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    EXPECT_FALSE(t.join_for(1ms));
    auto other = rouse::spawn([&] { t.wakeup(); });
    rouse::this_thread::sleep_for(10ms); // not cut short by the end of t
    EXPECT_FALSE(t.alive());
    EXPECT_FALSE(other.alive());
  });
}

// R-TH-03
TEST_F(thread_, main_can_not_be_joined) {
  run([] {
    rouse::thread main = rouse::this_thread::self();
    rouse::spawn([&] {
      EXPECT_EQ(what_of<rouse::thread_error>([&] { main.join(); }), "Target thread must not be main thread");
    }).join();
  });
}

TEST_F(thread_, a_thread_can_not_join_itself) {
  run([] {
    rouse::spawn([] {
      EXPECT_EQ(what_of<rouse::thread_error>([] { rouse::this_thread::self().join(); }),
                "Target thread must not be current thread");
    }).join();
    EXPECT_EQ(what_of<rouse::thread_error>([] { rouse::this_thread::self().join(); }),
              "Target thread must not be current thread");
  });
}

TEST_F(thread_, an_empty_handle_names_no_thread) {
  run([] {
    const rouse::thread none;
    const rouse::task<int> no_task;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.get_id(), rouse::thread::id());
    EXPECT_EQ(none.name(), "");
    EXPECT_EQ(none.waits_on_descriptor(), -1);
    EXPECT_EQ(what_of<rouse::thread_error>([&] { none.join(); }), "thread::join: the handle is empty");
    EXPECT_EQ(what_of<rouse::thread_error>([&] { none.kill(); }), "thread::kill: the handle is empty");
    EXPECT_EQ(what_of<rouse::thread_error>([&] { none.wakeup(); }), "thread::wakeup: the handle is empty");
    EXPECT_EQ(what_of<rouse::thread_error>([&] { static_cast<void>(none.status()); }),
              "thread::status: the handle is empty");
    EXPECT_EQ(what_of<rouse::thread_error>([&] { none.raise(std::runtime_error("x")); }),
              "thread::raise: the handle is empty");
    EXPECT_EQ(what_of<rouse::thread_error>([&] { no_task.get(); }), "task::get: the handle is empty");
  });
}

// TH-13
TEST_F(thread_, waking_an_ended_thread_is_an_error) {
  run([] {
    auto t = rouse::spawn([] {});
    t.join();
    EXPECT_EQ(what_of<rouse::thread_error>([&] { t.wakeup(); }), "killed thread");
  });
}

// R-TH-04, with the enumerators of thread_status
TEST_F(thread_, status_tells_runnable_sleeping_and_ended) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    EXPECT_EQ(t.status(), rouse::thread_status::runnable);
    EXPECT_EQ(rouse::this_thread::self().status(), rouse::thread_status::runnable);
    rouse::this_thread::yield();
    EXPECT_EQ(t.status(), rouse::thread_status::sleeping);
    EXPECT_TRUE(t.alive());
    t.wakeup();
    EXPECT_EQ(t.status(), rouse::thread_status::runnable);
    t.join();
    EXPECT_EQ(t.status(), rouse::thread_status::ended);
    EXPECT_FALSE(t.alive());
  });
}

// R-TH-11
TEST_F(thread_, the_list_has_blocked_and_runnable_threads_and_no_ended_ones) {
  run([this] {
    auto blocked = rouse::spawn([] { rouse::this_thread::sleep(); });
    auto ended = rouse::spawn([] {});
    ended.join();
    auto runnable = rouse::spawn([] {});
    const std::vector<rouse::thread> all = vm->threads();
    const std::vector<rouse::thread> expected{rouse::this_thread::self(), blocked, runnable};
    EXPECT_EQ(all, expected) << "in the order of their making";
    blocked.wakeup();
    blocked.join();
  });
}

TEST_F(thread_, new_threads_run_in_the_order_of_their_making_and_after_the_caller) {
  run([] {
    std::vector<int> order;
    std::vector<rouse::thread> all;
    for (int i = 0; i < 5; ++i) all.emplace_back([&order, i] { order.push_back(i); });
    EXPECT_TRUE(order.empty()) << "spawn gave the caller's turn away";
    for (auto& t : all) t.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  });
}

TEST_F(thread_, yield_lets_every_other_runnable_thread_run_once) {
  run([] {
    std::vector<int> order;
    auto body = [&order](int n) {
      for (int i = 0; i < 3; ++i) {
        order.push_back(n);
        rouse::this_thread::yield();
      }
    };
    auto a = rouse::spawn(body, 1);
    auto b = rouse::spawn(body, 2);
    a.join();
    b.join();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 1, 2, 1, 2}));
  });
}

TEST_F(thread_, ids_and_names_tell_threads_apart) {
  run([] {
    auto named = rouse::spawn(rouse::thread_options{"worker of the week", 0}, [] {
      return std::pair(rouse::this_thread::get_id(), std::string(rouse::this_thread::self().name()));
    });
    auto other = rouse::spawn([] {});
    EXPECT_EQ(named.name(), "worker of the week");
    EXPECT_EQ(other.name(), "");
    EXPECT_NE(named.get_id(), other.get_id());
    EXPECT_NE(named.get_id(), rouse::this_thread::get_id());
    EXPECT_NE(named.get_id(), rouse::thread::id());
    EXPECT_EQ(named.get(), std::pair(named.get_id(), std::string("worker of the week")));
    EXPECT_EQ(rouse::this_thread::self().name(), "main");
  });
}

TEST_F(thread_, ids_are_not_used_again) {
  run([] {
    rouse::thread::id last = rouse::this_thread::get_id();
    for (int i = 0; i < 100; ++i) {
      auto t = rouse::spawn([] {});
      t.join();
      EXPECT_GT(t.get_id(), last);
      last = t.get_id();
    }
  });
}

TEST_F(thread_, copies_of_a_handle_name_the_same_thread) {
  run([] {
    rouse::thread a([] { rouse::this_thread::sleep(); });
    rouse::thread b = a;
    EXPECT_EQ(a, b);
    rouse::thread c = std::move(a);
    EXPECT_FALSE(a); // NOLINT(bugprone-use-after-move): a moved-from handle is empty
    EXPECT_EQ(b, c);
    rouse::thread d;
    EXPECT_NE(b, d);
    d = b;
    EXPECT_EQ(b, d);
    until_parked(b);
    d.wakeup();
    c.join();
    EXPECT_FALSE(b.alive());
  });
}

TEST_F(thread_, a_thread_without_handles_runs_on) {
  run([] {
    int runs = 0;
    for (int i = 0; i < 3; ++i) rouse::spawn([&] { ++runs; });
    yield_until([&] { return runs == 3; });
  });
}

// TH-10. The others see main as alive until they have ended, since main waits for them (design section 4).
TEST_F(thread_, threads_that_outlive_main_are_killed_and_unwound) {
  int unwound = 0;
  run([&] {
    for (int i = 0; i < 3; ++i) {
      auto t = rouse::spawn([&] {
        at_scope_end note([&] { ++unwound; });
        rouse::this_thread::sleep();
      });
      until_parked(t);
    }
  });
  EXPECT_EQ(unwound, 3);
}

} // namespace

// Rows without a counterpart here:
//   R-TH-02        a class that derives from the thread class and forgets its initialiser: handles have no
//   such state R-TH-07, -08   reports on standard error and the exit exception: an exception stays with its
//   thread TH-12          time slices belong to a later part R-TH-10        a last thread that sleeps may
//   still be woken from outside through a remote; see remote_test.cpp
