#include "expect.hpp"
#include "vm_fixture.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int many_threads = 2000; // the thread sanitizer takes no more than 8128
#elif defined(__SANITIZE_ADDRESS__)
constexpr int many_threads = 20'000;
#else
constexpr int many_threads = 100'000;
#endif

class stack_ : public vm_test {
 protected:
  static std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::size_t n = 0;
    for (std::string line; std::getline(maps, line);) ++n;
    return n;
  }

  static std::size_t resident_pages() {
    std::ifstream statm("/proc/self/statm");
    std::size_t all = 0;
    std::size_t resident = 0;
    statm >> all >> resident;
    return resident;
  }
};

// Uses about `bytes` of the stack. The result depends on every frame, so none can be left out.
[[gnu::noinline]] unsigned use_stack(std::size_t bytes, unsigned seed) {
  volatile char frame[1024];
  for (std::size_t i = 0; i < sizeof frame; i += 256) frame[i] = static_cast<char>(seed + i);
  if (bytes <= sizeof frame) return static_cast<unsigned>(frame[0]);
  const unsigned below = use_stack(bytes - sizeof frame, seed + 1);
  return below + static_cast<unsigned>(frame[512]) + 1;
}

TEST_F(stack_, one_that_is_too_small_is_refused) {
  run([this] {
    EXPECT_EQ(what_of<std::invalid_argument>([] {
                rouse::spawn(rouse::thread_options{"", 100}, [] {});
              }),
              "thread_options::stack_size is 100; it takes at least 16384 bytes");
    EXPECT_EQ(vm->threads().size(), 1u);
  });
}

TEST_F(stack_, the_smallest_one_is_enough_to_wait_and_to_throw) {
  run([] {
    auto t = rouse::spawn(rouse::thread_options{"", 16 * 1024}, [] {
      try {
        rouse::this_thread::sleep_for(1us);
        throw std::runtime_error("small");
      } catch (const std::runtime_error& e) {
        return std::string(e.what());
      }
    });
    EXPECT_EQ(t.get(), "small");
  });
}

TEST_F(stack_, recursion_may_use_what_was_asked_for) {
  run([] {
    use_stack(6 * 1024 * 1024, 1); // main's
    auto usual = rouse::spawn([] { return use_stack(160 * 1024, 1); });
    auto big = rouse::spawn(rouse::thread_options{"", 64 * 1024 * 1024},
                            [] { return use_stack(40 * 1024 * 1024, 1); });
    EXPECT_NE(usual.get(), 0u);
    EXPECT_NE(big.get(), 0u);
  });
}

TEST_F(stack_, odd_sizes_are_rounded_up) {
  run([] {
    for (const std::size_t size : {16385u, 20'000u, 100'001u, 262'145u})
      EXPECT_EQ(rouse::spawn(rouse::thread_options{"", size}, [] { return 1; }).get(), 1);
  });
}

TEST_F(stack_, a_callable_that_does_not_fit_is_refused_and_fits_on_a_larger_one) {
  run([this] {
    std::array<char, 64 * 1024> big;
    big.fill('x');
    auto body = [big, c = tracked()] { return big[1000]; };
    const std::string text = what_of<std::length_error>([&] {
      rouse::spawn(rouse::thread_options{"", 64 * 1024}, body);
    });
    EXPECT_EQ(text.find("spawn: the callable and its arguments take "), 0u) << text;
    EXPECT_NE(text.find(" and do not fit on the stack; raise thread_options::stack_size"), std::string::npos)
        << text;
    EXPECT_EQ(tracked::alive(), 1);
    EXPECT_EQ(vm->threads().size(), 1u);
    EXPECT_EQ(rouse::spawn(rouse::thread_options{"", 128 * 1024}, body).get(), 'x');
    EXPECT_EQ(rouse::spawn(body).get(), 'x');
  });
}

TEST_F(stack_, they_are_used_again) {
  run([] {
    const auto some = [] {
      std::vector<rouse::thread> all;
      for (int i = 0; i < 50; ++i) all.emplace_back([] { use_stack(20'000, 1); });
      for (auto& t : all) t.join();
    };
    some();
    const std::size_t before = mappings();
    for (int i = 0; i < rounds(200); ++i) some();
    EXPECT_LE(mappings(), before + 5) << "the tests' own memory";
  });
}

TEST_F(stack_, a_hundred_thousand_threads_may_be_blocked_at_once) {
  run([] {
    std::vector<rouse::thread> all;
    all.reserve(many_threads);
    const std::size_t before = resident_pages();
    for (int i = 0; i < many_threads; ++i) all.emplace_back([] { rouse::this_thread::sleep(); });
    until_parked(all.back());
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    EXPECT_LT(resident_pages() - before, many_threads * 5u / 4) << "more than a page for each";
#else
    static_cast<void>(before);
#endif
    for (auto& t : all) t.wakeup();
    for (auto& t : all) t.join();
  });
}

[[maybe_unused]] void overflow() {
  rouse::vm vm;
  vm.run([] { rouse::spawn([] { return use_stack(1024 * 1024, 1); }).join(); });
}

TEST(stack_death, an_overflow_ends_the_program) { EXPECT_DEATH(overflow(), ""); }

// Kernels without light guards: each is a protected page then.
TEST(stack_death, without_light_guards_pages_are_protected) {
  const auto refuse = [](long number) -> long {
    if (number == 440) return -ENOSYS; // process_madvise
    return number == SYS_madvise ? -EINVAL : 0;
  };
  EXPECT_EXIT(
      {
        system_call_hook hook(refuse);
        rouse::vm vm;
        const int sum = vm.run([] {
          int n = 0;
          for (int i = 0; i < 100; ++i) n += rouse::spawn([] { return 1; }).get();
          return n;
        });
        ::_exit(sum == 100 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_DEATH(
      {
        system_call_hook hook(refuse);
        overflow();
      },
      "");
}

} // namespace
