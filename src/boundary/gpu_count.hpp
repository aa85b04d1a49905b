// How many GPUs an experiment across GPUs takes. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <string>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

/// Throws invalid_argument, in words, unless there are as many GPUs as were asked for, and at least one was.
inline void require_gpus(uint32_t asked, uint32_t present) {
  if (asked >= 1 && asked <= present) return;
  if (asked == 0) throw invalid_argument("What goes across GPUs takes at least one.");
  throw invalid_argument(std::to_string(asked) + " GPUs were asked for, but " +
                         (present == 1 ? "no other reaches this one's memory."
                                       : "only " + std::to_string(present) + " here reach each other's memory."));
}

}  // namespace gpusync::tool
