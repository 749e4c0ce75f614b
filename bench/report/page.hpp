#pragma once
// The report for the browser: one file that needs no other.

#include "report/runs.hpp"

#include <filesystem>

namespace report {

// Writes index.html into `folder`, with the picture in it. \throws std::runtime_error if it cannot
std::filesystem::path write_page(const runs& all, const std::filesystem::path& picture,
                                 const std::filesystem::path& folder);

} // namespace report
