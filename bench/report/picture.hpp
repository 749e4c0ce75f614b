#pragma once
// What a close costs against the number of threads that have nothing to do with it, as a picture.

#include "report/runs.hpp"

#include <filesystem>
#include <string>

namespace report {

// Writes the data and the gnuplot script into `folder`, and has gnuplot draw vm_thread_close.svg there.
// \throws std::runtime_error if it cannot, with what gnuplot said on standard error
std::filesystem::path draw(const runs& all, const std::filesystem::path& folder);

} // namespace report
