// Workload "average" for CUDA and host threads, and what the host knows of its results, whatever device computed them.
#pragma once

#include <string>
#include <vector>

#include "boundary/arrays.hpp"
#include "boundary/computation.hpp"
#include "boundary/device_side.hpp"
#include "boundary/step_text.h"

namespace gpusync::tool {

#include "workloads/average/average_text.h"

/// What runs work on: average_data::values and average_data::wrong. Throws invalid_argument if there are no elements or
/// too many.
std::vector<array_content> average_arrays(const step_shape& shape);

/// Whether threads check other blocks' elements under a method.
inline bool crosses_blocks(const step_method& method) {
  return method.kind != method_kind::floor;
}

/// The steps of runs on such shapes.
step_sequence average_steps(const step_shape& shape);

/// What the programs on one shape work on.
class average_result : public run_data {
 public:
  /// `crosses_blocks`: threads check other blocks' elements, else their own.
  /// `memory`: of average_arrays().
  average_result(const step_shape& shape, bool crosses_blocks, std::shared_ptr<arrays> memory)
      : stores_(shape.stores),
        elements_(elements_of(shape)),
        crosses_blocks_(crosses_blocks),
        memory_(std::move(memory)) {}

  void reset() override { memory_->reset(); }
  check_result check(uint64_t steps) override;
  check_result check_last() override;
  std::string how() const override;

 protected:
  arrays& memory() const { return *memory_; }

 private:
  const bool stores_;
  const uint32_t elements_;
  const bool crosses_blocks_;
  const std::shared_ptr<arrays> memory_;
};

}  // namespace gpusync::tool
