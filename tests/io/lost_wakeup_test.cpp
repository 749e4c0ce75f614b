// Wake-ups that come at the wrong moment: none is lost, none is taken twice.

#include "io_fixture.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace rouse_test;
using rouse::detail::direction;

namespace {

class lost_wakeup : public vm_test {};

// Readiness that came while an attempt found nothing is not cleared by it.
TEST_F(lost_wakeup, an_event_between_the_attempt_and_the_wait_is_not_lost) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    bool done = false;
    at_test_point between([&, w = writer](std::string_view name) mutable {
      if (name != "stream.before_park" || std::exchange(done, true)) return;
      rouse::no_interrupts quiet;
      start_write(w, "x").join(); // its hint comes before the reader hangs on the list
    });
    auto r = start_read(reader);
    EXPECT_TRUE(r.join_for(2s)) << "the wake-up went to nobody";
  });
}

// The tick: an attempt that found nothing clears nothing if an event was handed out meanwhile.
TEST_F(lost_wakeup, an_event_handed_out_during_an_attempt_that_found_nothing_is_not_cleared_by_it) {
  run([] {
    raw_pair p = raw_sockets(SOCK_STREAM);
    rouse::stream s = rouse::adopt(p.first);
    auto [idle_reader, idle_writer] = rouse::pipe();
    auto idle = parked_reader(idle_reader); // a busy VM polls while somebody waits
    EXPECT_FALSE(s.wait_readable(1ms));     // registered: this event is the only one that will come
    bool done = false;
    rouse::detail::readiness& side = inside(s).side(direction::read);
    side.ready = true; // so that it tries
    const auto before = side.tick;
    system_call_hook during([&](long number) -> long {
      if (number != SYS_recvfrom || std::exchange(done, true)) return 0;
      rouse::no_interrupts quiet;
      put(p.second, "x");
      yield_until([&] { return side.tick != before; });
      return -EAGAIN; // what the call would have said before the byte came
    });
    auto r = start_read(s);
    EXPECT_TRUE(r.join_for(2s)) << "the attempt has cleared an event that it did not see";
    idle_writer.close();
    idle.join();
    ::close(p.second);
  });
}

TEST_F(lost_wakeup, a_hang_up_that_was_none_is_forgotten_and_short_reads_say_again_that_it_is_empty) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    rouse::stream second = writer.dup();
    auto r = parked_reader(reader);
    writer.close(); // a hint of a hang-up, and it is none
    rouse::this_thread::sleep_for(1ms);
    second.write_all("x");
    EXPECT_EQ(r.get().bytes, "x");
    call_counter calls;
    auto again = parked_reader(reader);
    EXPECT_EQ(calls.of(SYS_read) + calls.of(SYS_preadv2), 0);
    second.close();
    again.join();
  });
}

// I2
TEST_F(lost_wakeup, a_ticket_of_an_earlier_wait_does_not_end_a_later_one) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    auto r = parked_reader(reader);
    bool held = false;
    std::chrono::nanoseconds slept{};
    at_test_point hold([&](std::string_view name) {
      if (name != "stream.resumed" || std::exchange(held, true)) return;
      rouse::no_interrupts quiet; // its waiter, whose ticket is spent, still hangs on the stream
      const auto start = rouse::clock::now();
      rouse::this_thread::sleep_for(5ms);
      slept = rouse::clock::now() - start;
    });
    writer.write_all("x");
    yield_until([&] { return held && r.status() == rouse::thread_status::sleeping; });
    writer.write_all("y");
    reader.close();
    r.join();
    EXPECT_GE(slept, 5ms);
  });
}

// LW1
TEST_F(lost_wakeup, an_interrupt_between_the_look_and_the_wait_is_not_lost) {
  run([] {
    auto [reader, writer] = rouse::pipe();
    bool held = false, sent = false;
    at_test_point between([&](std::string_view name) {
      if (name != "stream.before_park" || std::exchange(held, true)) return;
      rouse::no_interrupts quiet;
      yield_until([&] { return sent; });
    });
    auto r = start_read(reader);
    yield_until([&] { return held; });
    r.raise(std::runtime_error("now"));
    sent = true;
    EXPECT_THROW(r.join(), std::runtime_error);
  });
}

} // namespace
