// What all devices' pipelines of workload "Smith-Waterman" have in common besides their text. C++17: CUDA sources
// include it.
#pragma once

#include <gpusync/neighbours/channel_storage.hpp>

#include "boundary/arrays.hpp"
#include "workloads/smith_waterman/pipeline.hpp"

namespace gpusync::tool {

/// The one method that it has.
step_method pipeline_method();

/// Threads of a block on a GPU: four warps that compute, and two between blocks.
inline constexpr uint32_t pipeline_threads = 192;

/// In words, why a problem cannot be done by the pipeline; empty if it can.
std::string pipeline_refusal(const alignment_scoring& scoring, size_t query_length, size_t reference_length);

/// Throws invalid_argument with these words.
void require_pipeline(const alignment_scoring& scoring, size_t query_length, size_t reference_length);

/// Whether byte_scores can be taken for a problem.
bool scored_by_bytes(const alignment_problem& problem);

/// How often so many rows at once must go over a query.
constexpr uint32_t pipeline_passes(uint64_t query_length, uint64_t rows_at_once) {
  return query_length == 0 ? 1 : static_cast<uint32_t>((query_length + rows_at_once - 1) / rows_at_once);
}

/// Channels from each block to the next, and from the last to the first, whose ring has room for a pass if there are
/// several: the first block takes what comes from the last when it has ended its own.
std::vector<channel_ends> pipeline_channels(uint32_t blocks, uint32_t passes, uint32_t columns, uint32_t lanes);

/// What runs work on: the letters of both sequences, and the best cells of lanes with at least so many rows.
std::vector<array_content> pipeline_arrays(const alignment_problem& problem, uint32_t least_rows);

/// The text on such arrays.
template <class Text, class Arrays>
Text pipeline_in(const alignment_problem& problem, Arrays& memory, uint32_t blocks, uint32_t lanes) {
  static_assert(-no_gap / 2 <= 1 << 27, "16 times a lowered score is to have 32 bits");
  const auto cost = [](int32_t letter) { return letter < -no_gap / 2 ? letter : -no_gap / 2; };  // more never pays
  const alignment_scoring& scoring = problem.scoring;
  const auto rows = static_cast<uint32_t>(problem.query.size());
  Text text;
  text.scores = {scoring.match, -cost(-scoring.mismatch)};
  text.query = memory.template address<uint8_t>(0);
  text.reference = memory.template address<uint8_t>(1);
  text.rows = rows;
  text.columns = static_cast<uint32_t>(problem.reference.size());
  text.open_and_extend = cost(scoring.gap_open + scoring.gap_extend);
  text.extend = cost(scoring.gap_extend);
  text.sixteen = 16;
  text.passes = pipeline_passes(rows, uint64_t{Text::block_rows(lanes)} * blocks);
  text.best = memory.template address<lane_best>(2);
  return text;
}

/// Compares what runs find: the best cell of each lane's rows.
class pipeline_result : public run_data {
 public:
  /// `memory`: of pipeline_arrays(). `problem` must outlive this.
  pipeline_result(const alignment_problem& problem, std::shared_ptr<arrays> memory, uint32_t rows_per_lane);

  void reset() override { memory_->reset(); }
  check_result check(uint64_t) override;
  std::string how() const override;
  /// `score`, `query_end` and `reference_end`.
  findings found() const override;

 private:
  const alignment_problem& problem_;
  const std::shared_ptr<arrays> memory_;
  const uint32_t rows_per_lane_;
  std::vector<lane_best> found_;
};

}  // namespace gpusync::tool
