#pragma once
// Work that OS threads without the lock hand to the VM.
//
// A stack that anybody pushes on and only the holder of the lock empties, oldest first. It can be shut for
// good; then a push fails, and the poster knows that the VM is gone. See lock_word.hpp for what a poster does
// next.

#include "lock_word.hpp"

#include <atomic>

namespace rouse::detail {

struct inbox_node {
  // Called once, under the lock. It may destroy the node; it must not park.
  using handler = void (*)(inbox_node&, held) noexcept;
  explicit inbox_node(handler h) noexcept : handle(h) {}
  inbox_node* next = nullptr;
  handler handle;
};

class inbox {
 public:
  // Any OS thread. False: the inbox is shut, and the node is still the caller's.
  bool push(inbox_node& node) noexcept;

  // A hint for the holder's quick look; exact only after leave_idle().
  bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

  // The holder. Handles everything that was there at the time of the call.
  void drain(held) noexcept;

  // The holder. Handles what is there and shuts the inbox.
  void shut(held) noexcept;

 private:
  static void handle_all(inbox_node* newest, held) noexcept;
  std::atomic<inbox_node*> head_{nullptr};
};

} // namespace rouse::detail
