#pragma once
/// \file
/// Threads of a VM.
///
/// They look like std::thread and behave like the threads of CRuby: one runs at a time, a blocked one costs a
/// page of memory, and another thread can raise an exception in it or kill it.
///
/// The life of a thread:
///
///     made --> runnable <--> running --> ended
///                  ^            |
///                  |            v
///                  +-------- parked          park gives up running until somebody makes the thread ready;
///                                            a wait ticket names one park, and a stale ticket wakes nobody
///
/// Everything here is called by a thread of the VM unless it says otherwise.

#include <rouse/detail/body.hpp>
#include <rouse/duration.hpp>
#include <rouse/error.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rouse {

/// What a thread is doing.
enum class thread_status : std::uint8_t {
  runnable, ///< it runs, or will as soon as its turn comes
  sleeping, ///< it waits for something
  ended,    ///< its function has returned, thrown or been killed
};

/// How to make a thread.
struct thread_options {
  std::string name;           ///< shown by dump(); need not be unique
  std::size_t stack_size = 0; ///< bytes, rounded up to pages; 0 takes the VM's
};

/// A counted handle of a thread. Copies name the same thread; dropping the last one lets the thread run on.
///
/// A handle may be copied, moved and dropped on any OS thread, also after its VM has ended. `kill`, `raise`
/// and `wakeup` may be called on any OS thread; from outside the VM they are posted into it.
class thread {
 public:
  /// Names one thread of a VM; never used again in that VM. Default-constructed, it names none.
  class id {
   public:
    id() = default;
    explicit id(std::uint64_t value) noexcept : value_(value) {}
    std::uint64_t value() const noexcept { return value_; }
    friend bool operator==(const id&, const id&) = default;
    friend auto operator<=>(const id&, const id&) = default;

   private:
    std::uint64_t value_ = 0;
  };

  /// An empty handle.
  thread() noexcept = default;

  /// Starts a thread that calls `f(args...)`, both copied or moved as std::thread does. The new thread goes
  /// to the end of the run queue; the caller runs on.
  /// \throws thread_error outside a VM; vm_gone while the VM ends; resource_error without memory or
  ///   mappings for a stack, std::bad_alloc without memory for the name; std::length_error if the callable
  ///   and its arguments do not fit on the stack; std::invalid_argument for a stack of less than 16 KiB
  template <class F, class... A>
  requires(!std::is_base_of_v<thread, std::remove_cvref_t<F>> &&
           !std::is_same_v<thread_options, std::remove_cvref_t<F>> &&
           std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>) explicit thread(F&& f, A&&... args);

  thread(const thread& other) noexcept;
  thread(thread&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  thread& operator=(thread other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~thread();

  /// Whether the handle names a thread.
  explicit operator bool() const noexcept { return record_ != nullptr; }

  /// Waits until the thread has ended; a wake-up from elsewhere does not end the wait (CRuby: Thread#join). An
  /// interruption point.
  /// \throws what the thread threw, the same object for every joiner and every call; nothing if it was
  ///   killed; thread_error for the thread itself, for main ("Target thread must not be main thread"),
  ///   outside the VM, for an empty handle
  void join() const;

  /// As join(), for at most `limit`.
  /// \returns whether the thread has ended
  bool join_for(duration limit) const;

  /// Makes `error` be thrown in the thread at its next interruption point, once; a thread that waits is
  /// woken. Does nothing to a thread that has ended. Raising in the calling thread throws at once. (CRuby:
  /// Thread#raise)
  void raise(std::exception_ptr error) const;

  /// As above with a copy of `error`.
  template <class E>
  requires(!std::is_same_v<std::remove_cvref_t<E>, std::exception_ptr>) void raise(E&& error) const {
    raise(std::make_exception_ptr(std::forward<E>(error)));
  }

  /// Ends the thread: its stack is unwound from its next interruption point on, destructors and `catch (...)`
  /// included. A handler that swallows the kill only delays it: it comes again at the next interruption
  /// point. Killing an ended or dying thread does nothing; killing oneself does not return. (CRuby:
  /// Thread#kill)
  void kill() const;

  /// Ends the current `sleep` of the thread, or its wait on a condition variable, which then returns as if
  /// notified. Does nothing to one that waits for something else, or runs.
  /// \throws thread_error "killed thread" if it has ended. (CRuby: Thread#wakeup)
  void wakeup() const;

  /// What the thread is doing now. Any OS thread.
  thread_status status() const;

  /// Whether it has not ended. Any OS thread.
  bool alive() const { return status() != thread_status::ended; }

  /// Which thread this is; id() for an empty handle. Any OS thread.
  id get_id() const noexcept;

  /// The name that it was given, perhaps none. Valid as long as the handle. Any OS thread.
  std::string_view name() const noexcept;

  /// The descriptor whose stream the thread waits on, or -1. Meant for measurements and debuggers; the time
  /// it takes does not depend on anything else. Only threads of the same VM may ask.
  int waits_on_descriptor() const noexcept;

  friend bool operator==(const thread&, const thread&) = default;

 protected:
  explicit thread(detail::thread_record* counted) noexcept : record_(counted) {}
  detail::body& body() const noexcept;
  void join_for_result(const char* call) const;

 private:
  friend struct detail::thread_access;
  detail::thread_record* record_ = nullptr;
};

/// A thread whose function returns R.
template <class R> class task : public thread {
 public:
  task() noexcept = default;

  /// Joins, then gives the result, which stays where it is as long as a handle lives. An interruption point.
  /// \throws what the thread threw; thread_killed if it was killed; and what join() throws
  decltype(auto) get() const {
    join_for_result("task::get");
    return result().look();
  }

  /// Joins, then moves the result out; to be called once. An interruption point.
  /// \throws as get()
  R take() {
    join_for_result("task::take");
    return result().take();
  }

 private:
  friend struct detail::thread_access;
  using thread::thread;
  detail::result_slot<R>& result() const noexcept {
    return static_cast<detail::body_with_result<R>&>(body()).result;
  }
};

/// Starts a thread that calls `f(args...)` and keeps its result. The callable and its arguments live on the
/// new thread's stack: nothing else is allocated.
/// \throws as the constructor of thread
template <class F, class... A>
requires(!std::is_same_v<thread_options, std::remove_cvref_t<F>>) auto spawn(F&& f, A&&... args)
    -> task<detail::result_of<F, A...>>;

/// As above, with options.
template <class F, class... A> auto spawn(const thread_options& options, F&& f, A&&... args)
    -> task<detail::result_of<F, A...>>;

/// What a thread does to itself. Each throws thread_error when it is called outside a VM.
namespace this_thread {

/// Lets the other runnable threads run first. Delivers interrupts.
void yield();

/// Delivers interrupts and takes in what other OS threads posted; for code that computes for long. One load
/// when there is nothing to do.
void checkpoint();

/// Sleeps until somebody calls wakeup(). Interruption point.
void sleep();

/// Sleeps for `time`, measured on the monotonic clock and never less, or until wakeup(). Zero yields.
/// Interruption point.
/// \throws std::invalid_argument "time interval must not be negative"
void sleep_for(duration time);

/// Sleeps until `when` or wakeup(). Interruption point.
void sleep_until(clock::time_point when);

/// The calling thread's id; id() outside a VM (the only call here that does not throw there).
thread::id get_id() noexcept;

/// A handle of the calling thread.
thread self();

} // namespace this_thread

/// Defers raise and kill while it lives; what arrives meanwhile is delivered at the next interruption point
/// after the outermost such scope has ended, never by the destructor. A user destructor that may wait opens
/// one. The closed-stream error is not an interrupt and comes through.
class no_interrupts {
 public:
  no_interrupts();
  ~no_interrupts();
  no_interrupts(const no_interrupts&) = delete;
  no_interrupts& operator=(const no_interrupts&) = delete;

 private:
  detail::thread_record* record_;
};

} // namespace rouse

#include <rouse/detail/spawn.hpp>
