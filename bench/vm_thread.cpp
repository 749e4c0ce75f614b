// Benchmarks that have CRuby's names and do what those do: threads that are made, asked, made to sleep, let
// each other run, or move bytes.
//
//   vm_thread_create_join  one iteration: a thread that does nothing is made and joined
//   vm_thread_alive_check  one iteration: a thread is made and asked, with a yield each time, until it has
//   ended vm_thread_sleep        one iteration: a thread is made that sleeps for good vm_thread_pass 8
//   threads yield; one iteration: one yield vm_thread_pass_flood   5000 threads yield all the time; one
//   iteration: main gets its turn once. CRuby's main
//                          counts and is interrupted by a timer instead; here nobody interrupts it
//   vm_thread_pipe         one iteration: a thread writes 10 000 bytes singly, and another reads them singly

#include "benchmarks.hpp"
#include "support/in_vm.hpp"

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <array>

namespace bench {

namespace {

void create_join(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    for (auto _ : state) rouse::thread([] {}).join();
  });
}

void alive_check(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    for (auto _ : state) {
      rouse::thread t([] {});
      while (t.alive()) rouse::this_thread::yield();
    }
  });
}

void sleep_for_good(benchmark::State& state) {
  in_vm(state, [&](rouse::vm&) {
    for (auto _ : state) {
      rouse::thread([] { rouse::this_thread::sleep(); });
      rouse::this_thread::yield();
    }
  });
}

void pass(benchmark::State& state) {
  constexpr int threads = 8;
  constexpr int rounds_a_batch = 128;
  in_vm(state, [&](rouse::vm&) {
    bool over = false;
    for (int i = 1; i < threads; ++i)
      rouse::thread([&] {
        while (!over) rouse::this_thread::yield();
      });
    while (state.KeepRunningBatch(threads * rounds_a_batch))
      for (int i = 0; i < rounds_a_batch; ++i) rouse::this_thread::yield();
    over = true;
    rouse::this_thread::yield();
  });
}

void pass_flood(benchmark::State& state) {
  constexpr int threads = 5000;
  in_vm(state, [&](rouse::vm&) {
    bool over = false;
    for (int i = 0; i < threads; ++i)
      rouse::thread([&] {
        while (!over) rouse::this_thread::yield();
      });
    rouse::this_thread::yield(); // now all have begun
    for (auto _ : state) rouse::this_thread::yield();
    over = true;
    rouse::this_thread::yield();
    state.SetItemsProcessed(state.iterations() * (threads + 1));
  });
}

void move_bytes(benchmark::State& state) {
  constexpr int bytes = 10'000;
  in_vm(state, [&](rouse::vm&) {
    rouse::pipe_ends ends = rouse::pipe();
    for (auto _ : state) {
      rouse::thread writer([&] {
        for (int i = 0; i < bytes; ++i) ends.writer.write_all("a");
      });
      rouse::thread reader([&] {
        std::array<char, 1> byte;
        for (int i = 0; i < bytes; ++i) ends.reader.read_exactly(byte);
      });
      writer.join();
      reader.join();
    }
    state.SetItemsProcessed(state.iterations() * bytes);
  });
}

} // namespace

void add_vm_thread() {
  add("vm_thread_create_join", create_join);
  add("vm_thread_alive_check", alive_check);
  add("vm_thread_sleep", sleep_for_good)->Iterations(10'000); // they stay, so their number is limited
  add("vm_thread_pass", pass);
  add("vm_thread_pass_flood", pass_flood);
  add("vm_thread_pipe", move_bytes);
}

} // namespace bench
