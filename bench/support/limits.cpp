#include "support/limits.hpp"

#include <filesystem>
#include <iterator>
#include <sys/resource.h>

namespace bench {

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t spare_descriptors() noexcept {
  constexpr std::size_t reserve = 32;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  std::error_code none;
  std::filesystem::directory_iterator open("/proc/self/fd", none);
  std::size_t used = reserve;
  if (!none) used += static_cast<std::size_t>(std::distance(begin(open), end(open)));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

} // namespace bench
