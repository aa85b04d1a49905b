// What the host knows of the runs of workload "Smith-Waterman", whatever device they run on.
#pragma once

#include "boundary/arrays.hpp"
#include "workloads/smith_waterman/wavefront.hpp"

namespace gpusync::tool {

/// What runs work on: the letters of both sequences, then what rows hand down, what they hand on, and their best.
std::vector<array_content> alignment_arrays(const alignment_problem& problem);

/// The problem and the rows in such arrays, of host_arrays or cuda_arrays.
template <class Arrays>
wavefront_steps alignment_in(const alignment_problem& problem, Arrays& memory) {
  return {{},
          wavefront_problem::of(problem, memory.template address<uint8_t>(0), memory.template address<uint8_t>(1)),
          memory.template address<handed_down>(2),
          memory.template address<handed_on>(3),
          memory.template address<row_best>(4)};
}

/// Compares what runs find.
class alignment_result : public run_data {
 public:
  /// `memory`: of alignment_arrays(), or more behind them. `problem` must outlive this.
  alignment_result(const alignment_problem& problem, std::shared_ptr<arrays> memory)
      : problem_(problem), memory_(std::move(memory)), found_(problem.query.size()) {}

  void reset() override { memory_->reset(); }
  check_result check(uint64_t) override;
  std::string how() const override;
  /// `score`, `query_end` and `reference_end`.
  findings found() const override;

 private:
  const alignment_problem& problem_;
  const std::shared_ptr<arrays> memory_;
  std::vector<row_best> found_;
};

}  // namespace gpusync::tool
