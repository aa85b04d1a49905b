// What the host knows of workload "barrier-parts", whatever device runs it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/average/average_result.hpp"
#include "workloads/barrier_parts/barrier_parts_list.hpp"

namespace gpusync::tool {

/// All variants, the work alone first.
std::vector<step_method> barrier_parts_methods();

/// The part that a method is; null for a whole barrier.
const part_name* find_part(const std::string& method);

/// What runs work on: that of the average, and barrier_parts_data::word.
std::vector<array_content> barrier_parts_arrays(const step_shape& shape);

/// The text on such arrays, of host_arrays or cuda_arrays.
template <barrier_part Part, class Arrays>
barrier_parts_text<Part> barrier_parts_in(Arrays& memory, const step_shape& shape) {
  const average_data average{memory.template address<float>(0), memory.template address<uint32_t>(1)};
  return {{}, {average, memory.template address<uint32_t>(2), 0}, shape.stores};
}

/// What one variant's runs have been found to compute: the average's words, and the additions to the common word.
class barrier_parts_result : public average_result {
 public:
  /// `memory`: of barrier_parts_arrays().
  barrier_parts_result(const step_shape& shape, const std::string& method, std::shared_ptr<arrays> memory);

  check_result check(uint64_t steps) override;
  std::string how() const override;

 private:
  const uint32_t blocks_;
  const bool adds_;
};

/// The steps of runs.
step_sequence barrier_parts_steps_of_a_run();

}  // namespace gpusync::tool
