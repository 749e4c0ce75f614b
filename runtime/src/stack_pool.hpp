#pragma once
// Stacks of one size.
//
// A stack costs what is touched of it. So stacks are cut from large mappings that reserve nothing, and the
// two things that each needs, a guard page and one page that is there, are made for many at a time: a system
// call each time would cost more than the page. What was a stack stays mapped until the VM is gone, since a
// handle may still look at the record on it.
//
//     base                                                             top
//     | guard | .................... stack grows down ............ | slot |

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rouse::detail {

// At the top of each stack; survives the threads that come and go on it.
struct stack_slot {
  stack_slot* next_free = nullptr;
  class stack_pool* pool = nullptr;
  std::size_t colour = 0; // bytes to leave free beneath, see record_place
  void* fiber = nullptr;  // for the thread sanitizer
};

class stack_pool {
 public:
  // `size` in bytes: a multiple of the page size, guard page included.
  explicit stack_pool(std::size_t size) noexcept : size_(size) {}
  ~stack_pool();
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  std::size_t size() const noexcept { return size_; }

  // A stack that is guarded and whose top page is there; the one freed last, if there is one. Null: no memory
  // or no mapping, and `error` has the errno value.
  stack_slot* acquire(int& error) noexcept;

  // Takes back a stack that acquire() gave and that nobody runs on.
  void release(stack_slot& slot) noexcept {
    slot.next_free = free_;
    free_ = &slot;
  }

  // The lowest address above the guard page.
  std::byte* bottom(stack_slot& slot) const noexcept;

 private:
  struct slab {
    std::byte* base;
    std::size_t count;
  };
  int map_slab() noexcept;
  int prepare_batch() noexcept;
  stack_slot* slot_at(std::byte* base) const noexcept;

  std::size_t size_;
  stack_slot* free_ = nullptr;
  std::vector<slab> slabs_;
  std::size_t unprepared_ = 0; // in the last slab
  std::size_t prepared_ = 0;   // in all
};

std::size_t page_size() noexcept;

} // namespace rouse::detail
