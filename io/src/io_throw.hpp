#pragma once
// The one layer that throws stream errors. Nothing here has a destructor to run: a clean-up pad in a frame
// that an exception passes costs a quarter of the throw.

#include "operation.hpp"

#include <rouse/io_error.hpp>

namespace rouse::detail {

[[noreturn]] void throw_errno(int error, const char* call, std::size_t bytes = 0);
[[noreturn]] void throw_code(std::error_code code, const char* call, std::size_t bytes = 0);

// What an outcome other than done means to the caller; an interrupt is delivered.
[[noreturn]] void throw_outcome(const running& here, io_outcome outcome, const char* call);

// The same as an error code; interrupts are thrown all the same.
std::error_code code_of(const running& here, io_outcome outcome);

} // namespace rouse::detail
