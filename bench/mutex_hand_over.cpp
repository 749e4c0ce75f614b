// mutex_hand_over: two threads that both want one mutex all the time. Whoever has it lets the other run,
// which then finds it locked and waits. One iteration is one change of owner.

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/mutex.hpp>
#include <rouse/thread.hpp>

#include <cstdint>
#include <mutex>

namespace bench {

namespace {

constexpr int changes_a_batch = 1024;

class contention {
 public:
  // Locks once as thread number `who`.
  void lock_once(int who) {
    std::lock_guard locked(mutex_);
    if (owner_ != who) ++changes_;
    owner_ = who;
    rouse::this_thread::yield();
  }
  std::uint64_t changes() const noexcept { return changes_; }

 private:
  rouse::mutex mutex_;
  int owner_ = 0;
  std::uint64_t changes_ = 0;
};

void hand_over(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    contention c;
    bool over = false;
    rouse::thread other([&] {
      while (!over) c.lock_once(1);
    });
    for (std::uint64_t goal = changes_a_batch; state.KeepRunningBatch(changes_a_batch);
         goal += changes_a_batch)
      while (c.changes() < goal) c.lock_once(2);
    over = true;
    other.join();
  });
}

} // namespace

void add_mutex_hand_over() { add("mutex_hand_over/kind:green", hand_over); }

} // namespace bench
