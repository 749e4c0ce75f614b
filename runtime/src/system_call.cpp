#include "system_call.hpp"
#include "context.hpp"
#include "test_hooks.hpp"

#if defined(ROUSE_ASAN) || defined(ROUSE_TSAN)
#include <cerrno>
#include <sys/mman.h>
#endif

namespace rouse::detail {

#if defined(ROUSE_ASAN) || defined(ROUSE_TSAN)
namespace {

// The sanitizers forget what they know of a range when libc maps or unmaps it. Behind their back, the stacks of one VM
// would be held against those of another that is given the same addresses.
long map_or_unmap(long number, long a, long b, long c, long d, long e, long f) noexcept {
  auto* start = reinterpret_cast<void*>(a);
  const auto size = static_cast<std::size_t>(b);
  if (number == SYS_munmap) return ::munmap(start, size) == 0 ? 0 : -errno;
  void* mapped = ::mmap(start, size, static_cast<int>(c), static_cast<int>(d), static_cast<int>(e), f);
  return mapped == MAP_FAILED ? -errno : reinterpret_cast<long>(mapped);
}

} // namespace
#endif

// noinline: a thread may come back from a call on another OS thread, so nothing about it may be folded into
// the caller.
[[gnu::noinline]] long raw_system_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
#ifdef ROUSE_TEST_HOOKS
  if (test_hooks::before_call)
    if (long injected = test_hooks::before_call(number); injected < 0) return injected;
#endif
#if defined(ROUSE_ASAN) || defined(ROUSE_TSAN)
  if (number == SYS_mmap || number == SYS_munmap) return map_or_unmap(number, a, b, c, d, e, f);
#endif
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
#else
#error "rouse knows the system call conventions of x86-64 and aarch64"
#endif
}

} // namespace rouse::detail
