// Paced texts on CUDA devices: their kernels.
#pragma once

#include <gpusync/gpusync.cuh>
#include <gpusync/pace/cuda.cuh>

#include "measure/cuda_full_blocks.cuh"
#include "workloads/paced/paced_cuda.hpp"
#include "workloads/paced/paced_text.hpp"

namespace gpusync::tool {

/// All variants have registers for as many threads as a multiprocessor holds: else those that the compiler unrolls
/// further would run in fewer blocks, and could be compared with none.
#if defined(CUDART_VERSION) && CUDART_VERSION >= 12040
inline constexpr unsigned paced_registers = 65536 / threads_of_multiprocessor / 8 * 8;
#define GPUSYNC_PACED_BOUNDS __maxnreg__(paced_registers)
#else
#define GPUSYNC_PACED_BOUNDS __launch_bounds__(1024, full_blocks<1024>)
#endif

template <class Text, class Form, uint32_t Every>
__global__ void GPUSYNC_PACED_BOUNDS paced_kernel(const Text text) {
  __shared__ pace_memory<Form> words;
  __shared__ typename Text::shared memory;
  block_pace<Form> pace(words);
  no_watch watch;
  text.template run<Every>(cuda_grid::current(), pace, memory, watch);
}

template <class Text, class Form, uint32_t Every>
__global__ void GPUSYNC_PACED_BOUNDS clocked_kernel(const Text text, warp_clocks* clocks) {
  __shared__ pace_memory<Form> words;
  __shared__ typename Text::shared memory;
  const cuda_grid grid = cuda_grid::current();
  const uint64_t begin = grid.now();
  block_pace<Form> pace(words);
  stop_watch watch;
  text.template run<Every>(grid, pace, memory, watch);
  const uint64_t end = grid.now();
  const uint32_t warps = (grid.threads() + 31) / 32;
  if (grid.thread() % 32 == 0) {
    clocks[size_t{grid.block()} * warps + grid.thread() / 32] = {
        {watch.parts[0], watch.parts[1], watch.parts[2]}, watch.visits, begin, end};
  }
}

template <class Text>
__global__ void GPUSYNC_PACED_BOUNDS rival_kernel(const Text text) {
  __shared__ typename Text::rival_shared memory;
  text.run_rival(cuda_grid::current(), memory);
}

template <class Text>
__global__ void fill_kernel(const Text text, uint32_t array, uint32_t* to, uint64_t words) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < words; i += uint64_t{gridDim.x} * blockDim.x) {
    to[i] = text.word(array, i);
  }
}

template <class Text>
__global__ void expect_kernel(const Text text, uint32_t* to, uint64_t words) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < words; i += uint64_t{gridDim.x} * blockDim.x) {
    to[i] = text.expected(i);
  }
}

/// Where the function of a kernel is found.
template <class Kernel>
const void* function_of_kernel(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

/// All functions of a text.
template <class Text>
cuda_paced_text cuda_text() {
  cuda_paced_text made;
  made.arrays = Text::arrays;
  made.make = [](const paced_problem& problem, uint32_t* const* arrays) {
    const auto text = std::make_shared<Text>(problem, arrays);
    return cuda_paced_text::made{text, text->trips(), text->bytes()};
  };
  made.fill = function_of_kernel(&fill_kernel<Text>);
  made.expect = function_of_kernel(&expect_kernel<Text>);
  Text::variants::for_each([&](auto kind) {
    using of = decltype(kind);
    const void* function = nullptr;
    if constexpr (of::instrumented) {
      function = function_of_kernel(&clocked_kernel<Text, typename of::form, of::every>);
    } else {
      function = function_of_kernel(&paced_kernel<Text, typename of::form, of::every>);
    }
    made.kernels.push_back({variant_of(kind), of::instrumented, function});
  });
  if constexpr (rival_of_text<Text>::there) {
    made.kernels.push_back({rival_variant<Text>(), false, function_of_kernel(&rival_kernel<Text>)});
  }
  return made;
}

/// Registers a text under a name.
template <class Text>
register_side<paced_device> register_cuda_text(const char* name) {
  return {device_kind::cuda,
          [](const device_description& device) { return open_paced_text(device, cuda_text<Text>()); }, name};
}

}  // namespace gpusync::tool
