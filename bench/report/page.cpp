#include "report/page.hpp"

#include "report/table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/utsname.h>

namespace report {

namespace {

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>vm_thread_close</title>
<style>
  :root { color-scheme: light; }
  body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fafafa; margin: 0; }
  main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
  h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
  .verdict { font-size: 1.1rem; }
  .sheet { background: #fff; border: 1px solid #ddd; border-radius: 6px; padding: 1rem; overflow-x: auto; }
  .sheet svg { display: block; width: 100%; height: auto; }
  table { border-collapse: collapse; width: 100%; }
  th, td { padding: .35rem .7rem; text-align: right; border-bottom: 1px solid #eee; white-space: nowrap; }
  th:first-child, td:first-child { text-align: left; white-space: normal; }
  thead th { color: #555; font-weight: 600; } tr.ours td { font-weight: 600; background: #eef5fb; }
  .small { color: #555; font-size: .9rem; }
</style>
</head>
<body>
<main>
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    default: result += c;
    }
  }
  return result;
}

// The picture without what only a file of its own starts with.
std::string inline_svg(const std::filesystem::path& picture) {
  std::ifstream in(picture);
  std::ostringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  const std::size_t start = text.find("<svg");
  if (start == std::string::npos) throw std::runtime_error(fmt::format("{} is no picture", picture.string()));
  return text.substr(start);
}

std::string source_table(const runs& all) {
  std::string html =
      "<table>\n<thead><tr><th rowspan=\"2\">how a close finds whom to wake</th>"
      "<th colspan=\"2\">theirs, in 2014</th><th colspan=\"2\">here</th></tr>\n"
      "<tr><th>time, s</th><th>speedup</th><th>time, s</th><th>speedup</th></tr></thead>\n<tbody>\n";
  for (const row& r : rows(all))
    html += fmt::format("<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        r.title.find("Rouse") != std::string::npos ? " class=\"ours\"" : "", escaped(r.title),
                        r.their_time, r.their_speedup, r.our_time, r.our_speedup);
  return html + "</tbody>\n</table>\n";
}

std::string cost_table(const runs& all, const char* title, bool asleep) {
  std::string html = fmt::format("<table>\n<thead><tr><th>{}</th>", title);
  constexpr std::size_t counts[] = {0, 100, 1000, 5000, 10000};
  const auto cost = [&](const std::string& who, std::size_t n) {
    return all.microseconds({who, asleep ? n : 0, asleep ? 0 : n});
  };
  for (std::size_t n : counts)
    if (cost("per_stream", n) >= 0) html += fmt::format("<th>{}</th>", n);
  html += "</tr></thead>\n<tbody>\n";
  for (const strategy& s : strategies(all)) {
    html +=
        fmt::format("<tr{}><td>{}</td>", s.who == "per_stream" ? " class=\"ours\"" : "", escaped(s.title));
    for (std::size_t n : counts) {
      if (cost("per_stream", n) < 0) continue;
      const double us = cost(s.who, n);
      html += us < 0 ? "<td></td>" : fmt::format("<td>{:.2f}</td>", us);
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::string circumstances(const runs& all) {
  utsname system{};
  uname(&system);
  const std::time_t now = std::time(nullptr);
  return fmt::format(
      "{:%Y-%m-%d %H:%M} UTC, {} {} on {}, {}; medians of {} rounds, in each of which everything was "
      "measured in turn.",
      fmt::gmtime(now), system.sysname, system.release, system.machine, all.machine(), all.count());
}

} // namespace

std::filesystem::path write_page(const runs& all, const std::filesystem::path& picture,
                                 const std::filesystem::path& folder) {
  std::filesystem::path file = folder / "index.html";
  std::ofstream out(file);
  out << head << "<h1>What closing costs</h1>\n<p class=\"verdict\">" << escaped(verdict(all)) << "</p>\n"
      << "<div class=\"sheet\">\n"
      << inline_svg(picture) << "</div>\n"
      << "<h2>" << workload << "</h2>\n<div class=\"sheet\">" << source_table(all) << "</div>\n"
      << "<p class=\"small\">Theirs are the figures of CRuby's Feature #9632, on their machine; only ratios "
         "compare. A speedup says how much faster than the list of living threads on the same machine. The "
         "older "
         "strategies run here on the same VM: before each close they do the search that they stand for.</p>\n"
      << "<h2>Every point, µs to make and close a pipe</h2>\n<div class=\"sheet\">"
      << cost_table(all, "threads asleep", true) << "</div>\n<p></p>\n<div class=\"sheet\">"
      << cost_table(all, "threads blocked on other pipes, two on each", false) << "</div>\n";
  for (const std::string& note : all.notes()) out << "<p class=\"small\">" << escaped(note) << "</p>\n";
  out << "<p class=\"small\">" << escaped(circumstances(all)) << "</p>\n</main>\n</body>\n</html>\n";
  out.close();
  if (!out) throw std::runtime_error(fmt::format("cannot write {}", file.string()));
  return file;
}

} // namespace report
