#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/condition_variable.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <stdexcept>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class timer_ : public vm_test {
 protected:
  static rouse::clock::duration time_of(const std::function<void()>& f) {
    const auto before = rouse::clock::now();
    f();
    return rouse::clock::now() - before;
  }

  // Keeps the VM from looking at its clock.
  static void compute_for(rouse::duration d) {
    const auto until = rouse::clock::now() + d;
    while (rouse::clock::now() < until) {
    }
  }
};

// R-SL-01
TEST_F(timer_, a_sleep_is_never_shorter_than_asked_for) {
  run([] {
    for (const rouse::duration d : {1ns, 1000ns, 100'000ns, 999'999ns, 1'000'000ns, 3'000'001ns})
      EXPECT_GE(time_of([&] { rouse::this_thread::sleep_for(d); }), d);
  });
}

// libuv 4773: the limit counts from the call and not from when the VM last looked at its clock.
TEST_F(timer_, a_sleep_after_a_long_computation_is_not_early) {
  run([] {
    for (int i = 0; i < rounds(50); ++i) {
      compute_for(3ms);
      EXPECT_GE(time_of([] { rouse::this_thread::sleep_for(1ms); }), 1ms);
    }
  });
}

// SL-02
TEST_F(timer_, wakeup_ends_a_sleep_with_or_without_a_limit) {
  run([] {
    auto a = rouse::spawn([] { rouse::this_thread::sleep(); });
    auto b = rouse::spawn([] { rouse::this_thread::sleep_for(1h); });
    auto c = rouse::spawn([] { rouse::this_thread::sleep_until(rouse::clock::now() + 1h); });
    for (const rouse::thread& t : std::vector<rouse::thread>{a, b, c}) {
      until_parked(t);
      t.wakeup();
      EXPECT_TRUE(t.join_for(30s));
    }
  });
}

TEST_F(timer_, a_wakeup_of_a_thread_that_does_not_sleep_is_not_remembered) {
  run([] {
    bool slept = false;
    auto t = rouse::spawn([&] {
      rouse::this_thread::yield();
      rouse::this_thread::sleep_for(5ms);
      slept = true;
    });
    t.wakeup();
    rouse::this_thread::yield();
    t.wakeup();
    EXPECT_GE(time_of([&] { t.join(); }), 5ms);
    EXPECT_TRUE(slept);
  });
}

// R-SL-02
TEST_F(timer_, a_negative_sleep_is_an_error) {
  run([] {
    EXPECT_EQ(what_of<std::invalid_argument>([] { rouse::this_thread::sleep_for(-1ns); }),
              "time interval must not be negative");
  });
}

TEST_F(timer_, a_sleep_of_zero_lets_the_others_run) {
  run([] {
    bool ran = false;
    auto t = rouse::spawn([&] { ran = true; });
    rouse::this_thread::sleep_for(0ms);
    EXPECT_TRUE(ran);
    t.join();
  });
}

TEST_F(timer_, a_time_in_the_past_does_not_keep_anybody) {
  run([] {
    rouse::this_thread::sleep_until(rouse::clock::now() - 1h);
    rouse::this_thread::sleep_until(rouse::clock::time_point::min());
  });
}

// TI3: very large limits
TEST_F(timer_, the_largest_limits_do_not_overflow) {
  run([] {
    std::vector<rouse::thread> all;
    all.emplace_back([] { rouse::this_thread::sleep_for(rouse::forever); });
    all.emplace_back([] { rouse::this_thread::sleep_for(rouse::forever - 1ns); });
    all.emplace_back([] { rouse::this_thread::sleep_until(rouse::clock::time_point::max()); });
    all.emplace_back([] { rouse::this_thread::sleep_until(rouse::clock::time_point::max() - 1ns); });
    rouse::this_thread::sleep_for(2ms);
    for (auto& t : all) {
      EXPECT_EQ(t.status(), rouse::thread_status::sleeping);
      t.wakeup();
      t.join();
    }
  });
}

TEST_F(timer_, sleepers_wake_in_the_order_of_their_times) {
  run([] {
    std::vector<int> order;
    std::vector<rouse::thread> all;
    const auto start = rouse::clock::now() + 5ms;
    for (int i = 0; i < 100; ++i) {
      const int place = i * 37 % 100;
      all.emplace_back([&order, place, start] {
        rouse::this_thread::sleep_until(start + place * 10us);
        order.push_back(place);
      });
    }
    for (auto& t : all) t.join();
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(order.size(), 100u);
  });
}

// TI3: the limit of a wait that ended otherwise does not end the next one.
TEST_F(timer_, an_old_limit_does_not_end_the_next_wait) {
  run([] {
    int woken = 0;
    auto t = rouse::spawn([&] {
      rouse::this_thread::sleep_for(5ms);
      ++woken;
      EXPECT_GE(time_of([] { rouse::this_thread::sleep_for(20ms); }), 20ms);
      ++woken;
    });
    until_parked(t);
    t.wakeup();
    yield_until([&] { return woken == 1; });
    t.join();
    EXPECT_EQ(woken, 2);
  });
}

// TI3: it has fired, and has been overtaken by the notification.
TEST_F(timer_, a_limit_that_passes_together_with_the_event_belongs_to_that_wait_alone) {
  run([] {
    rouse::mutex m;
    rouse::condition_variable changed;
    for (int i = 0; i < rounds(200); ++i) {
      auto t = rouse::spawn([&] {
        std::unique_lock lock(m);
        changed.wait_for(lock, 100us);
        EXPECT_GE(time_of([&] { EXPECT_EQ(changed.wait_for(lock, 300us), std::cv_status::timeout); }), 300us);
      });
      until_parked(t);
      compute_for(std::chrono::microseconds(80 + i % 40));
      changed.notify_one();
      t.join();
    }
  });
}

// MN3: a thread that is always runnable.
TEST_F(timer_, a_thread_that_yields_for_ever_does_not_starve_timers) {
  run([] {
    auto spinner = rouse::spawn([] {
      for (;;) rouse::this_thread::yield();
    });
    EXPECT_LT(time_of([] { rouse::this_thread::sleep_for(1ms); }), 5s);
    auto [reader, writer] = rouse::pipe();
    auto t = rouse::spawn([&r = reader] {
      std::array<char, 1> buffer;
      return r.read_some(buffer);
    });
    until_parked(t);
    writer.write_all("x");
    EXPECT_EQ(t.get(), 1u);
    spinner.kill();
  });
}

// MN3: and with main itself spinning.
TEST_F(timer_, a_main_that_yields_for_ever_does_not_starve_timers) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep_for(1ms); });
    yield_until([&] { return !t.alive(); });
  });
}

// TI1, for the limits of threads: they are set, pass and are given up around the same moment.
TEST_F(timer_, limits_that_are_set_and_pass_at_the_same_moment_lose_nobody) {
  run([] {
    std::vector<rouse::thread> all;
    for (int n = 0; n < 10; ++n)
      all.emplace_back([n] {
        for (int i = 0; i < rounds(300); ++i)
          rouse::this_thread::sleep_for(std::chrono::microseconds((i * 7 + n * 13) % 50));
      });
    bool stop = false;
    auto waker = rouse::spawn([&] {
      while (!stop) {
        for (auto& t : all)
          if (t.alive()) t.wakeup();
        rouse::this_thread::sleep_for(20us);
      }
    });
    for (auto& t : all) t.join();
    stop = true;
    waker.join();
  });
}

// SL-03
TEST_F(timer_, a_child_that_ends_wakes_nobody) {
  run([] {
    auto sleeper = rouse::spawn([] { rouse::this_thread::sleep(); });
    until_parked(sleeper);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    int status = 0;
    while (::waitpid(child, &status, 0) != child) {
    }
    rouse::this_thread::sleep_for(1ms);
    EXPECT_EQ(sleeper.status(), rouse::thread_status::sleeping);
    sleeper.wakeup();
    sleeper.join();
  });
}

TEST_F(timer_, kernels_without_the_finer_wait_round_up) {
  system_call_hook hook([](long number) -> long { return number == SYS_epoll_pwait2 ? -ENOSYS : 0; });
  run([] {
    for (const rouse::duration d : {1ns, 100'000ns, 1'500'000ns})
      EXPECT_GE(time_of([&] { rouse::this_thread::sleep_for(d); }), d);
  });
}

} // namespace

// Rows without a counterpart here: SL-04, -05, -08 to -10, R-SL-04, -06: with_timeout belongs to a later
// part.
