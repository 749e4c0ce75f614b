#pragma once
// Until CRuby r45913: the VM kept its living threads in a hash table, and a close called a function for every
// entry to ask each thread whether it waits on the descriptor.
//
// The table is like st_table as it was then: an allocated entry for each thread, in a chain that hangs on its
// bucket, and all entries on one list in the order of insertion, which is what the walk follows. It grows
// when there are five entries to a bucket.

#include "support/crowd.hpp"

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

// Threads by id. Only what a VM did to it: insert, and walk.
class thread_table {
 public:
  using visitor = bool (*)(const rouse::thread& t, std::uintptr_t argument); // false ends the walk

  thread_table() : buckets_(initial_buckets) {}
  ~thread_table() {
    for (entry* e = first_; e;) delete std::exchange(e, e->after);
  }
  thread_table(const thread_table&) = delete;
  thread_table& operator=(const thread_table&) = delete;

  void insert(const rouse::thread& t) {
    if (count_ >= most_a_bucket * buckets_.size()) grow();
    auto* e = new entry{t.get_id().value(), t, nullptr, nullptr, last_};
    (last_ ? last_->after : first_) = e;
    last_ = e;
    ++count_;
    hang(*e);
  }

  // Not inlined, and neither was st_foreach.
  [[gnu::noinline]] void for_each(visitor visit, std::uintptr_t argument) const {
    for (const entry* e = first_; e; e = e->after)
      if (!visit(e->handle, argument)) return;
  }

 private:
  static constexpr std::size_t initial_buckets = 11;
  static constexpr std::size_t most_a_bucket = 5;

  struct entry {
    std::uint64_t hash;
    rouse::thread handle;
    entry* next; // in its bucket
    entry* after;
    entry* before;
  };

  void hang(entry& e) noexcept {
    entry*& bucket = buckets_[e.hash % buckets_.size()];
    e.next = std::exchange(bucket, &e);
  }

  void grow() {
    buckets_.assign(buckets_.size() * 2 + 1, nullptr);
    for (entry* e = first_; e; e = e->after) hang(*e);
  }

  std::vector<entry*> buckets_;
  entry* first_ = nullptr;
  entry* last_ = nullptr;
  std::size_t count_ = 0;
};

class living_hash {
 public:
  static constexpr const char* name = "living_hash";

  void attach(const rouse::thread& t) { threads_.insert(t); }
  no_scope around_read() { return {}; }
  void close(rouse::stream& s) {
    search what{s.native_handle(), 0};
    threads_.for_each(ask, reinterpret_cast<std::uintptr_t>(&what));
    benchmark::DoNotOptimize(what.found);
    s.close();
  }

 private:
  struct search {
    int fd;
    std::size_t found;
  };
  static bool ask(const rouse::thread& t, std::uintptr_t argument) {
    auto& what = *reinterpret_cast<search*>(argument);
    if (t.waits_on_descriptor() == what.fd) ++what.found;
    return true;
  }

  thread_table threads_;
};

} // namespace bench
