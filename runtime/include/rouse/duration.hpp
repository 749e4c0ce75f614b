#pragma once
/// \file
/// Time limits as the library takes them.

#include <chrono>

namespace rouse {

/// Every time limit in the interface has this type. Any std::chrono duration of integers that fits converts
/// to it; `std::chrono::ceil<rouse::duration>(d)` converts the others. Measured on the monotonic clock, and
/// never early.
using duration = std::chrono::nanoseconds;

/// The clock behind every `..._until`.
using clock = std::chrono::steady_clock;

/// No limit.
inline constexpr duration forever = duration::max();

} // namespace rouse
