// The names of boundary/program.hpp under which some workloads and experiments know it.
#pragma once

#include "boundary/program.hpp"

namespace gpusync::tool {

using step_program = program;
using step_workload = workload;

}  // namespace gpusync::tool
