// The names of boundary/program.hpp under which some workloads and experiments know it.
#pragma once

#include "boundary/program.hpp"

namespace gpusync::tool {

using whole_program = program;
using whole_workload = workload;

}  // namespace gpusync::tool
