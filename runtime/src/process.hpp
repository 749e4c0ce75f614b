#pragma once
// The little state that belongs to the process and not to a VM: SIGPIPE, and how often it has forked.

#include <cstdint>

namespace rouse::detail {

// While an OS thread runs a VM, SIGPIPE is blocked in it: a write to a pipe that nobody reads is an error of
// that write, not the end of the program. unblock_sigpipe restores what was, and consumes a signal that
// arrived meanwhile. They nest. Children get the signal unblocked by a fork handler; posix_spawn needs
// POSIX_SPAWN_SETSIGMASK.
void block_sigpipe() noexcept;
void unblock_sigpipe() noexcept;

// Counts the forks of this process. A descriptor that existed before one is shared with the child.
std::uint32_t fork_generation() noexcept;

} // namespace rouse::detail
