// Who is told that a stream has become ready, and that nobody is told twice or forgotten.

#include "io_fixture.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace rouse_test;
using rouse::detail::direction;

namespace {

class readiness : public vm_test {};

// LW3, I3
TEST_F(readiness, two_waiters_and_one_event_with_data_left_over_wakes_both) {
  run([] {
    for (bool hinted : {true, false}) {
      auto [reader, writer] = rouse::pipe();
      auto first = parked_reader(reader, 10);
      auto second = parked_reader(reader, 10);
      const std::string hundred(100, 'x');
      if (hinted)
        writer.write_all(hundred);
      else
        put(writer.native_handle(), hundred);
      EXPECT_EQ(first.get().count, 10u);
      EXPECT_EQ(second.get().count, 10u);
    }
  });
}

TEST_F(readiness, many_waiters_and_one_event_are_woken_in_a_chain_in_order_of_arrival) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    std::string order;
    std::vector<rouse::thread> readers;
    for (int i = 0; i < 10; ++i) {
      readers.push_back(
          rouse::spawn([&, i, s = reader] { order += static_cast<char>('0' + i) + read_now(s, 1).bytes; }));
      until_parked(readers.back());
    }
    put(writer.native_handle(), "abcdefghij");
    for (auto& r : readers) r.join();
    EXPECT_EQ(order, "0a1b2c3d4e5f6g7h8i9j");
  });
}

TEST_F(readiness, a_woken_reader_that_is_killed_passes_the_event_on) {
  run([] {
    for (bool hinted : {true, false}) {
      auto [reader, writer] = rouse::pipe();
      auto first = parked_reader(reader);
      auto second = parked_reader(reader);
      if (hinted)
        writer.write_all("x");
      else
        put(writer.native_handle(), "x");
      yield_until([&] { return first.status() == rouse::thread_status::runnable; });
      first.kill();
      first.join();
      EXPECT_EQ(second.get().bytes, "x");
    }
  });
}

TEST_F(readiness, a_woken_reader_whose_limit_passes_at_the_same_instant_passes_the_event_on) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    const auto due = rouse::clock::now() + 8ms;
    std::error_code error;
    auto first = rouse::spawn([&, s = reader]() mutable { return s.wait_readable(3ms, error); });
    until_parked(first);
    auto second = parked_reader(reader);
    at_test_point hold([&](std::string_view name) {
      while (name == "poller.wait" && rouse::clock::now() < due) {
      }
    });
    rouse::this_thread::sleep_for(1ms); // due first, noticed together with the reader's limit
    EXPECT_EQ(first.status(), rouse::thread_status::runnable);
    writer.write_all("x"); // the first in the list is on its way out
    EXPECT_FALSE(first.get());
    EXPECT_EQ(second.get().bytes, "x");
  });
}

// LW4, A 9
TEST_F(readiness, a_reader_and_a_writer_of_one_socket_are_told_apart) {
  run([] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream s = rouse::adopt(p.first);
    fill(p.first);
    auto reader = parked_reader(s);
    auto writer = parked_writer(s, "w");
    rouse::this_thread::sleep_for(1ms);
    EXPECT_EQ(reader.status(), rouse::thread_status::sleeping);
    EXPECT_EQ(writer.status(), rouse::thread_status::sleeping);
    // One event for both directions.
    put(p.second, "r");
    while (!take_now(p.second, 65536).empty()) {
    }
    EXPECT_EQ(reader.get().bytes, "r");
    auto again = parked_reader(s); // finds nothing, and clears its own direction alone
    EXPECT_FALSE(writer.get().error);
    put(p.second, "s");
    EXPECT_EQ(again.get().bytes, "s");
    ::close(p.second);
  });
}

// A 9
TEST_F(readiness, a_reader_and_a_writer_that_can_do_nothing_cost_nothing) {
  run([] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream s = rouse::adopt(p.first);
    fill(p.first);
    auto reader = parked_reader(s);
    auto writer = parked_writer(s, "w");
    rouse::this_thread::sleep_for(1ms);
    const auto before = cpu_time();
    rouse::this_thread::sleep_for(300ms);
    EXPECT_LT(cpu_time() - before, 15ms);
    s.close();
    EXPECT_CLOSED_UNDER(reader.get());
    EXPECT_CLOSED_UNDER(writer.get());
    ::close(p.second);
  });
}

TEST_F(readiness, an_error_or_a_hang_up_wakes_both_directions) {
  run([] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream s = rouse::adopt(p.first);
    fill(p.first);
    auto reader = parked_reader(s);
    auto writer = parked_writer(s, "w");
    ::close(p.second);
    EXPECT_EQ(reader.get().error.value(), ECONNRESET); // unread data on the other side
    EXPECT_EQ(writer.get().error.value(), EPIPE);
  });
}

// C 27, I11
TEST_F(readiness, a_hang_up_that_nobody_waits_for_costs_nothing_and_is_found_later) {
  run([] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream s = rouse::adopt(p.first);
    EXPECT_FALSE(s.wait_readable(1ms)); // registered
    ::close(p.second);
    call_counter calls;
    rouse::this_thread::sleep_for(50ms);
    EXPECT_LE(calls.of(SYS_epoll_pwait2) + calls.of(SYS_epoll_pwait), 4);
    EXPECT_EQ(read_now(s).count, 0u);
  });
}

// Hang-up is sticky
TEST_F(readiness, bytes_and_the_end_that_arrive_as_one_event_are_both_found) {
  run([] {
    for (bool socket : {true, false}) {
      raw_pair p = socket ? raw_sockets(SOCK_STREAM) : raw_pipe();
      rouse::stream s = rouse::adopt(p.first);
      auto r = rouse::spawn([s] {
        const io_result first = read_now(s), second = read_now(s);
        return first.bytes + "|" + std::to_string(second.count);
      });
      until_parked(r);
      rouse::this_thread::sleep_for(1ms); // registered
      put(p.second, "abc");
      ::close(p.second);
      EXPECT_TRUE(r.join_for(5s)) << "the short read was taken for an empty stream";
      EXPECT_EQ(r.get(), "abc|0");
    }
  });
}

TEST_F(readiness, a_hint_of_a_hang_up_that_is_none_does_not_spin) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    rouse::stream second = writer.dup();
    auto r = parked_reader(reader);
    writer.close(); // the peer says "hung up", and the description lives on
    rouse::this_thread::yield();
    {
      call_counter calls;
      rouse::this_thread::sleep_for(20ms);
      EXPECT_LE(calls.of(SYS_read) + calls.of(SYS_preadv2), 2);
      EXPECT_LE(calls.of(SYS_epoll_pwait2) + calls.of(SYS_epoll_pwait), 4);
    }
    second.write_all("x");
    EXPECT_EQ(r.get().bytes, "x");
    auto end = parked_reader(reader);
    second.close();
    EXPECT_EQ(end.get().count, 0u);
  });
}

// A datagram socket: a short read says nothing about what is queued behind it.
TEST_F(readiness, a_short_datagram_does_not_hide_the_next_one) {
  run([] {
    raw_pair p = raw_sockets(SOCK_DGRAM);
    rouse::stream s = rouse::adopt(p.first);
    auto r = rouse::spawn([s] {
      std::string all;
      for (int i = 0; i < 3; ++i) all += read_now(s).bytes;
      return all;
    });
    until_parked(r);
    rouse::this_thread::sleep_for(1ms);
    for (const char* each : {"one ", "two ", "three"}) put(p.second, each);
    EXPECT_TRUE(r.join_for(5s));
    EXPECT_EQ(r.get(), "one two three");
    ::close(p.second);
  });
}

TEST_F(readiness, a_reset_is_reported_once_and_then_the_end) {
  run([] {
    auto [client, server] = raw_tcp();
    rouse::stream s = rouse::adopt(client);
    auto r = parked_reader(s);
    const linger hard{1, 0};
    ::setsockopt(server, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    ::close(server);
    EXPECT_EQ(r.get().error.value(), ECONNRESET);
    const io_result after = read_now(s);
    EXPECT_FALSE(after.error);
    EXPECT_EQ(after.count, 0u);
    EXPECT_EQ(write_now(s, "x").error.value(), EPIPE);
  });
}

// An error that is consumed by one call leaves a stream that waits again.
TEST_F(readiness, an_error_that_was_consumed_elsewhere_does_not_spin) {
  run([] {
    // A datagram sent to a peer that has gone reports ECONNREFUSED once, on whichever call comes first.
    raw_pair p = raw_sockets(SOCK_DGRAM);
    rouse::stream s = rouse::adopt(p.first);
    auto r = parked_reader(s);
    rouse::this_thread::sleep_for(1ms);
    ::close(p.second);
    rouse::this_thread::sleep_for(1ms);
    call_counter calls;
    rouse::this_thread::sleep_for(20ms);
    EXPECT_LE(calls.of(SYS_recvfrom), 3);
    s.close();
    r.join();
  });
}

// KR6
TEST_F(readiness, kill_ends_a_limited_wait_at_once) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    fill(writer.native_handle());
    auto [empty, other] = rouse::pipe();
    auto r = rouse::spawn([s = empty]() mutable { s.wait_readable(60s); });
    auto w = rouse::spawn([s = writer]() mutable { s.wait_writable(60s); });
    until_parked(r);
    until_parked(w);
    const auto start = rouse::clock::now();
    r.kill();
    w.kill();
    r.join();
    w.join();
    EXPECT_LT(rouse::clock::now() - start, 1s);
  });
}

TEST_F(readiness, a_wait_says_whether_the_stream_is_ready_and_takes_nothing) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    EXPECT_FALSE(reader.wait_readable(0s));
    EXPECT_FALSE(reader.wait_readable(1ms)); // R-SE-04
    EXPECT_TRUE(writer.wait_writable(0s));
    auto t = rouse::spawn([s = reader]() mutable { return s.wait_readable(); });
    until_parked(t);
    writer.write_all("abc");
    EXPECT_TRUE(t.get());
    EXPECT_TRUE(reader.wait_readable());
    EXPECT_EQ(read_now(reader).bytes, "abc");
    fill(writer.native_handle());
    EXPECT_FALSE(writer.wait_writable(1ms));
    auto w = rouse::spawn([s = writer]() mutable { return s.wait_writable(); });
    until_parked(w);
    drain(reader.native_handle());
    EXPECT_TRUE(w.get());
    writer.close(); // SE-05
    EXPECT_TRUE(reader.wait_readable());
    EXPECT_EQ(read_now(reader).count, 0u);
  });
}

// MN3
TEST_F(readiness, a_thread_that_always_runs_does_not_starve_those_that_wait) {
  run([] {
    ticker busy;
    auto [reader, writer] = rouse::pipe();
    auto r = parked_reader(reader);
    rouse::this_thread::yield();
    put(writer.native_handle(), "x"); // no hint: the poller has to see it
    const auto start = rouse::clock::now();
    EXPECT_EQ(r.get().bytes, "x");
    EXPECT_LT(rouse::clock::now() - start, 1s);
  });
}

// The other side may be written by an OS thread that knows nothing of the VM.
TEST_F(readiness, an_idle_vm_wakes_for_bytes_from_outside) {
  run([] {
    raw_pair p = raw_pipe();
    rouse::stream s = rouse::adopt(p.first);
    std::thread outside([&] {
      for (int i = 0; i < 100; ++i) put(p.second, "0123456789");
      ::close(p.second);
    });
    std::size_t total = 0;
    for (io_result r; r = read_now(s, 7), r.count > 0;) total += r.count;
    outside.join();
    EXPECT_EQ(total, 1000u);
  });
}

} // namespace
