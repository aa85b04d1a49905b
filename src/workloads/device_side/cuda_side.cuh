// Words that the blocks of a CUDA grid exchange: what workloads check barriers with that keep no steps.
#pragma once

#include <vector>

#include <gpusync/gpusync.cuh>
#include <gpusync/grid/registry.hpp>

#include "boundary/cuda_arrays.hpp"

namespace gpusync::tool {

/// Where blocks leave words for each other: two halves of one word per thread, used in turn, so that one barrier a step
/// is enough; and a count of those found wrong.
struct exchange {
  uint32_t* words;
  unsigned long long* wrong;

  /// What thread `element` writes in step `step`: different in all steps of 2^32.
  static __host__ __device__ uint32_t word(uint32_t element, uint32_t step) {
    return (step * 0x9e3779b9u) ^ (element * 0x85ebca6bu);
  }
  /// Writes the calling thread's word. Plain: whether others see it is the barrier's business.
  __device__ __forceinline__ void write(const cuda_grid& grid, uint32_t step) const {
    const uint32_t element = grid.block() * grid.threads() + grid.thread();
    half(grid, step)[element] = word(element, step);
  }
  /// 1 if the word of the thread of the same number in block `other` is not that of `step`, else 0.
  __device__ __forceinline__ uint32_t check(const cuda_grid& grid, uint32_t step, uint32_t other) const {
    const uint32_t element = other * grid.threads() + grid.thread();
    return half(grid, step)[element] == word(element, step) ? 0u : 1u;
  }
  /// The same by a load that never finds its word in L1: what check() costs behind a barrier, where there is none.
  __device__ __forceinline__ uint32_t check_past_l1(const cuda_grid& grid, uint32_t step, uint32_t other) const {
    const uint32_t element = other * grid.threads() + grid.thread();
    const uint32_t found = cuda_memory::load<memory_order::relaxed, scope::device>(half(grid, step) + element);
    return found == word(element, step) ? 0u : 1u;
  }
  /// Adds to the count of wrong words.
  __device__ __forceinline__ void report(uint32_t found) const {
    if (found != 0) (void)atomicAdd(wrong, static_cast<unsigned long long>(found));
  }

 private:
  __device__ __forceinline__ uint32_t* half(const cuda_grid& grid, uint32_t step) const {
    return words + size_t{step % 2} * grid.blocks() * grid.threads();
  }
};

/// The memory of an exchange, whose words stay from run to run, and `more` behind it.
inline std::vector<array_content> exchange_arrays(uint32_t blocks, uint32_t threads,
                                                  std::initializer_list<array_content> more = {}) {
  std::vector<array_content> all{array_content::filled(2 * size_t{blocks} * threads, 0u, false),
                                 array_content::counts()};
  all.insert(all.end(), more);
  return all;
}

/// The exchange in such arrays.
inline exchange exchange_in(const cuda_arrays& memory) {
  return {memory.address<uint32_t>(0), memory.address<unsigned long long>(1)};
}

}  // namespace gpusync::tool
