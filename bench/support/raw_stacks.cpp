#include "support/raw_stacks.hpp"

#include <algorithm>
#include <array>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr std::size_t stack_size = std::size_t{256} * 1024;
constexpr std::size_t stacks_a_slab = 4096;
constexpr std::size_t stacks_a_batch = 128;

// Newer than some headers: Linux 6.13, 5.14, 5.10 and 6.14.
constexpr int guard_install = 102;
constexpr int populate_write = 23;
constexpr long process_madvise = 440;
constexpr int self_without_descriptor = -10000;

using pages = std::array<iovec, stacks_a_batch>;

bool advise_at_once(const pages& at, std::size_t count, int advice) {
  const long done = ::syscall(process_madvise, self_without_descriptor, at.data(), count, advice, 0);
  return done == static_cast<long>(count * at[0].iov_len);
}

bool advise_singly(const pages& at, std::size_t count, int advice) {
  return std::all_of(at.begin(), at.begin() + count,
                     [&](const iovec& page) { return ::madvise(page.iov_base, page.iov_len, advice) == 0; });
}

bool advise(const pages& at, std::size_t count, int advice) {
  return advise_at_once(at, count, advice) || advise_singly(at, count, advice);
}

// On an older kernel each guard is a mapping, and the number of those is limited.
bool protect(const pages& at, std::size_t count) {
  return std::all_of(at.begin(), at.begin() + count, [](const iovec& page) {
    return ::mprotect(page.iov_base, page.iov_len, PROT_NONE) == 0;
  });
}

void touch(const pages& at, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) *static_cast<volatile char*>(at[i].iov_base) = 0;
}

} // namespace

raw_stacks::~raw_stacks() {
  for (void* slab : slabs_) ::munmap(slab, stacks_a_slab * stack_size);
}

bool raw_stacks::map_slab() {
  const std::size_t size = stacks_a_slab * stack_size;
  void* slab = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (slab == MAP_FAILED) return false;
  slabs_.push_back(slab);
  ::madvise(slab, size, MADV_NOHUGEPAGE);
  return true;
}

bool raw_stacks::prepare(std::byte* first, std::size_t count) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  pages guards, tops;
  for (std::size_t i = 0; i < count; ++i) {
    guards[i] = {first + i * stack_size, page};
    tops[i] = {first + (i + 1) * stack_size - page, page};
  }
  if (!advise(guards, count, guard_install) && !protect(guards, count)) return false;
  if (!advise(tops, count, populate_write)) touch(tops, count);
  return true;
}

std::size_t raw_stacks::make(std::size_t count) {
  std::size_t made = 0;
  while (made < count) {
    const std::size_t in_slab = made % stacks_a_slab;
    if (in_slab == 0 && !map_slab()) return made;
    const std::size_t batch = std::min(stacks_a_batch, count - made);
    if (!prepare(static_cast<std::byte*>(slabs_.back()) + in_slab * stack_size, batch)) return made;
    made += batch;
  }
  return made;
}

} // namespace bench
