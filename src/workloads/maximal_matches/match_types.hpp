// Workload "maximal matches": its text, for C++. C++17: CUDA sources include it.
#pragma once

#include <cstdint>

#include "boundary/computation.hpp"
#include "boundary/step_text.h"
#include "workloads/maximal_matches/pace_place.hpp"

namespace gpusync::tool {

#include "workloads/maximal_matches/match_text.h"

}  // namespace gpusync::tool
