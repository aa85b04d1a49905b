// The machine code of paced variants: what a barrier adds to a loop.
#pragma once

#include <vector>

#include "harness/rows.hpp"
#include "workloads/paced/paced.hpp"

namespace gpusync::tool {

/// What stands in a function.
struct counted_code {
  uint64_t instructions = 0;  ///< all but NOP
  uint64_t barriers = 0;      ///< barriers of the block, waiting or arriving: BAR
  uint64_t arrivals = 0;      ///< of these, those that only arrive: BAR.ARV
  uint64_t fences = 0;        ///< MEMBAR
  uint64_t loads = 0;         ///< from global memory: LDG
};

/// Counts the opcodes of a function.
counted_code count_code(const std::vector<std::string>& opcodes);

/// A row for each variant: what it has, and `added_instructions`, how many it has more than the plain one. One skipped
/// row, "machine-code", if the code cannot be read.
std::vector<row> code_rows(const char* experiment, const experiment_request& request, const paced_device& device,
                           const paced_program& program, const std::vector<paced_variant>& variants);

}  // namespace gpusync::tool
