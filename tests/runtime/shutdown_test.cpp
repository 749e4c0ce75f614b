// Ending everything that lives in a VM: from inside, from outside, by the destructor.

#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/condition_variable.hpp>
#include <rouse/mutex.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace rouse_test;

namespace {

class shutdown_ : public vm_test {
 protected:
  // A thread in each kind of wait; each counts its end in `unwound`.
  void wait_in_every_way() {
    auto add = [this](auto wait) {
      all.emplace_back([this, wait]() mutable {
        at_scope_end note([this] { ++unwound; });
        wait();
      });
    };
    add([] { rouse::this_thread::sleep(); });
    add([] { rouse::this_thread::sleep_for(1h); });
    add([this] { all.front().join(); });
    add([this] { all.front().join_for(1h); });
    add([this] {
      sync->taken.lock();
      rouse::this_thread::sleep();
    });
    until_parked(all.back());
    add([this] { sync->taken.lock(); });
    add([this] { sync->taken.try_lock_for(1h); });
    add([this] {
      std::unique_lock lock(sync->m);
      sync->changed.wait(lock);
    });
    add([this] {
      std::unique_lock lock(sync->m);
      sync->changed.wait_for(lock, 1h);
    });
    add([ends = rouse::pipe()]() mutable {
      std::array<char, 1> buffer;
      ends.reader.read_some(buffer);
    });
    add([ends = rouse::pipe()]() mutable { ends.writer.write_all(std::vector<char>(1 << 20)); });
    for (auto& t : all) until_parked(t);
  }

  // A thread that no kill ends; release() lets it go.
  rouse::thread stubborn() {
    auto t = rouse::spawn([this] {
      rouse::no_interrupts scope;
      while (!released) rouse::this_thread::sleep_for(100us);
    });
    until_parked(t);
    return t;
  }

  std::vector<rouse::thread> all;
  int unwound = 0;
  struct sync_objects { // they belong to the VM that uses them first
    rouse::mutex taken;
    rouse::mutex m;
    rouse::condition_variable changed;
  };
  std::optional<sync_objects> sync{std::in_place};
  std::atomic<bool> released{false};
};

TEST_F(shutdown_, from_inside_ends_every_other_thread) {
  run([this] {
    wait_in_every_way();
    EXPECT_TRUE(vm->shutdown().empty());
    EXPECT_EQ(unwound, static_cast<int>(all.size()));
    EXPECT_EQ(vm->threads().size(), 1u);
    EXPECT_EQ(rouse::spawn([] { return 1; }).get(), 1) << "the VM goes on";
    all.clear();
  });
}

TEST_F(shutdown_, from_another_os_thread_ends_main_too) {
  std::atomic<bool> ready{false};
  std::vector<rouse::thread> left;
  std::thread outside([&] {
    while (!ready) std::this_thread::yield();
    left = vm->shutdown();
  });
  EXPECT_THROW(run([&] {
                 wait_in_every_way();
                 ready = true;
                 rouse::this_thread::sleep();
               }),
               rouse::thread_killed);
  outside.join();
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(unwound, static_cast<int>(all.size()));
  all.clear();
}

TEST_F(shutdown_, while_nobody_runs_the_vm_the_caller_does) {
  vm->make_remote().post([this] { wait_in_every_way(); });
  while (vm->threads().size() != 11) vm->run_ready();
  vm->run_ready();
  EXPECT_TRUE(vm->shutdown().empty());
  EXPECT_EQ(unwound, 11);
  all.clear();
}

TEST_F(shutdown_, from_inside_names_who_is_left_at_the_limit) {
  run([this] {
    auto s = stubborn();
    auto easy = rouse::spawn([] { rouse::this_thread::sleep(); });
    EXPECT_EQ(vm->shutdown(5ms), std::vector<rouse::thread>{s});
    EXPECT_FALSE(easy.alive());
    released = true;
    EXPECT_TRUE(vm->shutdown(30s).empty());
  });
}

TEST_F(shutdown_, from_another_os_thread_names_who_is_left_at_the_limit) {
  std::thread outside;
  rouse::thread s;
  EXPECT_THROW(run([&] {
                 s = stubborn();
                 outside = std::thread([&] {
                   EXPECT_EQ(vm->shutdown(20ms).size(), 2u) << "it, and main that waits for it";
                   EXPECT_TRUE(s.alive());
                   released = true;
                   EXPECT_TRUE(vm->shutdown(30s).empty());
                 });
                 rouse::this_thread::sleep();
               }),
               rouse::thread_killed);
  outside.join();
}

TEST_F(shutdown_, while_nobody_runs_the_vm_it_names_who_is_left_at_the_limit) {
  rouse::thread s;
  vm->make_remote().post([&] { s = stubborn(); });
  while (!s) vm->run_ready();
  EXPECT_EQ(vm->shutdown(5ms), std::vector<rouse::thread>{s});
  released = true;
  EXPECT_TRUE(vm->shutdown(30s).empty());
}

TEST_F(shutdown_, the_limit_holds_against_a_thread_that_never_parks) {
  rouse::thread spinner;
  vm->make_remote().post([&] {
    rouse::no_interrupts scope;
    spinner = rouse::this_thread::self();
    rouse::this_thread::sleep();
    while (!released) rouse::this_thread::yield();
  });
  while (!spinner) vm->run_ready();
  spinner.wakeup();
  EXPECT_EQ(vm->shutdown(5ms), std::vector<rouse::thread>{spinner});
  released = true;
  EXPECT_TRUE(vm->shutdown().empty());
}

TEST_F(shutdown_, no_thread_is_made_while_the_others_are_being_ended) {
  run([] {
    auto t = rouse::spawn([] {
      at_scope_end spawns([] {
        EXPECT_EQ(what_of<rouse::vm_gone>([] { rouse::spawn([] {}); }),
                  "spawn: the VM is ending and takes no new threads");
      });
      rouse::this_thread::sleep();
    });
    until_parked(t);
  });
  EXPECT_EQ(run([] { return rouse::spawn([] { return 1; }).get(); }), 1) << "in the next run they are";
}

TEST_F(shutdown_, a_kill_ends_the_callers_wait) {
  run([this] {
    rouse::no_interrupts scope; // main is killed too, and has to wait for that
    auto s = stubborn();
    auto caller = rouse::spawn([this] { vm->shutdown(); });
    until_parked(caller);
    caller.kill();
    caller.join();
    EXPECT_TRUE(s.alive());
    released = true;
    s.join();
  });
}

// Main ends while another thread is in shutdown: that one is killed, which must not let new threads in again.
TEST_F(shutdown_, one_that_main_overtakes_leaves_main_in_charge) {
  bool refused = false;
  rouse::thread caller;
  EXPECT_THROW(run([&] {
                 auto late = rouse::spawn([&] {
                   rouse::no_interrupts scope;
                   rouse::this_thread::sleep();
                   yield_until([&] { return !caller.alive(); });
                   try {
                     rouse::spawn([] { rouse::this_thread::sleep(); });
                   } catch (const rouse::vm_gone&) {
                     refused = true;
                   }
                 });
                 until_parked(late);
                 caller = rouse::spawn([this, late] {
                   late.wakeup();
                   vm->shutdown();
                 });
                 rouse::this_thread::sleep();
               }),
               rouse::thread_killed);
  EXPECT_TRUE(refused);
}

// The run is over between the caller's look and its post; its message must not end a later run.
TEST_F(shutdown_, one_that_comes_just_too_late_does_not_end_the_next_run) {
  std::atomic<bool> looked{false};
  std::atomic<bool> over{false};
  at_test_point hook([&](std::string_view at) {
    if (at != "shutdown.post") return;
    looked = true;
    while (!over) std::this_thread::yield();
  });
  std::thread outside;
  run([&] {
    outside = std::thread([&] { EXPECT_TRUE(vm->shutdown().empty()); });
    while (!looked) std::this_thread::yield();
  });
  over = true;
  outside.join();
  run([] { rouse::this_thread::sleep_for(1us); });
}

// EM3
TEST_F(shutdown_, the_destructor_ends_threads_in_every_kind_of_wait) {
  for (int i = 0; i < rounds(1000); ++i) {
    unwound = 0;
    {
      rouse::vm v;
      v.make_remote().post([this] { wait_in_every_way(); });
      v.run_ready();
    }
    ASSERT_EQ(unwound, 11);
    all.clear();
    sync.emplace();
  }
}

// EM3: and a second VM is as good as the first, whose handles are still held.
TEST_F(shutdown_, handles_outlive_their_vm) {
  std::vector<rouse::thread> kept;
  for (int i = 0; i < 3; ++i) {
    rouse::vm v;
    v.make_remote().post([&] {
      kept.push_back(rouse::this_thread::self());
      rouse::this_thread::sleep();
    });
    v.run_ready();
  }
  for (auto& t : kept) {
    EXPECT_FALSE(t.alive());
    EXPECT_EQ(t.name(), "posted");
    t.kill();
  }
}

// I12: or says what it waits for.
TEST_F(shutdown_, a_destructor_that_takes_long_says_what_it_waits_for) {
  std::string said;
  rouse::vm_options options;
  options.on_slow_end = [&](const std::string& text) {
    said = text;
    released = true;
  };
  {
    rouse::vm v(options);
    v.make_remote().post([&] { stubborn(); });
    v.run_ready();
  }
  EXPECT_NE(said.find("the destructor of a VM waits for"), std::string::npos) << said;
  EXPECT_NE(said.find("parked, waits for sleep"), std::string::npos) << said;
}

} // namespace
