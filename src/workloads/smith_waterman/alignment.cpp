#include "workloads/smith_waterman/alignment_result.hpp"

namespace gpusync::tool {

std::vector<array_content> alignment_arrays(const alignment_problem& problem) {
  const size_t rows = problem.query.size();
  return {array_content::once(problem.query), array_content::once(letters_of_reference(problem.reference)),
          array_content::filled(2 * rows, handed_down{0, no_score}),
          array_content::filled(rows, handed_on{no_score, 0}), array_content::filled(rows, row_best{})};
}

alignment_end end_of(const std::vector<row_best>& rows) {
  alignment_end best;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].score == 0) continue;
    const alignment_end end{rows[row].score, static_cast<int64_t>(row), int64_t{rows[row].column}};
    if (end.goes_before(best)) best = end;
  }
  return best;
}

check_result compare_rows(const alignment_problem& problem, const std::vector<row_best>& found) {
  check_result result;
  result.checked = problem.expected.size();
  for (size_t row = 0; row < problem.expected.size(); ++row) {
    const row_best &is = found[row], &should_be = problem.expected[row];
    result.wrong += is.score != should_be.score || (is.score != 0 && is.column != should_be.column);
  }
  return result;
}

check_result alignment_result::check(uint64_t) {
  memory_->read(4, found_.data());
  return compare_rows(problem_, found_);
}

std::string alignment_result::how() const {
  return "the best score at every letter of the query, and where it is reached first, as the host computed them";
}

findings alignment_result::found() const {
  return findings_of(end_of(found_));
}

findings findings_of(const alignment_end& end) {
  findings all{{"score", end.score}, {"query_end", std::nullopt}, {"reference_end", std::nullopt}};
  if (end.score == 0) return all;
  all[1].second = static_cast<double>(end.query_end);
  all[2].second = static_cast<double>(end.reference_end);
  return all;
}

}  // namespace gpusync::tool
