// Workload "oversubscription" for CUDA and host threads.
#pragma once

#include "boundary/computation.hpp"
#include "boundary/step_text.h"

namespace gpusync::tool {

#include "workloads/oversubscription/relay_text.h"

}  // namespace gpusync::tool
