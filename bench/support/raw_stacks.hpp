#pragma once
// What the machine takes for a stack and nothing else: address space, a guard page at its bottom and a page
// that is there at its top. For the twin of spawn_blocked.

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// Stacks 256 KiB apart, made in batches with as few system calls as this kernel allows. They go with the
// object.
class raw_stacks {
 public:
  raw_stacks() = default;
  ~raw_stacks();
  raw_stacks(const raw_stacks&) = delete;
  raw_stacks& operator=(const raw_stacks&) = delete;

  // \returns how many there are now: `count`, or less when the machine gave no more
  std::size_t make(std::size_t count);

 private:
  bool map_slab();
  bool prepare(std::byte* first, std::size_t count);

  std::vector<void*> slabs_;
};

} // namespace bench
