// What `gpusync pace` has found, for the result document.
#pragma once

#include <string>
#include <vector>

#include "pacing/pace_verdict.hpp"
#include "pacing/paced_program.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// A row for each variant, of experiment "pace".
std::vector<row> rows_of(const paced_source& source, const paced_launch& launch, const std::string& device,
                         const std::vector<kernel_variant>& variants);

/// The verdict for the context's key "pace": figures as numbers, what is not known as null.
json in_json(const pace_verdict& verdict, const std::vector<std::string>& cures);

/// Whether a run is so short that much of it is its launch.
bool remark_on_short_runs(const std::vector<kernel_variant>& variants);

}  // namespace gpusync::tool
