#include "workloads/smith_waterman/pipeline_result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/smith_waterman/alignment_result.hpp"

namespace gpusync::tool {

namespace {

/// A best score has four bits more beside it.
constexpr int64_t pipeline_score_limit = int64_t{1} << 27;

alignment_end end_of(const lane_best& best) {
  if (best.score <= 0) return {};
  return {best.score, int64_t{best.row}, int64_t{best.column}};
}

}  // namespace

step_method pipeline_method() {
  return {"channels", "one kernel, rows handed from block to block by channels", {}, method_kind::neighbours, true,
          true};
}

std::string pipeline_refusal(const alignment_scoring& scoring, size_t query_length, size_t reference_length) {
  const size_t most_matches = std::min(query_length, reference_length);
  if (most_matches <= static_cast<size_t>((pipeline_score_limit - 1) / scoring.match)) return {};
  return fmt::format(
      "{} matches of {} each could score 2^27 or more, which is too large for the pipeline's keys of score and row: "
      "take "
      "form memory, a match of less, or shorter sequences.",
      most_matches, scoring.match);
}

void require_pipeline(const alignment_scoring& scoring, size_t query_length, size_t reference_length) {
  const std::string refusal = pipeline_refusal(scoring, query_length, reference_length);
  if (!refusal.empty()) throw invalid_argument(refusal);
}

bool scored_by_bytes(const alignment_problem& problem) {
  return byte_scores_suit(problem.scoring) &&
         std::find(problem.reference.begin(), problem.reference.end(), unknown_base) == problem.reference.end();
}

std::vector<channel_ends> pipeline_channels(uint32_t blocks, uint32_t passes, uint32_t columns, uint32_t lanes) {
  std::vector<channel_ends> all;
  for (uint32_t block = 0; block + 1 < blocks; ++block) all.push_back({block, block + 1});
  all.push_back({blocks - 1, 0, passes > 1 ? (columns + lanes - 1) / lanes : 1});
  return all;
}

std::vector<array_content> pipeline_arrays(const alignment_problem& problem, uint32_t least_rows) {
  const size_t lanes = (problem.query.size() + least_rows - 1) / least_rows;
  // In what is to be found, nothing of the run before is left; where nothing runs, it is there already.
  const uint32_t before = problem.reference.empty() ? 0 : 0x25252525;
  return {array_content::once(problem.query), array_content::once(letters_of_reference(problem.reference)),
          array_content::filled(lanes * (sizeof(lane_best) / sizeof(uint32_t)), before)};
}

pipeline_result::pipeline_result(const alignment_problem& problem, std::shared_ptr<arrays> memory,
                                 uint32_t rows_per_lane)
    : problem_(problem), memory_(std::move(memory)), rows_per_lane_(rows_per_lane) {}

check_result pipeline_result::check(uint64_t) {
  const std::vector<row_best>& expected = problem_.expected;
  const size_t rows = problem_.query.size();
  found_.resize(memory_->bytes(2) / sizeof(lane_best));
  memory_->read(2, found_.data());
  check_result result;
  found_.resize((rows + rows_per_lane_ - 1) / rows_per_lane_);
  result.checked = found_.size();
  for (size_t lane = 0; lane < found_.size(); ++lane) {
    alignment_end should_be;
    const size_t end = std::min(expected.size(), (lane + 1) * rows_per_lane_);
    for (size_t row = lane * rows_per_lane_; row < end; ++row) {
      const alignment_end cell{expected[row].score, static_cast<int64_t>(row), int64_t{expected[row].column}};
      if (cell.score != 0 && cell.goes_before(should_be)) should_be = cell;
    }
    result.wrong += end_of(found_[lane]) != should_be;
  }
  return result;
}

std::string pipeline_result::how() const {
  return fmt::format(
      "the best score of each {} letters of the query, and where it is reached first, as the host computed "
      "them",
      rows_per_lane_);
}

findings pipeline_result::found() const {
  alignment_end best;
  for (const lane_best& one : found_) {
    const alignment_end end = end_of(one);
    if (end.score != 0 && end.goes_before(best)) best = end;
  }
  return findings_of(best);
}

}  // namespace gpusync::tool
