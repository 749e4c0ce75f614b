// A VM inside a host's own event loop: event_descriptor() and run_ready().

#include "expect.hpp"
#include "vm_fixture.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <poll.h>
#include <sys/syscall.h>
#include <thread>

using namespace rouse_test;

namespace {

class host_loop : public vm_test {
 protected:
  void TearDown() override {
    vm->shutdown();
    vm_test::TearDown();
  }
  bool readable(std::chrono::milliseconds limit) {
    pollfd p{vm->event_descriptor(), POLLIN, 0};
    return ::poll(&p, 1, static_cast<int>(limit.count())) == 1;
  }
};

TEST_F(host_loop, the_descriptor_stays_the_same_and_is_quiet_when_nothing_is_to_do) {
  const int fd = vm->event_descriptor();
  EXPECT_GE(fd, 0);
  EXPECT_FALSE(readable(0ms));
  EXPECT_FALSE(vm->run_ready());
  EXPECT_EQ(vm->event_descriptor(), fd);
  EXPECT_FALSE(readable(0ms));
}

TEST_F(host_loop, posted_work_makes_it_readable_and_run_ready_runs_it) {
  static_cast<void>(vm->event_descriptor());
  bool ran = false;
  vm->make_remote().post([&] {
    for (int i = 0; i < 10; ++i) rouse::this_thread::yield();
    ran = true;
  });
  EXPECT_TRUE(readable(10s));
  EXPECT_FALSE(ran);
  EXPECT_FALSE(vm->run_ready()) << "nobody lives any more";
  EXPECT_TRUE(ran);
  EXPECT_FALSE(readable(0ms));
}

TEST_F(host_loop, a_timer_makes_it_readable_when_it_is_due_and_not_before) {
  static_cast<void>(vm->event_descriptor());
  rouse::clock::duration slept{};
  vm->make_remote().post([&] {
    const auto before = rouse::clock::now();
    rouse::this_thread::sleep_for(20ms);
    slept = rouse::clock::now() - before;
  });
  EXPECT_TRUE(vm->run_ready()) << "a thread lives";
  EXPECT_TRUE(readable(10s));
  while (vm->run_ready()) EXPECT_TRUE(readable(10s));
  EXPECT_GE(slept, 20ms);
  EXPECT_FALSE(readable(0ms));
}

TEST_F(host_loop, a_stream_makes_it_readable) {
  static_cast<void>(vm->event_descriptor());
  std::size_t got = 0;
  {
    std::optional<rouse::stream> writer;
    vm->make_remote().post([&] {
      auto ends = rouse::pipe();
      writer = ends.writer;
      std::array<char, 8> buffer;
      got = ends.reader.read_some(buffer);
    });
    EXPECT_TRUE(vm->run_ready());
    EXPECT_FALSE(readable(1ms));
    vm->make_remote().post([&] {
      writer->write_all("abc");
      writer.reset();
    });
    while (vm->run_ready()) EXPECT_TRUE(readable(10s));
  }
  EXPECT_EQ(got, 3u);
}

TEST_F(host_loop, an_interrupt_from_outside_makes_it_readable) {
  static_cast<void>(vm->event_descriptor());
  rouse::thread t;
  vm->make_remote().post([&] {
    t = rouse::this_thread::self();
    rouse::this_thread::sleep();
  });
  EXPECT_TRUE(vm->run_ready());
  EXPECT_FALSE(readable(0ms));
  t.kill();
  EXPECT_TRUE(readable(10s));
  EXPECT_FALSE(vm->run_ready());
}

// I3: the post comes after run_ready's last look, and before it has given the VM up.
TEST_F(host_loop, a_post_while_run_ready_is_about_to_return_is_not_lost) {
  static_cast<void>(vm->event_descriptor());
  const rouse::remote r = vm->make_remote();
  bool ran = false;
  std::atomic<bool> armed{true};
  {
    system_call_hook hook([&](long number) -> long {
      if (number == SYS_timerfd_settime && armed.exchange(false)) r.post([&] { ran = true; });
      return 0;
    });
    vm->run_ready();
  }
  EXPECT_FALSE(armed);
  if (!ran) {
    EXPECT_TRUE(readable(1s)) << "the host would sleep though there is work";
    vm->run_ready();
  }
  EXPECT_TRUE(ran);
}

TEST_F(host_loop, run_ready_keeps_its_hands_off_a_vm_that_runs) {
  run([this] {
    EXPECT_EQ(what_of<rouse::thread_error>([&] { vm->run_ready(); }),
              "vm::run_ready: this VM is being run already");
  });
}

TEST_F(host_loop, threads_live_on_between_calls_and_a_run_ends_them) {
  int unwound = 0;
  vm->make_remote().post([&] {
    at_scope_end note([&] { ++unwound; });
    rouse::this_thread::sleep();
  });
  EXPECT_TRUE(vm->run_ready());
  EXPECT_EQ(vm->threads().size(), 1u);
  EXPECT_NE(vm->dump().find("\"posted\": parked, waits for sleep"), std::string::npos) << vm->dump();
  run([] {});
  EXPECT_EQ(unwound, 1);
}

TEST_F(host_loop, without_descriptors_it_says_so) {
  system_call_hook hook([](long number) -> long { return number == SYS_timerfd_create ? -EMFILE : 0; });
  try {
    static_cast<void>(vm->event_descriptor());
    FAIL() << "it worked";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::error_code(EMFILE, std::generic_category()));
  }
}

} // namespace
