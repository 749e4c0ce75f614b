// raw/context_jump: one bare jump from one stack to another and nothing else. It is the unit in which what a
// green switch costs is counted.
//
// Two stacks whose tops lie at the same offset within a page would measure something else: the processor
// tells a load from an earlier store by the low 12 bits of the address, so each side's restores would wait
// for the other side's saves, and a jump would cost many times as much. Hence the offset.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <sys/mman.h>

namespace bench {

namespace {

namespace ctx = boost::context::detail;

constexpr std::size_t stack_size = std::size_t{256} * 1024;
constexpr std::size_t offset = 1024; // as little as keeps the two frames apart
constexpr int jumps_a_batch = 1024;

// Two stacks as the runtime lays them out, side by side.
class stack_pair {
 public:
  stack_pair()
      : memory_(mmap(nullptr, 2 * stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~stack_pair() {
    if (is_there()) munmap(memory_, 2 * stack_size);
  }
  stack_pair(const stack_pair&) = delete;
  stack_pair& operator=(const stack_pair&) = delete;

  bool is_there() const noexcept { return memory_ != MAP_FAILED; }
  void* first_top() const noexcept { return base() + stack_size - 64; }
  void* second_top() const noexcept { return base() + 2 * stack_size - 64 - offset; }

 private:
  std::byte* base() const noexcept { return static_cast<std::byte*>(memory_); }
  void* memory_;
};

void echo(ctx::transfer_t from) {
  for (;;) from = ctx::jump_fcontext(from.fctx, nullptr);
}

struct measurement {
  benchmark::State& state;
  void* other_top;
};

void measure(ctx::transfer_t from) {
  auto& m = *static_cast<measurement*>(from.data);
  ctx::transfer_t other{ctx::make_fcontext(m.other_top, stack_size / 2, echo), nullptr};
  while (m.state.KeepRunningBatch(jumps_a_batch))
    for (int i = 0; i < jumps_a_batch; i += 2) other = ctx::jump_fcontext(other.fctx, nullptr);
  ctx::jump_fcontext(from.fctx, nullptr);
}

void context_jump(benchmark::State& state) {
  stack_pair stacks;
  if (!stacks.is_there()) return state.SkipWithError("no memory for two stacks");
  measurement m{state, stacks.second_top()};
  ctx::jump_fcontext(ctx::make_fcontext(stacks.first_top(), stack_size / 2, measure), &m);
}

} // namespace

void add_context_jump() { add("raw/context_jump", context_jump); }

} // namespace bench
