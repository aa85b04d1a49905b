#include "workloads/average/average.hpp"

#include <bit>

namespace gpusync::tool {

std::vector<array_content> average_arrays(const step_shape& shape) {
  const uint32_t all = elements_of(shape);
  std::vector<uint32_t> words(2 * size_t{all}, 0);
  for (uint32_t i = 0; i < all; ++i) words[all + i] = std::bit_cast<uint32_t>(average_value(i, average_period - 1));
  return {array_content::once(std::move(words)), array_content::filled(1, 0u)};
}

step_sequence average_steps(const step_shape& shape) {
  return {average_period, false, 2 * average_checked, [stores = shape.stores](uint32_t s, uint32_t steps) {
            return average_number(s, steps, stores, step_sequence::idle);
          }};
}

check_result average_result::check(uint64_t steps) {
  const uint64_t checking = stores_ ? steps : 2 * average_checked - 1;
  return {checking * elements_, memory_->word(1)};
}

check_result average_result::check_last() {
  std::vector<uint32_t> left(2 * size_t{elements_});
  memory_->read(0, left.data());
  check_result result{left.size(), 0};
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t step = average_period - 2 + half;  // the last two steps of a run, of which this half holds one
    for (uint32_t i = 0; i < elements_; ++i) {
      if (left[size_t{half} * elements_ + i] != std::bit_cast<uint32_t>(average_value(i, step))) ++result.wrong;
    }
  }
  return result;
}

std::string average_result::how() const {
  return std::string(stores_ ? "every word of every step"
                             : "every word of the first and last " + std::to_string(average_checked) +
                                   " steps of each run") +
         (crosses_blocks_ ? ", read by another block" : ", read by its own block") +
         ", and the final buffer, compared with their recomputation in the runs that were timed";
}

}  // namespace gpusync::tool
