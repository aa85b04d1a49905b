// Words that the blocks of several GPUs exchange, step by step, and the loops of steps.
#pragma once

#include <gpusync/gpusync.cuh>
#include <gpusync/multi_gpu/cuda.cuh>

#include "measure/cuda_full_blocks.cuh"

namespace gpusync::tool {

/// Where a GPU's threads leave words for each other and for those of other GPUs: two halves, used in turn, so that one
/// barrier a step is enough.
struct across_words {
  uint32_t* half[2][multi_gpu::most_gpus];  ///< by parity of the step, by GPU; a part for each GPU's threads
  uint32_t part;                            ///< words of a GPU's threads
  uint32_t gpu, gpus;
  uint32_t hops;  ///< a GPU's words lie on it, or so many GPUs further
  unsigned long long* wrong;
  unsigned long long* nanoseconds;

  /// What a thread writes in a step: different in all steps of 2^32.
  static __host__ __device__ uint32_t word(uint32_t thread, uint32_t step) {
    return (step * 0x9e3779b9u) ^ (thread * 0x85ebca6bu);
  }
  __device__ __forceinline__ uint32_t* at(uint32_t step, uint32_t of, uint32_t thread) const {
    return half[step % 2][(of + hops) % gpus] + of * part + thread;
  }
  __device__ __forceinline__ void write(const cuda_grid& grid, uint32_t step) const {
    const uint32_t thread = grid.block() * grid.threads() + grid.thread();
    *at(step, gpu, thread) = word(gpu * part + thread, step);
  }
  /// Words of a thread of every GPU's, in a block that changes with the step, that are not those of `step`.
  __device__ __forceinline__ uint32_t count_wrong(const cuda_grid& grid, uint32_t step) const {
    const uint32_t thread = (grid.block() + step * 29) % grid.blocks() * grid.threads() + grid.thread();
    uint32_t count = 0;
    for (uint32_t of = 0; of < gpus; ++of) {
      count += *at(step, of, thread) == word(of * part + thread, step) ? 0 : 1;
    }
    return count;
  }
  __device__ __forceinline__ void report(uint32_t count) const {
    if (count != 0) (void)atomicAdd(wrong, static_cast<unsigned long long>(count));
  }
};

/// Steps of one kernel.
struct step_range {
  uint32_t first;    ///< their numbers, which go into the words
  uint32_t count;    ///< in all
  uint32_t warm_up;  ///< of which so many are not timed
};

/// All steps of a kernel, which waits by `sync()`; the first block says how long those took that are timed.
template <bool Exchanges, class Sync>
__device__ __forceinline__ void run_steps_across(const across_words& words, const step_range& steps, Sync&& sync) {
  const cuda_grid grid;
  uint32_t wrong = 0;
  uint64_t begin = 0;
  for (uint32_t i = 0; i < steps.count; ++i) {
    if (i == steps.warm_up) begin = grid.now();
    if constexpr (Exchanges) words.write(grid, steps.first + i);
    sync();
    if constexpr (Exchanges) wrong += words.count_wrong(grid, steps.first + i);
  }
  if (grid.block() == 0 && grid.thread() == 0) *words.nanoseconds = grid.now() - begin;
  if constexpr (Exchanges) words.report(wrong);
}

/// What a leading block does between two barriers of its grid in the three-step form: tells the others, and waits for
/// all. Flags only grow.
struct gate {
  uint32_t* flags[multi_gpu::most_gpus];  ///< by GPU: a word for each
  uint32_t gpu, gpus;
  uint32_t phase;

  /// Of a thread: looked up once, for an array that is indexed in every phase would lie in local memory.
  struct session {
    uint32_t* to;         ///< where it tells another GPU; null if it has none to tell
    const uint32_t* own;  ///< where that one tells this GPU
    uint32_t phase;

    /// By all threads of one block of each GPU, between two block barriers.
    __device__ __forceinline__ void pass() {
      ++phase;
      if (to == nullptr) return;
      cuda_memory::store<memory_order::release, scope::system>(to, phase);
      while (!phase_reached(cuda_memory::load<memory_order::relaxed, scope::system>(own), phase)) {
      }
      cuda_memory::acquire<scope::system>(own);
    }
  };
  __device__ __forceinline__ session enter() const {
    if (threadIdx.x >= gpus) return {nullptr, nullptr, phase};
    return {flags[threadIdx.x] + gpu, flags[gpu] + threadIdx.x, phase};
  }
};

}  // namespace gpusync::tool
