#pragma once
// The vm_thread_close figures of several runs of rouse_bench, and of the peers that were measured in turn
// with them.

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace report {

// What was measured at one point of the grid.
struct point {
  std::string who; // a strategy's name, "raw", or a peer's name and version
  std::size_t asleep;
  std::size_t blocked;
  friend bool operator<(const point& a, const point& b) {
    return std::tie(a.who, a.asleep, a.blocked) < std::tie(b.who, b.asleep, b.blocked);
  }
};

class runs {
 public:
  // Takes in what rouse_bench wrote with --benchmark_out. \throws std::runtime_error that names the file
  void read_bench(const std::string& file);

  // Takes in what bench/peers/*.rb printed: an object a line. \throws as above
  void read_peer(const std::string& file);

  // Microseconds a pipe: the median of the runs, or a negative number if it was not measured.
  double microseconds(const point& p) const;

  // How many times as long `p` takes as `q`: the median of the ratios within each run.
  double ratio(const point& p, const point& q) const;

  std::size_t count() const noexcept { return count_; }
  const std::string& peer() const noexcept { return peer_; }                // "" without one
  const std::vector<std::string>& notes() const noexcept { return notes_; } // limits that were met
  const std::string& machine() const noexcept { return machine_; }

 private:
  void note(const std::string& text);

  std::map<point, std::vector<double>> figures_; // µs a pipe, one for each run
  std::string peer_, machine_;
  std::vector<std::string> notes_;
  std::size_t count_ = 0;
};

} // namespace report
