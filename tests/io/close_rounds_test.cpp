// Close and use of one stream, in many rounds and shapes that were seen to fail elsewhere.

#include "io_fixture.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class close_rounds : public vm_test {};

// CR1
TEST_F(close_rounds, a_parked_reader_of_a_tcp_socket_is_told_every_time_and_nobody_else_is) {
  run([] {
    auto [other_reader, other_writer] = rouse::pipe();
    auto other = parked_reader(other_reader);
    for (int round = 0; round < 200; ++round) {
      auto [client, server] = raw_tcp();
      rouse::stream s = rouse::adopt(server);
      auto r = parked_reader(s);
      const auto start = rouse::clock::now();
      s.close();
      EXPECT_CLOSED_UNDER(r.get());
      EXPECT_LT(rouse::clock::now() - start, 100ms);
      ::close(client);
    }
    EXPECT_EQ(other.status(), rouse::thread_status::sleeping);
    other_writer.close();
    EXPECT_EQ(other.get().count, 0u);
  });
}

// CR1, the variant: somebody makes the shared description blocking
TEST_F(close_rounds, a_description_made_blocking_through_its_number_never_blocks_the_vm) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const int fd = reader.native_handle();
    ASSERT_EQ(::fcntl(fd, F_SETFL, 0), 0);
    ticker others;
    auto r = parked_reader(reader);
    others.wait_for(10);
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
  });
}

TEST_F(close_rounds, a_description_made_blocking_through_a_dup_never_blocks_the_vm) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    rouse::stream dup = reader.dup();
    ASSERT_EQ(::fcntl(dup.native_handle(), F_SETFL, 0), 0);
    auto r = parked_reader(reader);
    reader.close();
    EXPECT_CLOSED_UNDER(r.get());
    auto d = parked_reader(dup);
    dup.close();
    EXPECT_CLOSED_UNDER(d.get());
  });
}

TEST_F(close_rounds, a_writer_of_a_description_made_blocking_never_blocks_the_vm) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    ASSERT_EQ(::fcntl(writer.native_handle(), F_SETFL, 0), 0);
    auto w = parked_writer(writer, std::string(1 << 20, 'x'));
    writer.close();
    EXPECT_CLOSED_UNDER(w.get());
    EXPECT_GT(w.get().count, 0u);
  });
}

// CR3
TEST_F(close_rounds, data_writer_close_and_reader_close_together_leave_no_reader_behind) {
  run([] {
    for (int round = 0; round < rounds(1000); ++round) {
      std::vector<rouse::pipe_ends> pipes;
      std::vector<rouse::task<void>> loops;
      for (int i = 0; i < 10; ++i) {
        pipes.push_back(rouse::pipe());
        loops.push_back(rouse::spawn([s = pipes.back().reader]() mutable {
          io_result r;
          while (r = read_now(s), !r.error && r.count > 0) {
          }
          EXPECT_TRUE(!r.error || r.error.category() == rouse::io_category());
        }));
      }
      if (round % 2) rouse::this_thread::yield();
      for (auto& p : pipes) {
        p.writer.write_all("line\n");
        p.writer.close();
        p.reader.close();
      }
      for (auto& t : loops) EXPECT_TRUE(t.join_for(2s));
    }
  });
}

// A 5
TEST_F(close_rounds, a_read_in_pieces_ends_with_its_data_the_end_or_the_closed_error) {
  run([] {
    for (int round = 0; round < rounds(20'000); ++round) {
      auto [reader, writer] = rouse::pipe();
      auto r = start_read_exactly(reader, 8);
      auto closer = rouse::spawn([&, s = reader]() mutable {
        for (int i = round % 4; i > 0; --i) rouse::this_thread::yield();
        s.close();
      });
      for (int i = 0; i < 2; ++i) {
        std::error_code error;
        writer.write_all("1234", error);
        EXPECT_TRUE(!error || error.value() == EPIPE);
        if (round & (8 << i)) rouse::this_thread::yield();
      }
      writer.close();
      closer.join();
      const io_result& got = r.get();
      EXPECT_EQ(got.bytes, std::string("12341234").substr(0, got.count));
      if (got.error)
        EXPECT_EQ(got.error.category(), rouse::io_category()) << got.error.message();
      else
        EXPECT_EQ(got.count, 8u);
    }
  });
}

// A 15
TEST_F(close_rounds, a_thread_in_a_loop_over_a_stream_stops_with_the_closed_error) {
  run([] {
    for (int round = 0; round < rounds(5000); ++round) {
      auto [a, b] = rouse::socketpair();
      auto loop = rouse::spawn([a = a, b = b]() mutable {
        for (;;) {
          if (io_result w = write_now(a, "ping"); w.error) return w.error;
          write_now(b, "pong");
          if (io_result r = read_now(a); r.error) return r.error;
          rouse::this_thread::yield();
        }
      });
      for (int i = round % 7; i >= 0; --i) rouse::this_thread::yield();
      a.close();
      EXPECT_EQ(loop.get().category(), rouse::io_category());
      EXPECT_LE(loop.get().value(), static_cast<int>(rouse::io_errc::closed_under_call));
    }
  });
}

// A 16
TEST_F(close_rounds, a_big_write_reports_how_much_went_out_before_the_close) {
  run([] {
    auto [client, server] = raw_tcp();
    rouse::stream s = rouse::adopt(client);
    std::size_t sent = 0;
    auto w = rouse::spawn([&, s]() mutable {
      const std::string big(64 << 20, 'x');
      try {
        s.write_all(big);
      } catch (const rouse::stream_closed& e) {
        sent = e.bytes_transferred();
      }
    });
    until_parked(w);
    std::size_t received = drain(server);
    yield_until([&] { return w.status() == rouse::thread_status::sleeping; });
    s.close();
    w.join();
    EXPECT_GT(sent, 0u);
    EXPECT_LT(sent, std::size_t{64 << 20});
    for (std::size_t more; (more = drain(server)) > 0;) received += more;
    EXPECT_EQ(received, sent);
    ::close(server);
  });
}

// R-CL-16
TEST_F(close_rounds, of_many_streams_one_close_wakes_the_threads_of_that_stream_alone) {
  run([] {
    constexpr int others = rounds(1000);
    std::vector<rouse::pipe_ends> pipes;
    std::vector<rouse::task<io_result>> waiting;
    int resumed = 0;
    for (int i = 0; i < others; ++i) {
      pipes.push_back(rouse::pipe());
      waiting.push_back(start_read(pipes.back().reader));
    }
    auto [reader, writer] = rouse::pipe();
    std::vector<rouse::task<io_result>> three;
    for (int i = 0; i < 3; ++i) three.push_back(start_read(reader));
    for (auto& t : three) until_parked(t);
    for (auto& t : waiting) until_parked(t);
    {
      at_test_point count([&](std::string_view name) { resumed += name == "stream.resumed"; });
      reader.close();
      for (auto& t : three) EXPECT_CLOSED_UNDER(t.get());
      for (auto& t : waiting) ASSERT_EQ(t.status(), rouse::thread_status::sleeping);
    }
    EXPECT_EQ(resumed, 3) << "I7";
    for (auto& p : pipes) p.writer.close();
    for (auto& t : waiting) EXPECT_FALSE(t.get().error);
  });
}

} // namespace
