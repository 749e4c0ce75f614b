#include "report/picture.hpp"

#include "report/table.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <spawn.h>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace report {

namespace {

// Nobody at all is a point of its own, which a logarithmic axis has no place for: it stands here.
constexpr double place_of_zero = 20;

constexpr std::array<std::size_t, 5> thread_counts{0, 100, 1000, 5000, 10000};

// Colours that people with any kind of colour vision can tell apart.
struct look {
  std::string_view who, label, colour;
  double width;
  int dash, mark;
};
constexpr std::array looks{
    look{"living_hash", "hash table of living threads", "#cc79a7", 2, 1, 9},
    look{"living_list", "list of living threads", "#d55e00", 2, 1, 5},
    look{"waiting_list", "list of waiting threads", "#e69f00", 2, 1, 11},
    look{"raw", "bare system calls", "#444444", 2, 2, 6},
    look{"per_stream", "list in each stream (Rouse)", "#0072b2", 3, 1, 7}, // last, and so on top
};
constexpr look peer_look{"", "", "#009e73", 2, 1, 13};

struct axis {
  std::string_view name, title;
  bool asleep;
};
constexpr std::array axes{axis{"asleep", "threads asleep", true},
                          axis{"blocked", "threads blocked on other pipes", false}};

// \returns whether there is anything
bool write_series(const runs& all, const std::string& who, const axis& a, const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "# threads  place on the axis  µs to make and close a pipe: " << who << "\n";
  bool any = false;
  for (std::size_t n : thread_counts) {
    const double us = all.microseconds({who, a.asleep ? n : 0, a.asleep ? 0 : n});
    if (us < 0) continue;
    out << fmt::format("{} {} {:.4f}\n", n, n == 0 ? place_of_zero : static_cast<double>(n), us);
    any = true;
  }
  if (!out) throw std::runtime_error(fmt::format("cannot write {}", file.string()));
  return any;
}

std::string curve(const std::filesystem::path& file, const look& l, std::string_view label) {
  return fmt::format("\"{}\" using 2:3 with linespoints lc rgb \"{}\" lw {} dt {} pt {} ps 0.8 title \"{}\"",
                     file.filename().string(), l.colour, l.width, l.dash, l.mark, label);
}

std::string panel(const runs& all, const axis& a, const std::filesystem::path& folder) {
  std::string curves;
  const auto add = [&](const look& l, const std::string& who, std::string_view label) {
    const std::filesystem::path file =
        folder / fmt::format("{}-{}.dat", a.name, l.who.empty() ? "peer" : l.who);
    if (write_series(all, who, a, file))
      curves += (curves.empty() ? "" : ", \\\n     ") + curve(file, l, label);
  };
  for (const look& l : looks) add(l, std::string(l.who), l.label);
  if (!all.peer().empty()) add(peer_look, all.peer(), all.peer());
  return fmt::format("set xlabel \"{}\"\nplot {}\n", a.title, curves.empty() ? "NaN notitle" : curves);
}

constexpr const char* preamble = R"(set encoding utf8
set terminal svg name "vm_thread_close" size 980,500 font "Helvetica,Arial,sans-serif,14" background rgb "#ffffff"
set output "vm_thread_close.svg"
set logscale xy
set xrange [14:14000]
set xtics ("0" 20, "100" 100, "1000" 1000, "10 000" 10000) nomirror
set ytics ("1" 1, "10" 10, "100" 100, "1000" 1000, "10 000" 10000, "100 000" 100000) nomirror
set tics scale 0.6 textcolor rgb "#222222"
set border 3 lc rgb "#888888"
set grid ytics lc rgb "#e2e2e2" lt 1 lw 1
)";

// The heading and the key stand once, above both panels.
constexpr const char* layout = R"(set multiplot layout 1,2 margins 0.105,0.985,0.14,0.77 spacing 0.09
set label 1 "Time to make a pipe and close both its ends, beside threads that have nothing to do with it" \
    at screen 0.5,0.955 center font ",16" textcolor rgb "#111111"
set key at screen 0.5,0.865 center center maxrows 2 Left reverse samplen 2.2 width -5 textcolor rgb "#222222"
set ylabel "microseconds a pipe" offset 2 textcolor rgb "#222222"
)";

// Both panels have the same scale, up to the power of ten above everything.
double top_of_scale(const runs& all) {
  double top = 10;
  for (const strategy& s : strategies(all))
    for (std::size_t n : thread_counts)
      for (const point& p : {point{s.who, n, 0}, point{s.who, 0, n}})
        while (all.microseconds(p) > top) top *= 10;
  return top;
}

void run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  std::string program = "gnuplot";
  std::string file = script;
  char* arguments[] = {program.data(), file.data(), nullptr};
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder); // the script names its files without one
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "gnuplot", nullptr, nullptr, arguments, environ);
  std::filesystem::current_path(before);
  if (failed != 0) throw std::runtime_error("gnuplot could not be started; scripts/setup installs it");
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error(fmt::format("gnuplot failed; its script is {}", (folder / script).string()));
}

} // namespace

std::filesystem::path draw(const runs& all, const std::filesystem::path& folder) {
  const std::string script = "vm_thread_close.gp";
  std::ofstream out(folder / script);
  out << preamble << fmt::format("set yrange [1:{}]\n", top_of_scale(all)) << layout
      << panel(all, axes[0], folder) << "unset label 1\nunset key\nunset ylabel\n"
      << panel(all, axes[1], folder) << "unset multiplot\n";
  out.close();
  if (!out) throw std::runtime_error(fmt::format("cannot write {}", (folder / script).string()));
  run_gnuplot(folder, script);
  return folder / "vm_thread_close.svg";
}

} // namespace report
