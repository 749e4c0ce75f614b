#pragma once
// From CRuby r45913 on: the living threads hang on an intrusive list of the VM, and a close walks all of it
// to ask each thread whether it waits on the descriptor.

#include "support/crowd.hpp"

#include <rouse/stream.hpp>
#include <rouse/thread.hpp>

#include <benchmark/benchmark.h>
#include <ccan/list/list.h>

#include <memory>
#include <vector>

namespace bench {

class living_list {
 public:
  static constexpr const char* name = "living_list";
  living_list() { list_head_init(&threads_); }
  living_list(const living_list&) = delete;
  living_list& operator=(const living_list&) = delete;

  void attach(const rouse::thread& t) {
    entries_.push_back(std::make_unique<entry>(entry{{}, t}));
    list_add_tail(&threads_, &entries_.back()->living_node);
  }
  no_scope around_read() { return {}; }
  void close(rouse::stream& s) {
    const int fd = s.native_handle();
    std::size_t found = 0;
    entry* e;
    list_for_each(&threads_, e, living_node) found += e->handle.waits_on_descriptor() == fd;
    benchmark::DoNotOptimize(found);
    s.close();
  }

 private:
  struct entry {
    list_node living_node;
    rouse::thread handle;
  };
  list_head threads_;
  std::vector<std::unique_ptr<entry>> entries_; // owns them; the walk does not touch it
};

} // namespace bench
