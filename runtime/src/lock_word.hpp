#pragma once
// The word of the global lock.
//
// Whoever holds the lock runs VM code; exactly one OS thread does. What can go wrong is that work is posted
// while the holder decides that there is nothing to do. Hence the rule: the poster pushes, then reads the
// word; the holder writes the word, then reads the inbox. Both orders are sequentially consistent, so one of
// the two sees the other.
//
//            leave_idle() (exchange; then re-read the inbox)
//     held --------------------------------------------------> idle
//          <--------------------------------------------------
//            take() (compare-and-swap; a failed one needs no loop)
//
//   held   an OS thread runs VM code. Only it may leave this state.
//   idle   nobody does; perhaps an OS thread polls. Whoever wants the lock may take it.
//   lent   reserved for blocking regions: the low bits hold the state, the high bits an epoch that is never
//   re-used.

#include <atomic>
#include <cstdint>

namespace rouse::detail {

class vm_core;

class lock_word {
 public:
  // By the holder alone. It must look at the inbox afterwards and take() the lock back if there is something
  // in it.
  void leave_idle() noexcept { word_.exchange(idle, std::memory_order_seq_cst); }

  // By an OS thread that wants the lock. False: somebody else has it.
  bool take() noexcept {
    std::uint64_t expected = idle;
    return word_.compare_exchange_strong(expected, held, std::memory_order_seq_cst);
  }

  // By a poster, after its push: true if nobody is going to look at the inbox by himself.
  bool is_idle() const noexcept { return (word_.load(std::memory_order_seq_cst) & state_mask) == idle; }

 private:
  static constexpr std::uint64_t state_mask = 3;
  static constexpr std::uint64_t held = 0;
  static constexpr std::uint64_t idle = 2;
  std::atomic<std::uint64_t> word_{idle};
};

// Proof that the caller holds the lock of a VM. Only the VM's own entry points make one; internal functions
// that touch what the lock guards take it as a parameter, so that a caller without the lock does not compile.
class held {
 public:
  vm_core& core() const noexcept { return *core_; }

 private:
  friend class lock_entry;
  explicit held(vm_core& core) noexcept : core_(&core) {}
  vm_core* core_;
};

} // namespace rouse::detail
