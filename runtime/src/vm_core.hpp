#pragma once
// What is under one global lock.
//
// Counted: by the vm, remotes, streams and the records of threads, so that handles may outlive the vm. The
// core of a VM that has ended keeps memory and no descriptors; its inbox is shut, so that a post fails.

#include "inbox.hpp"
#include "lock_word.hpp"
#include "park.hpp"
#include "poller.hpp"
#include "stack_pool.hpp"
#include "thread_record.hpp"
#include "timer_queue.hpp"

#include <rouse/vm.hpp>

#include <boost/intrusive/list.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace rouse::detail {

// An OS thread while it runs a VM. Its own stack is where the VM waits when nothing is runnable.
struct worker : switch_point {
  explicit worker(held h) noexcept : core(&h.core()), lock(h) {}
  vm_core* core;
  held lock;                        // while its OS thread runs code of the VM it holds the lock
  thread_record* current = nullptr; // the green thread that runs on it
  exception_globals* globals = nullptr;
  worker* outer =
      nullptr; // the worker that this OS thread was before, if one VM is run by a thread of another
};

// The calling OS thread's worker, or null. noinline: a thread may come back from a park on another OS thread.
worker* current_worker() noexcept;

// The running thread and the proof that it holds its VM's lock.
struct running : held {
  thread_record& self;
};

// \throws thread_error "<call>: not inside a VM"
running require_running(const char* call);

// Null outside a VM.
thread_record* running_record() noexcept;

// Makes the calling OS thread the worker of a VM for a scope.
class lock_entry {
 public:
  lock_entry(vm_core& core, const char* call); // \throws thread_error if another OS thread runs the VM
  ~lock_entry();
  lock_entry(const lock_entry&) = delete;
  lock_entry& operator=(const lock_entry&) = delete;
  held token() const noexcept { return held(core_); }

  static held of(thread_record& running_thread) noexcept { return held(*running_thread.core); }

 private:
  vm_core& core_;
  worker worker_;
  steady_float_flags flags_;
};

class vm_core {
 public:
  explicit vm_core(vm_options options);
  ~vm_core();
  vm_core(const vm_core&) = delete;
  vm_core& operator=(const vm_core&) = delete;

  void add_count() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void drop_count() noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // What cannot outlive the core but may outlive the VM. Under the lock while the VM lives: no atomic step
  // for each.
  void add_dependent() noexcept { ++dependents_; }
  void drop_dependent() noexcept {
    if (dependents_count_)
      drop_count();
    else
      --dependents_;
  }

  // Any OS thread. False: the VM has ended.
  bool post(inbox_node& node) noexcept;

  // Scheduling.
  void run_later(held, thread_record& t) noexcept { runnable_.push_back(t); }
  void switch_away(held, thread_record& self) noexcept; // the caller has arranged who makes it ready
  // On the worker's own stack. Threads that never park are left alone from `limit` on.
  void run_until_idle(held, clock::time_point limit = clock::time_point::max()) noexcept;
  void wait_for_work(held, clock::time_point limit) noexcept;
  void poll(held, duration limit) noexcept;
  void take_in_posted(held h) noexcept {
    if (!inbox_.empty()) inbox_.drain(h);
  }
  bool anything_runnable() const noexcept { return !runnable_.empty(); }
  [[noreturn]] void leave_for_good(held, thread_record& self) noexcept;
  void finish_switch(switch_point& previous) noexcept {
    if (previous.ended) [[unlikely]]
      detail::drop_count(static_cast<thread_record&>(previous));
  }

  // Threads.
  thread_record* make_thread(held, const thread_options&,
                             bool main); // \throws vm_gone, resource_error, bad_alloc
  void start(held, thread_record& t, body& b) noexcept;
  void recycle(thread_record& t) noexcept; // nobody counts on it; under the lock
  void kill_all(held, const thread_record* except) noexcept;
  // Kills the others and waits for their end. \returns false if the time or an interrupt ended the wait
  bool end_others(held, thread_record& self, bool interruptible, clock::time_point due) noexcept;
  void end_all(const std::function<void(const std::string&)>* report);
  std::string describe(held) const;

  lock_word word;
  poller io;
  timer_queue timers;
  living_list living;
  std::size_t living_count = 0;
  wait_list quiet_waiters; // wait until one thread is left
  std::uint64_t next_ticket = 0;
  clock::time_point coarse_now; // of the last look at the clock; for dump()
  int ending = 0;               // somebody ends the threads: no new ones; a count, since several may at once
  worker* active_worker = nullptr;
  vm_options options;

  // For OS threads that wait for the VM to come to rest.
  std::mutex outside_mutex;
  std::condition_variable outside_changed;
  std::atomic<bool> entered{false};

 private:
  friend class lock_entry;
  // After so many switches a busy VM looks at its descriptors and timers.
  static constexpr int switches_between_looks = 1024;

  thread_record* next_runnable(held) noexcept;
  void prefetch(thread_record& next) noexcept;
  void look_around(held) noexcept;
  stack_pool& pool_for(std::size_t stack_size);

  std::atomic<std::size_t> count_{1};
  inbox inbox_;
  std::atomic<std::uint32_t> posters_{0}; // OS threads that are inside post()
  run_queue runnable_;
  int switches_left_ = switches_between_looks;
  clock::time_point come_back_ = clock::time_point::max(); // the limit of run_until_idle
  std::uint64_t next_thread_id_ = 0;
  std::size_t dependents_ = 0;    // records of threads, and streams
  bool dependents_count_ = false; // the VM has ended, and each of them has a count of the core
  std::vector<std::unique_ptr<stack_pool>> pools_; // the first has the usual size
};

} // namespace rouse::detail
