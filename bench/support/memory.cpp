#include "support/memory.hpp"

#include <fstream>
#include <string>

namespace bench {

namespace {

// The value of one line of a /proc file that counts in kB.
std::size_t bytes_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string name; in >> name;) {
    std::size_t kilobytes = 0;
    if (name == key && in >> kilobytes) return kilobytes * 1024;
    in.clear();
    std::getline(in, name);
  }
  return 0;
}

} // namespace

std::size_t memory_in_use() {
  return bytes_of("/proc/self/status", "VmRSS:") + bytes_of("/proc/self/status", "VmPTE:");
}

std::size_t memory_available() { return bytes_of("/proc/meminfo", "MemAvailable:"); }

} // namespace bench
