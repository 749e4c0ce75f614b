// Many descriptors, many threads, many signals.

#include "io_fixture.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class limits : public vm_test {};

// Opens descriptors until no more can be had, sees the errors, and goes on.
void use_up_descriptors() {
  std::vector<rouse::pipe_ends> pipes;
  auto until_full = [&] {
    for (;;) pipes.push_back(rouse::pipe());
  };
  EXPECT_THROW(until_full(), rouse::errno_error<EMFILE>);
  EXPECT_GE(pipes.size(), 9u);
  EXPECT_THROW(rouse::socketpair(), rouse::errno_error<EMFILE>);
  while (true) {
    try {
      pipes.push_back({pipes[0].reader.dup(), {}});
    } catch (const rouse::errno_error<EMFILE>&) {
      break;
    }
  }
  auto r = parked_reader(pipes[1].reader);
  pipes[1].writer.write_all("x");
  EXPECT_EQ(r.get().bytes, "x");
  pipes[2].reader.close();
  pipes[2].writer.close();
  rouse::pipe();
}

// RL-01. First with a made-up limit: the undefined-behaviour sanitizer opens a pipe itself when it meets a class for the
// first time, and takes a failure for a broken object; so it has met them all when the real limit is reached.
TEST_F(limits, at_the_descriptor_limit_a_pipe_is_an_error_and_the_program_goes_on) {
  run([] {
    const std::size_t most = open_descriptors() + 21;
    {
      system_call_hook made_up([&](long number) {
        const std::size_t wanted = number == SYS_fcntl ? 1 : 2;
        const bool opens = number == SYS_pipe2 || number == SYS_socketpair || number == SYS_fcntl;
        return opens && open_descriptors() + wanted > most ? -long{EMFILE} : 0L;
      });
      use_up_descriptors();
    }
    descriptor_limit real(most);
    use_up_descriptors();
  });
}

// RL3, SE-04
TEST_F(limits, descriptor_numbers_above_a_thousand_work_like_others) {
  run([] {
    std::vector<int> occupied;
    while (occupied.empty() || occupied.back() < 1090)
      occupied.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    {
      auto [reader, writer] = rouse::pipe();
      auto [a, b] = rouse::socketpair();
      EXPECT_GT(reader.native_handle(), 1023);
      EXPECT_FALSE(reader.wait_readable(1ms));
      auto r = parked_reader(reader);
      rouse::this_thread::sleep_for(1ms);
      put(writer.native_handle(), "x");
      EXPECT_EQ(r.get().bytes, "x");
      auto c = parked_reader(a);
      a.close();
      EXPECT_CLOSED_UNDER(c.get());
      EXPECT_TRUE(b.wait_writable());
      rouse::stream high = rouse::adopt(::fcntl(b.native_handle(), F_DUPFD_CLOEXEC, 15'000));
      EXPECT_EQ(read_now(high).count, 0u);
    }
    for (int fd : occupied) ::close(fd);
  });
}

// RL-03
TEST_F(limits, thousands_of_blocked_readers_all_end_when_their_writers_close) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int count = 1000;
#else
  constexpr int count = 5000;
#endif
  run([] {
    std::vector<rouse::pipe_ends> pipes;
    std::vector<rouse::task<io_result>> readers;
    for (int i = 0; i < count; ++i) {
      pipes.push_back(rouse::pipe());
      readers.push_back(start_read(pipes.back().reader));
    }
    for (auto& r : readers) until_parked(r);
    rouse::this_thread::sleep_for(1ms); // all of them registered
    for (auto& p : pipes) p.writer.close();
    for (auto& r : readers) {
      EXPECT_FALSE(r.get().error);
      EXPECT_EQ(r.get().count, 0u);
    }
  });
}

// CL-33
TEST_F(limits, thousands_of_readers_of_one_stream_all_get_the_error_of_one_close) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    std::vector<rouse::task<io_result>> readers;
    for (int i = 0; i < rounds(5000); ++i) readers.push_back(start_read(reader));
    for (auto& r : readers) until_parked(r);
    reader.close();
    for (auto& r : readers) EXPECT_CLOSED_UNDER(r.get());
  });
}

TEST_F(limits, a_flood_of_events_in_one_poll_wakes_everybody) {
  run([] {
    constexpr int count = 700; // more than the poller fetches at once
    std::vector<rouse::pipe_ends> pipes;
    std::vector<rouse::task<io_result>> readers;
    for (int i = 0; i < count; ++i) {
      pipes.push_back(rouse::pipe());
      readers.push_back(start_read(pipes.back().reader));
    }
    for (auto& r : readers) until_parked(r);
    rouse::this_thread::sleep_for(1ms);
    for (auto& p : pipes) put(p.writer.native_handle(), "x"); // no hints
    for (auto& r : readers) EXPECT_EQ(r.get().bytes, "x");
  });
}

// PW-04, D 33, D 36
TEST_F(limits, a_storm_of_signals_changes_no_byte_and_no_limit) {
  static std::atomic<int> signals{0};
  struct sigaction quiet {
  }, before{};
  quiet.sa_handler = [](int) { signals.fetch_add(1, std::memory_order_relaxed); };
  ::sigaction(SIGALRM, &quiet, &before); // no SA_RESTART
  const raw_pair connection = raw_tcp();
  const itimerval storm{{0, 1000}, {0, 1000}}, none{};
  ::setitimer(ITIMER_REAL, &storm, nullptr);
  run([&] {
    rouse::stream a = rouse::adopt(connection.first), b = rouse::adopt(connection.second);
    const auto until = rouse::clock::now() + 300ms;
    for (int i = 0; rouse::clock::now() < until || signals.load() < 100; ++i) {
      auto [reader, writer] = rouse::pipe();
      const std::string sent = pattern(1 << 18, static_cast<unsigned>(i));
      auto w = start_write(writer, sent);
      auto wa = start_write(a, sent);
      auto rb = start_read_exactly(b, sent.size());
      EXPECT_EQ(read_all_of(reader, sent.size()).bytes, sent);
      EXPECT_EQ(rb.get().bytes, sent);
      EXPECT_FALSE(w.get().error);
      EXPECT_FALSE(wa.get().error);
    }
    auto [reader, writer] = rouse::pipe();
    const auto start = rouse::clock::now();
    EXPECT_FALSE(reader.wait_readable(50ms));
    const auto took = rouse::clock::now() - start;
    EXPECT_GE(took, 50ms);
    EXPECT_LT(took, 1s) << "every signal started the limit anew";
  });
  ::setitimer(ITIMER_REAL, &none, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_GE(signals.load(), 100);
}

// I11
TEST_F(limits, an_idle_vm_uses_no_processor) {
  run([] {
    std::vector<rouse::pipe_ends> pipes;
    std::vector<rouse::task<io_result>> readers;
    for (int i = 0; i < 100; ++i) {
      pipes.push_back(rouse::pipe());
      readers.push_back(start_read(pipes.back().reader));
    }
    for (auto& r : readers) until_parked(r);
    rouse::this_thread::sleep_for(1ms);
    const auto before = cpu_time();
    rouse::this_thread::sleep_for(300ms);
    EXPECT_LT(cpu_time() - before, 10ms);
    for (auto& p : pipes) p.writer.close();
    for (auto& r : readers) r.join();
  });
}

} // namespace
