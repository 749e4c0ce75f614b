// The machine's limits, met while threads are being made.

#include "expect.hpp"
#include "vm_fixture.hpp"

#include <cerrno>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class resource_ : public vm_test {
 protected:
  static bool is_memory_call(long number) {
    return number == SYS_mmap || number == SYS_madvise || number == SYS_mprotect || number == 440;
  }
};

// RL-02; the text goes on with what can be done, and the number is in code().
TEST_F(resource_, a_thread_that_can_not_be_made_is_a_clear_error_and_leaves_nothing) {
  run([this] {
    std::vector<rouse::thread> all;
    {
      system_call_hook hook([](long number) -> long { return number == SYS_mmap ? -ENOMEM : 0; });
      try {
        for (int i = 0; i < 1000; ++i)
          all.push_back(rouse::spawn([c = tracked()] { rouse::this_thread::sleep(); }));
        FAIL() << "nothing failed";
      } catch (const rouse::resource_error& e) {
        EXPECT_EQ(e.code(), std::error_code(ENOMEM, std::generic_category()));
        EXPECT_EQ(std::string(e.what()).find("can't create Thread: "), 0u) << e.what();
      }
      EXPECT_EQ(vm->threads().size(), all.size() + 1);
      EXPECT_EQ(static_cast<std::size_t>(tracked::alive()), all.size());
    }
    EXPECT_EQ(rouse::spawn([] { return 1; }).get(), 1) << "the limit was lifted";
    for (auto& t : all) t.kill();
  });
  EXPECT_EQ(tracked::alive(), 0);
}

// brpc 107 and others: every k.
TEST_F(resource_, any_call_may_fail_and_the_threads_that_were_made_are_whole) {
  for (int k = 0; k < 60; ++k) {
    for (const bool from_then_on : {false, true}) {
      int calls = 0;
      rouse::vm v;
      int failed = 0;
      int ran = 0;
      const auto main = [&] {
        std::vector<rouse::thread> all;
        system_call_hook hook([&](long number) -> long {
          if (!is_memory_call(number)) return 0;
          const int n = calls++;
          return n == k || (from_then_on && n > k) ? -ENOMEM : 0;
        });
        for (int i = 0; i < 200; ++i) try {
            all.push_back(rouse::spawn([&ran] {
              rouse::this_thread::yield();
              ++ran;
            }));
          } catch (const rouse::resource_error&) {
            ++failed;
          }
        EXPECT_EQ(v.threads().size(), all.size() + 1);
        for (auto& t : all) t.join();
      };
      v.run(main);
      ASSERT_EQ(ran + failed, 200) << "call " << k;
      ASSERT_TRUE(v.threads().empty());
    }
  }
}

TEST_F(resource_, main_may_be_the_one_that_can_not_be_made) {
  {
    system_call_hook hook([](long number) -> long { return number == SYS_mmap ? -ENOMEM : 0; });
    EXPECT_THROW(vm->run([] {}), rouse::resource_error);
  }
  EXPECT_EQ(run([] { return 1; }), 1);
}

TEST_F(resource_, posted_work_that_gets_no_thread_is_dropped) {
  bool called = false;
  {
    system_call_hook hook([](long number) -> long { return number == SYS_mmap ? -ENOMEM : 0; });
    vm->make_remote().post([&called, c = tracked()] { called = true; });
    vm->run_ready();
  }
  EXPECT_FALSE(called);
  EXPECT_EQ(tracked::alive(), 0);
}

// tpm2-tss 222
TEST_F(resource_, ended_threads_that_nobody_joins_do_not_use_up_the_limit) {
  run([] {
    for (int i = 0; i < 20; ++i) rouse::spawn([] {});
    rouse::this_thread::yield();
    system_call_hook hook([](long number) -> long { return number == SYS_mmap ? -ENOMEM : 0; });
    for (int i = 0; i < 1000; ++i) {
      rouse::spawn([] {});
      rouse::this_thread::yield();
    }
  });
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// Under the kernel's own limit: spawn until it says no, go on with what there is, end, and start again.
void spawn_to_the_limit() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  const rlim_t limit = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{256} << 20);
  const rlimit both{limit, limit};
  if (::setrlimit(RLIMIT_AS, &both) != 0) ::_exit(2);
  rouse::vm vm;
  const bool right = vm.run([&] {
    for (int round = 0; round < 3; ++round) {
      std::vector<rouse::thread> all;
      all.reserve(10'000);
      try {
        while (all.size() < 10'000) all.emplace_back([] { rouse::this_thread::sleep(); });
        return false;
      } catch (const rouse::resource_error& e) {
        if (e.code().value() != ENOMEM || all.size() < 100) return false;
      }
      if (vm.threads().size() != all.size() + 1) return false;
      for (auto& t : all) t.kill();
      for (auto& t : all) t.join();
    }
    return true;
  });
  ::_exit(right ? 0 : 1);
}

TEST(resource_death, the_limit_of_the_address_space_is_an_error_like_any_other) {
  EXPECT_EXIT(spawn_to_the_limit(), ::testing::ExitedWithCode(0), "");
}
#endif

} // namespace
