#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/mutex.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <sys/syscall.h>
#include <thread>
#include <vector>

using namespace rouse_test;

namespace {

class vm_ : public vm_test {};

TEST_F(vm_, run_returns_what_main_returns) {
  EXPECT_EQ(run([] { return 42; }), 42);
  EXPECT_EQ(*run([] { return std::make_unique<int>(3); }), 3);
  int variable = 0;
  static_assert(std::is_same_v<decltype(vm->run([&]() -> int& { return variable; })), int&>);
  EXPECT_EQ(&vm->run([&]() -> int& { return variable; }), &variable);
}

TEST_F(vm_, it_may_be_run_many_times) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(run([i] { return rouse::spawn([i] { return i; }).get(); }), i);
    EXPECT_TRUE(vm->threads().empty());
  }
}

TEST_F(vm_, it_may_be_run_by_one_os_thread_after_another) {
  for (int i = 0; i < 5; ++i)
    std::thread([&] {
      run([] {
        rouse::spawn([] { rouse::this_thread::sleep_for(1us); }).join();
        EXPECT_EQ(what_of<std::runtime_error>([] { throw std::runtime_error("x"); }), "x");
      });
    }).join();
}

TEST_F(vm_, running_one_that_runs_is_an_error) {
  constexpr auto text = "vm::run: this VM is being run already";
  run([&] {
    EXPECT_EQ(what_of<rouse::thread_error>([&] { vm->run([] {}); }), text);
    std::thread([&] {
      EXPECT_EQ(what_of<rouse::thread_error>([&] { vm->run([] {}); }), text);
      EXPECT_EQ(what_of<rouse::thread_error>([&] { vm->run_ready(); }),
                "vm::run_ready: this VM is being run already");
      EXPECT_EQ(what_of<rouse::thread_error>([&] { static_cast<void>(vm->dump()); }),
                "vm::dump: this VM is being run already");
      EXPECT_EQ(what_of<rouse::thread_error>([&] { static_cast<void>(vm->threads()); }),
                "vm::threads: this VM is being run already");
    }).join();
  });
}

TEST_F(vm_, a_thread_may_run_another_vm) {
  run([] {
    int outer_turns = 0;
    auto t = rouse::spawn([&] { ++outer_turns; });
    const rouse::thread::id me = rouse::this_thread::get_id();
    rouse::vm inner;
    const int got = inner.run([] {
      auto u = rouse::spawn([] {
        rouse::this_thread::sleep_for(1us);
        return 4;
      });
      EXPECT_EQ(what_of<std::runtime_error>([] { throw std::runtime_error("inner"); }), "inner");
      return u.get();
    });
    EXPECT_EQ(got, 4);
    EXPECT_EQ(outer_turns, 0) << "the outer VM waits for the inner run";
    EXPECT_EQ(rouse::this_thread::get_id(), me);
    rouse::this_thread::yield();
    EXPECT_EQ(outer_turns, 1);
    t.join();
  });
}

TEST_F(vm_, an_exception_of_an_inner_run_reaches_the_outer_thread) {
  run([] {
    auto t = rouse::spawn([] {
      rouse::vm inner;
      inner.run([] { throw std::runtime_error("from inside"); });
    });
    EXPECT_EQ(what_of<std::runtime_error>([&] { t.join(); }), "from inside");
  });
}

TEST_F(vm_, a_thread_of_another_vm_can_be_killed_and_not_joined) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    until_parked(t);
    rouse::vm inner;
    inner.run([&] {
      EXPECT_EQ(what_of<rouse::thread_error>([&] { t.join(); }),
                "thread::join: the thread belongs to another VM");
      EXPECT_EQ(what_of<rouse::thread_error>([&] { t.get(); }),
                "task::get: the thread belongs to another VM");
      t.kill();
    });
    t.join();
    EXPECT_FALSE(t.alive());
  });
}

TEST_F(vm_, several_run_on_several_os_threads_at_once) {
  constexpr int count = 4;
  std::barrier start(count);
  std::vector<std::thread> all;
  std::atomic<int> sum{0};
  for (int n = 0; n < count; ++n)
    all.emplace_back([&, n] {
      rouse::vm mine;
      start.arrive_and_wait();
      sum += mine.run([n] {
        rouse::mutex m;
        int total = 0;
        std::vector<rouse::thread> threads;
        for (int i = 0; i < 20; ++i)
          threads.emplace_back([&, i] {
            for (int k = 0; k < rounds(50); ++k) {
              std::lock_guard guard(m);
              try {
                rouse::this_thread::yield();
                if (k % 10 == i % 10) throw std::runtime_error("x");
              } catch (const std::runtime_error&) {
                rouse::this_thread::sleep_for(1us);
              }
            }
            total += n;
          });
        for (auto& t : threads) t.join();
        return total;
      });
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(sum, 20 * (0 + 1 + 2 + 3));
}

TEST_F(vm_, two_of_them_wake_each_others_threads) {
  rouse::vm other;
  std::atomic<int> turns{0};
  std::thread runner([&] {
    other.run([&] {
      while (turns < 200) rouse::this_thread::sleep_for(10ms);
    });
  });
  const rouse::remote there = other.make_remote();
  const rouse::remote here = vm->make_remote();
  run([&] {
    struct ball {
      static void hit(const rouse::remote& to, const rouse::remote& back, std::atomic<int>& turns) {
        if (++turns < 200) to.post([&to, &back, &turns] { hit(back, to, turns); });
      }
    };
    ball::hit(there, here, turns);
    while (turns < 200) rouse::this_thread::sleep_for(1ms);
  });
  runner.join();
}

TEST_F(vm_, dump_has_a_line_for_each_thread_with_what_it_waits_for) {
  run([&] {
    rouse::mutex m;
    m.lock();
    auto [reader, writer] = rouse::pipe();
    std::vector<rouse::thread> all;
    auto sleeper = rouse::spawn(rouse::thread_options{"sleepy", 0}, [] { rouse::this_thread::sleep(); });
    all.push_back(sleeper);
    all.push_back(rouse::spawn(rouse::thread_options{"joiner", 0}, [&] { sleeper.join(); }));
    all.push_back(rouse::spawn(rouse::thread_options{"locker", 0}, [&] { m.lock(); }));
    all.push_back(rouse::spawn(rouse::thread_options{"reader", 0}, [&r = reader] {
      std::array<char, 1> buffer;
      r.read_some(buffer);
    }));
    all.push_back(rouse::spawn(rouse::thread_options{"deferring", 0}, [] {
      rouse::no_interrupts scope;
      rouse::this_thread::sleep();
    }));
    for (auto& t : all) until_parked(t);
    all.back().raise(std::runtime_error("x"));
    all.back().kill();
    auto fresh = rouse::spawn([] {});
    const std::string text = vm->dump();
    const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
    EXPECT_TRUE(has("\"main\": running")) << text;
    EXPECT_TRUE(has("\"sleepy\": parked, waits for sleep")) << text;
    EXPECT_TRUE(has("\"joiner\": parked, waits for join")) << text;
    EXPECT_TRUE(has("\"locker\": parked, waits for mutex")) << text;
    EXPECT_TRUE(has("\"reader\": parked, waits for read")) << text;
    EXPECT_TRUE(has("(descriptor " + std::to_string(reader.native_handle()) + ")")) << text;
    EXPECT_TRUE(has("pending interrupts: 2 (kill)")) << text;
    EXPECT_TRUE(has("thread " + std::to_string(fresh.get_id().value()) + ": runnable")) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7) << text;
    EXPECT_EQ(all[3].waits_on_descriptor(), reader.native_handle());
    EXPECT_EQ(all[0].waits_on_descriptor(), -1);
    all.back().wakeup();
    for (auto& t : all) t.kill();
    for (auto& t : all) t.join_for(30s);
    m.unlock();
  });
}

TEST_F(vm_, options_that_make_no_sense_are_refused) {
  EXPECT_EQ(what_of<std::invalid_argument>([] {
              rouse::vm_options o;
              o.stack_size = 1000;
              rouse::vm small(o);
            }),
            "vm_options::stack_size is 1000; it takes at least 16384 bytes");
  EXPECT_EQ(what_of<std::invalid_argument>([] {
              rouse::vm_options o;
              o.main_stack_size = 0;
              rouse::vm small(o);
            }),
            "vm_options::main_stack_size is 0; it takes at least 16384 bytes");
}

// Each system call that making a VM needs fails in turn.
TEST_F(vm_, one_that_can_not_be_made_leaves_no_descriptor_behind) {
  const std::size_t before = open_descriptors();
  for (const long call : {SYS_epoll_create1, SYS_eventfd2, SYS_epoll_ctl}) {
    system_call_hook hook([call](long number) -> long { return number == call ? -EMFILE : 0; });
    try {
      rouse::vm v;
      ADD_FAILURE() << "call " << call;
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::error_code(EMFILE, std::generic_category()));
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

// I11: no thread of an idle VM runs, and its OS thread stays in one wait.
TEST_F(vm_, an_idle_one_uses_no_cpu) {
  std::atomic<int> waits{0};
  system_call_hook hook([&](long number) -> long {
    waits += number == SYS_epoll_pwait || number == SYS_epoll_pwait2;
    return 0;
  });
  run([&] {
    auto [reader, writer] = rouse::pipe();
    std::vector<rouse::thread> all;
    for (int i = 0; i < 100; ++i) all.emplace_back([] { rouse::this_thread::sleep(); });
    all.emplace_back([&r = reader] {
      std::array<char, 1> buffer;
      r.read_some(buffer);
    });
    for (auto& t : all) until_parked(t);
    waits = 0;
    rouse::this_thread::sleep_for(100ms);
    EXPECT_LE(waits, 3);
    waits = 0;
    std::thread outside([main = rouse::this_thread::self()] {
      std::this_thread::sleep_for(100ms);
      main.wakeup();
    });
    rouse::this_thread::sleep();
    EXPECT_LE(waits, 3) << "and without any timer";
    outside.join();
  });
}

} // namespace
