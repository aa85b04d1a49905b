// Barriers across GPUs in kernels: this library's, and what people build of barriers of each grid.
#include "workloads/multi_gpu_barrier/across_three_steps.cuh"

namespace gpusync::tool {

namespace {

template <bool Exchanges, class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    across_by_barrier(Barrier barrier, across_words words, step_range steps) {
  barrier.enter();
  run_steps_across<Exchanges>(words, steps, [&] { barrier.sync(); });
}

template <class Algorithm>
class by_barrier : public in_kernel {
  using storage_type = cuda_multi_gpu_storage<Algorithm>;

 public:
  by_barrier(const std::vector<cuda_target>& all, const cuda_device_group& group, const across_setting& setting)
      : in_kernel(all, group, setting), storage_(group_, setting.shape.blocks, surveys_for(targets_)) {}

 private:
  void start(bool exchanges, const step_range& steps) override {
    const auto kernel = exchanges ? across_by_barrier<true, typename storage_type::barrier_type>
                                  : across_by_barrier<false, typename storage_type::barrier_type>;
    multi_gpu::launch(group_, streams_, shape_, kernel, storage_.barriers(), multi_gpu::for_each_gpu(words_), steps);
  }

  storage_type storage_;
};

/// Flags on each GPU, to which all others write.
class flag_exchange {
 public:
  using gate_type = gate;

  explicit flag_exchange(const std::vector<cuda_target>& targets) {
    gate between{};
    between.gpus = static_cast<uint32_t>(targets.size());
    for (const cuda_target& one : targets) {
      flags_.emplace_back(one.device(), 256);
      between.flags[flags_.size() - 1] = static_cast<uint32_t*>(flags_.back().address());
    }
    gates_.assign(targets.size(), between);
    for (uint32_t i = 0; i < gates_.size(); ++i) gates_[i].gpu = i;
  }
  const gate& of(uint32_t gpu) const { return gates_[gpu]; }
  void passed(uint32_t times) {
    for (gate& one : gates_) one.phase += times;
  }

 private:
  std::vector<cuda_buffer> flags_;
  std::vector<gate> gates_;
};

/// Registers the barriers of a list.
template <class... Algorithms>
void register_all(grid::algorithm_list<Algorithms...>) {
  (register_across<by_barrier<Algorithms>>(grid::name_of<Algorithms>(), grid::name_of<Algorithms>(),
                                           method_kind::barrier, false),
   ...);
}

const bool ours = (register_all(multi_gpu::algorithms()), true);
const register_across<three_steps<true, flag_exchange>> with_cg("three-steps-cg",
                                                                "cg's grid barrier, an exchange of flags, cg's again",
                                                                method_kind::barrier, true);
const register_across<three_steps<false, flag_exchange>> with_ours(
    "three-steps-grid-barrier", "our grid barrier, an exchange of flags, our grid barrier", method_kind::barrier, true);

}  // namespace

}  // namespace gpusync::tool
