#include "workloads/smith_waterman/alignment_problem.hpp"

namespace gpusync::tool {

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

}  // namespace gpusync::tool
