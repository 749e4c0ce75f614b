#pragma once
// The two ways in which a reader learns that its stream was closed, for close_wake and close_wake_distinct.

#include <rouse/stream.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <system_error>

namespace bench {

inline void read_for_value(rouse::stream& s) {
  std::byte nothing[1];
  std::error_code error;
  s.read_some(nothing, error);
  benchmark::DoNotOptimize(error);
}

inline void read_for_exception(rouse::stream& s) {
  std::byte nothing[1];
  try {
    s.read_some(nothing);
  } catch (const rouse::stream_closed& error) {
    benchmark::DoNotOptimize(&error);
  }
}

} // namespace bench
