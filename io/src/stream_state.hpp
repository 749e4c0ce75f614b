#pragma once
// A stream as the VM sees it. See <rouse/stream.hpp> for the life of one and close.cpp for how it ends.
//
// All but the count is guarded by the lock of the stream's VM.

#include "poller.hpp"
#include "vm_core.hpp"

#include <rouse/stream.hpp>

#include <array>
#include <atomic>

namespace rouse::detail {

enum class stream_phase : std::uint8_t {
  open,    // calls work
  closing, // new calls fail; those that are under way are told, and the descriptor is still ours until the
           // last has left
  closed,  // the descriptor is no longer ours
};

enum class direction : std::uint8_t { read, write };

// What kind of descriptor it is decides which system calls move bytes. See transport.cpp.
enum class stream_kind : std::uint8_t {
  own_pipe,    // O_NONBLOCK, set by us
  shared_pipe, // made elsewhere or handed out: nothing is known about its flags
  socket,
};

// What is known of one direction. `ready` says that an attempt may succeed; it starts true, an attempt that
// finds nothing clears it, an event sets it. An event that comes during an attempt must not be cleared by it:
// the attempt remembers the tick from before, and clears only if it is still the same.
struct readiness {
  bool ready = true;
  std::uint32_t tick = 0;
  wait_list waiters; // in order of arrival; an event wakes the first
};

struct stream_state;

// Carries a stream into its VM when the last handle is dropped outside.
struct drop_node : inbox_node {
  explicit drop_node(stream_state& s) noexcept : inbox_node(handle_it), stream(&s) {}
  static void handle_it(inbox_node&, held) noexcept;
  stream_state* stream;
};

struct stream_state : poll_source {
  stream_state(vm_core& c, int descriptor, stream_kind k, bool close_number) noexcept;
  ~stream_state();

  stream_phase phase = stream_phase::open;
  stream_kind kind;
  bool owns_number;        // false: borrowed
  bool shared = false;     // the description may live on after close(2)
  bool hung_up = false;    // the kernel said so; sticky until an attempt finds nothing after all
  bool orphaned = false;   // no handle is left, but somebody still uses it: the last one to leave deletes it
  bool revoked = false;    // another stream has closed the number that this one uses too
  bool writing = false;    // a writer has its turn
  std::uint32_t born;      // fork generation
  std::uint32_t users = 0; // operations from their first look at the descriptor to the end of their scope
  std::array<readiness, 2> directions;
  wait_list turn_waiters;          // writers that wait until it is their turn
  wait_list close_waiters;         // threads that wait for `closed`
  thread_record* closer = nullptr; // waits until nobody uses the descriptor
  std::uint64_t closer_ticket = 0;
  stream_state* peer = nullptr; // the other end, while both live in this VM and are open
  duration limit = forever;
  vm_core* core;
  std::atomic<std::uint32_t> count{1};
  drop_node drop;

  readiness& side(direction d) noexcept { return directions[static_cast<std::size_t>(d)]; }
  bool may_be_shared() const noexcept;
};

void add_count(stream_state& s) noexcept;
void drop_count(stream_state& s) noexcept; // any OS thread

// readiness.cpp
void note_ready(held, stream_state& s, direction d) noexcept; // an event, or a hint that stands for one
void note_nothing(stream_state& s, direction d, std::uint32_t tick) noexcept; // an attempt found nothing
// Only of pipes that nobody else has touched: with urgent data, passed descriptors or packets a short read
// proves nothing.
void note_short_read(stream_state& s, std::uint32_t tick) noexcept;
void note_hang_up(held, stream_state& s) noexcept;
void wake_next(held, stream_state& s,
               direction d) noexcept; // to be called by whoever leaves while readiness stands
void on_poll_events(poll_source& source, held, std::uint32_t events) noexcept;

// close.cpp
void abandon(held, stream_state& s) noexcept; // the last handle is gone
// Other streams of the same number lose it: it is about to be closed, or the kernel has just given it to `s`,
// so that somebody else closed it before. Whoever has it next is a stranger to them.
void revoke_others(held, stream_state& s) noexcept;

// The inside of the public handle.
struct stream_access {
  static stream adopt(stream_state* counted) noexcept { return stream(counted); }
  static stream_state* state(const stream& s) noexcept { return s.state_; }
};

} // namespace rouse::detail
