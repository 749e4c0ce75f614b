// Work and interrupts that OS threads outside send into a VM.

#include "expect.hpp"
#include "vm_fixture.hpp"

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class remote_ : public vm_test {};

TEST_F(remote_, posted_work_runs_as_a_thread_that_may_wait) {
  const rouse::remote r = vm->make_remote();
  run([&] {
    bool done = false;
    const rouse::thread main = rouse::this_thread::self();
    std::thread([&, main] {
      r.post([&, main] {
        EXPECT_EQ(rouse::this_thread::self().name(), "posted");
        rouse::this_thread::sleep_for(1us);
        rouse::spawn([] {}).join();
        done = true;
        main.wakeup();
      });
    }).join();
    while (!done) rouse::this_thread::sleep();
  });
}

TEST_F(remote_, work_wakes_an_idle_vm_and_reaches_a_busy_one_in_order) {
  const rouse::remote r = vm->make_remote();
  for (const bool busy : {false, true}) {
    std::vector<int> order;
    run([&] {
      auto spinner = rouse::spawn([&] {
        while (busy) rouse::this_thread::yield();
      });
      const rouse::thread main = rouse::this_thread::self();
      std::thread poster([&, main] {
        for (int i = 0; i < 100; ++i)
          r.post([&order, i, main] {
            order.push_back(i);
            main.wakeup();
          });
      });
      while (order.size() < 100) rouse::this_thread::sleep();
      poster.join();
      spinner.kill();
    });
    for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST_F(remote_, code_that_computes_takes_posted_work_in_at_its_checkpoints) {
  const rouse::remote r = vm->make_remote();
  run([&] {
    const rouse::thread main = rouse::this_thread::self();
    std::thread([&] { main.raise(std::runtime_error("stop computing")); }).join();
    EXPECT_EQ(what_of<std::runtime_error>([] { rouse::this_thread::checkpoint(); }), "stop computing");
  });
}

TEST_F(remote_, what_posted_work_throws_goes_nowhere) {
  const rouse::remote r = vm->make_remote();
  run([&] {
    bool after = false;
    r.post([c = tracked()] { throw std::runtime_error("nowhere"); });
    r.post([&] { after = true; });
    yield_until([&] { return after; });
    rouse::this_thread::yield();
    EXPECT_EQ(tracked::alive(), 0);
  });
}

// I3: the post comes at each moment of the VM's way into its wait.
TEST_F(remote_, a_post_at_any_moment_of_going_idle_is_not_lost) {
  const rouse::remote r = vm->make_remote();
  for (const char* point : {"poll.leave", "poll.idle", "poller.wait"}) {
    std::atomic<bool> armed{false};
    rouse::thread main;
    at_test_point hook([&](std::string_view at) {
      if (at != point || !armed.exchange(false)) return;
      std::thread([&] { r.post([&] { main.wakeup(); }); }).join();
    });
    run([&] {
      main = rouse::this_thread::self();
      armed = true;
      rouse::this_thread::sleep();
    });
    EXPECT_FALSE(armed) << point << " was not passed";
  }
}

TEST_F(remote_, a_post_between_two_runs_waits_for_the_next) {
  const rouse::remote r = vm->make_remote();
  run([] {});
  bool ran = false;
  r.post([&] { ran = true; });
  EXPECT_FALSE(ran);
  run([&] { yield_until([&] { return ran; }); });
}

TEST_F(remote_, after_the_end_of_the_vm_a_post_says_so) {
  const rouse::remote r = vm->make_remote();
  vm = std::make_unique<rouse::vm>();
  EXPECT_EQ(what_of<rouse::vm_gone>([&] { r.post([c = tracked()] {}); }), "remote::post: the VM has ended");
  EXPECT_EQ(tracked::alive(), 0);
  rouse::remote copy = r;
  EXPECT_THROW(copy.post([] {}), rouse::vm_gone);
  rouse::remote moved = std::move(copy);
  EXPECT_EQ(what_of<rouse::thread_error>([&] { copy.post([] {}); }), // NOLINT(bugprone-use-after-move)
            "remote::post: the handle was moved from");
}

TEST_F(remote_, work_that_the_vm_never_takes_in_is_destroyed_without_a_call) {
  rouse::remote r = vm->make_remote();
  bool called = false;
  r.post([&called, c = tracked()] { called = true; });
  vm = std::make_unique<rouse::vm>();
  EXPECT_FALSE(called);
  EXPECT_EQ(tracked::alive(), 0);
}

TEST_F(remote_, work_that_arrives_while_the_threads_are_being_ended_is_dropped) {
  const rouse::remote r = vm->make_remote();
  bool called = false;
  run([&] {
    auto t = rouse::spawn([&] {
      at_scope_end post([&] { r.post([&called, c = tracked()] { called = true; }); });
      rouse::this_thread::sleep();
    });
    until_parked(t);
  });
  EXPECT_FALSE(called);
  EXPECT_EQ(tracked::alive(), 0);
}

// After the others have ended, and before the run is over, nothing new may start: nobody would end it.
TEST_F(remote_, a_post_as_late_as_possible_leaves_no_thread_behind) {
  const rouse::remote r = vm->make_remote();
  bool called = false;
  {
    at_test_point hook([&](std::string_view at) {
      if (at != "thread.leaves") return;
      r.post([&called, c = tracked()] {
        called = true;
        rouse::this_thread::sleep();
      });
    });
    run([] {});
  }
  EXPECT_FALSE(called);
  EXPECT_TRUE(vm->threads().empty());
  EXPECT_EQ(tracked::alive(), 0);
  run([] { rouse::this_thread::yield(); });
}

TEST_F(remote_, posts_race_with_the_end_of_the_vm) {
  for (int i = 0; i < rounds(300); ++i) {
    auto v = std::make_unique<rouse::vm>();
    const rouse::remote r = v->make_remote();
    std::atomic<long> accepted{0};
    std::thread poster([&] {
      try {
        for (;;) {
          r.post([c = tracked()] {});
          ++accepted;
          while (tracked::alive() > 100) std::this_thread::yield();
        }
      } catch (const rouse::vm_gone&) {
      }
    });
    while (accepted == 0) std::this_thread::yield();
    if (i % 2) v->run([] {});
    v.reset();
    poster.join();
    ASSERT_EQ(tracked::alive(), 0);
  }
}

// The end of the VM waits for a poster that was in time, so that its kick hits no stranger's descriptor.
TEST_F(remote_, a_kick_that_comes_late_finds_the_descriptor_still_open) {
  auto v = std::make_unique<rouse::vm>();
  const rouse::remote r = v->make_remote();
  std::atomic<bool> posting{false};
  std::atomic<bool> entered{false};
  std::atomic<bool> closed_too_early{false};
  at_test_point hook([&](std::string_view at) {
    if (at != "inbox.pushed" || entered) return;
    posting = entered = true;
    std::this_thread::sleep_for(5ms); // the destructor has all the time to be wrong
    posting = false;
  });
  system_call_hook calls([&](long number) -> long {
    if (number == SYS_close && posting) closed_too_early = true;
    return 0;
  });
  std::thread poster([&] { r.post([] {}); });
  while (!entered) std::this_thread::yield();
  v.reset();
  poster.join();
  EXPECT_FALSE(closed_too_early);
}

// folly 1686: nobody's wake-up goes into a stranger's pipe.
TEST_F(remote_, making_and_ending_vms_disturbs_no_foreign_pipe) {
  std::atomic<bool> stop{false};
  std::thread stranger([&] {
    while (!stop) {
      int ends[2];
      if (::pipe(ends) != 0) continue;
      const char out[4] = {'a', 'b', 'c', 'd'};
      char in[16] = {};
      EXPECT_EQ(::write(ends[1], out, sizeof out), 4);
      std::this_thread::yield();
      EXPECT_EQ(::read(ends[0], in, sizeof in), 4);
      EXPECT_EQ(std::string_view(in, 4), "abcd");
      ::close(ends[0]);
      ::close(ends[1]);
    }
  });
  for (int i = 0; i < rounds(500); ++i) {
    auto v = std::make_unique<rouse::vm>();
    const rouse::remote r = v->make_remote();
    std::thread poster([&] {
      try {
        for (int n = 0; n < 3; ++n) r.post([] {});
      } catch (const rouse::vm_gone&) {
      }
    });
    v.reset();
    poster.join();
  }
  stop = true;
  stranger.join();
}

TEST_F(remote_, many_posters_lose_nothing) {
  const rouse::remote r = vm->make_remote();
  constexpr int posters = 4;
  const int each = rounds(2000);
  long seen = 0;
  run([&] {
    std::vector<std::thread> all;
    for (int n = 0; n < posters; ++n)
      all.emplace_back([&] {
        for (int i = 0; i < each; ++i) r.post([&seen] { ++seen; });
      });
    while (seen < posters * each) rouse::this_thread::sleep_for(100us);
    for (auto& t : all) t.join();
  });
  EXPECT_EQ(seen, posters * each);
}

} // namespace
