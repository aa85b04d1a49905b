// Comparing results on a CUDA device.
#pragma once

#include "boundary/cuda_target.hpp"

namespace gpusync::tool {

/// In how many 32-bit words two arrays in device memory differ. Blocking, on the target's stream. `count`: device
/// memory to work with, 8 bytes.
uint64_t different_words(const cuda_target& where, const void* found, const void* expected, size_t words,
                         const cuda_buffer& count);

}  // namespace gpusync::tool
