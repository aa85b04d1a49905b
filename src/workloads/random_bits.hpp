// Bits that look random, for workloads that draw. C++17: CUDA sources include it.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync::tool {

/// Another number for each number, without a pattern between neighbours; but 0 for 0: who counts from there adds
/// something first.
GPUSYNC_HD constexpr uint32_t random_bits(uint32_t of) {
  of = (of ^ of >> 16) * 0x7feb352du;
  of = (of ^ of >> 15) * 0x846ca68bu;
  return of ^ of >> 16;
}

}  // namespace gpusync::tool
