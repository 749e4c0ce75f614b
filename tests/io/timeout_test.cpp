// The time limit of a stream: it ends one wait, and nothing else.

#include "io_fixture.hpp"

#include <stdexcept>
#include <vector>

using namespace rouse_test;

namespace {

class timeout : public vm_test {};

// IT-01
TEST_F(timeout, ends_a_read_with_io_timeout) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    reader.set_timeout(10ms);
    const auto start = rouse::clock::now();
    char c;
    try {
      reader.read_some({&c, 1});
      FAIL();
    } catch (const rouse::io_timeout& e) {
      EXPECT_STREQ(e.what(), "Blocking operation timed out!");
      EXPECT_EQ(e.code(), rouse::io_errc::timed_out);
    }
    EXPECT_GE(rouse::clock::now() - start, 10ms); // D 36
    EXPECT_EQ(read_now(reader).error, rouse::io_errc::timed_out);
  });
}

// IT-02
TEST_F(timeout, ends_a_write_and_reports_what_went_out) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    writer.set_timeout(5ms);
    const io_result w = write_now(writer, pattern(1 << 20));
    EXPECT_EQ(w.error, rouse::io_errc::timed_out);
    EXPECT_GT(w.count, 0u);
    EXPECT_EQ(read_all_of(reader, w.count).bytes, pattern(1 << 20).substr(0, w.count));
    EXPECT_FALSE(reader.wait_readable(0s));
  });
}

// IT-04
TEST_F(timeout, leaves_the_stream_usable) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    reader.set_timeout(2ms);
    EXPECT_EQ(read_now(reader).error, rouse::io_errc::timed_out);
    EXPECT_TRUE(reader.is_open());
    writer.write_all("late");
    EXPECT_EQ(read_now(reader).bytes, "late");
  });
}

// R-IT-01
TEST_F(timeout, of_one_end_does_not_concern_the_other) {
  run([] {
    auto [a, b] = rouse::socketpair();
    EXPECT_EQ(a.timeout(), rouse::forever);
    a.set_timeout(1ms);
    EXPECT_EQ(b.timeout(), rouse::forever);
  });
}

TEST_F(timeout, does_not_apply_to_waits_with_a_limit_of_their_own) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    reader.set_timeout(1ms);
    auto t = rouse::spawn([s = reader]() mutable { return s.wait_readable(); });
    until_parked(t);
    rouse::this_thread::sleep_for(5ms);
    EXPECT_EQ(t.status(), rouse::thread_status::sleeping);
    writer.write_all("x");
    EXPECT_TRUE(t.get());
  });
}

// TI3: zero, very large and infinite
TEST_F(timeout, of_zero_takes_what_is_there_and_waits_for_nothing) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    reader.set_timeout(0s);
    EXPECT_EQ(read_now(reader).error, rouse::io_errc::timed_out);
    writer.write_all("x");
    EXPECT_EQ(read_now(reader).bytes, "x");
  });
}

TEST_F(timeout, may_be_very_long_and_must_not_be_negative) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    for (rouse::duration limit :
         {rouse::duration::max() - 1ns, rouse::duration(24h * 365 * 100), rouse::forever}) {
      reader.set_timeout(limit);
      auto r = parked_reader(reader);
      rouse::this_thread::sleep_for(1ms);
      EXPECT_EQ(r.status(), rouse::thread_status::sleeping);
      writer.write_all("x");
      EXPECT_EQ(r.get().bytes, "x");
    }
    EXPECT_THROW(reader.set_timeout(-1ns), std::invalid_argument);
    EXPECT_EQ(reader.timeout(), rouse::forever);
  });
}

TEST_F(timeout, of_a_writer_in_the_queue_ends_its_wait_and_moves_no_byte) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto in_turn = parked_writer(writer, std::string(1 << 17, 'a'));
    writer.set_timeout(3ms);
    auto queued = start_write(writer, "b");
    EXPECT_EQ(queued.get().error, rouse::io_errc::timed_out);
    EXPECT_EQ(queued.get().count, 0u);
    EXPECT_EQ(read_all_of(reader, 1 << 17).bytes.find('b'), std::string::npos);
    EXPECT_FALSE(in_turn.get().error);
  });
}

// TI3
TEST_F(timeout, that_passed_as_the_operation_completed_does_not_end_the_next_one) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    for (int i = 0; i < rounds(300); ++i) {
      reader.set_timeout(500us);
      auto r = rouse::spawn([s = reader]() mutable {
        const io_result first = read_now(s, 1); // its data and its limit come at the same time
        s.set_timeout(5s);
        const auto start = rouse::clock::now();
        const io_result second = read_now(s, first.error ? 2 : 1);
        EXPECT_FALSE(second.error) << "ended by the old limit after " << (rouse::clock::now() - start).count()
                                   << " ns";
        return first.count + second.count;
      });
      until_parked(r);
      rouse::this_thread::sleep_for(499us);
      writer.write_all("1");
      rouse::this_thread::yield();
      rouse::this_thread::yield();
      if (r.alive()) writer.write_all("2");
      r.join();
      EXPECT_GE(r.get(), 1u);
      while (reader.wait_readable(0s)) read_now(reader);
    }
  });
}

// I2
TEST_F(timeout, a_ticket_of_an_ended_wait_wakes_nobody) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto [other, other_writer] = rouse::pipe();
    reader.set_timeout(3ms);
    bool slept = false;
    auto t = rouse::spawn([&, s = reader] {
      read_now(s); // ended by data
      const auto start = rouse::clock::now();
      rouse::this_thread::sleep_for(10ms); // the old limit passes here
      EXPECT_GE(rouse::clock::now() - start, 10ms);
      slept = true;
    });
    until_parked(t);
    writer.write_all("x");
    t.join();
    EXPECT_TRUE(slept);
  });
}

// TI1
TEST_F(timeout, may_be_changed_around_the_moment_when_it_passes) {
  run([] {
    for (int round = 0; round < rounds(50); ++round) {
      auto [reader, writer] = rouse::pipe();
      bool over = false;
      std::vector<rouse::thread> threads;
      for (int i = 0; i < 4; ++i)
        threads.push_back(rouse::spawn([&, s = reader] {
          for (;;) {
            const io_result r = read_now(s);
            if (r.error == rouse::io_errc::timed_out) continue;
            if (r.error) break;
            EXPECT_EQ(r.bytes.substr(0, 1), "x");
          }
        }));
      for (int i = 0; i < 2; ++i)
        threads.push_back(rouse::spawn([&, s = reader]() mutable {
          for (auto limit = 100us; !over; limit = limit == 100us ? 200us : 100us) {
            s.set_timeout(limit);
            rouse::this_thread::yield();
          }
        }));
      for (int i = 0; i < 20; ++i) {
        writer.write_all("x");
        rouse::this_thread::sleep_for(100us);
      }
      reader.close(); // at the same instant, too
      over = true;
      for (auto& t : threads) t.join();
    }
  });
}

} // namespace
