// Workload "Smith-Waterman" on CUDA devices.
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/smith_waterman/alignment_result.hpp"
#include "workloads/smith_waterman/pipeline_cuda.hpp"
#include "workloads/smith_waterman/pipeline_result.hpp"
#include "workloads/smith_waterman/wavefront_rows.hpp"

namespace gpusync::tool {

namespace {

/// In memory, under every barrier.
std::unique_ptr<workload> aligning_in_memory(const cuda_target& where, const alignment_problem& problem) {
  const auto memory = std::make_shared<cuda_arrays>(where, alignment_arrays(problem));
  const wavefront_steps text = alignment_in(problem, *memory);
  return workload_of(cuda_computation{where, kernels_of<wavefront_steps, grid::cuda_algorithms>(), text,
                                      step_sequence::of_whole(text.steps()),
                                      std::make_shared<alignment_result>(problem, memory)});
}

/// In registers, under a few of them.
template <uint32_t Rows>
cuda_kernels kernels_in_registers() {
  return kernels_of<wavefront_rows<Rows>, few_barriers>();
}

class alignment_in_registers : public workload {
 public:
  alignment_in_registers(const cuda_target& where, const alignment_problem& problem)
      : where_(where), problem_(problem), memory_(std::make_shared<cuda_arrays>(where, content(where, problem))) {}

  std::vector<step_method> methods() const override {
    return methods_on_cuda(where_.device(), kernels_in_registers<1>(), false);
  }

  /// Throws invalid_argument if the shape has no room for the rows, or a warp that is not whole.
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_whole_warps(shape, warp_size);
    const uint64_t threads = uint64_t{shape.blocks} * shape.threads;
    const auto rows = static_cast<uint32_t>(problem_.query.size());
    if (rows > most_rows * threads) {
      throw invalid_argument(std::to_string(rows) + " letters of the query are too many for the registers of " +
                             std::to_string(threads) + " threads, which have " + std::to_string(most_rows) +
                             " rows each.");
    }
    if (threads / warp_size > most_warps(where_.device())) {
      throw invalid_argument("More blocks than ever run at once: " + std::to_string(shape.blocks) + ".");
    }
    if (rows <= threads) return prepared<1>(method, shape);
    if (rows <= 2 * threads) return prepared<2>(method, shape);
    return prepared<most_rows>(method, shape);
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_in_registers<most_rows>(), methods, threads);
  }

 private:
  static constexpr uint32_t most_rows = 4, warp_size = 32;

  template <uint32_t Rows>
  std::unique_ptr<program> prepared(const step_method& method, const step_shape& shape) {
    const wavefront_steps all = alignment_in(problem_, *memory_);
    const wavefront_rows<Rows> text{all.problem, memory_->address<handed_down>(5), all.down, all.on, all.best};
    return prepare_program(method, shape,
                           {where_, kernels_in_registers<Rows>(), text, step_sequence::of_whole(text.steps()),
                            std::make_shared<alignment_result>(problem_, memory_)});
  }

  /// And what warps hand down to each other, in which nothing of the run before is to be found.
  static std::vector<array_content> content(const cuda_target& where, const alignment_problem& problem) {
    std::vector<array_content> all = alignment_arrays(problem);
    all.push_back(array_content::filled(wavefront_rows<1>::slots * most_warps(where.device()),
                                        handed_down{0x25252525, 0x25252525}));
    return all;
  }

  /// As many as the device can have at once.
  static uint64_t most_warps(const cuda_device& device) {
    const auto warps = static_cast<uint64_t>(device.properties().maxThreadsPerMultiProcessor) / warp_size;
    return warps * static_cast<uint64_t>(device.sm_count());
  }

  const cuda_target& where_;
  const alignment_problem& problem_;
  const std::shared_ptr<cuda_arrays> memory_;
};

class cuda_smith_waterman : public smith_waterman_device {
 public:
  explicit cuda_smith_waterman(const device_description& device) : where_(device.index) {}

  std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (form == alignment_form::memory) return aligning_in_memory(where_, problem);
    if (form == alignment_form::pipeline) return aligning_in_pipeline(where_, problem);
    return std::make_unique<alignment_in_registers>(where_, problem);
  }
  uint32_t pipeline_threads() const override { return tool::pipeline_threads; }
  bool has(alignment_form) const override { return true; }
  std::vector<std::string> methods_in_registers() const override {
    std::vector<std::string> names;
    for (const step_method& method : methods_on_cuda(where_.device(), kernels_in_registers<1>(), false)) {
      names.push_back(method.name);
    }
    return names;
  }
  uint64_t memory() const override { return where_.free_memory(); }

 private:
  const cuda_target where_;
};

const register_side<smith_waterman_device> smith_waterman_registered(device_kind::cuda, make_side<cuda_smith_waterman>);

}  // namespace

}  // namespace gpusync::tool
