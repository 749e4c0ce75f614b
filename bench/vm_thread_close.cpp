// vm_thread_close, CRuby's benchmark of that name: pipes are made and both ends closed while many threads of
// the VM have nothing to do with it. One iteration is one pipe. The threads sleep, as they do in CRuby's, or
// they are blocked on other pipes, two on each.
//
// The strategies are those by which CRuby has found the threads that a close must wake, from its hash table
// of threads to the list in each stream. All close the same stream of the same VM; the older ones first do
// the search that they stand for. The twin makes the same three system calls, as main of such a VM.

#include "benchmarks.hpp"
#include "strategies/living_hash.hpp"
#include "strategies/living_list.hpp"
#include "strategies/per_stream.hpp"
#include "strategies/waiting_list.hpp"
#include "support/crowd.hpp"
#include "support/in_vm.hpp"

#include <array>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace bench {

namespace {

struct point {
  std::size_t asleep;
  std::size_t blocked;
};
constexpr std::array grid{point{0, 0},   point{100, 0},  point{1000, 0}, point{10000, 0},
                          point{0, 100}, point{0, 1000}, point{0, 5000}, point{0, 10000}};

std::string parameters(point p) {
  return "/asleep:" + std::to_string(p.asleep) + "/blocked:" + std::to_string(p.blocked);
}

void say_if_fewer(benchmark::State& state, const crowd& others, point p) {
  if (others.blocked() < p.blocked)
    state.SetLabel("descriptor limit: only " + std::to_string(others.blocked()) + " threads blocked");
}

template <class Strategy> void close_pipes(benchmark::State& state, point p) {
  in_vm(state, [&](rouse::vm& vm) {
    Strategy strategy;
    crowd others(p.asleep, p.blocked, strategy.around_read());
    say_if_fewer(state, others, p);
    for (const rouse::thread& t : vm.threads()) strategy.attach(t);
    for (auto _ : state) {
      rouse::pipe_ends ends = rouse::pipe();
      strategy.close(ends.reader);
      strategy.close(ends.writer);
    }
  });
}

void close_descriptors(benchmark::State& state, point p) {
  in_vm(state, [&](rouse::vm&) {
    crowd others(p.asleep, p.blocked);
    say_if_fewer(state, others, p);
    for (auto _ : state) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return state.SkipWithError("pipe2 failed");
      ::close(ends[0]);
      ::close(ends[1]);
    }
  });
}

template <class Strategy> void add_strategy(point p) {
  add(std::string("vm_thread_close/strategy:") + Strategy::name + parameters(p),
      [p](benchmark::State& state) { close_pipes<Strategy>(state, p); });
}

} // namespace

void add_vm_thread_close() {
  for (point p : grid) {
    add_strategy<living_hash>(p);
    add_strategy<living_list>(p);
    add_strategy<waiting_list>(p);
    add_strategy<per_stream>(p);
    add("raw/vm_thread_close" + parameters(p), [p](benchmark::State& state) { close_descriptors(state, p); });
  }
}

} // namespace bench
