#pragma once
// The points at which tests hold a race open, and the means to make a system call fail. Nothing of it is in
// the product: only rouse_hooked is built with ROUSE_TEST_HOOKS.

#ifdef ROUSE_TEST_HOOKS

#include <functional>
#include <string_view>

namespace rouse::test_hooks {

// Called at each named point by the thread that passes it; it may park. Set and cleared while no VM runs.
inline std::function<void(std::string_view)> at_point;

// Called before each system call with its number; a negative result is returned in place of the call.
inline std::function<long(long number)> before_call;

} // namespace rouse::test_hooks

#define ROUSE_TEST_POINT(name)                                                                               \
  do {                                                                                                       \
    if (::rouse::test_hooks::at_point) ::rouse::test_hooks::at_point(name);                                  \
  } while (false)
#else
#define ROUSE_TEST_POINT(name) static_cast<void>(0)
#endif
