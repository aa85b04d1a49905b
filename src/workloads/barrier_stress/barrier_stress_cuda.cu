// Workload "barrier stress" on CUDA devices.

#include "boundary/cuda_barriers.hpp"
#include "boundary/cuda_text.cuh"
#include "workloads/barrier_stress/barrier_stress.hpp"
#include "workloads/barrier_stress/barrier_stress_kernels.cuh"

namespace gpusync::tool {

namespace {

/// The kernels of one barrier; those of parts and of dropping blocks are null if it joins whole grids only.
struct stress_kernels {
  const void* whole;
  const void* parts;
  const void* dropping;
};

class stressed_barrier : public stress_program {
 public:
  stressed_barrier(const cuda_target& where, const std::string& barrier, const stress_kernels& kernels, uint32_t blocks,
                   uint32_t threads)
      : where_(where),
        shape_{blocks, threads},
        blocks_(blocks),
        kernels_(kernels),
        barrier_(make_cuda_barrier(barrier, where, blocks, std::nullopt)),
        memory_(std::make_unique<cuda_arrays>(
            where, exchange_arrays(blocks, threads, {array_content::counts(), array_content::counts()}))) {
    require_co_resident(where.device(), kernels.whole, shape_);
    if (kernels.parts == nullptr) return;
    require_co_resident(where.device(), kernels.parts, shape_);
    require_co_resident(where.device(), kernels.dropping, shape_);
    if (blocks < 2) return;
    second_ = make_cuda_barrier(barrier, where, blocks, std::nullopt);
    third_ = make_cuda_barrier(barrier, where, blocks, std::nullopt);
  }

  std::vector<stress_mode> modes() const override {
    if (kernels_.parts == nullptr) return {stress_mode::whole};
    std::vector<stress_mode> all{stress_mode::whole};
    if (blocks_ >= 2) all.push_back(stress_mode::two_parts);
    if (blocks_ >= 4) all.push_back(stress_mode::dropping);
    if (blocks_ >= 3) all.push_back(stress_mode::three_parts);
    return all;
  }

  void run(stress_mode mode, uint32_t phases, uint32_t seed) override {
    const cuda_device_scope scope(where_.device().ordinal());
    stress_task task{};
    task.data = exchange_in(*memory_);
    task.first = next_phase_;
    task.phases = phases;
    task.seed = seed;
    task.parts = mode == stress_mode::two_parts ? 2 : mode == stress_mode::three_parts ? 3 : 1;
    // Two different ones; with few launches they still come round to the first block, whose part in some barriers is
    // another than that of the rest.
    task.drop_block[0] = seed % 3 == 0 ? 0 : seed % blocks_;
    task.drop_block[1] = (task.drop_block[0] + 1 + seed / 3 % (blocks_ > 1 ? blocks_ - 1 : 1)) % blocks_;
    task.drop_phase[0] = phases / 3;
    task.drop_phase[1] = phases / 3 + 1 + seed % (phases / 3 + 1);
    task.checked = memory_->address<unsigned long long>(2);
    task.timed_out = memory_->address<unsigned long long>(3);
    start(mode, task);
    where_.await(2.0 * stress_deadline_ns * 1e-9 + 20);
    next_phase_ += phases;
    phases_ += uint64_t{phases} * task.parts;
    require_in_time();
  }

  stress_count count() const override { return {phases_, memory_->word<uint64_t>(2), memory_->word<uint64_t>(1)}; }

 private:
  void start(stress_mode mode, stress_task task) {
    if (mode == stress_mode::whole) return barrier_->launch(where_, shape_, kernels_.whole, {&task});
    if (mode == stress_mode::dropping) return barrier_->launch_dropping(where_, shape_, kernels_.dropping, {&task});
    const auto part = [&](uint32_t number) {
      const stress_part of = stress_part::of(blocks_, task.parts, number);
      return block_range{of.first, of.count};
    };
    barrier_->launch_parts(where_, shape_, kernels_.parts, {&task}, *second_, *third_,
                           {part(0), part(1), part(task.parts == 3 ? 2 : 1)});  // with two parts nobody calls the last
  }

  void require_in_time() {
    const uint64_t late = memory_->word<uint64_t>(3);
    if (late == 0) return;
    std::string words = "The waits of " + std::to_string(late) + " blocks timed out after " +
                        std::to_string(stress_deadline_ns / 1'000'000'000) + " s";
    for (const cuda_barrier* one : {barrier_.get(), second_.get(), third_.get()}) {
      if (one == nullptr) continue;
      for (const missing_block& missing : one->missing()) {
        words += ", block " + std::to_string(missing.block) + " missing in phase " + std::to_string(missing.phase);
      }
    }
    throw error(words + ".");
  }

  const cuda_target& where_;
  const launch_shape shape_;
  const uint32_t blocks_;
  const stress_kernels kernels_;
  const std::unique_ptr<cuda_barrier> barrier_;
  std::unique_ptr<cuda_barrier> second_, third_;
  const std::unique_ptr<cuda_arrays> memory_;  ///< of the exchange; counts of words compared and of blocks timed out
  uint32_t next_phase_ = 1;
  uint64_t phases_ = 0;
};

class cuda_barrier_stress : public barrier_stress_device {
 public:
  explicit cuda_barrier_stress(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return cuda_barrier_methods_in(whole_); }

  std::unique_ptr<stress_program> prepare(const std::string& method, uint32_t blocks, uint32_t threads) override {
    const stress_kernels kernels{whole_.find(method), parts_.find(method), dropping_.find(method)};
    if (kernels.whole == nullptr) throw invalid_argument("There is no grid barrier " + method + " that orders data.");
    return std::make_unique<stressed_barrier>(where_, method, kernels, blocks, threads);
  }

 private:
  const cuda_target where_;
  const kernel_table whole_ = kernels_with_barriers<grid::cuda_algorithms, barriers::that_order>(
      [](auto algorithm) { return &stress<barrier_with<decltype(algorithm)>>; });
  const kernel_table parts_ = kernels_with_barriers<grid::cuda_algorithms, barriers::that_divide>(
      [](auto algorithm) { return &stress_parts<basic_grid_barrier<decltype(algorithm), cuda_grid, block_range>>; });
  const kernel_table dropping_ = kernels_with_barriers<grid::cuda_algorithms, barriers::that_divide>(
      [](auto algorithm) { return &stress<basic_grid_barrier<decltype(algorithm), cuda_grid, dropping_blocks>>; });
};

const register_side<barrier_stress_device> barrier_stress_registered(device_kind::cuda, make_side<cuda_barrier_stress>);

}  // namespace

}  // namespace gpusync::tool
