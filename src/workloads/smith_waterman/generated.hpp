// Sequences to measure with, where the user brings none.
#pragma once

#include <cstdint>
#include <utility>

#include "workloads/smith_waterman/scoring.hpp"

namespace gpusync::tool {

/// A random sequence of `letters` letters (second), and what a tenth of them substituted, one in fifty left out and one
/// in fifty doubled makes of it, cut, or filled up with A, to the same length (first). The same on every machine.
std::pair<sequence, sequence> generated_pair(uint32_t letters);

}  // namespace gpusync::tool
