#include "workloads/average/average_result.hpp"

namespace gpusync::tool {

std::vector<float> average_result::first_values() const {
  std::vector<float> values(2 * size_t{elements()}, 0.0f);
  for (uint32_t i = 0; i < elements(); ++i) values[elements() + i] = average_value(i, average_period - 1);
  return values;
}

verification average_result::verify(const std::vector<float>& values) const {
  verification result;
  result.performed = checked_ > 0;
  if (!result.performed) return result;
  result.checked = checked_ + values.size();
  result.wrong = wrong_;
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t step = average_period - 2 + half;  // the last two steps of a run, of which this half holds one
    for (uint32_t i = 0; i < elements(); ++i) {
      if (values[size_t{half} * elements() + i] != average_value(i, step)) ++result.wrong;
    }
  }
  result.how = std::string(shape_.stores ? "every word of every step"
                                         : "every word of the first and last " + std::to_string(average_checked) +
                                               " steps of each run") +
               (synchronizes_ ? ", read by another block" : ", read by its own block") +
               ", and the final buffer, compared with their recomputation in the runs that were timed";
  return result;
}

}  // namespace gpusync::tool
