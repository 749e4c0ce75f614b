#pragma once
// The templates of <rouse/thread.hpp>. Not for users.

#include <rouse/thread.hpp>

#include <new>

namespace rouse::detail {

// A stack with a record on it whose thread has not started. The body is built in memory(); then start() hands
// the thread to the run queue. Without start() everything goes back.
class unstarted_thread {
 public:
  unstarted_thread(const thread_options& options, std::size_t body_size, std::size_t body_align);
  ~unstarted_thread();
  unstarted_thread(const unstarted_thread&) = delete;
  unstarted_thread& operator=(const unstarted_thread&) = delete;

  void* memory() const noexcept { return memory_; }
  thread_record* start(body& b) noexcept; // gives the caller one count

 private:
  thread_record* record_;
  void* memory_;
};

struct thread_access {
  static thread_record* record(const thread& t) noexcept { return t.record_; }
  template <class T = thread> static T adopt(thread_record* counted) noexcept { return T(counted); }
};

const thread_options& default_thread_options() noexcept;

} // namespace rouse::detail

namespace rouse {

template <class F, class... A> auto spawn(const thread_options& options, F&& f, A&&... args)
    -> task<detail::result_of<F, A...>> {
  using body_type = detail::function_body<F, A...>;
  detail::unstarted_thread made(options, sizeof(body_type), alignof(body_type));
  auto* body = ::new (made.memory()) body_type(std::forward<F>(f), std::forward<A>(args)...);
  return detail::thread_access::adopt<task<detail::result_of<F, A...>>>(made.start(*body));
}

template <class F, class... A>
requires(!std::is_same_v<thread_options, std::remove_cvref_t<F>>) auto spawn(F&& f, A&&... args)
    -> task<detail::result_of<F, A...>> {
  return spawn(detail::default_thread_options(), std::forward<F>(f), std::forward<A>(args)...);
}

template <class F, class... A>
requires(!std::is_base_of_v<thread, std::remove_cvref_t<F>> &&
         !std::is_same_v<thread_options, std::remove_cvref_t<F>> &&
         std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>) thread::thread(F&& f, A&&... args)
    : thread(spawn(std::forward<F>(f), std::forward<A>(args)...)) {}

} // namespace rouse
