// Streams whose last handle goes, wherever that happens.

#include "io_fixture.hpp"

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace rouse_test;

namespace {

class last_handle : public vm_test {};

TEST_F(last_handle, dropping_the_last_handle_closes) {
  run([] {
    int fd;
    {
      auto [reader, writer] = rouse::pipe();
      fd = reader.native_handle();
    }
    EXPECT_FALSE(is_open(fd));
  });
}

TEST_F(last_handle, dropping_the_last_handle_under_a_reader_sends_it_away_and_closes) {
  run([] {
    auto ends = std::make_unique<rouse::pipe_ends>(rouse::pipe());
    const int fd = ends->reader.native_handle();
    std::error_code error;
    // Only the handle in *ends counts: the reader uses it where it is.
    auto t = rouse::spawn([&, reader = &ends->reader] {
      std::array<char, 4> buffer;
      reader->read_some(buffer, error);
    });
    until_parked(t);
    ends->reader = rouse::stream();
    EXPECT_TRUE(is_open(fd)) << "closed under a user";
    t.join();
    EXPECT_FALSE(is_open(fd));
    EXPECT_EQ(error, rouse::io_errc::closed_under_call);
  });
}

// Whatever is left of a stream keeps what is left of its VM: so its end shows that the stream was freed.
TEST_F(last_handle, a_stream_is_freed_whoever_was_the_last_to_let_go) {
  auto token = std::make_shared<int>();
  const std::weak_ptr<int> core = token;
  rouse::vm_options options;
  options.on_slow_end = [token](const std::string&) {};
  token.reset();
  {
    rouse::vm small(std::move(options));
    small.run([] {
      for (bool kill_closer : {false, true}) {
        auto ends = std::make_unique<rouse::pipe_ends>(rouse::pipe());
        auto use = [s = &ends->reader] {
          std::array<char, 4> b;
          std::error_code error;
          s->read_some(b, error);
        };
        auto reader = rouse::spawn(use);
        until_parked(reader);
        auto closer = rouse::spawn([s = &ends->reader] { s->close(); });
        until_parked(closer);
        ends.reset();
        if (kill_closer) closer.kill();
        closer.join();
        reader.join();
      }
      rouse::stream kept = rouse::pipe().reader;
      auto reader = rouse::spawn([s = kept] { read_now(s); });
      until_parked(reader);
    });
  }
  EXPECT_TRUE(core.expired()) << "a stream was never freed";
}

TEST_F(last_handle, handles_may_go_while_the_closer_waits) {
  run([] {
    auto ends = std::make_unique<rouse::pipe_ends>(rouse::pipe());
    const int fd = ends->reader.native_handle();
    std::error_code error;
    auto reader = rouse::spawn([&, s = &ends->reader] {
      std::array<char, 4> buffer;
      s->read_some(buffer, error);
    });
    until_parked(reader);
    auto closer = rouse::spawn([s = &ends->reader] { s->close(); });
    until_parked(closer);
    ends.reset();
    closer.join();
    reader.join();
    EXPECT_FALSE(is_open(fd));
    EXPECT_EQ(error, rouse::io_errc::closed_under_call);
  });
}

TEST_F(last_handle, the_last_handle_may_go_outside_the_vm) {
  std::vector<rouse::stream> kept;
  run([&] {
    auto [reader, writer] = rouse::pipe();
    kept = {reader, writer};
  });
  kept.clear(); // posted: done when the VM is next entered, or ends
}

TEST_F(last_handle, the_last_handle_may_go_on_another_os_thread_while_a_reader_waits) {
  run([&] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    std::error_code error;
    auto handle = std::make_unique<rouse::stream>(std::move(reader));
    auto t = rouse::spawn([&, s = handle.get()] {
      std::array<char, 4> buffer;
      s->read_some(buffer, error);
    });
    until_parked(t);
    std::thread outside([h = std::move(handle)]() mutable { h.reset(); });
    t.join();
    outside.join();
    EXPECT_EQ(error, rouse::io_errc::closed_under_call);
    EXPECT_FALSE(is_open(fd));
  });
}

TEST_F(last_handle, handles_outlive_the_vm_and_their_descriptors_end_with_them) {
  std::vector<rouse::stream> kept;
  run([&] {
    auto [reader, writer] = rouse::pipe();
    kept = {reader, writer};
  });
  vm.reset();
  EXPECT_THROW(kept[0].close(), rouse::thread_error);
  kept.clear();
  EXPECT_EQ(open_descriptors(), descriptors_before);
  vm = std::make_unique<rouse::vm>();
}

TEST_F(last_handle, needs_a_thread_of_the_streams_own_vm) {
  rouse::stream kept;
  run([&] { kept = rouse::pipe().reader; });
  EXPECT_THROW(kept.close(), rouse::thread_error);
  rouse::vm other;
  other.run([&] {
    std::error_code error;
    EXPECT_THROW(kept.close(), rouse::io_error);
    try {
      kept.close();
    } catch (const rouse::io_error& e) {
      EXPECT_EQ(e.code(), rouse::io_errc::wrong_vm);
    }
  });
  EXPECT_TRUE(kept.is_open());
}

// I12
TEST_F(last_handle, is_not_needed_to_end_a_vm_with_blocked_readers) {
  rouse::pipe_ends kept;
  run([&] {
    kept = rouse::pipe();
    for (int i = 0; i < 5; ++i) until_parked(start_read(kept.reader));
  });
  EXPECT_TRUE(vm->threads().empty());
}

} // namespace
