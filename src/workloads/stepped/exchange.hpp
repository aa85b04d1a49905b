// What texts of computations in registers have in common, whoever runs them. C++17: CUDA sources include it.
#pragma once

#include <cstdint>

// Before a loop over what a thread keeps: unrolled, or it is not kept in registers.
#if defined(__CUDA_ARCH__)
#define GPUSYNC_TOOL_UNROLL _Pragma("unroll")
#else
#define GPUSYNC_TOOL_UNROLL
#endif

namespace gpusync::tool {

/// 16 bytes, which a thread moves at once.
struct alignas(16) four_words {
  uint32_t word[4];
};

}  // namespace gpusync::tool
