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
  /// What a block brings to a sum: `step` from one, 1 from each other.
  __device__ unsigned summand(unsigned step) const { return blockIdx.x == 0 ? step : 1; }
  __device__ void check_sum(unsigned step, unsigned sum) const {
    if (sum != step + gridDim.x - 1) atomicAdd(wrong, 1u);
  }
};

// The loops count down in a register: a limit that is read anew behind every barrier is none of the barrier's cost.
__global__ void __launch_bounds__(1024, 2) idle(lib::grid_barrier barrier, unsigned steps) {
  barrier.enter();
  for (; steps != 0; --steps) barrier.sync();
}
__global__ void __launch_bounds__(1024, 2) idle_for(lib::grid_barrier barrier, unsigned steps, lib::timeout span) {
  barrier.enter();
  for (; steps != 0; --steps) {
    if (barrier.sync_for(span) == lib::wait_status::timed_out) return;
  }
}

// How a block crosses from one step of an exchange to the next: false once a wait has timed out.
struct by_sync {
  template <class Barrier>
  __device__ bool operator()(Barrier& barrier, const exchange&, unsigned) const {
    barrier.sync();
    return true;
  }
};
struct by_sync_for {
  lib::timeout span;
  template <class Barrier>
  __device__ bool operator()(Barrier& barrier, const exchange&, unsigned) const {
    return barrier.sync_for(span) != lib::wait_status::timed_out;
  }
};
struct split {
  template <class Barrier>
  __device__ bool operator()(Barrier& barrier, const exchange&, unsigned) const {
    auto token = barrier.arrive();
    barrier.wait(static_cast<decltype(token)&&>(token));
    return true;
  }
};
struct by_sum {
  template <class Barrier>
  __device__ bool operator()(Barrier& barrier, const exchange& data, unsigned step) const {
    data.check_sum(step, barrier.sync_add(data.summand(step)));
    return true;
  }
};
struct by_sum_for {
  lib::timeout span;
  template <class Barrier>
  __device__ bool operator()(Barrier& barrier, const exchange& data, unsigned step) const {
    const auto voted = barrier.sync_add_for(data.summand(step), span);
    if (voted.status == lib::wait_status::timed_out) return false;
    data.check_sum(step, voted.answer);
    return true;
  }
};

/// MostThreads: two blocks of so many fit on a multiprocessor, which is what bounds the registers.
template <unsigned MostThreads, class Barrier, class Crossing>
__global__ void __launch_bounds__(MostThreads, 2)
    exchanges(Barrier barrier, exchange data, unsigned steps, Crossing cross) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    if (!cross(barrier, data, steps)) return;
    data.check(steps);
  }
}
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
    const auto exchanging = [&](auto* kernel, auto& storage, auto cross) {
      lib::launch(gpu_, stream, shape, kernel, storage.barrier(), data, steps, cross);
    };
    using whole = lib::grid_barrier;
    switch (what) {
      case work::idle: return lib::launch(gpu_, stream, shape, idle, storage_->barrier(), steps);
      case work::exchange: return exchanging(exchanges<1024, whole, by_sync>, *storage_, by_sync{});
      case work::idle_with_deadline:
        return lib::launch(gpu_, stream, shape, idle_for, storage_->barrier(), steps, span);
      case work::exchange_with_deadline:
        return exchanging(exchanges<1024, whole, by_sync_for>, *storage_, by_sync_for{span});
      case work::split: return exchanging(exchanges<1024, whole, split>, *storage_, split{});
#ifdef HAS_NEIGHBOURS
      case work::near: return exchanging(exchanges<512, lib::neighbour_barrier, by_sync>, *near_, by_sync{});
      case work::near_with_deadline:
        return exchanging(exchanges<512, lib::neighbour_barrier, by_sync_for>, *near_, by_sync_for{span});
#endif
#ifdef HAS_VOTES
      case work::sum: return exchanging(exchanges<512, whole, by_sum>, *storage_, by_sum{});
      case work::sum_with_deadline: return exchanging(exchanges<512, whole, by_sum_for>, *storage_, by_sum_for{span});
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
