// Everything at once, at random but the same each time; what it ends in is checked.

#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/condition_variable.hpp>
#include <rouse/mutex.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <random>
#include <stdexcept>
#include <sys/time.h>
#include <thread>
#include <vector>

using namespace rouse_test;

namespace {

// Sends SIGALRM to the process, as often as the kernel can and at most 1000 times a second.
class signal_storm {
 public:
  signal_storm() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++arrived; };
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval each_ms{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &each_ms, nullptr);
  }
  ~signal_storm() {
    const itimerval off{};
    ::setitimer(ITIMER_REAL, &off, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  signal_storm(const signal_storm&) = delete;
  signal_storm& operator=(const signal_storm&) = delete;
  static inline std::atomic<int> arrived{0};

 private:
  struct sigaction before_ {};
};

class stress_ : public vm_test {};

// boost thread 105, libuv 1068: no notification is eaten and no limit starts anew.
TEST_F(stress_, a_storm_of_signals_changes_nothing) {
  signal_storm storm;
  run([] {
    rouse::mutex m;
    rouse::condition_variable changed;
    bool set = false;
    auto waiter = rouse::spawn([&] {
      std::unique_lock lock(m);
      changed.wait(lock, [&] { return set; });
    });
    until_parked(waiter);
    const auto before = rouse::clock::now();
    rouse::this_thread::sleep_for(50ms);
    const auto slept = rouse::clock::now() - before;
    EXPECT_GE(slept, 50ms);
    EXPECT_LT(slept, 5s);
    auto [reader, writer] = rouse::pipe();
    auto t = rouse::spawn([&r = reader] {
      std::array<char, 1> buffer;
      return r.read_some(buffer);
    });
    EXPECT_FALSE(t.join_for(20ms));
    writer.write_all("x");
    EXPECT_EQ(t.get(), 1u);
    EXPECT_EQ(waiter.status(), rouse::thread_status::sleeping);
    set = true;
    changed.notify_one();
    waiter.join();
    std::vector<rouse::thread> all;
    int total = 0;
    for (int n = 0; n < 10; ++n)
      all.emplace_back([&, n] {
        for (int i = 0; i < 50; ++i) {
          std::lock_guard guard(m);
          rouse::this_thread::sleep_for(std::chrono::microseconds(n * 7 + i));
          ++total;
        }
      });
    for (auto& a : all) a.join();
    EXPECT_EQ(total, 500);
  });
  EXPECT_GT(signal_storm::arrived, 10);
}

// I2, I3, I10: tokens go around among threads that are raised in, killed and woken at random.
TEST_F(stress_, random_interrupts_lose_no_wakeup_and_no_lock) {
  run([] {
    std::minstd_rand random(12345); // NOLINT(cert-msc51-cpp): the same every time
    for (int round = 0; round < rounds(200); ++round) {
      rouse::mutex m;
      rouse::condition_variable changed;
      int tokens = 0;
      int taken = 0;
      bool stop = false;
      std::vector<rouse::thread> all;
      for (int n = 0; n < 12; ++n)
        all.emplace_back([&] {
          while (!stop) try {
              std::unique_lock lock(m);
              if (random() % 2)
                changed.wait(lock, [&] { return tokens > 0 || stop; });
              else
                changed.wait_for(lock, std::chrono::microseconds(random() % 60),
                                 [&] { return tokens > 0 || stop; });
              if (tokens > 0) {
                --tokens;
                ++taken;
              }
              if (random() % 4 == 0) rouse::this_thread::yield();
            } catch (const std::runtime_error&) {
            }
        });
      int given = 0;
      for (int i = 0; i < 200; ++i) {
        rouse::thread& t = all[random() % all.size()];
        switch (random() % 8) {
        case 0: t.raise(std::runtime_error("now")); break;
        case 1:
          if (i % 50 == 0) t.kill();
          break;
        case 2:
          if (t.alive()) t.wakeup();
          break;
        case 3: rouse::this_thread::sleep_for(std::chrono::microseconds(random() % 30)); break;
        default: {
          std::lock_guard guard(m);
          ++tokens;
          ++given;
          changed.notify_one();
        }
        }
      }
      while (tokens > 0) rouse::this_thread::sleep_for(10us);
      EXPECT_EQ(given, taken);
      stop = true;
      changed.notify_all();
      for (auto& t : all) try {
          t.join();
        } catch (const std::runtime_error&) {
        }
      ASSERT_FALSE(m.is_locked()) << "round " << round;
    }
  });
}

// OS threads send everything that they may send into one VM.
TEST_F(stress_, senders_outside_meet_threads_that_come_and_go) {
  const rouse::remote r = vm->make_remote();
  run([&] {
    std::atomic<long> posted{0};
    long ran = 0;
    std::vector<rouse::thread> targets;
    for (int i = 0; i < 8; ++i)
      targets.emplace_back([] {
        for (;;) try {
            rouse::this_thread::sleep_for(50us);
          } catch (const std::runtime_error&) {
          }
      });
    std::vector<std::thread> senders;
    for (unsigned n = 0; n < 3; ++n)
      senders.emplace_back([&, mine = targets, n] {
        std::minstd_rand random(n + 1);
        for (int i = 0; i < rounds(2000); ++i) {
          const rouse::thread& t = mine[random() % mine.size()];
          switch (random() % 4) {
          case 0: t.raise(std::runtime_error("from outside")); break;
          case 1:
            r.post([&ran] { ++ran; });
            ++posted;
            break;
          case 2:
            if (i % 500 == 0) t.kill();
            break;
          default: try { t.wakeup();
            } catch (const rouse::thread_error&) { // it has been killed
            }
          }
        }
      });
    bool done = false;
    std::thread waiter([&] {
      for (auto& s : senders) s.join();
      r.post([&] { done = true; });
    });
    while (!done) {
      auto t = rouse::spawn([] { rouse::this_thread::sleep_for(5us); });
      t.join();
    }
    waiter.join();
    EXPECT_EQ(ran, posted);
    for (auto& t : targets) t.kill();
    for (auto& t : targets) try {
        t.join();
      } catch (const std::runtime_error&) { // raised before its first statement
      }
  });
}

} // namespace
