#pragma once
// The switch from one stack to another.
//
// Boost.Context moves the registers. What a C++ thread needs besides: its exception globals (which exceptions
// are being handled and thrown; the compiler's run-time keeps them per OS thread, and a park inside a catch
// block must not mix them), and, under the sanitizers, an announcement of each switch.

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define ROUSE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROUSE_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define ROUSE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROUSE_TSAN 1
#endif
#endif

namespace rouse::detail {

// The first two members of the run-time's __cxa_eh_globals, as the C++ ABI of both compilers lays them down.
struct exception_globals {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

// The calling OS thread's. The address stays valid for its life; workers keep it in their record.
exception_globals* os_thread_exception_globals() noexcept;

// Somewhere that one can switch to: a thread that does not run, or a worker's own stack while one of its
// threads runs.
struct switch_point {
  boost::context::detail::fcontext_t context = nullptr;
  exception_globals exceptions;
  bool ended = false; // has switched away for the last time; whoever comes next takes the stack back
#ifdef ROUSE_ASAN
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* fake_stack = nullptr;
#endif
#ifdef ROUSE_TSAN
  void* fiber = nullptr;
#endif
};

// Switches from the running `from` to `to`, with this OS thread's exception globals. Returns when somebody
// switches back, with the point he came from, whose context has been stored.
switch_point& switch_to(switch_point& from, switch_point& to, exception_globals& globals) noexcept;

// Prepares `point` to run `entry` on the stack that ends at `top`; `entry` first calls arrived() and never
// returns.
void prepare(switch_point& point, void* top, std::size_t size,
             void (*entry)(boost::context::detail::transfer_t)) noexcept;

// The first thing on a new stack. \returns where the switch came from
switch_point& arrived(boost::context::detail::transfer_t transfer, switch_point& here) noexcept;

// The OS thread's own stack as a switch point.
void adopt_os_thread(switch_point& point) noexcept;

// While it lives, the floating-point status flags of the OS thread are set. A switch loads the other thread's
// control and status word, which takes the processor 80 ns if it differs, and a rounded result sets a flag:
// so threads that compute and threads that do not would be slow to switch between. All start with the flags
// set; the ABI gives calls leave to set them.
class steady_float_flags {
 public:
  steady_float_flags() noexcept;
  ~steady_float_flags();
  steady_float_flags(const steady_float_flags&) = delete;
  steady_float_flags& operator=(const steady_float_flags&) = delete;

 private:
  unsigned int before_ = 0;
};

// For the thread sanitizer: a fiber per stack.
void* make_fiber() noexcept;
void destroy_fiber(void* fiber) noexcept;

} // namespace rouse::detail
