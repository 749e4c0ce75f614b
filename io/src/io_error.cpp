#include "io_throw.hpp"

#include <array>
#include <string>
#include <utility>

namespace rouse {

namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse"; }
  std::string message(int code) const override {
    switch (static_cast<io_errc>(code)) {
    case io_errc::closed: return "closed stream";
    case io_errc::closed_under_call: return "stream closed in another thread";
    case io_errc::end_of_file: return "end of file reached";
    case io_errc::timed_out: return "Blocking operation timed out!";
    case io_errc::wrong_vm: return "the stream belongs to another VM";
    case io_errc::not_supported_here: return "neither a socket nor an anonymous pipe";
    }
    return "unknown stream error " + std::to_string(code);
  }
};

} // namespace

// Immortal, as the prototypes below: a late error may want them while the process ends.
const std::error_category& io_category() noexcept {
  static const category& the = *new category;
  return the;
}

namespace detail {

// Lets the prototypes be copied with the facts of one call.
struct io_error_access {
  template <class E> static E filled(const E& prototype, const char* call, std::size_t bytes) {
    E error = prototype;
    error.call_ = call;
    error.bytes_ = bytes;
    return error;
  }
};

namespace {

template <class E> const E& prototype(io_errc code) {
  static const E& the = *new E(make_error_code(code), "");
  return the;
}

// One class, two texts.
const stream_closed& closed_prototype(bool under_call) {
  static const stream_closed& before = *new stream_closed(make_error_code(io_errc::closed), "");
  static const stream_closed& under = *new stream_closed(make_error_code(io_errc::closed_under_call), "");
  return under_call ? under : before;
}

template <int E> [[noreturn]] void throw_as(const char* call, std::size_t bytes) {
  static const auto& the = *new errno_error<E>("");
  throw io_error_access::filled(the, call, bytes);
}

using thrower = void (*)(const char*, std::size_t);

template <int... E> constexpr auto make_throwers(std::integer_sequence<int, E...>) {
  return std::array<thrower, sizeof...(E)>{throw_as<E>...};
}

// Linux numbers its errors from 1 to 133; each has its class.
constexpr int error_count = 134;
constexpr auto throwers = make_throwers(std::make_integer_sequence<int, error_count>{});

} // namespace

[[gnu::cold, gnu::noinline]] void throw_errno(int error, const char* call, std::size_t bytes) {
  if (error > 0 && error < error_count) throwers[static_cast<std::size_t>(error)](call, bytes);
  throw io_error({error, std::generic_category()}, call, bytes);
}

[[gnu::cold, gnu::noinline]] void throw_code(std::error_code code, const char* call, std::size_t bytes) {
  throw io_error(code, call, bytes);
}

// The unwinder needs about two kilobytes beneath us, which a thread that has just been woken has not touched
// for long: they are fetched while the exception object is being made.
inline void prefetch_below() noexcept {
  constexpr std::ptrdiff_t line = 64;
  constexpr std::ptrdiff_t lines_of_an_unwind = 32;
  auto* here = static_cast<std::byte*>(__builtin_frame_address(0));
  for (std::ptrdiff_t i = 1; i <= lines_of_an_unwind; ++i) __builtin_prefetch(here - i * line, 1);
}

[[gnu::noinline]] void throw_outcome(const running& here, io_outcome outcome, const char* call) {
  prefetch_below();
  switch (outcome.end) {
  case io_end::closed_under: throw io_error_access::filled(closed_prototype(true), call, outcome.bytes);
  case io_end::closed_before: throw io_error_access::filled(closed_prototype(false), call, outcome.bytes);
  case io_end::end_of_file:
    throw io_error_access::filled(prototype<end_of_file>(io_errc::end_of_file), call, outcome.bytes);
  case io_end::timed_out:
    throw io_error_access::filled(prototype<io_timeout>(io_errc::timed_out), call, outcome.bytes);
  case io_end::interrupted: deliver(here, here.self); break;
  case io_end::failed: throw_errno(outcome.error, call, outcome.bytes);
  case io_end::done: break;
  }
  __builtin_unreachable();
}

std::error_code code_of(const running& here, io_outcome outcome) {
  switch (outcome.end) {
  case io_end::done: return {};
  case io_end::closed_under: return io_errc::closed_under_call;
  case io_end::closed_before: return io_errc::closed;
  case io_end::end_of_file: return io_errc::end_of_file;
  case io_end::timed_out: return io_errc::timed_out;
  case io_end::failed: return {outcome.error, std::generic_category()};
  case io_end::interrupted: deliver(here, here.self); break;
  }
  __builtin_unreachable();
}

} // namespace detail

} // namespace rouse
