#pragma once
// What a thread runs, and where its result stays. Not for users.

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rouse::detail {

struct thread_record;
struct thread_access;

template <class F, class... A> using result_of = std::invoke_result_t<std::decay_t<F>, std::decay_t<A>...>;

// Lives on the thread's stack beneath its record. The thread calls run(), then, however that ended,
// drop_call(); whoever drops the last count destroys it with the result.
struct body {
  virtual void run() = 0;
  virtual void drop_call() noexcept = 0;
  virtual ~body() = default;
};

template <class R> struct result_slot {
  std::optional<R> value;
  template <class F> void fill(F&& f) { value.emplace(std::forward<F>(f)()); }
  const R& look() const { return *value; }
  R take() { return std::move(*value); }
};
template <class R> struct result_slot<R&> {
  R* value = nullptr;
  template <class F> void fill(F&& f) { value = std::addressof(std::forward<F>(f)()); }
  R& look() const { return *value; }
  R& take() { return *value; }
};
template <> struct result_slot<void> {
  template <class F> void fill(F&& f) { std::forward<F>(f)(); }
  void look() const {}
  void take() {}
};

template <class R> struct body_with_result : body { result_slot<R> result; };

template <class F, class... A> struct function_body final : body_with_result<result_of<F, A...>> {
  template <class G, class... B> explicit function_body(G&& g, B&&... b)
      : call(std::in_place, std::forward<G>(g), std::forward<B>(b)...) {}

  void run() override {
    this->result.fill([this]() -> decltype(auto) {
      return std::apply(
          [](auto& f, auto&... a) -> decltype(auto) { return std::invoke(std::move(f), std::move(a)...); },
          *call);
    });
  }

  void drop_call() noexcept override { call.reset(); }

  std::optional<std::tuple<std::decay_t<F>, std::decay_t<A>...>> call;
};

} // namespace rouse::detail
