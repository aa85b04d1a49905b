// Paced texts on CUDA devices: the engine, which knows their kernels as functions and nothing of their texts. Needs the
// CUDA runtime's headers, not nvcc.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "boundary/cuda_target.hpp"
#include "workloads/paced/paced.hpp"

namespace gpusync::tool {

/// One kernel: it takes a text, and, if it is instrumented, where each warp's clocks go.
struct cuda_paced_kernel {
  paced_variant about;
  bool instrumented = false;
  const void* function = nullptr;
};

/// A text as its functions.
struct cuda_paced_text {
  std::function<paced_arrays(const paced_problem&)> arrays;
  /// The text on these arrays, to be handed to kernels, and what it says of itself.
  struct made {
    std::shared_ptr<void> text;
    uint64_t trips = 0, bytes = 0;
  };
  std::function<made(const paced_problem&, uint32_t* const* arrays)> make;
  const void* fill = nullptr;    ///< (text, array, to, words): writes an input
  const void* expect = nullptr;  ///< (text, to, words): writes what the output must be
  std::vector<cuda_paced_kernel> kernels;
};

/// The device side of a text.
std::unique_ptr<paced_device> open_paced_text(const device_description& device, cuda_paced_text text);

}  // namespace gpusync::tool
