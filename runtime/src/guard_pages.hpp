#pragma once
// Guard pages and pages that are there, many in one system call where the kernel can do that.

#include <array>
#include <cstddef>
#include <sys/uio.h>

namespace rouse::detail {

class page_batch {
 public:
  static constexpr std::size_t capacity = 128;
  void add(void* start, std::size_t size) noexcept { ranges_[count_++] = {start, size}; }
  const iovec* begin() const noexcept { return ranges_.data(); }
  const iovec* end() const noexcept { return ranges_.data() + count_; }
  std::size_t size() const noexcept { return count_; }

 private:
  std::array<iovec, capacity> ranges_;
  std::size_t count_ = 0;
};

// Makes any access to the ranges a fault. \returns 0 or an errno value; ENOMEM from a kernel without
// MADV_GUARD_INSTALL usually means that vm.max_map_count is reached, since there each guard is a mapping.
// Ranges done before a failure keep their guards, and may be given again.
int install_guards(const page_batch& ranges) noexcept;

// Touches the ranges. A failure is not reported: the first access will do the same.
void populate(const page_batch& ranges) noexcept;

} // namespace rouse::detail
