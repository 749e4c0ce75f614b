// Everything at once, at random, with a seed that is printed: readers, writers, closers, killers and time
// limits on a few streams.
//
// Rows of the behaviours and reports that streams without buffers cannot show yet, and why:
//   CL-02, CL-25, R-CL-01, R-CL-05, R-CL-11, CR2: need line reads, buffered streams or a flush
//   CL-12 to CL-14, CR8 for listeners, CA rows, B 20 for accept, C 29, C 30: need accept and connect
//   CL-16, CS rows: need copy_stream         CL-18, SE rows, R-SE rows: need select
//   CL-40, CL-41, CL-43, CL-45, R-CL-09: need half-close
//   CL-38, A 8: need attached OS threads, or signal handlers that run in the VM
//   PW-06, R-PW-01, C 28, R-CL-14: need files, FIFOs and blocking regions; PW-07 needs blocking regions
//   CL-15: recv is read_some here; there is no buffer lock in C++
//   R-PW-02: no standard streams yet          R-IT-02: needs read_nonblock
//   CL-32: a measurement, in bench            EO-04, R-EO rows: need buffered reads

#include "io_fixture.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace rouse_test;

namespace {

class stress : public vm_test {
 protected:
  stress()
      : seed(std::getenv("ROUSE_SEED") ? static_cast<unsigned>(std::atoi(std::getenv("ROUSE_SEED")))
                                       : std::random_device()()),
        random(seed) {
    RecordProperty("seed", static_cast<int>(seed));
    std::printf("ROUSE_SEED=%u\n", seed);
  }

  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }

  // The ends of one connection: ours, adopted, or by the system written.
  std::pair<rouse::stream, rouse::stream> connection() {
    switch (below(4)) {
    case 0: {
      auto [a, b] = rouse::socketpair();
      return {a, b};
    }
    case 1: {
      raw_pair p = raw_sockets(SOCK_STREAM);
      return {rouse::adopt(p.first), rouse::adopt(p.second)};
    }
    case 2: {
      raw_pair p = raw_pipe();
      return {rouse::adopt(p.first), rouse::adopt(p.second)};
    }
    default: {
      auto [r, w] = rouse::pipe();
      return {r, w};
    }
    }
  }

  unsigned seed;
  std::mt19937 random;
};

// An error that a race with close, kill or the peer may show: everything else is a defect, EBADF above all.
bool may_happen(const std::error_code& e) {
  return !e || e.category() == rouse::io_category() || e.value() == EPIPE || e.value() == ECONNRESET;
}

// I4, I5, I6, I9, I10 at random
TEST_F(stress, readers_writers_closers_killers_and_limits_keep_every_invariant) {
  run([&] {
    // A round is one call of a reader or a writer.
    for (int done = 0; done < rounds(100'000);) {
      auto [in, out] = connection();
      const int in_fd = inside(in).fd, out_fd = inside(out).fd;
      std::size_t sent = 0, received = 0;
      bool loss_allowed = false;
      std::vector<rouse::thread> threads;
      const unsigned readers = 1 + below(3), writers = 1 + below(3);
      if (below(4) == 0) in.set_timeout(std::chrono::microseconds(below(300)));
      if (below(4) == 0) out.set_timeout(std::chrono::microseconds(below(300)));
      for (unsigned i = 0; i < readers; ++i)
        threads.push_back(rouse::spawn([&, s = in] {
          for (;;) {
            const io_result r = below(2) ? read_now(s, 1 + below(5000)) : read_all_of(s, 1 + below(100));
            received += r.count;
            ASSERT_TRUE(may_happen(r.error)) << r.error.message();
            for (char c : r.bytes) ASSERT_EQ(c, 'm');
            ++done;
            if (r.error ? r.error != rouse::io_errc::timed_out : r.count == 0) return;
          }
        }));
      for (unsigned i = 0; i < writers; ++i)
        threads.push_back(rouse::spawn([&, s = out] {
          for (unsigned k = 2 + below(20); k > 0; --k) {
            const io_result w = write_now(s, std::string(below(8) ? 1 + below(200) : below(150'000), 'm'));
            sent += w.count;
            ASSERT_TRUE(may_happen(w.error)) << w.error.message();
            ++done;
            if (w.error && w.error != rouse::io_errc::timed_out) return;
            if (below(3) == 0) rouse::this_thread::yield();
          }
        }));
      auto busy = [&](unsigned limit) {
        for (unsigned i = below(limit); i > 0; --i) rouse::this_thread::yield();
      };
      busy(40);
      for (unsigned i = below(3); i > 0; --i) {
        threads[below(static_cast<unsigned>(threads.size()))].kill(); // it may take a count with it
        loss_allowed = true;
        busy(10);
      }
      switch (below(4)) {
      case 0:
        for (unsigned i = 0; i < 2; ++i) threads.push_back(rouse::spawn([s = in]() mutable { s.close(); }));
        if (below(2)) threads.back().kill();
        loss_allowed = true;
        break;
      case 1: in.close(), loss_allowed = true; break;
      case 2: out.abort(); break;
      default: // the writers come to their end, if there is a reader left
        if (loss_allowed) in.close();
        for (unsigned i = 0; i < writers; ++i) threads[readers + i].join();
        out.close();
      }
      busy(10);
      out.close();
      if (!loss_allowed)
        for (unsigned i = 0; i < readers; ++i) threads[i].join(); // they find the end
      in.close();
      for (auto& t : threads) t.join();
      ASSERT_TRUE(is_closed(in));
      ASSERT_TRUE(is_closed(out));
      ASSERT_FALSE(is_open(in_fd));
      ASSERT_FALSE(is_open(out_fd));
      for (const rouse::stream& s : {in, out}) {
        ASSERT_EQ(inside(s).users, 0u);
        for (auto& side : inside(s).directions) ASSERT_TRUE(side.waiters.empty());
        ASSERT_TRUE(inside(s).turn_waiters.empty());
        ASSERT_TRUE(inside(s).close_waiters.empty());
      }
      ASSERT_TRUE(loss_allowed || received == sent) << "bytes were lost: " << received << " of " << sent;
    }
  });
}

// The same few numbers, over and over, with strangers among them.
TEST_F(stress, strangers_that_get_our_numbers_are_never_touched) {
  run([&] {
    for (int round = 0; round < rounds(20'000); ++round) {
      auto [in, out] = connection();
      std::vector<rouse::thread> threads;
      for (unsigned i = below(3); i > 0; --i) threads.push_back(start_read(in));
      if (below(2)) threads.push_back(start_write(out, std::string(below(100'000), 'm')));
      for (unsigned i = below(6); i > 0; --i) rouse::this_thread::yield();
      threads.push_back(rouse::spawn([s = in]() mutable { s.close(); }));
      if (below(2)) rouse::this_thread::yield();
      raw_pair stranger = raw_pipe();
      put(stranger.second, "SECRET");
      if (below(3) == 0) threads[below(static_cast<unsigned>(threads.size()))].kill();
      for (unsigned i = below(6); i > 0; --i) rouse::this_thread::yield();
      in.close();
      out.close();
      for (auto& t : threads) t.join();
      ASSERT_EQ(take_now(stranger.first), "SECRET");
      ::close(stranger.first);
      ::close(stranger.second);
    }
  });
}

TEST_F(stress, bytes_through_a_chain_of_pipes_arrive_in_order) {
  run([&] {
    constexpr int length = 20;
    std::vector<rouse::thread> threads;
    auto [first_out, first_in] = rouse::pipe();
    rouse::stream from = first_out;
    for (int i = 0; i < length; ++i) {
      auto [in, out] = connection();
      threads.push_back(rouse::spawn([this, from, to = out]() mutable {
        for (io_result r; r = read_now(from, 1 + below(3000)), r.count > 0;) to.write_all(r.bytes);
        to.close();
      }));
      from = in;
    }
    const std::string sent = pattern(static_cast<std::size_t>(rounds(1 << 20)));
    threads.push_back(rouse::spawn([&, s = first_in]() mutable {
      s.write_all(sent);
      s.close();
    }));
    EXPECT_TRUE(read_all_of(from, sent.size()).bytes == sent);
    EXPECT_EQ(read_now(from).count, 0u);
    for (auto& t : threads) t.join();
  });
}

} // namespace
