#include "workloads/smith_waterman/pipeline_host.hpp"

#include <fmt/format.h>

#include <gpusync/neighbours/channel_host.hpp>

#include "boundary/steps_host.hpp"

namespace gpusync::tool {

namespace {

constexpr uint32_t lanes_on_host = 8, rows_on_host = 6, warps_on_host = host_pipeline_threads - 2;

template <class Scores>
using text_on_host = pipeline<Scores, rows_on_host, warps_on_host>;

/// What carries out runs of so many blocks.
template <class Scores>
std::function<void(uint32_t)> runs_of(const alignment_problem& problem, const std::shared_ptr<host_arrays>& memory,
                                      const step_shape& shape) {
  using text_type = text_on_host<Scores>;
  using block_type = pipeline_block<warps_on_host, lanes_on_host>;
  require_pipeline(problem.scoring, problem.query.size(), problem.reference.size());
  if (shape.threads != host_pipeline_threads) {
    throw invalid_argument(fmt::format("On host threads a block of the pipeline has {} threads, not {}.",
                                       host_pipeline_threads, shape.threads));
  }
  const auto text = pipeline_in<text_type>(problem, *memory, shape.blocks, lanes_on_host);
  const auto storage = std::make_shared<host_channel_storage<handed_down>>(
      pipeline_channels(shape.blocks, text.passes, text.columns, lanes_on_host), lanes_on_host,
      text_type::outer_chunks);
  const auto blocks = std::make_shared<std::vector<block_type>>(shape.blocks);
  return [text, storage, blocks, memory, shape](uint32_t steps) {
    if (steps == 0) return;
    launch(
        host_device{}, {shape.blocks, shape.threads},
        [&](host_channels<handed_down> channels) {
          const host_grid grid = host_grid::current();
          text.template run<lanes_of_thread<host_grid, lanes_on_host>>(grid, channels, &(*blocks)[grid.block()]);
        },
        storage->channels());
  };
}

class host_alignment_in_pipeline : public workload {
 public:
  explicit host_alignment_in_pipeline(const alignment_problem& problem)
      : problem_(problem), memory_(std::make_shared<host_arrays>(pipeline_arrays(problem, rows_on_host))) {}

  std::vector<step_method> methods() const override { return {pipeline_method()}; }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const bool empty = problem_.query.empty() || problem_.reference.empty();
    host_computation computation{
        {}, step_sequence::of_whole(empty ? 0 : 1), std::make_shared<pipeline_result>(problem_, memory_, rows_on_host)};
    computation.own.push_back({pipeline_method(), [this](const step_shape& of) {
                                 return scored_by_bytes(problem_) ? runs_of<byte_scores>(problem_, memory_, of)
                                                                  : runs_of<letter_scores>(problem_, memory_, of);
                               }});
    return prepare_program(method, shape, std::move(computation));
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }

 private:
  const alignment_problem& problem_;
  const std::shared_ptr<host_arrays> memory_;
};

}  // namespace

std::unique_ptr<workload> aligning_in_pipeline(const alignment_problem& problem) {
  return std::make_unique<host_alignment_in_pipeline>(problem);
}

}  // namespace gpusync::tool
