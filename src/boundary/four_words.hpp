// What texts of computations in registers have in common, whoever runs them. C++17: CUDA sources include it.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync::tool {

/// 16 bytes, which a thread moves at once.
struct alignas(16) four_words {
  uint32_t word[4];
};

}  // namespace gpusync::tool
