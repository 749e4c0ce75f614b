// Exceptions are the thread's own, across every park.

#include "expect.hpp"
#include "vm_fixture.hpp"

#include <rouse/mutex.hpp>

#include <exception>
#include <stdexcept>
#include <vector>

using namespace rouse_test;

namespace {

class exception_ : public vm_test {};

TEST_F(exception_, a_handler_that_parks_keeps_its_exception_while_others_throw) {
  run([] {
    auto body = [](int n) {
      for (int i = 0; i < 20; ++i) {
        const std::string text = std::to_string(n) + "/" + std::to_string(i);
        try {
          throw std::runtime_error(text);
        } catch (const std::runtime_error& e) {
          rouse::this_thread::yield();
          EXPECT_EQ(e.what(), text);
          try {
            std::rethrow_exception(std::current_exception());
          } catch (const std::runtime_error& again) {
            rouse::this_thread::yield();
            EXPECT_EQ(again.what(), text);
          }
          if (i % 2 == 0) rouse::this_thread::sleep_for(1us);
        }
        EXPECT_FALSE(std::current_exception());
      }
    };
    std::vector<rouse::thread> all;
    for (int n = 0; n < 20; ++n) all.emplace_back(body, n);
    for (auto& t : all) t.join();
  });
}

TEST_F(exception_, a_rethrow_after_a_park_throws_the_threads_own) {
  run([] {
    auto body = [](std::string text) {
      try {
        throw std::runtime_error(text);
      } catch (...) {
        rouse::this_thread::yield();
        throw;
      }
    };
    auto a = rouse::spawn(body, "a");
    auto b = rouse::spawn(body, "b");
    EXPECT_EQ(what_of<std::runtime_error>([&] { a.join(); }), "a");
    EXPECT_EQ(what_of<std::runtime_error>([&] { b.join(); }), "b");
  });
}

TEST_F(exception_, nested_handlers_that_park_unwind_in_their_own_order) {
  run([] {
    struct nest {
      static void level(int thread, int depth) {
        if (depth == 0) throw std::runtime_error("bottom of " + std::to_string(thread));
        try {
          level(thread, depth - 1);
        } catch (const std::exception& inner) {
          const std::string text = inner.what();
          rouse::this_thread::yield();
          EXPECT_EQ(text, inner.what());
          try {
            std::throw_with_nested(std::runtime_error("level " + std::to_string(depth)));
          } catch (...) {
            rouse::this_thread::yield();
            throw;
          }
        }
      }
      static int depth_of(const std::exception& e, const std::string& bottom) {
        try {
          std::rethrow_if_nested(e);
        } catch (const std::exception& inner) {
          return 1 + depth_of(inner, bottom);
        }
        EXPECT_EQ(e.what(), bottom);
        return 0;
      }
    };
    std::vector<rouse::thread> all;
    for (int n = 0; n < 5; ++n)
      all.emplace_back([n] {
        try {
          nest::level(n, 8);
        } catch (const std::exception& e) {
          EXPECT_EQ(nest::depth_of(e, "bottom of " + std::to_string(n)), 8);
        }
      });
    for (auto& t : all) t.join();
  });
}

TEST_F(exception_, uncaught_exceptions_are_counted_per_thread) {
  run([] {
    auto unwinding = rouse::spawn([] {
      at_scope_end waits([] {
        EXPECT_EQ(std::uncaught_exceptions(), 1);
        rouse::this_thread::sleep();
        EXPECT_EQ(std::uncaught_exceptions(), 1);
        try {
          at_scope_end inner([] {
            EXPECT_EQ(std::uncaught_exceptions(), 2);
            rouse::this_thread::sleep();
            EXPECT_EQ(std::uncaught_exceptions(), 2);
          });
          throw std::logic_error("second");
        } catch (const std::logic_error&) {
        }
      });
      throw std::runtime_error("first");
    });
    for (int i = 0; i < 2; ++i) {
      until_parked(unwinding);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      rouse::spawn([] { EXPECT_EQ(std::uncaught_exceptions(), 0); }).join();
      unwinding.wakeup();
      rouse::this_thread::yield();
    }
    EXPECT_EQ(what_of<std::runtime_error>([&] { unwinding.join(); }), "first");
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TEST_F(exception_, a_new_thread_has_no_exception_though_its_maker_handles_one) {
  run([] {
    try {
      throw std::runtime_error("the maker's");
    } catch (...) {
      rouse::spawn([] {
        EXPECT_FALSE(std::current_exception());
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      }).join();
      EXPECT_TRUE(std::current_exception());
    }
  });
}

TEST_F(exception_, run_inside_a_handler_leaves_the_callers_exception_alone) {
  try {
    throw std::runtime_error("outside");
  } catch (...) {
    run([] {
      EXPECT_FALSE(std::current_exception());
      EXPECT_EQ(what_of<std::logic_error>([] { throw std::logic_error("inside"); }), "inside");
      rouse::spawn([] { rouse::this_thread::sleep_for(1us); }).join();
    });
    EXPECT_EQ(what_of<std::runtime_error>([] { throw; }), "outside");
  }
}

TEST_F(exception_, run_throws_what_main_threw_after_the_others_have_ended) {
  int unwound = 0;
  EXPECT_EQ(what_of<std::out_of_range>([&] {
              run([&] {
                auto t = rouse::spawn([&] {
                  at_scope_end note([&] { ++unwound; });
                  rouse::this_thread::sleep();
                });
                until_parked(t);
                throw std::out_of_range("main's");
              });
            }),
            "main's");
  EXPECT_EQ(unwound, 1);
}

TEST_F(exception_, an_exception_object_may_be_kept_beyond_thread_and_vm) {
  struct error {
    tracked count;
  };
  std::exception_ptr kept;
  run([&] {
    auto t = rouse::spawn([] { throw error(); });
    try {
      t.join();
    } catch (...) {
      kept = std::current_exception();
    }
  });
  vm = std::make_unique<rouse::vm>();
  EXPECT_EQ(tracked::alive(), 1);
  EXPECT_THROW(std::rethrow_exception(kept), error);
  kept = nullptr;
  EXPECT_EQ(tracked::alive(), 0);
}

TEST_F(exception_, a_destructor_of_a_captured_argument_may_park_and_throw_inside) {
  struct cleans_up {
    int* cleaned;
    explicit cleans_up(int* c) : cleaned(c) {}
    cleans_up(cleans_up&& o) noexcept : cleaned(std::exchange(o.cleaned, nullptr)) {}
    ~cleans_up() {
      if (!cleaned) return;
      rouse::no_interrupts scope;
      rouse::this_thread::sleep_for(1us);
      EXPECT_EQ(what_of<std::runtime_error>([] { throw std::runtime_error("inner"); }), "inner");
      ++*cleaned;
    }
  };
  run([] {
    int cleaned = 0;
    auto normal = rouse::spawn([c = cleans_up(&cleaned)] { static_cast<void>(c); });
    auto thrown = rouse::spawn([c = cleans_up(&cleaned)] { throw std::logic_error("out"); });
    auto killed = rouse::spawn([c = cleans_up(&cleaned)] { rouse::this_thread::sleep(); });
    auto early = rouse::spawn([c = cleans_up(&cleaned)] { static_cast<void>(c); });
    early.kill();
    until_parked(killed);
    killed.kill();
    normal.join();
    EXPECT_THROW(thrown.join(), std::logic_error);
    killed.join();
    early.join();
    EXPECT_EQ(cleaned, 4);
  });
}

TEST_F(exception_, throws_on_a_pooled_stack_work_again_and_again) {
  run([] {
    for (int i = 0; i < rounds(5000); ++i) {
      auto t = rouse::spawn([i] {
        rouse::this_thread::yield();
        throw i;
      });
      try {
        t.join();
        FAIL();
      } catch (int n) {
        ASSERT_EQ(n, i);
      }
    }
  });
}

} // namespace
