#pragma once
// Ours: each stream has the list of its own waiters, so a close has nobody else to look for.

#include "support/crowd.hpp"

#include <rouse/stream.hpp>

namespace bench {

struct per_stream {
  static constexpr const char* name = "per_stream";
  void attach(const rouse::thread&) {}
  no_scope around_read() { return {}; }
  void close(rouse::stream& s) { s.close(); }
};

} // namespace bench
