#include "context.hpp"

#include <cxxabi.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#ifdef ROUSE_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef ROUSE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace rouse::detail {

namespace ctx = boost::context::detail;

[[gnu::noinline]] exception_globals* os_thread_exception_globals() noexcept {
  return reinterpret_cast<exception_globals*>(abi::__cxa_get_globals());
}

namespace {

inline void before_switch(switch_point& from, switch_point& to) noexcept {
#ifdef ROUSE_ASAN
  if (from.ended) {
    // The frames that are left on it never return, and what they marked would be held against the frames of
    // the next thread there.
    char* here = static_cast<char*>(__builtin_frame_address(0)) - 4096;
    const char* bottom = static_cast<const char*>(from.stack_bottom);
    const char* start = here > bottom ? here : bottom;
    __asan_unpoison_memory_region(start, static_cast<std::size_t>(bottom + from.stack_size - start));
  }
  // An ended stack gives its fake frames back: null tells so.
  __sanitizer_start_switch_fiber(from.ended ? nullptr : &from.fake_stack, to.stack_bottom, to.stack_size);
#endif
#ifdef ROUSE_TSAN
  __tsan_switch_to_fiber(to.fiber, 0);
#endif
  static_cast<void>(from);
  static_cast<void>(to);
}

inline switch_point& after_switch(ctx::transfer_t transfer, switch_point& here) noexcept {
  auto& previous = *static_cast<switch_point*>(transfer.data);
  previous.context = transfer.fctx;
#ifdef ROUSE_ASAN
  __sanitizer_finish_switch_fiber(here.fake_stack, nullptr, nullptr);
#endif
  static_cast<void>(here);
  return previous;
}

// jump_fcontext ends with an indirect jump and not with a return. Called the usual way it would leave its
// return address in the processor's return predictor, and each return after a switch would be predicted one
// off (measured: a third of a switch). So the address is pushed by hand and the function is jumped to; then
// calls and returns stay paired.
inline ctx::transfer_t jump(ctx::fcontext_t to, void* data) noexcept {
#if defined(__x86_64__) && !defined(__CET__) && defined(ROUSE_NO_RED_ZONE)
  ctx::transfer_t result;
  asm volatile("leaq 1f(%%rip), %%rax\n\t"
               "pushq %%rax\n\t"
               "jmp *%[function]\n"
               "1:"
               : "=&a"(result.fctx), "=&d"(result.data), "+D"(to), "+S"(data)
               : [function] "r"(&ctx::jump_fcontext)
               : "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                 "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#ifdef __AVX512F__
                 "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
                 "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
                 "k7",
#endif
                 "memory", "cc");
  return result;
#else
  return ctx::jump_fcontext(to, data);
#endif
}

} // namespace

switch_point& switch_to(switch_point& from, switch_point& to, exception_globals& globals) noexcept {
  from.exceptions = globals;
  globals = to.exceptions;
  before_switch(from, to);
  return after_switch(jump(to.context, &from), from);
}

void prepare(switch_point& point, void* top, std::size_t size, void (*entry)(ctx::transfer_t)) noexcept {
  point.context = ctx::make_fcontext(top, size, entry);
  point.exceptions = {};
  point.ended = false;
#ifdef ROUSE_ASAN
  point.stack_bottom = static_cast<char*>(top) - size;
  point.stack_size = size;
  point.fake_stack = nullptr;
#endif
}

switch_point& arrived(ctx::transfer_t transfer, switch_point& here) noexcept {
  return after_switch(transfer, here);
}

void adopt_os_thread(switch_point& point) noexcept {
#ifdef ROUSE_ASAN
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* bottom = nullptr;
    pthread_attr_getstack(&attributes, &bottom, &point.stack_size);
    point.stack_bottom = bottom;
    pthread_attr_destroy(&attributes);
  }
#endif
#ifdef ROUSE_TSAN
  point.fiber = __tsan_get_current_fiber();
#endif
  static_cast<void>(point);
}

#if defined(__x86_64__)
steady_float_flags::steady_float_flags() noexcept : before_(_mm_getcsr()) {
  _mm_setcsr(before_ | _MM_EXCEPT_MASK);
}
steady_float_flags::~steady_float_flags() { _mm_setcsr(before_); }
#else
steady_float_flags::steady_float_flags() noexcept = default;
steady_float_flags::~steady_float_flags() = default;
#endif

void* make_fiber() noexcept {
#ifdef ROUSE_TSAN
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}

void destroy_fiber(void* fiber) noexcept {
#ifdef ROUSE_TSAN
  if (fiber) __tsan_destroy_fiber(fiber);
#else
  static_cast<void>(fiber);
#endif
}

} // namespace rouse::detail
