#pragma once
// Which descriptors have become ready.
//
// A descriptor is registered with epoll at the first poll after somebody had to wait for it, once,
// edge-triggered; one that nobody ever had to poll for costs nothing. Events name a descriptor number and a
// generation: an event that was fetched before the number changed hands is dropped.

#include "lock_word.hpp"

#include <rouse/detail/wait_list.hpp>
#include <rouse/duration.hpp>

#include <boost/intrusive/list.hpp>

#include <array>
#include <memory>
#include <sys/epoll.h>
#include <vector>

namespace rouse::detail {

struct pending_tag;
using pending_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<pending_tag>,
                                                      boost::intrusive::link_mode<hook_mode>>;

// Something with a descriptor that can become ready.
struct poll_source : pending_hook {
  using handler = void (*)(poll_source&, held, std::uint32_t events) noexcept;
  explicit poll_source(handler h) noexcept : on_events(h) {}

  int fd = -1;
  bool pending = false;                  // waits to be registered
  bool registered = false;               // its number is known to epoll
  poll_source* next_of_number = nullptr; // others that use the same number (adopted and borrowed ones)
  handler on_events;                     // EPOLL... bits; or registration_failed with error set
  int error = 0;
};

class poller {
 public:
  // Not an epoll bit: the source could not be registered, and source.error says why.
  static constexpr std::uint32_t registration_failed = 1u << 27;

  poller(); // \throws std::system_error
  ~poller() { close(); }
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  // Somebody is going to wait for the source: it is registered before the next poll.
  void want(held, poll_source& source) noexcept {
    if (source.registered || source.pending) return;
    pending_.push_back(source);
    source.pending = true;
  }

  // Enters the source under its number without registering it, so that others of the same number are found.
  // \returns 0 or ENOMEM
  int enter(held, poll_source& source) noexcept;

  // Takes the source out, before its number may be re-used. `shared`: the description may live on elsewhere,
  // so epoll must be told; otherwise close(2) does that.
  void remove(held, poll_source& source, bool shared) noexcept;

  // The first source that is entered under the number, or null.
  poll_source* sources_of(held, int fd) noexcept;

  // How many threads wait for descriptors: a busy VM polls now and then if there are any.
  std::size_t waiting = 0;

  // Registers whatever is pending. To be called before wait().
  void register_pending(held) noexcept;

  // Without the lock: fetches events for at most `limit`. \returns how many
  int wait(duration limit) noexcept;

  // With it again: hands them out.
  void dispatch(held, int count) noexcept;

  // Gives the descriptors back. Nobody may wait or kick any more.
  void close() noexcept;

  // Any OS thread: makes the current or the next wait() return.
  void kick() noexcept;

  // For a host's event loop: a descriptor that is readable when wait(0) would find something, or when `due`
  // has passed.
  int descriptor() const noexcept { return epoll_; }
  int arm_alarm(clock::time_point due) noexcept; // \returns 0 or an errno value
  bool has_alarm() const noexcept { return alarm_ >= 0; }

 private:
  struct number {
    poll_source* first = nullptr;
    std::uint32_t generation = 0;
    bool registered = false;
  };
  int reserve(int fd) noexcept;
  int add(poll_source& source) noexcept;

  int epoll_ = -1;
  int kick_ = -1;
  int alarm_ = -1;
  boost::intrusive::list<poll_source, boost::intrusive::base_hook<pending_hook>,
                         boost::intrusive::constant_time_size<false>>
      pending_;
  std::vector<number> numbers_;
  std::array<epoll_event, 256> events_;
};

} // namespace rouse::detail
