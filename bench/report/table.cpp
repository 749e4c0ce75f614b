#include "report/table.hpp"

#include <fmt/format.h>

namespace report {

const char* const workload = "100 000 pipes made and closed, 1000 threads asleep";

namespace {

constexpr double pipes = 100'000;
constexpr std::size_t asleep = 1000;

// What the speedups are relative to, for them and for us.
constexpr const char* baseline = "living_list";

double seconds(const runs& all, const std::string& who) {
  const double us = all.microseconds({who, asleep, 0});
  return us < 0 ? -1 : us * pipes / 1e6;
}

std::string number(double value, const char* format) {
  return value < 0 ? "" : fmt::format(fmt::runtime(format), value);
}

} // namespace

std::vector<strategy> strategies(const runs& all) {
  std::vector<strategy> result{
      {"living_hash", "hash table of living threads (before r45913)", -1},
      {"living_list", "list of living threads (theirs: trunk)", 4.276},
      {"waiting_list", "list of waiting threads (theirs: after)", 3.018},
      {"per_stream", "list in each stream (Rouse)", -1},
      {"raw", "bare system calls", -1},
  };
  if (!all.peer().empty()) result.push_back({all.peer(), all.peer() + ", installed here", -1});
  return result;
}

std::vector<row> rows(const runs& all) {
  const std::vector<strategy> every = strategies(all);
  double their_baseline = -1;
  for (const strategy& s : every)
    if (s.who == baseline) their_baseline = s.theirs;
  std::vector<row> result;
  for (const strategy& s : every) {
    const double ours = seconds(all, s.who);
    if (ours < 0 && s.theirs < 0) continue;
    const double speedup = all.ratio({baseline, asleep, 0}, {s.who, asleep, 0});
    result.push_back({s.title, number(s.theirs, "{:.3f}"),
                      s.theirs < 0 ? "" : number(their_baseline / s.theirs, "{:.2f}"), number(ours, "{:.3f}"),
                      number(speedup, "{:.2f}")});
  }
  return result;
}

std::string text_table(const runs& all) {
  std::string text = fmt::format("{}\n\n{:<46}{:>18}{:>21}\n{:<46}{:>9}{:>9}{:>12}{:>9}\n", workload, "",
                                 "theirs, in 2014", "here", "", "time, s", "speedup", "time, s", "speedup");
  for (const row& r : rows(all))
    text += fmt::format("{:<46}{:>9}{:>9}{:>12}{:>9}\n", r.title, r.their_time, r.their_speedup, r.our_time,
                        r.our_speedup);
  return text;
}

std::string verdict(const runs& all) {
  const point alone{"per_stream", 0, 0};
  const point sleepers{"per_stream", 10000, 0};
  const point waiters{"per_stream", 0, 10000};
  std::string text;
  if (all.microseconds(alone) >= 0 && all.microseconds(sleepers) >= 0 && all.microseconds(waiters) >= 0)
    text = fmt::format(
        "Making and closing a pipe costs {:.2f} µs with no other thread, {:.2f} µs with 10 000 "
        "threads asleep and {:.2f} µs with 10 000 threads blocked on other pipes: compared within "
        "each round, {:.2f} and {:.2f} times as much.\n",
        all.microseconds(alone), all.microseconds(sleepers), all.microseconds(waiters),
        all.ratio(sleepers, alone), all.ratio(waiters, alone));
  const double to_raw = all.ratio({"per_stream", asleep, 0}, {"raw", asleep, 0});
  if (to_raw >= 0)
    text +=
        fmt::format("With 1000 asleep it takes {:.2f} times what the same three system calls take in a plain "
                    "loop.\n",
                    to_raw);
  return text;
}

} // namespace report
