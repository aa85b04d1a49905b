// What the CUDA sides of workload "multi-GPU reduction" share: the GPUs of a case, and who sums over them.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/reduce/tiles.cuh>

#include "boundary/cuda_gpus.hpp"
#include "boundary/cuda_graph.hpp"
#include "measure/cuda_timer.cuh"
#include "workloads/multi_gpu_reduction/multi_gpu_reduction.hpp"
#include "workloads/reduction/sum_forms.cuh"

namespace gpusync::tool {

/// The GPUs that sum, and where each finds its inputs and may leave its results.
template <class T>
struct summing_gpus {
  std::vector<cuda_target> targets;  ///< by rank
  cuda_device_group group;
  std::vector<sum_pieces<T>> pieces;  ///< by rank
  std::string passing;                ///< reduction_problem::passing
  uint32_t nodes;                     ///< sums of a graph; even

  uint32_t size() const { return static_cast<uint32_t>(targets.size()); }
  reduction::input<T> input(uint32_t gpu, uint32_t number) const {
    return reduction::cut(pieces[gpu].input(number), pieces[gpu].elements);
  }
};

/// Who carries sums out, for one case.
class sums_across {
 public:
  virtual ~sums_across() = default;
  /// Makes ready what so many sums take; not in the figure. Says whether sums have been carried out for that.
  virtual bool arrange(uint32_t count) {
    (void)count;
    return false;
  }
  /// Carries out sums 0 to count - 1; returns their nanoseconds. Nothing of them is under way then, on any GPU.
  virtual double run(uint32_t count) = 0;
};

/// Sums that are queued on the GPUs' streams: one behind the other, or the host waits for each, or they are replayed.
class queued_sums : public sums_across {
 public:
  bool arrange(uint32_t count) override {
    if (passing_ != method_names::graph) return false;
    bool any_new = false;
    replays_.clear();
    for (uint32_t first = 0; first < count; first += nodes_) {
      const auto [entry, is_new] = graphs_.try_emplace(first);
      if (is_new) {
        any_new = true;
        try {
          entry->second = capture(first, nodes_);
        } catch (...) {
          graphs_.erase(entry);
          throw;
        }
      }
      replays_.push_back(&entry->second);
    }
    if (!any_new) return false;
    replay();  // which uploads them
    await(targets_);
    return true;
  }

  double run(uint32_t count) override {
    const cuda_device_scope scope(targets_[0].device().ordinal());
    if (passing_ == method_names::host_wait) {
      const host_timer clock;
      for (uint32_t i = 0; i < count; ++i) {
        queue(i);
        await(targets_, cuda_target::usual_limit_s, /*awake_s=*/cuda_target::usual_limit_s);
      }
      return clock.nanoseconds();
    }
    // Until the last result is on the first GPU.
    timer_.start(targets_[0].stream());
    if (passing_ == method_names::graph) {
      replay();
    } else {
      for (uint32_t i = 0; i < count; ++i) queue(i);
    }
    timer_.mark_stop(targets_[0].stream());
    await(targets_);
    return timer_.marked();
  }

 protected:
  /// Precondition: the first GPU is the current device.
  template <class T>
  explicit queued_sums(const summing_gpus<T>& gpus)
      : targets_(gpus.targets), passing_(gpus.passing), nodes_(gpus.nodes) {}

  /// Queues one behind those before.
  virtual void queue(uint32_t number) = 0;
  /// `count` of them from `first` on, as graphs: the i-th is for the stream of GPU i, and all are replayed together.
  /// Empty if they are no graphs.
  virtual std::vector<cuda_graph> capture(uint32_t first, uint32_t count) = 0;

  const std::vector<cuda_target> targets_;

 private:
  void replay() const {
    for (const auto* const graphs : replays_) {
      for (size_t i = 0; i < graphs->size(); ++i) {
        const cuda_device_scope scope(targets_[i].device().ordinal());
        (*graphs)[i].replay(targets_[i].stream());
      }
    }
  }

  const std::string passing_;
  const uint32_t nodes_;
  cuda_timer timer_;
  std::map<uint32_t, std::vector<cuda_graph>> graphs_;  ///< by the number of their first sum
  std::vector<const std::vector<cuda_graph>*> replays_;
};

/// Where the blocks of each GPU leave their sums.
template <class T>
struct sums_of_blocks {
  T* of[multi_gpu::most_gpus];
  uint32_t blocks[multi_gpu::most_gpus];
  uint32_t gpus;
};

/// The sum of all that they have left, by one block, in its first thread: most of it is read of other GPUs. Its threads
/// have summed before.
template <unsigned Threads, class T>
__device__ __forceinline__ T sum_of_gpus(const sums_of_blocks<T>& sums) {
  T share = 0;
  for (uint32_t gpu = 0; gpu < sums.gpus; ++gpu) share += share_of_sums<Threads>(sums.of[gpu], sums.blocks[gpu]);
  __syncthreads();
  return reduction::sum_of_block<Threads>(share);
}

/// Memory for that: on each GPU for so many blocks.
template <class T>
class memory_of_blocks {
 public:
  memory_of_blocks(const std::vector<cuda_target>& targets, const std::vector<uint32_t>& blocks) {
    places_.gpus = static_cast<uint32_t>(targets.size());
    for (uint32_t i = 0; i < places_.gpus; ++i) {
      memory_.emplace_back(targets[i].device(), blocks[i] * sizeof(T));
      places_.of[i] = static_cast<T*>(memory_.back().address());
      places_.blocks[i] = blocks[i];
    }
  }
  const sums_of_blocks<T>& places() const { return places_; }

 private:
  std::vector<cuda_buffer> memory_;
  sums_of_blocks<T> places_{};
};

/// A way to sum over GPUs: what is said of it, and who carries the sums out.
template <class T>
struct across_sum_method {
  step_method about;
  /// Whether every GPU has the result, else only the first.
  bool everywhere;
  std::function<std::unique_ptr<sums_across>(const summing_gpus<T>&)> prepare;
  /// Whether it is given the first GPU alone.
  bool alone = false;
};

/// This library's: sums_in_one_kernel_cuda.cu.
template <class T>
std::vector<across_sum_method<T>> sums_in_one_kernel();
/// With launches between the parts' sums and theirs, as Zhang and others have them; and one GPU alone:
/// sums_in_launches_cuda.cu.
template <class T>
std::vector<across_sum_method<T>> sums_in_launches();
/// NVIDIA's, where CMake has found NCCL: sums_by_nccl_cuda.cu.
template <class T>
std::vector<across_sum_method<T>> sums_by_nccl();

}  // namespace gpusync::tool
