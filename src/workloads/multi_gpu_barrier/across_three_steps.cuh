// A barrier across GPUs in three steps: one of each grid, an exchange between the leading blocks, one of each grid.
#pragma once

#include <cooperative_groups.h>

#include "workloads/multi_gpu_barrier/across_program.cuh"

namespace gpusync::tool {

/// `Gate` is what joins the leading blocks: enter(), once by all threads of the grid, gives what has pass(), which all
/// threads of the leading block call between two block barriers.
template <bool Exchanges, class Gate>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    across_by_cg(Gate between, across_words words, step_range steps) {
  const auto grid = cooperative_groups::this_grid();
  auto entered = between.enter();
  run_steps_across<Exchanges>(words, steps, [&] {
    grid.sync();
    if (blockIdx.x == 0) entered.pass();
    grid.sync();
  });
}

template <bool Exchanges, class Gate>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    across_by_grid_barrier(grid_barrier barrier, Gate between, across_words words, step_range steps) {
  barrier.enter();
  auto entered = between.enter();
  run_steps_across<Exchanges>(words, steps, [&] {
    barrier.sync();
    if (blockIdx.x == 0) entered.pass();
    barrier.sync();
  });
}

/// `Exchange`, made of the targets, has the `gate_type` of each GPU, of(gpu), and is told by passed(times) of launches.
template <bool Cooperative, class Exchange>
class three_steps : public in_kernel {
  using gate_type = typename Exchange::gate_type;

 public:
  three_steps(const std::vector<cuda_target>& all, const cuda_device_group& group, const across_setting& setting)
      : in_kernel(all, group, setting), between_(targets_) {
    for (const cuda_target& one : targets_) {
      const cuda_device_scope scope(one.device().ordinal());
      if constexpr (Cooperative) {
        require_co_resident(one.device(), across_by_cg<true, gate_type>, shape_);
        require_co_resident(one.device(), across_by_cg<false, gate_type>, shape_);
      } else {
        storages_.push_back(
            std::make_unique<grid_barrier_storage>(one.device(), setting.shape.blocks, surveys_for({one})[0]));
        require_co_resident(one.device(), across_by_grid_barrier<true, gate_type>, shape_);
        require_co_resident(one.device(), across_by_grid_barrier<false, gate_type>, shape_);
      }
    }
  }

 private:
  void start(bool exchanges, const step_range& steps) override {
    for (uint32_t i = 0; i < gpus(); ++i) {
      if constexpr (Cooperative) {
        launch(targets_[i].device(), streams_[i], shape_,
               exchanges ? across_by_cg<true, gate_type> : across_by_cg<false, gate_type>, between_.of(i), words_[i],
               steps);
      } else {
        launch(targets_[i].device(), streams_[i], shape_,
               exchanges ? across_by_grid_barrier<true, gate_type> : across_by_grid_barrier<false, gate_type>,
               storages_[i]->barrier(), between_.of(i), words_[i], steps);
      }
    }
    between_.passed(steps.count);
  }

  Exchange between_;
  std::vector<std::unique_ptr<grid_barrier_storage>> storages_;
};

}  // namespace gpusync::tool
