// Wait tickets, from the inside: each names one park of one thread.

#include "park.hpp"
#include "vm_core.hpp"
#include "vm_fixture.hpp"

#include <algorithm>
#include <vector>

using namespace rouse_test;
using rouse::detail::wake_reason;

namespace {

class ticket_ : public vm_test {
 protected:
  static rouse::detail::thread_record& record(const rouse::thread& t) {
    return *rouse::detail::thread_access::record(t);
  }
  static rouse::detail::held lock() { return rouse::detail::require_running("test"); }
};

TEST_F(ticket_, one_wakes_once) {
  run([] {
    auto t = rouse::spawn([] { rouse::this_thread::sleep(); });
    until_parked(t);
    auto& r = record(t);
    const auto ticket = r.ticket;
    EXPECT_NE(ticket, 0u);
    EXPECT_TRUE(make_ready(lock(), r, ticket, wake_reason::notified));
    EXPECT_FALSE(make_ready(lock(), r, ticket, wake_reason::notified));
    EXPECT_FALSE(make_ready(lock(), r, ticket, wake_reason::timed_out));
    t.join();
  });
}

TEST_F(ticket_, an_old_one_does_not_wake_the_next_park) {
  run([] {
    std::vector<std::uint64_t> tickets;
    auto t = rouse::spawn([] {
      for (int i = 0; i < 100; ++i) rouse::this_thread::sleep();
    });
    auto& r = record(t);
    for (int i = 0; i < 100; ++i) {
      until_parked(t);
      for (const auto old : tickets) EXPECT_FALSE(make_ready(lock(), r, old, wake_reason::notified));
      tickets.push_back(r.ticket);
      EXPECT_TRUE(make_ready(lock(), r, r.ticket, wake_reason::notified));
      rouse::this_thread::yield();
    }
    t.join();
    std::sort(tickets.begin(), tickets.end());
    EXPECT_EQ(std::unique(tickets.begin(), tickets.end()), tickets.end());
  });
}

TEST_F(ticket_, no_two_threads_share_one) {
  run([] {
    std::vector<rouse::thread> all;
    std::vector<std::uint64_t> tickets;
    for (int i = 0; i < 100; ++i) all.emplace_back([] { rouse::this_thread::sleep(); });
    for (auto& t : all) {
      until_parked(t);
      tickets.push_back(record(t).ticket);
    }
    std::sort(tickets.begin(), tickets.end());
    EXPECT_EQ(std::unique(tickets.begin(), tickets.end()), tickets.end());
    for (auto& t : all) t.kill();
  });
}

TEST_F(ticket_, an_interrupt_leaves_alone_a_park_that_was_already_woken) {
  run([] {
    auto t = rouse::spawn([] {
      rouse::this_thread::sleep();
      EXPECT_EQ(rouse::detail::require_running("test").self.woken_by, wake_reason::notified);
      rouse::this_thread::checkpoint();
      ADD_FAILURE() << "the kill was lost";
    });
    until_parked(t);
    t.wakeup();
    t.kill();
    t.join();
  });
}

} // namespace
