// The GPUs of one host that an experiment across GPUs runs on. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <vector>

#include <gpusync/multi_gpu/cuda_group.hpp>

#include "boundary/cuda_target.hpp"
#include "boundary/gpu_count.hpp"

namespace gpusync::tool {

/// A GPU and those that follow it, as far as all of them reach each other's memory; behind the last comes the first.
class cuda_gpus {
 public:
  /// Makes their memory accessible to each other. Throws as cuda_device does.
  explicit cuda_gpus(int first) {
    int count = 0;
    check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    std::vector<int> ordinals{first};
    for (int i = 1; i < count && i < static_cast<int>(multi_gpu::most_gpus); ++i) {
      ordinals.push_back((first + i) % count);
      try {
        (void)cuda_device_group(ordinals);
      } catch (const invalid_argument&) {  // they do not reach each other
        ordinals.pop_back();
        break;
      }
    }
    for (const int one : ordinals) {
      targets_.emplace_back(one);
      groups_.emplace_back(std::vector<int>(ordinals.begin(), ordinals.begin() + static_cast<long>(targets_.size())));
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(targets_.size()); }
  /// All of them, by rank.
  const std::vector<cuda_target>& targets() const { return targets_; }
  /// The first so many. Throws invalid_argument if there are not as many, behind_stuck_launch if one of them is stuck.
  const cuda_device_group& group(uint32_t count) const {
    require_gpus(count, size());
    for (uint32_t i = 0; i < count; ++i) require_not_stuck("cuda:" + std::to_string(targets_[i].device().ordinal()));
    return groups_[count - 1];
  }

 private:
  std::vector<cuda_target> targets_;
  std::vector<cuda_device_group> groups_;  ///< of the first one, two, …
};

/// Waits for all of these; `limit_s` and `awake_s` as cuda_target::await() has them, for each.
inline void await(const std::vector<cuda_target>& targets, double limit_s = cuda_target::usual_limit_s,
                  double awake_s = 1e-3) {
  for (const cuda_target& one : targets) {
    const cuda_device_scope scope(one.device().ordinal());
    one.await(limit_s, awake_s);
  }
}

}  // namespace gpusync::tool
