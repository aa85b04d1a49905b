// What the CUDA sides of workload "reduction" share: where sums find their input, and who queues them.
#pragma once

#include <functional>
#include <vector>

#include "boundary/cuda_target.hpp"
#include "boundary/steps_cuda.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool {

/// Inputs and results of the sums of one problem, by the number of the sum.
template <class T>
struct sum_pieces {
  const T* first;   ///< of the first input
  uint64_t stride;  ///< elements from one to the next
  uint32_t count;   ///< inputs
  uint64_t elements;
  T* results;     ///< of the last sums, some for each input
  uint32_t kept;  ///< results, a multiple of `count`

  const T* input(uint32_t number) const { return first + number % count * stride; }
  T* result(uint32_t number) const { return results + number % kept; }
};

/// Who sums. What the calls need lives as long as they do.
struct sum_calls {
  queued_call sum;
  /// Queued behind a run, untimed: brings the result of that call, the run's last one, to its place, where sum() leaves
  /// it elsewhere. Null: every sum() leaves its own.
  queued_call finish = nullptr;
};

/// A way to sum: what is said of it, and who makes the calls.
template <class T>
struct sum_method {
  step_method about;
  std::function<sum_calls(const cuda_target&, const sum_pieces<T>&)> prepare;
  /// Most bytes of an input; 0: any.
  uint64_t most_bytes = 0;
};

/// This library's: reduction_cuda.cu.
template <class T>
std::vector<sum_method<T>> library_sums();
/// NVIDIA's: reduction_cub_cuda.cu.
template <class T>
std::vector<sum_method<T>> cub_sums();
/// With the barrier at a kernel's end and in the kernel, as Zhang and others have them, and what only reads:
/// reduction_forms_cuda.cu.
template <class T>
std::vector<sum_method<T>> sums_with_barriers();

/// gpusync::reduce() as it comes, which is among the library's.
template <class T>
sum_method<T> library_sum();
/// CUB's for any number of elements, which is among NVIDIA's.
template <class T>
sum_method<T> cub_sum();

}  // namespace gpusync::tool
