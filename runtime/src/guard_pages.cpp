#include "guard_pages.hpp"
#include "system_call.hpp"

#include <atomic>
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace rouse::detail {

namespace {

constexpr int madv_guard_install = 102; // Linux 6.13; older headers lack it
constexpr int pidfd_self = -10000;      // Linux 6.14: the calling process, without a descriptor

// Kernels differ in what they take; what one refused is not tried again.
std::atomic<bool> many_at_once{true};
std::atomic<bool> light_guards{true};

bool is_refusal(long result) noexcept {
  return result == -ENOSYS || result == -EINVAL || result == -EBADF || result == -EPERM ||
         result == -EOPNOTSUPP;
}

// Applies the advice to each range. \returns 0 or a negative errno value
long advise(const page_batch& ranges, int advice) noexcept {
  const iovec* at = ranges.begin();
  if (many_at_once.load(std::memory_order_relaxed)) {
    std::size_t total = 0;
    for (const iovec& range : ranges) total += range.iov_len;
    long done = system_call(SYS_process_madvise, pidfd_self, ranges.begin(), ranges.size(), advice, 0);
    if (done == static_cast<long>(total)) return 0;
    if (is_refusal(done)) many_at_once.store(false, std::memory_order_relaxed);
  }
  for (; at != ranges.end(); ++at)
    if (long result = system_call(SYS_madvise, at->iov_base, at->iov_len, advice); result < 0) return result;
  return 0;
}

} // namespace

int install_guards(const page_batch& ranges) noexcept {
  if (light_guards.load(std::memory_order_relaxed)) {
    long result = advise(ranges, madv_guard_install);
    if (result == 0) return 0;
    if (!is_refusal(result)) return static_cast<int>(-result);
    light_guards.store(false, std::memory_order_relaxed);
  }
  for (const iovec& range : ranges)
    if (long result = system_call(SYS_mprotect, range.iov_base, range.iov_len, PROT_NONE); result < 0)
      return static_cast<int>(-result);
  return 0;
}

void populate(const page_batch& ranges) noexcept { static_cast<void>(advise(ranges, MADV_POPULATE_WRITE)); }

} // namespace rouse::detail
