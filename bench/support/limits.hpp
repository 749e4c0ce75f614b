#pragma once
// How many descriptors a benchmark may use. One that wants more does what fits, and says so in its label.

#include <cstddef>

namespace bench {

// Raises the soft limit to the hard one, as any process may.
void raise_descriptor_limit() noexcept;

// How many descriptors can still be opened, with some left over for the VM and the benchmark itself.
std::size_t spare_descriptors() noexcept;

} // namespace bench
