// Workload "Smith-Waterman" as a pipeline, on CUDA devices.
#include "workloads/smith_waterman/pipeline_cuda.hpp"

#include <gpusync/neighbours/channel_cuda.cuh>

#include "boundary/cuda_waiting.cuh"
#include "workloads/smith_waterman/pipeline.hpp"
#include "workloads/smith_waterman/pipeline_result.hpp"

namespace gpusync::tool {

namespace {

constexpr uint32_t pipeline_lanes = lanes_of_warp::count, pipeline_warps = 4;

template <class Text>
__global__ void __launch_bounds__(Text::warps_of_block* pipeline_lanes, 1)
    run_pipeline(Text text, uint32_t, channels<handed_down> channels) {
  __shared__ typename Text::template shared<pipeline_lanes> block;
  text.template run<lanes_of_warp>(cuda_grid{}, channels, &block);
}

template <class Scores, uint32_t Rows>
using text_of = pipeline<Scores, Rows, pipeline_warps>;

class alignment_in_pipeline : public workload {
 public:
  alignment_in_pipeline(const cuda_target& where, const alignment_problem& problem)
      : where_(where),
        problem_(problem),
        memory_(std::make_shared<cuda_arrays>(where, pipeline_arrays(problem, least_rows))) {}

  std::vector<step_method> methods() const override { return {pipeline_method()}; }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_pipeline(problem_.scoring, problem_.query.size(), problem_.reference.size());
    if (shape.threads != pipeline_threads) {
      throw invalid_argument("A block of the pipeline has " + std::to_string(pipeline_warps + 2) + " warps, " +
                             std::to_string(pipeline_threads) + " threads, not " + std::to_string(shape.threads) + ".");
    }
    const bool bytes = scored_by_bytes(problem_);
    if (rows_per_lane(shape.blocks) == least_rows) {
      return bytes ? prepared<byte_scores, least_rows>(method, shape)
                   : prepared<letter_scores, least_rows>(method, shape);
    }
    return bytes ? prepared<byte_scores, most_rows>(method, shape) : prepared<letter_scores, most_rows>(method, shape);
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return gpusync::max_co_resident(where_.device(), kernel<letter_scores, most_rows>(), {1, threads}).blocks();
  }

 private:
  static constexpr uint32_t least_rows = 6, most_rows = 12;

  /// The fewer, unless they take more passes by so much that it is more work: a lane's column takes as long as it has
  /// rows.
  uint32_t rows_per_lane(uint32_t blocks) const {
    const auto work = [&](uint32_t rows) {
      return rows * pipeline_passes(problem_.query.size(), uint64_t{rows} * pipeline_lanes * pipeline_warps * blocks);
    };
    return work(least_rows) < work(most_rows) ? least_rows : most_rows;
  }

  template <class Scores, uint32_t Rows>
  static const void* kernel() {
    return reinterpret_cast<const void*>(&run_pipeline<text_of<Scores, Rows>>);
  }

  template <class Scores, uint32_t Rows>
  std::unique_ptr<program> prepared(const step_method& method, const step_shape& shape) {
    using text_type = text_of<Scores, Rows>;
    const text_type text = pipeline_in<text_type>(problem_, *memory_, shape.blocks, pipeline_lanes);
    const bool empty = problem_.query.empty() || problem_.reference.empty();
    cuda_computation computation{where_, cuda_kernels{}, text, step_sequence::of_whole(empty ? 0 : 1),
                                 std::make_shared<pipeline_result>(problem_, memory_, Rows)};
    const auto waits_by = [passes = text.passes, columns = text.columns](const cuda_target& where,
                                                                         const step_shape& of) {
      const auto make = [device = where.device().ordinal(),
                         ends = pipeline_channels(of.blocks, passes, columns, pipeline_lanes)] {
        return channel_storage<handed_down>(cuda_device(device), ends, pipeline_lanes, text_type::outer_chunks);
      };
      return waiting_by(where, make, [](channel_storage<handed_down>& storage) { return storage.channels(); });
    };
    const auto fit = [this, text](const step_shape& of) {
      return cuda_on_chip::fitted{bytes_of(text), alone_on_sm(of)};
    };
    computation.own.push_back({pipeline_method(), kernel<Scores, Rows>(), waits_by, fit});
    return prepare_program(method, shape, std::move(computation));
  }

  /// Dynamic shared memory that keeps blocks apart, where there is a multiprocessor for each: two on one would take
  /// twice as long as the others, which wait for them.
  size_t alone_on_sm(const step_shape& shape) const {
    const cudaDeviceProp& device = where_.device().properties();
    if (shape.blocks > static_cast<uint32_t>(where_.device().sm_count())) return 0;
    const size_t half = device.sharedMemPerMultiprocessor / 2;
    const size_t own = sizeof(typename text_of<byte_scores, least_rows>::template shared<pipeline_lanes>) + 1024;
    return std::min(half, device.sharedMemPerBlockOptin - own);
  }

  const cuda_target& where_;
  const alignment_problem& problem_;
  const std::shared_ptr<cuda_arrays> memory_;
};

}  // namespace

std::unique_ptr<workload> aligning_in_pipeline(const cuda_target& where, const alignment_problem& problem) {
  return std::make_unique<alignment_in_pipeline>(where, problem);
}

}  // namespace gpusync::tool
