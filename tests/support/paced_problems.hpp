// Problems of paced workloads, for tests.
#pragma once

#include "workloads/paced/paced.hpp"

namespace gpusync::tool {

inline paced_problem problem_of(uint32_t blocks, uint32_t threads, uint64_t elements, uint64_t length,
                                uint32_t percent = 0, uint64_t band = 0) {
  paced_problem problem;
  problem.shape.blocks = blocks;
  problem.shape.threads = threads;
  problem.elements = elements;
  problem.length = length;
  problem.percent = percent;
  problem.band = band;
  return problem;
}

}  // namespace gpusync::tool
