#include "vm_fixture.hpp"

#include <stdexcept>

using namespace rouse_test;

namespace {

class thread_ : public vm_test {};

// TH-01
TEST_F(thread_, join_returns_and_get_gives_the_result) {
  run([] {
    auto t = rouse::spawn([](int a, int b) { return a + b; }, 40, 2);
    t.join();
    EXPECT_EQ(t.get(), 42);
  });
}

// TH-03
TEST_F(thread_, every_joiner_gets_the_same_exception_every_time) {
  run([] {
    auto t = rouse::spawn([] { throw std::runtime_error("broken"); });
    const void* first = nullptr;
    for (int i = 0; i < 3; ++i) {
      try {
        t.join();
        FAIL() << "join returned";
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "broken");
        if (!first) first = &e;
        EXPECT_EQ(first, &e);
      }
    }
  });
}

} // namespace
