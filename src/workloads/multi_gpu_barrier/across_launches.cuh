// GPUs that are joined by launches: one for each step on each GPU.
#pragma once

#include "measure/host_timer.hpp"
#include "workloads/multi_gpu_barrier/across_program.cuh"

namespace gpusync::tool {

constexpr uint32_t launched_steps = 120, launched_warm_up = 20;

/// One step of many launches: looks at the words of the step before, and writes its own. `base`: a word to which the
/// step's number is counted, for replays.
template <bool Exchanges>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    one_step_across(across_words words, const uint32_t* base, uint32_t number, bool looks) {
  if constexpr (Exchanges) {
    const cuda_grid grid;
    const uint32_t step = *base + number;
    if (looks) words.report(words.count_wrong(grid, step - 1));
    words.write(grid, step);
  }
}

/// A launch for each step on each GPU.
class by_launches : public across_base {
 public:
  using across_base::across_base;

  double run() override {
    const double timed = steps(exchanges());
    if (!exchanges()) (void)steps(true);
    return timed;
  }
  void check(uint64_t count) override {
    for (uint64_t done = 0; done < count; done += launched_steps) (void)steps(true);
  }

 protected:
  /// All steps; nanoseconds a step.
  virtual double steps(bool exchanges) = 0;

  void set_base(uint32_t first) {
    for (uint32_t i = 0; i < gpus(); ++i) {
      const cuda_device_scope scope(targets_[i].device().ordinal());
      check_cuda(cudaMemcpyAsync(bases_[i], &first, sizeof(first), cudaMemcpyHostToDevice, streams_[i]),
                 "cudaMemcpyAsync");
    }
    await();
  }
  /// Precondition: the GPU is the current device.
  void launch_step(uint32_t gpu, cudaStream_t stream, bool exchanges, uint32_t number) const {
    const auto kernel = exchanges ? one_step_across<true> : one_step_across<false>;
    kernel<<<setting_.shape.blocks, setting_.shape.threads, 0, stream>>>(words_[gpu], bases_[gpu], number, number != 0);
    check_cuda(cudaGetLastError(), "a launch of a step");
  }
};

/// Steps that are queued: the host waits only behind the last.
class by_queues : public by_launches {
 public:
  using by_launches::by_launches;

 protected:
  /// Queues what makes each GPU go on when all have done what was queued so far.
  virtual void meet() = 0;

 private:
  double steps(bool exchanges) override {
    set_base(next_steps(launched_steps));
    if (exchanges) count_checked(launched_steps - 1);
    host_timer clock;
    for (uint32_t i = 0; i < launched_steps; ++i) {
      if (i == launched_warm_up) {
        await();
        clock = host_timer();
      }
      for (uint32_t gpu = 0; gpu < gpus(); ++gpu) {
        const cuda_device_scope scope(targets_[gpu].device().ordinal());
        launch_step(gpu, streams_[gpu], exchanges, i);
      }
      meet();
    }
    await();
    return clock.nanoseconds() / (launched_steps - launched_warm_up);
  }
};

}  // namespace gpusync::tool
