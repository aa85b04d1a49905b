// Text "vector-add": the sum of two vectors (Lo et al. 2014, algorithm 2). C++17: CUDA sources include it.
#pragma once

#include "workloads/paced/paced_text.hpp"

namespace gpusync::tool {

/// Each thread adds elements as far apart as the grid has threads.
class vector_add_text {
 public:
  using variants = paced_variants<1, intervals<1, 4, 16>, intervals<1, 4, 16>, intervals<1, 4>>;
  struct shared {};

  vector_add_text(const paced_problem& problem, uint32_t* const* arrays)
      : first_(reinterpret_cast<const float*>(arrays[0])),
        second_(reinterpret_cast<const float*>(arrays[1])),
        sum_(reinterpret_cast<float*>(arrays[2])),
        elements_(problem.elements),
        threads_(elements_of(problem.shape)) {}

  static paced_arrays arrays(const paced_problem& problem) {
    return {{problem.elements, problem.elements, problem.elements}, 3};
  }
  uint64_t trips() const { return elements_ / threads_; }
  uint64_t bytes() const { return 3 * elements_ * sizeof(float); }

  GPUSYNC_HD static float value(uint32_t array, uint64_t i) {
    return static_cast<float>(mixed(3 * i + array + 1) % 1024);
  }
  GPUSYNC_HD uint32_t word(uint32_t array, uint64_t i) const { return word_of(value(array, i)); }
  GPUSYNC_HD uint32_t expected(uint64_t i) const { return word_of(value(0, i) + value(1, i)); }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Every, class Grid, class Pace, class Watch>
  GPUSYNC_HD void run(Grid grid, Pace& pace, shared&, Watch& watch) const {
    const uint64_t stride = uint64_t{grid.blocks()} * grid.threads();
    uint64_t i = uint64_t{grid.block()} * grid.threads() + grid.thread();
    in_epochs<Every, Every>(grid, elements_ / stride, pace, watch, [&] {
      const float total = first_[i] + second_[i];
      sum_[i] = total;
      i += stride;
      return total;
    });
    if (i < elements_) sum_[i] = first_[i] + second_[i];
  }

 private:
  const float *first_, *second_;
  float* sum_;
  uint64_t elements_, threads_;
};

}  // namespace gpusync::tool
