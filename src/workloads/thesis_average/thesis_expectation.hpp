// Workload "thesis_average": the computation of Shen 2013 (figure 4-3), `avg = (a + b) / 2`, iteration after iteration,
// made so that its result tells whether every barrier held; and that result, computed on the host.
//
// In the thesis a and b are constants, so that the result is the same whether a barrier holds or not. Here b is an
// input of the iteration and of the work-item, and a is what a work-item of another group (the next one, or one that is
// a quarter, half or three quarters of the grid further on, by turns) has computed in the iteration before. `avg` goes
// into half s % 2 of a buffer of two halves; after the barrier it is read by that other group. Two iterations never
// touch the same half, so one barrier is enough. A mean forgets: after 24 iterations a wrong a no longer shows in a
// float. So every work-item keeps a trace, trace * 31 + bits(a), of all that it has read; an error in it stays for
// ever.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace gpusync::tool {

/// What the buffers must hold after a run, as bit patterns, by work-item.
struct thesis_result {
  std::vector<uint32_t> values;  ///< avg of the last iteration
  std::vector<uint32_t> traces;  ///< of all reads: one per iteration, each after the iteration's barrier
  /// Without the last of them: where an iteration is a launch, the first read of a next one is the host's.
  std::vector<uint32_t> traces_before_last;
};

/// Results of runs of any number of iterations on one shape.
class thesis_expectation {
 public:
  /// Without `crosses_groups` every work-item reads what it has written itself: the program without barriers.
  thesis_expectation(uint32_t groups, uint32_t items, bool crosses_groups);

  /// After that many iterations (at least 1); valid until the next call. Remembered, unless that took much memory;
  /// cheapest if asked for in rising order.
  const thesis_result& after(uint32_t iterations);

 private:
  static constexpr size_t most_remembered = size_t{1} << 25;  ///< work-items' results, 12 bytes each

  void restart();
  void iterate();

  uint32_t groups_, items_;
  bool crosses_groups_;
  uint32_t done_ = 0;
  std::vector<float> values_, read_;
  std::vector<uint32_t> traces_, traces_before_last_;
  std::map<uint32_t, thesis_result> known_;
};

}  // namespace gpusync::tool
