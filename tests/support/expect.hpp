#pragma once
// Small things that many tests look for: the text of an exception, and objects that must not leak.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>

namespace rouse_test {

// The what() of the E that `f` throws; a failure and "" if it throws none.
template <class E, class F> std::string what_of(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

// Counts its instances, copies included; a moved-from one counts until it is destroyed.
class tracked {
 public:
  tracked() noexcept { ++alive_; }
  tracked(const tracked&) noexcept { ++alive_; }
  tracked(tracked&&) noexcept { ++alive_; }
  tracked& operator=(const tracked&) noexcept = default;
  tracked& operator=(tracked&&) noexcept = default;
  ~tracked() { --alive_; }
  static int alive() noexcept { return alive_; }

 private:
  static inline std::atomic<int> alive_{0};
};

// Calls a function when it dies.
template <class F> class at_scope_end {
 public:
  explicit at_scope_end(F f) : f_(std::move(f)) {}
  ~at_scope_end() { f_(); }
  at_scope_end(const at_scope_end&) = delete;
  at_scope_end& operator=(const at_scope_end&) = delete;

 private:
  F f_;
};

} // namespace rouse_test
