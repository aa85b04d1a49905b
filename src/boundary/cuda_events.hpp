// Events by which the streams of several GPUs wait for each other. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <vector>

#include "boundary/cuda_event.hpp"
#include "boundary/cuda_target.hpp"

namespace gpusync::tool {

/// An event for each GPU. What is queued by them may be captured, too.
class step_events {
 public:
  /// `targets` must outlive it.
  explicit step_events(const std::vector<cuda_target>& targets) : targets_(targets) {
    for (const cuda_target& one : targets) {
      const cuda_device_scope scope(one.device().ordinal());
      events_.emplace_back();
    }
  }
  /// After what was queued on each GPU, each goes on when all have come so far.
  void meet() const {
    for (uint32_t i = 0; i < events_.size(); ++i) record(i);
    for (uint32_t i = 0; i < events_.size(); ++i) {
      for (uint32_t j = 0; j < events_.size(); ++j) {
        if (i != j) wait(i, j);
      }
    }
  }
  /// One GPU waits for what was queued on all.
  void join(uint32_t gpu) const {
    for (uint32_t i = 0; i < events_.size(); ++i) {
      if (i != gpu) record(i), wait(gpu, i);
    }
  }
  /// All others wait for what was queued on one.
  void fork(uint32_t gpu) const {
    if (events_.size() > 1) record(gpu);
    for (uint32_t i = 0; i < events_.size(); ++i) {
      if (i != gpu) wait(i, gpu);
    }
  }

 private:
  void record(uint32_t gpu) const {
    const cuda_device_scope scope(targets_[gpu].device().ordinal());
    check_cuda(cudaEventRecord(events_[gpu].get(), targets_[gpu].stream()), "cudaEventRecord");
  }
  void wait(uint32_t gpu, uint32_t other) const {
    const cuda_device_scope scope(targets_[gpu].device().ordinal());
    check_cuda(cudaStreamWaitEvent(targets_[gpu].stream(), events_[other].get(), 0), "cudaStreamWaitEvent");
  }

  const std::vector<cuda_target>& targets_;
  std::vector<cuda_event> events_;
};

}  // namespace gpusync::tool
