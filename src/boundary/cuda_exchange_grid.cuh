// What computations in registers ask of a CUDA grid besides its shape: exchange between the threads of a warp and of a
// block. Tests have the same for host threads (tests/support/exchanging_threads.hpp).
#pragma once

#include <gpusync/core/cuda_grid.cuh>

#include "boundary/four_words.hpp"

namespace gpusync::tool {

struct cuda_exchange_grid : cuda_grid {
  /// `value` of the thread before this one in the warp, or behind it; at the warp's ends its own. All threads of the
  /// warp call them. Value: a number of 4 or 8 bytes.
  template <class Value>
  __device__ __forceinline__ Value before(Value value) const {
    return __shfl_up_sync(~0u, value, 1);
  }
  template <class Value>
  __device__ __forceinline__ Value behind(Value value) const {
    return __shfl_down_sync(~0u, value, 1);
  }
  /// `value` of the thread whose number in the warp differs in the bits of `mask`. All threads of the warp call it.
  __device__ __forceinline__ uint32_t from_other_thread(uint32_t value, uint32_t mask) const {
    return __shfl_xor_sync(~0u, value, mask);
  }
  __device__ __forceinline__ uint64_t from_other_thread(uint64_t value, uint32_t mask) const {
    return __shfl_xor_sync(~0u, static_cast<unsigned long long>(value), mask);
  }
  /// Memory that the threads of the block share, the same in every call with this `Count`.
  template <uint32_t Count>
  __device__ __forceinline__ four_words* shared_by_block() const {
    __shared__ four_words words[Count];
    return words;
  }
  /// Where it is, for share() and shared(), which know that it is shared memory: accesses by pointers that are computed
  /// once, and not anew in each step, do not.
  template <uint32_t Count>
  __device__ __forceinline__ uint32_t shared_place() const {
    return opaque(static_cast<uint32_t>(__cvta_generic_to_shared(shared_by_block<Count>())));
  }
  /// The block's dynamic shared memory, of as many bytes as the launch gives it.
  __device__ __forceinline__ void* dynamic_shared() const {
    extern __shared__ four_words dynamic_words[];
    return dynamic_words;
  }
};

}  // namespace gpusync::tool
