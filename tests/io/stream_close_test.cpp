// What close means to those who use the stream, to those who close it too, and to everybody else.

#include "io_fixture.hpp"

#include <array>
#include <cerrno>
#include <sys/syscall.h>
#include <vector>

using namespace rouse_test;

namespace {

class stream_close : public vm_test {};

// CL-04
TEST_F(stream_close, wakes_every_reader_of_the_stream_with_the_closed_error) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    int seen = 0;
    auto read = [&, reader = reader]() mutable {
      std::array<char, 8> buffer;
      try {
        reader.read_some(buffer);
      } catch (const rouse::stream_closed& e) {
        EXPECT_STREQ(e.what(), "stream closed in another thread");
        EXPECT_STREQ(e.call(), "read_some");
        EXPECT_EQ(e.code(), rouse::io_errc::closed_under_call);
        ++seen;
      }
    };
    auto a = rouse::spawn(read);
    auto b = rouse::spawn(read);
    until_parked(a);
    until_parked(b);
    reader.close();
    EXPECT_EQ(seen, 2) << "close returned before the readers had left";
    EXPECT_FALSE(reader.is_open());
  });
}

// CL-03
TEST_F(stream_close, of_a_stream_that_is_read_to_a_size_is_an_error_and_no_end_of_file) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto r = start_read_exactly(reader, 100);
    until_parked(r);
    writer.write_all("abc");
    yield_until([&] {
      return r.waits_on_descriptor() >= 0 && inside(reader).side(rouse::detail::direction::read).tick > 0;
    });
    rouse::this_thread::yield();
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
    EXPECT_EQ(r.get().bytes, "abc");
  });
}

// A 1
TEST_F(stream_close, ends_every_kind_of_wait) {
  run([] {
    auto [a, b] = rouse::socketpair();
    fill(a.native_handle());
    std::error_code readable, writable;
    auto reader = start_read(a);
    auto exact = start_read_exactly(a, 10);
    auto writer = start_write(a, "x");
    auto queued = start_write(a, "y");
    auto wait_r = rouse::spawn([&, a = a]() mutable { a.wait_readable(rouse::forever, readable); });
    auto wait_w = rouse::spawn([&, a = a]() mutable { a.wait_writable(rouse::forever, writable); });
    for (const rouse::thread& t : std::array<rouse::thread, 6>{reader, exact, writer, queued, wait_r, wait_w})
      until_parked(t);
    a.close();
    EXPECT_CLOSED_UNDER(reader.get());
    EXPECT_CLOSED_UNDER(exact.get());
    EXPECT_CLOSED_UNDER(writer.get());
    EXPECT_CLOSED_UNDER(queued.get());
    EXPECT_EQ(queued.get().count, 0u);
    wait_r.join();
    wait_w.join();
    EXPECT_EQ(readable, rouse::io_errc::closed_under_call);
    EXPECT_EQ(writable, rouse::io_errc::closed_under_call);
  });
}

// CL-09
TEST_F(stream_close, is_thrown_out_of_a_wait_without_a_limit) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto t = rouse::spawn([reader = reader]() mutable { reader.wait_readable(); });
    until_parked(t);
    reader.close();
    EXPECT_THROW(t.join(), rouse::stream_closed);
  });
}

// CL-23
TEST_F(stream_close, twice_is_not_an_error) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    reader.close();
    reader.close();
    reader.abort();
    std::error_code error = std::make_error_code(std::errc::io_error);
    reader.close(error);
    EXPECT_FALSE(error);
  });
}

// CL-24
TEST_F(stream_close, makes_every_later_call_fail) {
  run([] {
    auto [a, b] = rouse::socketpair();
    a.close();
    std::array<char, 4> buffer;
    EXPECT_THROW(a.read_some(buffer), rouse::stream_closed);
    EXPECT_THROW(a.read_exactly(buffer), rouse::stream_closed);
    EXPECT_THROW(a.write_some("x"), rouse::stream_closed);
    EXPECT_THROW(a.write_all("x"), rouse::stream_closed);
    EXPECT_THROW(a.write_all(""), rouse::stream_closed);
    EXPECT_THROW(a.wait_readable(), rouse::stream_closed);
    EXPECT_THROW(a.wait_writable(0s), rouse::stream_closed);
    EXPECT_THROW(a.dup(), rouse::stream_closed);
    EXPECT_THROW(a.native_handle(), rouse::stream_closed);
    EXPECT_CLOSED_BEFORE(read_now(a));
    EXPECT_CLOSED_BEFORE(write_now(a, "x"));
    try {
      a.read_some(buffer);
    } catch (const rouse::stream_closed& e) {
      EXPECT_STREQ(e.what(), "closed stream");
    }
  });
}

TEST_F(stream_close, is_seen_through_every_copy_of_the_handle) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    rouse::stream copy = reader;
    EXPECT_EQ(copy, reader);
    copy.close();
    EXPECT_FALSE(reader.is_open());
    EXPECT_CLOSED_BEFORE(read_now(reader));
  });
}

TEST_F(stream_close, abort_wakes_like_close) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto r = parked_reader(reader);
    reader.abort();
    EXPECT_CLOSED_UNDER(r.get());
    EXPECT_TRUE(is_closed(reader));
  });
}

// A closer gets the number free: CR8
TEST_F(stream_close, has_given_the_number_back_when_it_returns) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    auto r = parked_reader(reader);
    reader.close();
    EXPECT_FALSE(is_open(fd));
    EXPECT_CLOSED_UNDER(r.get());
  });
}

// CL-04, R-CL-10
TEST_F(stream_close, by_two_threads_wakes_both_when_the_number_is_free) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    auto r = parked_reader(reader);
    auto close = [&, reader = reader]() mutable {
      reader.close();
      EXPECT_FALSE(is_open(fd));
    };
    auto first = rouse::spawn(close);
    auto second = rouse::spawn(close);
    first.join();
    second.join();
    EXPECT_CLOSED_UNDER(r.get());
  });
}

// R-CL-10
TEST_F(stream_close, of_both_ends_at_once_ends_both_sides) {
  run([] {
    for (int i = 0; i < 10; ++i) {
      auto [a, b] = rouse::socketpair();
      auto ra = parked_reader(a);
      auto rb = parked_reader(b);
      auto first = rouse::spawn([a = a]() mutable { a.close(); });
      auto second = rouse::spawn([b = b]() mutable { b.close(); });
      first.join();
      second.join();
      EXPECT_CLOSED_UNDER(ra.get());
      EXPECT_CLOSED_UNDER(rb.get());
    }
  });
}

// CL-28
TEST_F(stream_close, comes_through_a_scope_that_defers_interrupts) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto t = rouse::spawn([reader = reader] {
      rouse::no_interrupts quiet;
      return read_now(reader);
    });
    until_parked(t);
    reader.close();
    EXPECT_CLOSED_UNDER(t.get());
  });
}

// CL-29
TEST_F(stream_close, leaves_no_error_behind_for_a_later_operation) {
  run([] {
    std::vector<rouse::task<void>> threads;
    for (int i = 0; i < 10; ++i)
      threads.push_back(rouse::spawn([] {
        auto [reader, writer] = rouse::pipe();
        auto loop = rouse::spawn([reader = reader]() mutable {
          io_result r;
          while (r = read_now(reader), !r.error && r.count > 0) {
          }
          // Nothing may be pending now: neither a checkpoint nor another stream sees it.
          rouse::this_thread::checkpoint();
          rouse::this_thread::yield();
          auto [other_reader, other_writer] = rouse::pipe();
          other_writer.write_all("x");
          EXPECT_EQ(read_now(other_reader).bytes, "x");
        });
        writer.write_all("\n");
        writer.close();
        reader.close();
        loop.join();
      }));
    for (auto& t : threads) t.join();
  });
}

// A 11
TEST_F(stream_close, in_the_destructor_of_a_killed_thread_closes_once_and_quietly) {
  run([] {
    struct owner {
      rouse::stream stream;
      bool& closed;
      ~owner() {
        stream.close();
        closed = true;
      }
    };
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    bool closed = false;
    auto t = rouse::spawn([&, reader = reader]() mutable {
      owner o{reader, closed};
      read_now(reader);
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_TRUE(closed);
    EXPECT_FALSE(is_open(fd));
    EXPECT_THROW(t.get(), rouse::thread_killed);
  });
}

TEST_F(stream_close, in_a_destructor_during_a_kill_waits_for_the_other_readers) {
  run([] {
    struct owner {
      rouse::stream stream;
      ~owner() { stream.close(); }
    };
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    auto other = parked_reader(reader);
    auto t = rouse::spawn([reader = reader] {
      owner o{reader};
      rouse::this_thread::sleep();
    });
    until_parked(t);
    t.kill();
    t.join();
    EXPECT_FALSE(is_open(fd));
    EXPECT_CLOSED_UNDER(other.get());
  });
}

// A 14
TEST_F(stream_close, of_a_hundred_streams_with_readers_leaves_no_descriptor) {
  run([] {
    const std::size_t before = open_descriptors();
    std::vector<rouse::pipe_ends> pipes;
    std::vector<rouse::task<io_result>> readers;
    for (int i = 0; i < 100; ++i) {
      pipes.push_back(rouse::pipe());
      readers.push_back(start_read(pipes.back().reader));
    }
    for (auto& r : readers) until_parked(r);
    for (auto& p : pipes) {
      std::error_code ignored;
      p.reader.close(ignored);
      p.writer.close(ignored);
    }
    for (auto& r : readers) EXPECT_CLOSED_UNDER(r.get());
    EXPECT_EQ(open_descriptors(), before);
  });
}

// CL-37
TEST_F(stream_close, reports_the_error_of_close_and_is_closed_all_the_same) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    {
      system_call_hook fails([done = false](long number) mutable -> long {
        if (number != SYS_close || done) return 0;
        done = true;
        return -EIO;
      });
      EXPECT_THROW(reader.close(), rouse::errno_error<EIO>);
    }
    EXPECT_TRUE(is_closed(reader));
    reader.close();
  });
  // The injected failure stood in for the call: the number was never given back.
  descriptors_before += 1;
}

// Design: EINTR counts as done
TEST_F(stream_close, counts_an_interrupted_close_call_as_done_and_never_repeats_it) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    int calls = 0;
    {
      system_call_hook fails(
          [&](long number) -> long { return number == SYS_close && ++calls == 1 ? -EINTR : 0; });
      reader.close();
    }
    EXPECT_EQ(calls, 1);
  });
  descriptors_before += 1; // as above
}

} // namespace
