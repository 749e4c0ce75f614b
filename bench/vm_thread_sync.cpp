// Benchmarks that have CRuby's names and do what those do with mutexes and condition variables.
//
//   vm_thread_mutex1   one thread locks and unlocks; one iteration: once
//   vm_thread_mutex2   two threads lock the same mutex; one iteration: each has done it 100 times, and has
//   ended vm_thread_mutex3   1000 threads, likewise vm_thread_condvar1 two threads wake each other, each by a
//   condition variable of its own; one iteration: to
//                      and fro
//   vm_thread_condvar2 100 threads wait on one condition variable; one iteration: all are woken and wait
//   again

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/condition_variable.hpp>
#include <rouse/mutex.hpp>
#include <rouse/thread.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

namespace bench {

namespace {

void lock_alone(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    rouse::mutex m;
    for (auto _ : state) std::lock_guard locked(m);
  });
}

void lock_among(benchmark::State& state, std::size_t threads) {
  constexpr int times = 100;
  in_vm(state, [&](rouse::vm&) {
    rouse::mutex m;
    std::vector<rouse::thread> all(threads);
    for (auto _ : state) {
      for (rouse::thread& t : all)
        t = rouse::thread([&] {
          for (int i = 0; i < times; ++i) std::lock_guard locked(m);
        });
      for (rouse::thread& t : all) t.join();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(threads) * times);
  });
}

void to_and_fro(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    rouse::mutex m;
    rouse::condition_variable there, back;
    bool at_other = false;
    bool over = false;
    rouse::thread other([&] {
      std::unique_lock locked(m);
      for (;;) {
        there.wait(locked, [&] { return at_other; });
        if (over) return;
        at_other = false;
        back.notify_one();
      }
    });
    std::unique_lock locked(m);
    for (auto _ : state) {
      at_other = true;
      there.notify_one();
      back.wait(locked, [&] { return !at_other; });
    }
    over = at_other = true;
    there.notify_one();
    locked.unlock();
    other.join();
  });
}

void wake_many(benchmark::State& state) {
  constexpr std::size_t threads = 100;
  in_vm(state, [&](rouse::vm&) {
    rouse::mutex m;
    rouse::condition_variable go, all_wait;
    std::size_t waiting = 0;
    bool over = false;
    std::vector<rouse::thread> all;
    for (std::size_t i = 0; i < threads; ++i)
      all.emplace_back([&] {
        std::unique_lock locked(m);
        while (!over) {
          if (++waiting == threads) all_wait.notify_one();
          go.wait(locked);
        }
      });
    {
      std::unique_lock locked(m);
      for (auto _ : state) {
        all_wait.wait(locked, [&] { return waiting == threads; });
        waiting = 0;
        go.notify_all();
      }
      all_wait.wait(locked, [&] { return waiting == threads; });
      over = true;
      go.notify_all();
    }
    for (rouse::thread& t : all) t.join();
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(threads));
  });
}

} // namespace

void add_vm_thread_sync() {
  add("vm_thread_mutex1", lock_alone);
  add("vm_thread_mutex2", [](benchmark::State& state) { lock_among(state, 2); });
  add("vm_thread_mutex3", [](benchmark::State& state) { lock_among(state, 1000); });
  add("vm_thread_condvar1", to_and_fro);
  add("vm_thread_condvar2", wake_many);
}

} // namespace bench
