#include "stack_pool.hpp"
#include "context.hpp"
#include "guard_pages.hpp"
#include "system_call.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace rouse::detail {

namespace {
constexpr std::size_t colours = 8;
constexpr std::size_t colour_step = 64;
} // namespace

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

stack_pool::~stack_pool() {
  for (stack_slot* slot = free_; slot; slot = slot->next_free) destroy_fiber(slot->fiber);
  for (const slab& s : slabs_) system_call(SYS_munmap, s.base, s.count * size_);
}

stack_slot* stack_pool::slot_at(std::byte* base) const noexcept {
  return reinterpret_cast<stack_slot*>(base + size_ - sizeof(stack_slot));
}

std::byte* stack_pool::bottom(stack_slot& slot) const noexcept {
  return reinterpret_cast<std::byte*>(&slot) + sizeof(stack_slot) - size_ + page_size();
}

stack_slot* stack_pool::acquire(int& error) noexcept {
  if (!free_) {
    if (unprepared_ == 0 && (error = map_slab()) != 0) return nullptr;
    if ((error = prepare_batch()) != 0) return nullptr;
  }
  stack_slot* slot = free_;
  free_ = slot->next_free;
  return slot;
}

// Slabs grow with the number of stacks: a small VM reserves little address space, a large one has few
// mappings.
int stack_pool::map_slab() noexcept {
  constexpr std::size_t smallest = 8;
  constexpr std::size_t largest_bytes = std::size_t{1} << 30;
  std::size_t count = std::clamp(prepared_, smallest, std::max(smallest, largest_bytes / size_));
  try {
    slabs_.reserve(slabs_.size() + 1);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  // A huge page for a stack of which one page is used would be a waste: MAP_STACK says so to new kernels, the
  // advice to all.
  long base = system_call(SYS_mmap, nullptr, count * size_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base < 0 && base > -4096) return static_cast<int>(-base);
  auto* memory = reinterpret_cast<std::byte*>(base);
  system_call(SYS_madvise, memory, count * size_, MADV_NOHUGEPAGE);
  slabs_.push_back({memory, count});
  unprepared_ = count;
  return 0;
}

// A batch is a fraction of what there already is, so that at most an eighth is ready in vain.
int stack_pool::prepare_batch() noexcept {
  std::size_t wanted = std::clamp<std::size_t>(prepared_ / 8, 1, page_batch::capacity);
  std::size_t count = std::min(wanted, unprepared_);
  std::byte* first = slabs_.back().base + (slabs_.back().count - unprepared_) * size_;
  const std::size_t page = page_size();
  page_batch guards;
  page_batch tops;
  for (std::size_t i = 0; i < count; ++i) {
    guards.add(first + i * size_, page);
    tops.add(first + (i + 1) * size_ - page, page);
  }
  if (int error = install_guards(guards)) return error;
  populate(tops);
  for (std::size_t i = count; i-- > 0;) {
    auto* slot = ::new (slot_at(first + i * size_)) stack_slot;
    slot->pool = this;
    slot->colour = (prepared_ + i) % colours * colour_step;
    slot->fiber = make_fiber();
    release(*slot);
  }
  unprepared_ -= count;
  prepared_ += count;
  return 0;
}

} // namespace rouse::detail
