// One version of the library, behind an interface that none of its names is in: two versions in one program.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

namespace versions {

/// What a persistent kernel does between barriers; `near`: the barrier is of a ring of neighbours; `sum`: it brings a
/// sum of all blocks.
enum class work {
  idle,
  exchange,
  idle_with_deadline,
  exchange_with_deadline,
  split,
  near,
  near_with_deadline,
  sum,
  sum_with_deadline
};

class side {
 public:
  virtual ~side() = default;
  /// Makes a storage for so many blocks; the one before is given back.
  virtual void make(int blocks, int threads) = 0;
  /// One launch of `steps` steps with a barrier each, on the stream given to make's storage.
  virtual void run(cudaStream_t stream, work what, unsigned steps) = 0;
  /// A launch with so many barriers and nothing else, by the library's launch().
  virtual void start(cudaStream_t stream, int barriers) = 0;
  /// The same without a barrier, by cudaLaunchCooperativeKernel(): what launch() is measured against.
  virtual void start_plainly(cudaStream_t stream) = 0;
  /// Words that were not what another block had written.
  virtual unsigned wrong() = 0;
};

std::unique_ptr<side> before();
std::unique_ptr<side> after();

}  // namespace versions
