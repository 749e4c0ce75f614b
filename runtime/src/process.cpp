#include "process.hpp"

#include <atomic>
#include <csignal>
#include <ctime>
#include <pthread.h>

namespace rouse::detail {

namespace {

std::atomic<std::uint32_t> forks{0};
thread_local int sigpipe_depth = 0;
thread_local bool sigpipe_was_blocked = false;

sigset_t only_sigpipe() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

void after_fork_in_parent() noexcept { forks.fetch_add(1, std::memory_order_relaxed); }

void after_fork_in_child() noexcept {
  forks.fetch_add(1, std::memory_order_relaxed);
  if (sigpipe_depth == 0 || sigpipe_was_blocked) return;
  const sigset_t set = only_sigpipe();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

} // namespace

void block_sigpipe() noexcept {
  static const int registered = pthread_atfork(nullptr, after_fork_in_parent, after_fork_in_child);
  static_cast<void>(registered);
  if (sigpipe_depth++ > 0) return;
  const sigset_t set = only_sigpipe();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  sigpipe_was_blocked = sigismember(&before, SIGPIPE) == 1;
}

void unblock_sigpipe() noexcept {
  if (--sigpipe_depth > 0 || sigpipe_was_blocked) return;
  const sigset_t set = only_sigpipe();
  const timespec no_wait{};
  while (sigtimedwait(&set, nullptr, &no_wait) == SIGPIPE) {
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::uint32_t fork_generation() noexcept { return forks.load(std::memory_order_relaxed); }

} // namespace rouse::detail
