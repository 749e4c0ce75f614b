#include "expect.hpp"
#include "vm_fixture.hpp"

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <stdexcept>
#include <sys/syscall.h>
#include <thread>

using namespace rouse_test;

namespace {

class spawn_ : public vm_test {
 protected:
  void TearDown() override {
    vm_test::TearDown();
    EXPECT_EQ(tracked::alive(), 0) << "objects are left";
  }
};

TEST_F(spawn_, arguments_are_moved_or_copied_in) {
  run([] {
    std::string text = "copied";
    int counter = 0;
    auto u = rouse::spawn([](int& n) { ++n; }, std::ref(counter));
    u.join();
    EXPECT_EQ(counter, 1);
    auto v = rouse::spawn([](std::unique_ptr<int> m, std::string s) { return std::to_string(*m) + s; },
                          std::make_unique<int>(3), text);
    text = "changed";
    EXPECT_EQ(v.get(), "3copied");
  });
}

TEST_F(spawn_, member_functions_are_called_on_their_object) {
  struct counter {
    int n = 0;
    int add(int m) { return n += m; }
  };
  run([] {
    counter c;
    EXPECT_EQ(rouse::spawn(&counter::add, &c, 5).get(), 5);
    EXPECT_EQ(c.n, 5);
  });
}

TEST_F(spawn_, the_callable_dies_in_its_thread_before_the_joiner_goes_on) {
  struct dies_in {
    rouse::thread::id* where;
    tracked count;
    bool moved_from = false;
    explicit dies_in(rouse::thread::id* w) : where(w) {}
    dies_in(dies_in&& o) noexcept : where(o.where) { o.moved_from = true; }
    ~dies_in() {
      if (!moved_from) *where = rouse::this_thread::get_id();
    }
  };
  run([] {
    rouse::thread::id died;
    auto t = rouse::spawn([d = dies_in(&died)] { static_cast<void>(d); });
    t.join();
    EXPECT_EQ(died, t.get_id());
    EXPECT_EQ(tracked::alive(), 0);
  });
}

TEST_F(spawn_, the_result_dies_once_with_the_last_handle) {
  run([] {
    auto t = rouse::spawn([] { return tracked(); });
    t.join();
    EXPECT_EQ(tracked::alive(), 1);
    auto copy = t;
    t = {};
    EXPECT_EQ(tracked::alive(), 1);
    copy = {};
    EXPECT_EQ(tracked::alive(), 0);
  });
}

TEST_F(spawn_, a_result_that_nobody_can_ask_for_dies_at_the_end_of_the_thread) {
  run([] {
    bool ended = false;
    rouse::spawn([&ended] {
      ended = true;
      return tracked();
    });
    yield_until([&] { return ended; });
    rouse::this_thread::yield();
    EXPECT_EQ(tracked::alive(), 0);
  });
}

TEST_F(spawn_, a_result_may_outlive_its_vm) {
  rouse::task<std::pair<tracked, int>> t;
  run([&] {
    t = rouse::spawn([] { return std::pair(tracked(), 5); });
    t.join();
  });
  vm = std::make_unique<rouse::vm>();
  EXPECT_EQ(tracked::alive(), 1);
  EXPECT_EQ(t.status(), rouse::thread_status::ended);
  std::thread([u = std::move(t)]() mutable { u = {}; }).join();
  EXPECT_EQ(tracked::alive(), 0);
}

TEST_F(spawn_, the_exception_that_ended_a_thread_dies_with_the_last_handle) {
  struct error {
    tracked count;
  };
  run([] {
    auto t = rouse::spawn([] { throw error(); });
    EXPECT_THROW(t.join(), error);
    EXPECT_EQ(tracked::alive(), 1);
    t = {};
    EXPECT_EQ(tracked::alive(), 0);
  });
}

TEST_F(spawn_, a_callable_whose_copy_throws_leaves_nothing_behind) {
  struct refuses {
    tracked count;
    refuses() = default;
    refuses(const refuses&) { throw std::runtime_error("no copies"); }
    void operator()() const {}
  };
  run([this] {
    const refuses f;
    rouse::spawn([] {}).join(); // there is a stack now, and no other can be had
    system_call_hook hook([](long number) -> long { return number == SYS_mmap ? -ENOMEM : 0; });
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(what_of<std::runtime_error>([&] { rouse::spawn(f); }), "no copies");
    EXPECT_EQ(vm->threads().size(), 1u);
    EXPECT_EQ(tracked::alive(), 1);
    EXPECT_EQ(rouse::spawn([] { return 1; }).get(), 1);
  });
}

TEST_F(spawn_, a_result_whose_move_throws_is_the_threads_exception) {
  struct stubborn {
    stubborn() = default;
    stubborn(stubborn&&) { throw std::runtime_error("can't move"); }
  };
  run([] {
    auto t = rouse::spawn([] {
      stubborn s;
      return s;
    });
    EXPECT_EQ(what_of<std::runtime_error>([&] { t.join(); }), "can't move");
  });
}

TEST_F(spawn_, an_exception_of_the_function_destroys_the_captured_arguments_once) {
  run([] {
    auto t = rouse::spawn([c = tracked()] { throw std::runtime_error("out"); });
    EXPECT_THROW(t.join(), std::runtime_error);
    EXPECT_EQ(tracked::alive(), 0);
  });
}

TEST_F(spawn_, a_thread_that_is_killed_before_it_starts_never_calls_its_function) {
  run([] {
    bool called = false;
    auto t = rouse::spawn([&called, c = tracked()] { called = true; });
    t.kill();
    t.join();
    EXPECT_FALSE(called);
    EXPECT_EQ(tracked::alive(), 0);
    EXPECT_EQ(what_of<rouse::thread_killed>([&] { t.get(); }),
              "task::get: the thread was killed and has no result");
  });
}

TEST_F(spawn_, a_callable_with_strict_alignment_gets_it) {
  struct alignas(256) wide {
    std::array<char, 256> bytes{};
  };
  run([] {
    for (int i = 0; i < 9; ++i) { // records begin at varying places of their page
      auto t = rouse::spawn([w = wide(), s = std::string(static_cast<std::size_t>(i), 'x')] {
        return reinterpret_cast<std::uintptr_t>(&w) % 256;
      });
      EXPECT_EQ(t.get(), 0u);
    }
  });
}

TEST_F(spawn_, a_thread_may_spawn_and_join_deeply) {
  run([] {
    struct nest {
      static int depth(int n) { return n == 0 ? 0 : 1 + rouse::spawn(nest::depth, n - 1).get(); }
    };
    EXPECT_EQ(rouse::spawn(nest::depth, 200).get(), 200);
  });
}

TEST_F(spawn_, handles_may_be_dropped_by_other_os_threads_while_the_vm_runs) {
  run([] {
    for (int i = 0; i < rounds(500); ++i) {
      auto t = rouse::spawn([] { return tracked(); });
      std::thread dropper([u = t]() mutable { u = {}; });
      t = {};
      rouse::this_thread::yield();
      dropper.join();
    }
    rouse::this_thread::yield();
  });
}

TEST_F(spawn_, outside_a_vm_nothing_can_be_called) {
  const auto text = [](auto f) { return what_of<rouse::thread_error>(f); };
  EXPECT_EQ(text([] { rouse::spawn([] {}); }), "spawn: not inside a VM");
  EXPECT_EQ(text([] { rouse::thread t([] {}); }), "spawn: not inside a VM");
  EXPECT_EQ(text([] { rouse::this_thread::yield(); }), "this_thread::yield: not inside a VM");
  EXPECT_EQ(text([] { rouse::this_thread::checkpoint(); }), "this_thread::checkpoint: not inside a VM");
  EXPECT_EQ(text([] { rouse::this_thread::sleep(); }), "this_thread::sleep: not inside a VM");
  EXPECT_EQ(text([] { rouse::this_thread::sleep_for(1ms); }), "this_thread::sleep_for: not inside a VM");
  EXPECT_EQ(text([] { rouse::this_thread::sleep_until({}); }), "this_thread::sleep_until: not inside a VM");
  EXPECT_EQ(text([] { rouse::this_thread::self(); }), "this_thread::self: not inside a VM");
  EXPECT_EQ(text([] { rouse::no_interrupts scope; }), "no_interrupts: not inside a VM");
  EXPECT_EQ(rouse::this_thread::get_id(), rouse::thread::id());

  rouse::task<void> t;
  run([&] { t = rouse::spawn([] {}); });
  EXPECT_EQ(text([&] { t.join(); }), "thread::join: not inside a VM");
  EXPECT_EQ(text([&] { t.get(); }), "task::get: not inside a VM");
}

} // namespace
