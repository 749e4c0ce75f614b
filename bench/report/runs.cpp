#include "report/runs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace report {

namespace {

using nlohmann::json;

std::ifstream open(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", file));
  return in;
}

// A name with the suffixes that Google Benchmark may add. False: another benchmark's.
bool parse(const std::string& name, point& p) {
  static const std::regex form(
      R"((?:vm_thread_close/strategy:(\w+)|raw/vm_thread_close)/asleep:(\d+)/blocked:(\d+)(?:/.*)?)");
  std::smatch parts;
  if (!std::regex_match(name, parts, form)) return false;
  p = {parts[1].matched ? parts[1].str() : "raw", std::stoul(parts[2]), std::stoul(parts[3])};
  return true;
}

double in_microseconds(const json& entry) {
  static const std::map<std::string, double> units{{"ns", 1e-3}, {"us", 1.0}, {"ms", 1e3}, {"s", 1e6}};
  return entry.at("real_time").get<double>() * units.at(entry.at("time_unit").get<std::string>());
}

double median(std::vector<double> values) {
  if (values.empty()) return -1;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

} // namespace

void runs::note(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

void runs::read_bench(const std::string& file) {
  std::ifstream in = open(file);
  try {
    const json all = json::parse(in);
    const json& context = all.at("context");
    machine_ = fmt::format("{} processors at {} MHz", context.at("num_cpus").get<int>(),
                           context.at("mhz_per_cpu").get<int>());
    for (const json& entry : all.at("benchmarks")) {
      const auto name = entry.at("name").get<std::string>();
      point p;
      if (entry.value("run_type", "iteration") != "iteration" || !parse(name, p)) continue;
      if (entry.value("error_occurred", false)) {
        note(fmt::format("{}: {}", name, entry.value("error_message", "failed")));
        continue;
      }
      if (entry.contains("label")) note(fmt::format("{}: {}", name, entry["label"].get<std::string>()));
      figures_[p].push_back(in_microseconds(entry));
    }
  } catch (const json::exception& error) {
    throw std::runtime_error(fmt::format("{} is not what rouse_bench writes: {}", file, error.what()));
  }
  ++count_;
}

void runs::read_peer(const std::string& file) {
  std::ifstream in = open(file);
  try {
    for (std::string line; std::getline(in, line);) {
      if (line.empty()) continue;
      const json entry = json::parse(line);
      peer_ = entry.at("name").get<std::string>();
      const double seconds = entry.at("seconds").get<double>();
      figures_[{peer_, entry.at("asleep").get<std::size_t>(), 0}].push_back(seconds * 1e6 /
                                                                            entry.at("pipes").get<double>());
    }
  } catch (const json::exception& error) {
    throw std::runtime_error(fmt::format("{} is not what the peer's script writes: {}", file, error.what()));
  }
}

double runs::microseconds(const point& p) const {
  const auto found = figures_.find(p);
  return found == figures_.end() ? -1 : median(found->second);
}

double runs::ratio(const point& p, const point& q) const {
  const auto a = figures_.find(p);
  const auto b = figures_.find(q);
  if (a == figures_.end() || b == figures_.end()) return -1;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a->second.size(), b->second.size()); ++i)
    ratios.push_back(a->second[i] / b->second[i]);
  return median(std::move(ratios));
}

} // namespace report
