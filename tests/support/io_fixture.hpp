#pragma once
// What the tests of streams share: raw descriptors made without the library, readers and writers that report
// how their call ended, and a look inside a stream.

#include "stream_state.hpp"
#include "vm_fixture.hpp"

#include <cstdint>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace rouse_test {

// Two descriptors made by the system itself, close-on-exec.
struct raw_pair {
  int first = -1, second = -1;
};
raw_pair raw_pipe(int flags = 0);                    // first reads, second writes
raw_pair raw_sockets(int type, int flags = 0);       // AF_UNIX
raw_pair raw_tcp();                                  // connected over the loopback interface
void fill(int fd);                                   // writes until the kernel takes no more
std::size_t drain(int fd);                           // reads until there is nothing; how many
std::string take_now(int fd, std::size_t most = 64); // what a read finds now, without waiting
void put(int fd, std::string_view bytes);            // writes all of it, at once
int flags_of(int fd);
bool is_open(int fd);
bool same_file(int a, int b); // one pipe or one socket

// How a call ended that reports in an error code.
struct io_result {
  std::error_code error;
  std::string bytes;     // of a read
  std::size_t count = 0; // of bytes moved
};

// One read_some, one read_exactly, one write_all, in the calling thread.
io_result read_now(rouse::stream s, std::size_t most = 64);
io_result read_all_of(rouse::stream s, std::size_t size);
io_result write_now(rouse::stream s, const std::string& bytes);

// The same in a thread of its own.
rouse::task<io_result> start_read(rouse::stream s, std::size_t most = 64);
rouse::task<io_result> start_read_exactly(rouse::stream s, std::size_t size);
rouse::task<io_result> start_write(rouse::stream s, std::string bytes);

// Likewise, and parked.
rouse::task<io_result> parked_reader(rouse::stream s, std::size_t most = 64);
rouse::task<io_result> parked_writer(rouse::stream s, std::string bytes); // the stream must be full

// Every byte differs from its neighbours, and from those of another seed.
std::string pattern(std::size_t size, unsigned seed = 0);

inline rouse::detail::stream_state& inside(const rouse::stream& s) {
  return *rouse::detail::stream_access::state(s);
}
inline bool is_closing(const rouse::stream& s) {
  return inside(s).phase == rouse::detail::stream_phase::closing;
}
inline bool is_closed(const rouse::stream& s) {
  return inside(s).phase == rouse::detail::stream_phase::closed;
}

// Processor time of this process.
std::chrono::nanoseconds cpu_time();

// How often the library calls the system, by number.
class call_counter {
 public:
  call_counter()
      : hook_([this](long number) -> long { return ++counts_[static_cast<std::size_t>(number)], 0; }) {}
  int of(long number) const { return counts_[static_cast<std::size_t>(number)]; }

 private:
  std::vector<int> counts_ = std::vector<int>(512);
  system_call_hook hook_;
};

// Sets RLIMIT_NOFILE for a scope.
class descriptor_limit {
 public:
  explicit descriptor_limit(std::size_t soft);
  ~descriptor_limit();
  descriptor_limit(const descriptor_limit&) = delete;
  descriptor_limit& operator=(const descriptor_limit&) = delete;

 private:
  std::size_t before_;
};

// A thread that counts its turns as long as the object lives: if it ticks, nothing blocks the VM.
class ticker {
 public:
  ticker();
  ~ticker();
  ticker(const ticker&) = delete;
  ticker& operator=(const ticker&) = delete;
  int count() const { return *count_; }
  void wait_for(int more) const; // turns

 private:
  std::shared_ptr<int> count_ = std::make_shared<int>(0);
  rouse::thread thread_;
};

#define EXPECT_CLOSED_UNDER(result) EXPECT_EQ((result).error, rouse::io_errc::closed_under_call)
#define EXPECT_CLOSED_BEFORE(result) EXPECT_EQ((result).error, rouse::io_errc::closed)

} // namespace rouse_test
