#include "poller.hpp"
#include "system_call.hpp"
#include "test_hooks.hpp"

#include <cerrno>
#include <ctime>
#include <new>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <system_error>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

namespace rouse::detail {

namespace {

// What is no descriptor of a stream has the highest bit set.
constexpr std::uint64_t kick_mark = std::uint64_t{1} << 63;
constexpr std::uint64_t alarm_mark = kick_mark + 1;

int checked(long result, const char* call) {
  if (result < 0) throw std::system_error(static_cast<int>(-result), std::generic_category(), call);
  return static_cast<int>(result);
}

timespec to_timespec(duration d) noexcept {
  return {static_cast<time_t>(d.count() / 1'000'000'000), static_cast<long>(d.count() % 1'000'000'000)};
}

} // namespace

poller::poller() {
  epoll_ = checked(system_call(SYS_epoll_create1, EPOLL_CLOEXEC), "epoll_create1");
  try {
    kick_ = checked(system_call(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
    epoll_event event{EPOLLIN, {}};
    event.data.u64 = kick_mark;
    checked(system_call(SYS_epoll_ctl, epoll_, EPOLL_CTL_ADD, kick_, &event), "epoll_ctl");
  } catch (...) {
    close();
    throw;
  }
}

void poller::close() noexcept {
  for (int* fd :
       {&epoll_, &kick_, &alarm_}) { // epoll first: it forgets the others before their numbers are free
    if (*fd >= 0) close_descriptor(*fd);
    *fd = -1;
  }
}

int poller::reserve(int fd) noexcept {
  auto index = static_cast<std::size_t>(fd);
  if (index < numbers_.size()) return 0;
  try {
    numbers_.resize(std::max(index + 1, numbers_.size() * 2));
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

int poller::enter(held, poll_source& source) noexcept {
  if (int error = reserve(source.fd)) return error;
  number& n = numbers_[static_cast<std::size_t>(source.fd)];
  for (poll_source* s = n.first; s; s = s->next_of_number)
    if (s == &source) return 0;
  source.next_of_number = n.first;
  n.first = &source;
  return 0;
}

poll_source* poller::sources_of(held, int fd) noexcept {
  auto index = static_cast<std::size_t>(fd);
  return index < numbers_.size() ? numbers_[index].first : nullptr;
}

int poller::add(poll_source& source) noexcept {
  number& n = numbers_[static_cast<std::size_t>(source.fd)];
  if (!n.registered) {
    epoll_event event{EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {}};
    event.data.u64 = std::uint64_t{n.generation & 0x7fffffffu} << 32 | static_cast<std::uint32_t>(source.fd);
    long result = system_call(SYS_epoll_ctl, epoll_, EPOLL_CTL_ADD, source.fd, &event);
    // An earlier user of the same description left its registration behind: take it over under our
    // generation.
    if (result == -EEXIST) result = system_call(SYS_epoll_ctl, epoll_, EPOLL_CTL_MOD, source.fd, &event);
    if (result < 0) return static_cast<int>(-result);
    n.registered = true;
  }
  source.registered = true;
  return 0;
}

void poller::register_pending(held h) noexcept {
  while (!pending_.empty()) {
    poll_source& source = pending_.front();
    pending_.pop_front();
    source.pending = false;
    int error = enter(h, source);
    if (error == 0) error = add(source);
    if (error != 0) {
      source.error = error;
      source.on_events(source, h, registration_failed);
    } else if (source.next_of_number || numbers_[static_cast<std::size_t>(source.fd)].first != &source) {
      source.on_events(source, h,
                       EPOLLIN | EPOLLOUT); // the number was known already: its edge may be long past
    }
  }
}

void poller::remove(held, poll_source& source, bool shared) noexcept {
  if (source.pending) {
    pending_.erase(pending_.iterator_to(source));
    source.pending = false;
  }
  auto index = static_cast<std::size_t>(source.fd);
  if (source.fd < 0 || index >= numbers_.size()) return;
  number& n = numbers_[index];
  for (poll_source** at = &n.first; *at; at = &(*at)->next_of_number)
    if (*at == &source) {
      *at = source.next_of_number;
      break;
    }
  source.next_of_number = nullptr;
  source.registered = false;
  if (!n.registered || n.first) return;
  if (shared) {
    epoll_event unused{};
    system_call(SYS_epoll_ctl, epoll_, EPOLL_CTL_DEL, source.fd, &unused);
  }
  n.registered = false;
  ++n.generation;
}

int poller::wait(duration limit) noexcept {
  ROUSE_TEST_POINT("poller.wait");
  const auto capacity = static_cast<int>(events_.size());
  if (limit == duration::zero() || limit == forever) {
    int timeout = limit == forever ? -1 : 0;
    long got = system_call(SYS_epoll_pwait, epoll_, events_.data(), capacity, timeout, nullptr, 8);
    return got < 0 ? 0 : static_cast<int>(got);
  }
  timespec timeout = to_timespec(limit);
  long got = system_call(SYS_epoll_pwait2, epoll_, events_.data(), capacity, &timeout, nullptr, 8);
  if (got == -ENOSYS || got == -EPERM) { // before Linux 5.11: milliseconds, rounded up, never early
    auto ms = std::min<std::int64_t>((limit.count() + 999'999) / 1'000'000, 1'000'000'000);
    got = system_call(SYS_epoll_pwait, epoll_, events_.data(), capacity, static_cast<int>(ms), nullptr, 8);
  }
  return got < 0 ? 0 : static_cast<int>(got);
}

void poller::dispatch(held h, int count) noexcept {
  ROUSE_TEST_POINT("poller.dispatch");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    const std::uint64_t data = event.data.u64;
    if (data & kick_mark) {
      std::uint64_t value;
      system_call(SYS_read, data == alarm_mark ? alarm_ : kick_, &value, sizeof value);
      continue;
    }
    auto index = static_cast<std::size_t>(data & 0xffffffffu);
    number& n = numbers_[index];
    if (!n.registered || (n.generation & 0x7fffffffu) != data >> 32) continue; // stale
    for (poll_source* s = n.first; s; s = s->next_of_number) s->on_events(*s, h, event.events);
  }
}

void poller::kick() noexcept {
  const std::uint64_t one = 1;
  system_call(SYS_write, kick_, &one, sizeof one);
}

int poller::arm_alarm(clock::time_point due) noexcept {
  if (alarm_ < 0) {
    long fd = system_call(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0) return static_cast<int>(-fd);
    epoll_event event{EPOLLIN, {}};
    event.data.u64 = alarm_mark;
    if (long result = system_call(SYS_epoll_ctl, epoll_, EPOLL_CTL_ADD, fd, &event); result < 0) {
      close_descriptor(static_cast<int>(fd));
      return static_cast<int>(-result);
    }
    alarm_ = static_cast<int>(fd);
  }
  itimerspec when{};
  if (due != clock::time_point::max()) {
    when.it_value = to_timespec(std::max(duration{1}, due.time_since_epoch()));
  }
  long result = system_call(SYS_timerfd_settime, alarm_, TFD_TIMER_ABSTIME, &when, nullptr);
  return result < 0 ? static_cast<int>(-result) : 0;
}

} // namespace rouse::detail
