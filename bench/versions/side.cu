// Compiled once for each version: with its headers, and with its namespace under another name (-Dgpusync=...).
#include <gpusync/gpusync.cuh>

#include <optional>
#include <stdexcept>

// An older version may lack what came later.
#if __has_include(<gpusync/neighbours/cuda.cuh>)
#include <gpusync/neighbours/cuda.cuh>
#define HAS_NEIGHBOURS 1
#endif
#if __has_include(<gpusync/grid/votes.hpp>)
#define HAS_VOTES 1
#endif

#include "side.hpp"

namespace versions {
namespace {

namespace lib = gpusync;

struct exchange {
  unsigned* halves;  // two words for each thread of the grid
  unsigned* wrong;
  __device__ void put(unsigned step) const {
    const unsigned all = gridDim.x * blockDim.x;
    halves[step % 2 * all + blockIdx.x * blockDim.x + threadIdx.x] = step;
  }
  __device__ void check(unsigned step) const {
    const unsigned all = gridDim.x * blockDim.x;
    const unsigned next = blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1;
    if (halves[step % 2 * all + next * blockDim.x + threadIdx.x] != step) atomicAdd(wrong, 1u);
  }
  /// Of `step` from one block and 1 from each other.
  __device__ void check_sum(unsigned step, unsigned sum) const {
    if (sum != step + gridDim.x - 1) atomicAdd(wrong, 1u);
  }
};

// The loops count down in a register: a limit that is read anew behind every barrier is none of the barrier's cost.
__global__ void __launch_bounds__(1024, 2) idle(lib::grid_barrier barrier, unsigned steps) {
  barrier.enter();
  for (; steps != 0; --steps) barrier.sync();
}
__global__ void __launch_bounds__(1024, 2) exchanges(lib::grid_barrier barrier, exchange data, unsigned steps) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    barrier.sync();
    data.check(steps);
  }
}
__global__ void __launch_bounds__(1024, 2) idle_for(lib::grid_barrier barrier, unsigned steps, lib::timeout span) {
  barrier.enter();
  for (; steps != 0; --steps) {
    if (barrier.sync_for(span) == lib::wait_status::timed_out) return;
  }
}
__global__ void __launch_bounds__(1024, 2)
    exchanges_for(lib::grid_barrier barrier, exchange data, unsigned steps, lib::timeout span) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    if (barrier.sync_for(span) == lib::wait_status::timed_out) return;
    data.check(steps);
  }
}
__global__ void __launch_bounds__(1024, 2) splits(lib::grid_barrier barrier, exchange data, unsigned steps) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    auto token = barrier.arrive();
    barrier.wait(static_cast<decltype(token)&&>(token));
    data.check(steps);
  }
}
#ifdef HAS_NEIGHBOURS
__global__ void __launch_bounds__(512, 2) near(lib::neighbour_barrier barrier, exchange data, unsigned steps) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    barrier.sync();
    data.check(steps);
  }
}
__global__ void __launch_bounds__(512, 2)
    near_for(lib::neighbour_barrier barrier, exchange data, unsigned steps, lib::timeout span) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    if (barrier.sync_for(span) == lib::wait_status::timed_out) return;
    data.check(steps);
  }
}
#endif
#ifdef HAS_VOTES
__global__ void __launch_bounds__(512, 2) sums(lib::grid_barrier barrier, exchange data, unsigned steps) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    data.check_sum(steps, barrier.sync_add(blockIdx.x == 0 ? steps : 1));
    data.check(steps);
  }
}
__global__ void __launch_bounds__(512, 2)
    sums_for(lib::grid_barrier barrier, exchange data, unsigned steps, lib::timeout span) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    const auto voted = barrier.sync_add_for(blockIdx.x == 0 ? steps : 1, span);
    if (voted.status == lib::wait_status::timed_out) return;
    data.check_sum(steps, voted.answer);
    data.check(steps);
  }
}
#endif
__global__ void some_barriers(lib::grid_barrier barrier, int count) {
  for (int i = 0; i < count; ++i) barrier.sync();
}

class version : public side {
 public:
  void make(int blocks, int threads) override {
    blocks_ = static_cast<unsigned>(blocks);
    threads_ = static_cast<unsigned>(threads);
    storage_.reset();
    storage_.emplace(gpu_, blocks_);
#ifdef HAS_NEIGHBOURS
    near_.reset();
    near_.emplace(gpu_, lib::neighbourhood::ring(blocks_));
#endif
    halves_ = lib::cuda_buffer(gpu_, size_t{2} * blocks_ * threads_ * sizeof(unsigned));
    wrong_ = lib::cuda_buffer(gpu_, sizeof(unsigned));
  }
  void run(cudaStream_t stream, work what, unsigned steps) override {
    const exchange data{static_cast<unsigned*>(halves_.address()), static_cast<unsigned*>(wrong_.address())};
    const lib::launch_shape shape{blocks_, threads_};
    const lib::timeout span(10'000'000'000);
    auto barrier = storage_->barrier();
    switch (what) {
      case work::idle: return lib::launch(gpu_, stream, shape, idle, barrier, steps);
      case work::exchange: return lib::launch(gpu_, stream, shape, exchanges, barrier, data, steps);
      case work::idle_with_deadline: return lib::launch(gpu_, stream, shape, idle_for, barrier, steps, span);
      case work::exchange_with_deadline:
        return lib::launch(gpu_, stream, shape, exchanges_for, barrier, data, steps, span);
      case work::split: return lib::launch(gpu_, stream, shape, splits, barrier, data, steps);
#ifdef HAS_NEIGHBOURS
      case work::near: return lib::launch(gpu_, stream, shape, near, near_->barrier(), data, steps);
      case work::near_with_deadline:
        return lib::launch(gpu_, stream, shape, near_for, near_->barrier(), data, steps, span);
#endif
#ifdef HAS_VOTES
      case work::sum: return lib::launch(gpu_, stream, shape, sums, barrier, data, steps);
      case work::sum_with_deadline: return lib::launch(gpu_, stream, shape, sums_for, barrier, data, steps, span);
#endif
      default: throw std::invalid_argument("one of the two versions has no such barrier");
    }
  }
  void start(cudaStream_t stream, int barriers) override {
    lib::launch(gpu_, stream, {blocks_, threads_}, some_barriers, storage_->barrier(), barriers);
  }
  void start_plainly(cudaStream_t stream) override {
    auto barrier = storage_->barrier();
    int barriers = 0;
    void* arguments[] = {&barrier, &barriers};
    lib::check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(some_barriers), blocks_, threads_,
                                                arguments, 0, stream),
                    "cudaLaunchCooperativeKernel");
  }
  unsigned wrong() override {
    unsigned count = 0;
    lib::check_cuda(cudaMemcpy(&count, wrong_.address(), sizeof(count), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return count;
  }

 private:
  lib::cuda_device gpu_{0};
  unsigned blocks_ = 0, threads_ = 0;
  std::optional<lib::grid_barrier_storage> storage_;
#ifdef HAS_NEIGHBOURS
  std::optional<lib::neighbour_barrier_storage> near_;
#endif
  lib::cuda_buffer halves_, wrong_;
};

}  // namespace

std::unique_ptr<side> VERSION() {
  return std::make_unique<version>();
}

}  // namespace versions
