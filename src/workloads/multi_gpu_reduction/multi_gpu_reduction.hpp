// Workload "multi-GPU reduction": sums of an array that is spread over several GPUs, one after the other, each checked
// exactly. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool {

/// The method that sums the first GPU's part alone, by this library's reduction: what one GPU does in the same time.
inline constexpr const char* one_gpu_sum = "one-gpu";

/// What is summed again and again.
struct across_problem {
  reduction_problem whole;  ///< of all GPUs together
  uint32_t gpus = 1;
};

/// A GPU's part of an array.
struct part_of_array {
  uint64_t first, count;
};

/// That of GPU `gpu` of `gpus`: parts follow each other, and none has two elements more than another.
part_of_array part_of_gpu(uint64_t elements, uint32_t gpus, uint32_t gpu);

/// What a GPU has to sum for itself. No element of its memory has the index of one of another GPU's, so that a part
/// that is summed twice and one that is missed do not look alike.
reduction_problem problem_of_gpu(const across_problem& problem, uint32_t gpu);

/// The layout of every GPU's inputs where `memory` bytes may be taken of each.
reduction_layout layout_of(const across_problem& problem, uint64_t memory);

/// Throws invalid_argument, in words, if a GPU that has `free` bytes of memory left cannot hold such inputs, and what
/// else sums take.
void require_room(const reduction_layout& layout, uint32_t gpu, uint64_t free);

/// The device side: the GPU of the request and those that follow it, as far as they reach each other.
class multi_gpu_reduction_device {
 public:
  virtual ~multi_gpu_reduction_device() = default;
  /// How many GPUs there are.
  virtual uint32_t gpus() const = 0;
  /// Bytes of the largest part that stays in a GPU's cache.
  virtual uint64_t most_cached_bytes() const = 0;
  /// Sums under each of its methods, which are ways to sum; a step is one sum. A GPU begins the next when it has the
  /// result, or, where only the first GPU gets it, when that has. Their preparation throws invalid_argument if there
  /// are not so many GPUs, or their memory is short. It must not outlive this object.
  virtual std::unique_ptr<workload> summing(const across_problem& problem) = 0;
};

}  // namespace gpusync::tool
