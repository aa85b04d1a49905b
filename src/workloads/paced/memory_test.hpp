// Text "memory-test": which cells of a large memory are not zero (Lo et al. 2014, algorithm 1). C++17: CUDA sources
// include it.
#pragma once

#include "workloads/paced/paced_text.hpp"

namespace gpusync::tool {

/// Each thread looks at `length` cells, as far apart as the grid has threads, and leaves how many are not zero.
class memory_test_text {
 public:
  /// 1,024 checks stand side by side in the paper; here 128 in a loop of 8, which keeps as many loads under way.
  using variants = paced_variants<1024, intervals<1024, 128, 32, 8, 1>, intervals<128, 8>, intervals<1024, 32>>;
  struct shared {};

  memory_test_text(const paced_problem& problem, uint32_t* const* arrays)
      : cells_(arrays[0]), found_(arrays[1]), threads_(elements_of(problem.shape)), length_(problem.length) {}

  static paced_arrays arrays(const paced_problem& problem) {
    const uint64_t threads = elements_of(problem.shape);
    return {{threads * problem.length, threads}, 2};
  }
  uint64_t trips() const { return length_; }
  uint64_t bytes() const { return threads_ * (length_ + 1) * sizeof(uint32_t); }

  /// About one faulty cell in 8,192.
  GPUSYNC_HD uint32_t word(uint32_t, uint64_t i) const { return mixed(i) % 8192 == 5 ? 1 + mixed(i + 1) % 1000 : 0; }
  GPUSYNC_HD uint32_t expected(uint64_t thread) const {
    uint32_t faults = 0;
    for (uint64_t i = 0; i < length_; ++i) faults += word(0, thread + i * threads_) != 0 ? 1 : 0;
    return faults;
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Every, class Grid, class Pace, class Watch>
  GPUSYNC_HD void run(Grid grid, Pace& pace, shared&, Watch& watch) const {
    const uint64_t thread = uint64_t{grid.block()} * grid.threads() + grid.thread();
    // 32 bits hold it, as in the paper's program; a stride that the compiler takes for 64 makes each address longer to
    // find.
    const uint64_t stride = grid.blocks() * grid.threads();
    const uint32_t* cell = cells_ + thread;
    uint32_t faults = 0;
    in_epochs<Every, (Every < 128 ? Every : 128)>(grid, length_, pace, watch, [&] {
      const uint32_t value = *cell;
      if (value != 0) ++faults;
      cell += stride;
      return value;
    });
    found_[thread] = faults;
  }

 private:
  const uint32_t* cells_;
  uint32_t* found_;
  uint64_t threads_, length_;
};

}  // namespace gpusync::tool
