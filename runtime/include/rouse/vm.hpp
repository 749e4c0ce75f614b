#pragma once
/// \file
/// A VM: one global lock and everything under it.
///
/// Two ways to run one. A program gives its work to `run` and gets the result back:
///
///     rouse::vm vm;
///     int answer = vm.run([] { return rouse::spawn([] { return 42; }).get(); });
///
/// A host with an event loop of its own posts work through a `remote`, watches `event_descriptor()`, and
/// calls `run_ready()` whenever the descriptor is readable.

#include <rouse/detail/body.hpp>
#include <rouse/duration.hpp>
#include <rouse/thread.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rouse {

namespace detail {
class vm_core;
struct core_access;
struct posted_work {
  virtual ~posted_work() = default;
  virtual void run() = 0;
};
} // namespace detail

struct vm_options {
  /// Bytes of a green thread's stack, rounded up to pages; from 16 KiB. Only the pages that are touched cost
  /// memory.
  std::size_t stack_size = 256 * 1024;
  /// Bytes of main's stack.
  std::size_t main_stack_size = 8 * 1024 * 1024;
  /// Called every few seconds with a text that says what the destructor waits for; on the OS thread that
  /// destroys the VM. When empty, the text goes to standard error.
  std::function<void(const std::string&)> on_slow_end;
};

/// A counted handle by which OS threads outside the VM post work into it. Any OS thread; outlives the VM
/// harmlessly.
class remote {
 public:
  remote(const remote&) noexcept;
  remote(remote&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  remote& operator=(remote other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~remote();

  /// Makes a thread in the VM that calls `f`; it may block. What it throws goes nowhere. If the VM ends
  /// first, or cannot make the thread, `f` is destroyed without a call. Wakes the VM if it is idle; never
  /// blocks.
  /// \throws vm_gone if the VM has ended
  template <class F> void post(F&& f) const {
    struct work final : detail::posted_work {
      explicit work(F&& g) : call(std::forward<F>(g)) {}
      void run() override { call(); }
      std::decay_t<F> call;
    };
    post_work(std::make_unique<work>(std::forward<F>(f)));
  }

 private:
  friend class vm;
  explicit remote(detail::vm_core& core) noexcept;
  void post_work(std::unique_ptr<detail::posted_work> work) const;
  detail::vm_core* core_;
};

/// A VM. Many may live in one process; one OS thread at a time runs each.
class vm {
 public:
  /// \throws std::invalid_argument for a stack that is too small; std::system_error without descriptors or
  ///   memory
  explicit vm(vm_options options = {});

  /// Kills, unwinds and joins what still lives, however long that takes. Handles may outlive it:
  /// `remote::post` then throws vm_gone, `kill` and `raise` do nothing.
  ~vm();
  vm(const vm&) = delete;
  vm& operator=(const vm&) = delete;

  /// Makes the calling OS thread the VM's worker and calls `f` as main, on a green stack of its own. When `f`
  /// ends, the other threads are killed, unwound and joined. May be called again afterwards.
  /// \returns what `f` returns
  /// \throws what `f` throws; thread_killed if main was killed; thread_error if this VM is being run
  ///   already; resource_error without memory for the stack
  template <class F> auto run(F&& f) -> std::invoke_result_t<std::decay_t<F>> {
    detail::function_body<F> body(std::forward<F>(f));
    run_main(body);
    return body.result.take();
  }

  /// A handle for OS threads outside.
  remote make_remote();

  /// Kills every thread except the caller, unwinds and joins for at most `limit`. From a thread of the VM,
  /// from an OS thread while nobody runs the VM (which it then does), or from another OS thread than the one
  /// that runs it, in which case main is killed as well. An interruption point inside the VM.
  /// \returns the threads that still live
  std::vector<thread> shutdown(duration limit = forever);

  /// Handles of all living threads, in the order of their making. From a thread of the VM or while nobody
  /// runs it.
  std::vector<thread> threads();

  /// Every living thread with name, state, what it waits for and since when, and its pending interrupts: a
  /// line each. From a thread of the VM or while nobody runs it.
  /// \throws thread_error otherwise
  std::string dump();

  /// A descriptor that is readable when posted work, a stream or a timer asks for run_ready(). Watch it,
  /// level-triggered; neither read nor close it. It stays the same.
  /// \throws std::system_error without descriptors
  int event_descriptor();

  /// Runs what is ready, on the calling OS thread, until no thread is; it never waits for descriptors or
  /// timers. A thread that keeps yielding keeps it from returning.
  /// \returns whether threads live
  /// \throws thread_error if this VM is being run already
  bool run_ready();

 private:
  friend struct detail::core_access;
  void run_main(detail::body& body);
  detail::vm_core* core_;
};

} // namespace rouse
