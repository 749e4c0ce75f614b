#pragma once
// What the process holds, and what the machine still has.

#include <cstddef>

namespace bench {

// Resident memory and the page tables for it, in bytes: what threads with large, mostly untouched stacks
// really cost.
std::size_t memory_in_use();

// What could be used without pushing anything out, in bytes.
std::size_t memory_available();

} // namespace bench
