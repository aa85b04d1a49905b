// What the host knows of the results of workload "average", whatever device computed them.
#pragma once

#include <string>
#include <vector>

#include "workloads/average/average.hpp"
#include "workloads/step_program.hpp"

namespace gpusync::tool {

/// Keeps count of the words that a program's runs have checked.
class average_result {
 public:
  average_result(const step_shape& shape, bool synchronizes) : shape_(shape), synchronizes_(synchronizes) {}

  uint32_t elements() const { return shape_.blocks * shape_.threads; }

  /// The buffer that a first run starts from: two halves, the second as step average_period - 1 leaves it.
  std::vector<float> first_values() const;

  /// Adds a run of `steps` steps in which the device found `wrong` wrong words.
  void add_run(uint64_t steps, uint64_t wrong) {
    checked_ += average_checks(shape_.stores, steps) * elements();
    wrong_ += wrong;
  }

  /// All runs together, and the buffer that the last one left (`values`, as first_values() lays it out).
  verification verify(const std::vector<float>& values) const;

 private:
  step_shape shape_;
  bool synchronizes_;
  uint64_t checked_ = 0;
  uint64_t wrong_ = 0;
};

}  // namespace gpusync::tool
