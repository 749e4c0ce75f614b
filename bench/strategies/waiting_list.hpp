#pragma once
// From CRuby r58812 on: a thread that goes to wait on a descriptor hangs a record, on its own stack, on one
// list of the VM, and a close walks that list. Sleeping threads are not on it; waiters of other streams are.

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <benchmark/benchmark.h>
#include <ccan/list/list.h>

namespace bench {

class waiting_list {
 public:
  static constexpr const char* name = "waiting_list";
  waiting_list() { list_head_init(&waiting_); }
  waiting_list(const waiting_list&) = delete;
  waiting_list& operator=(const waiting_list&) = delete;

  void attach(const rouse::thread&) {}

  // The record. On the list while it lives.
  class record {
   public:
    record(list_head& waiting, int fd) noexcept : fd_(fd) { list_add(&waiting, &waiting_node_); }
    ~record() { list_del(&waiting_node_); }
    record(const record&) = delete;
    record& operator=(const record&) = delete;

   private:
    friend class waiting_list;
    list_node waiting_node_;
    int fd_;
  };

  auto around_read() {
    return [this](const rouse::stream& s) { return record(waiting_, s.native_handle()); };
  }

  void close(rouse::stream& s) {
    const int fd = s.native_handle();
    std::size_t found = 0;
    record* r;
    list_for_each(&waiting_, r, waiting_node_) found += r->fd_ == fd;
    benchmark::DoNotOptimize(found);
    s.close();
  }

 private:
  list_head waiting_;
};

} // namespace bench
