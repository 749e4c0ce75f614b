#pragma once
// The table of the measurement that started it all, theirs beside ours.

#include "report/runs.hpp"

#include <string>
#include <vector>

namespace report {

// One way to find the threads that a close must wake.
struct strategy {
  std::string who;    // as in point
  std::string title;  // for people
  double theirs = -1; // seconds for 100 000 pipes with 1000 threads asleep, where they measured it
};

// In the order of history; the bare system calls, and the peer if there is one, come last.
std::vector<strategy> strategies(const runs& all);

// What the table is about.
extern const char* const workload;

struct row {
  std::string title, their_time, their_speedup, our_time, our_speedup;
};
std::vector<row> rows(const runs& all);

std::string text_table(const runs& all);

// What a close costs with nobody else and with 10 000 threads, in one sentence, and how far it is from the
// bare system calls, in a second.
std::string verdict(const runs& all);

} // namespace report
