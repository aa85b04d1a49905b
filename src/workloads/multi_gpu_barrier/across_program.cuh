// What the ways to join GPUs are made of: devices, streams, words; steps in one kernel on each.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boundary/cuda_gpus.hpp"
#include "boundary/cuda_survey.cuh"
#include "workloads/multi_gpu_barrier/across_words.cuh"
#include "workloads/multi_gpu_barrier/multi_gpu_barrier.hpp"

namespace gpusync::tool {

constexpr uint32_t in_kernel_steps = 1100, in_kernel_warm_up = 100;
constexpr uint32_t checked_steps = 100;          ///< behind a run without words
constexpr uint32_t most_checked_steps = 200000;  ///< of a launch

/// What all programs have: the GPUs, their streams, their words.
class across_base : public across_program {
 public:
  across_base(const std::vector<cuda_target>& all, const cuda_device_group& group, const across_setting& setting)
      : targets_(all.begin(), all.begin() + setting.gpus),
        group_(group),
        setting_(setting),
        shape_{setting.shape.blocks, setting.shape.threads} {
    for (const cuda_target& one : targets_) streams_.push_back(one.stream());
    across_words words{};
    words.part = setting.shape.blocks * setting.shape.threads;
    words.gpus = setting.gpus;
    words.hops = setting.data == across_data::push ? 1 : 0;
    for (uint32_t i = 0; i < setting.gpus; ++i) {
      const size_t half = size_t{words.part} * setting.gpus;
      memory_.emplace_back(targets_[i].device(), 2 * half * sizeof(uint32_t));
      counts_.emplace_back(targets_[i].device(), 4 * sizeof(uint64_t));
      words.half[0][i] = static_cast<uint32_t*>(memory_[i].address());
      words.half[1][i] = words.half[0][i] + half;
    }
    words_.assign(setting.gpus, words);
    for (uint32_t i = 0; i < setting.gpus; ++i) {
      auto* const counts = static_cast<unsigned long long*>(counts_[i].address());
      words_[i].gpu = i;
      words_[i].wrong = counts;
      words_[i].nanoseconds = counts + 1;
      bases_.push_back(reinterpret_cast<uint32_t*>(counts + 2));
    }
  }

  uint64_t checked() override { return checked_; }
  uint64_t wrong() override {
    uint64_t all = 0;
    for (uint32_t i = 0; i < gpus(); ++i) all += read<uint64_t>(i, words_[i].wrong);
    return all;
  }

 protected:
  uint32_t gpus() const { return setting_.gpus; }
  bool exchanges() const { return setting_.data != across_data::none; }
  template <class T, class Address>
  T read(uint32_t gpu, const Address* from) const {
    const cuda_device_scope scope(targets_[gpu].device().ordinal());
    T value;
    check_cuda(cudaMemcpy(&value, from, sizeof(value), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }
  void await() const { tool::await(targets_); }
  void count_checked(uint64_t steps) {
    checked_ += steps * gpus() * gpus() * setting_.shape.blocks * setting_.shape.threads;
  }
  /// Numbers of steps that were not used yet.
  uint32_t next_steps(uint32_t count) {
    const uint32_t first = next_;
    next_ += count;
    return first;
  }

  const std::vector<cuda_target> targets_;
  const cuda_device_group group_;
  const across_setting setting_;
  const launch_shape shape_;
  std::vector<cudaStream_t> streams_;
  std::vector<cuda_buffer> memory_, counts_;
  std::vector<across_words> words_;
  std::vector<uint32_t*> bases_;

 private:
  uint32_t next_ = 1;
  uint64_t checked_ = 0;
};

/// Steps in one kernel on each GPU.
class in_kernel : public across_base {
 public:
  using across_base::across_base;

  double run() override {
    const double timed = launch_steps(exchanges(), {0, in_kernel_steps, in_kernel_warm_up});
    if (!exchanges()) (void)launch_steps(true, {0, checked_steps, 0});
    return timed / (in_kernel_steps - in_kernel_warm_up);
  }
  void check(uint64_t steps) override {
    for (; steps != 0; steps -= std::min<uint64_t>(steps, most_checked_steps)) {
      (void)launch_steps(true, {0, static_cast<uint32_t>(std::min<uint64_t>(steps, most_checked_steps)), 0});
    }
  }

 protected:
  virtual void start(bool exchanges, const step_range& steps) = 0;

 private:
  double launch_steps(bool exchanges, step_range steps) {
    steps.first = next_steps(steps.count);
    start(exchanges, steps);
    await();
    if (exchanges) count_checked(steps.count);
    return static_cast<double>(read<uint64_t>(0, words_[0].nanoseconds));
  }
};

/// A way to join GPUs.
struct across_method {
  step_method method;
  /// Its program on the first GPUs of the device side's. Throws gpusync::error if there can be none.
  std::function<std::unique_ptr<across_program>(const std::vector<cuda_target>&, const cuda_device_group&,
                                                const across_setting&)>
      make;
};

/// All that there are in this build.
inline std::vector<across_method>& across_methods() {
  static std::vector<across_method> all;
  return all;
}

/// Adds one; called during static initialization.
template <class Program>
struct register_across {
  register_across(const std::string& name, const std::string& title, method_kind kind, bool rival,
                  std::vector<std::string> items = {}) {
    step_method method;
    method.name = name;
    method.title = title;
    method.kind = kind;
    method.rival = rival;
    method.items = std::move(items);
    across_methods().push_back({method, [](const auto&... of) { return std::make_unique<Program>(of...); }});
  }
};

}  // namespace gpusync::tool
