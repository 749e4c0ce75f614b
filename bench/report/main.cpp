// rouse_report: from what rouse_bench wrote about vm_thread_close to a table, a picture and a page.

#include "report/page.hpp"
#include "report/picture.hpp"
#include "report/runs.hpp"
#include "report/table.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void make_report(const std::vector<std::string>& bench_files, const std::vector<std::string>& peer_files,
                 const std::filesystem::path& folder) {
  report::runs all;
  for (const std::string& file : bench_files) all.read_bench(file);
  for (const std::string& file : peer_files) all.read_peer(file);
  if (all.microseconds({"per_stream", 1000, 0}) < 0)
    throw std::runtime_error("the runs have no vm_thread_close/strategy:per_stream/asleep:1000/blocked:0");

  fmt::print("{}\n{}", report::text_table(all), report::verdict(all));
  for (const std::string& note : all.notes()) fmt::print("{}\n", note);
  std::fflush(stdout);

  std::filesystem::create_directories(folder);
  const std::filesystem::path picture = report::draw(all, folder);
  const std::filesystem::path page = report::write_page(all, picture, folder);
  fmt::print("\nThe report with the picture: {}\n",
             std::filesystem::absolute(page).lexically_normal().string());
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Makes a table, a picture and a page of what rouse_bench measured of vm_thread_close.");
  std::vector<std::string> bench_files, peer_files;
  std::string folder = "report";
  app.add_option("runs", bench_files,
                 "JSON files that rouse_bench wrote with --benchmark_out, one for each round")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--peer", peer_files, "what bench/peers/vm_thread_close.rb printed, one file for each round")
      ->check(CLI::ExistingFile);
  app.add_option("--out", folder, "the folder to write to")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    make_report(bench_files, peer_files, folder);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rouse_report: {}\n", error.what());
    return 1;
  }
  return 0;
}
