#pragma once
/// \file
/// What the runtime throws. The tree is short on purpose: catch `thread_error` for misuse,
/// `std::system_error` for limits of the machine. Stream errors have a header of their own,
/// `<rouse/io_error.hpp>`.

#include <stdexcept>
#include <string>
#include <system_error>

namespace rouse {

/// A call that makes no sense where it was made: outside a VM, a thread that joins itself, a mutex that is
/// unlocked by somebody else. The text names the call and what was wrong. Counterpart of CRuby's ThreadError.
class thread_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The VM that the handle belongs to has ended, or is about to end and takes no new work.
class vm_gone : public thread_error {
 public:
  using thread_error::thread_error;
};

/// Thrown by `task::get` and `vm::run` when there is no result because the thread was killed.
class thread_killed : public thread_error {
 public:
  using thread_error::thread_error;
};

/// A limit of the machine was met while a thread was being made; `code()` has the errno value. Nothing was
/// started and nothing leaked, so the caller may go on with the threads that it has.
class resource_error : public std::system_error {
 public:
  using std::system_error::system_error;
};

} // namespace rouse
