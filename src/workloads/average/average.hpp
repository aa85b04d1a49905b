// Workload "average" for CUDA and host threads.
#pragma once

#include "boundary/computation.hpp"
#include "boundary/step_text.h"

namespace gpusync::tool {

#include "workloads/average/average_text.h"

}  // namespace gpusync::tool
