#include "vm_fixture.hpp"

#include <array>

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

} // namespace
